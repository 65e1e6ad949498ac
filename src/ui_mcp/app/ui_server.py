"""Opens the UI server, and runs it on fixed ports for `ui-mcp serve`."""

import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from ui_mcp.discovery import lazy
from ui_mcp.errors import AlreadyRunningError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import to_stderr
from ui_mcp.processes import run, until_signalled
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.base_dir.install_plan import bundled_files
from ui_mcp.ui.base_dir.installer import needs_install
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Configured, Running
from ui_mcp.workspace import Workspace

# An agent's first answer needs neither the web stack nor Lua.
if TYPE_CHECKING:
    from collections.abc import Callable

    from ui_mcp.app.commands.join import join_server
    from ui_mcp.app.ui_http_server import serve_on_ports
    from ui_mcp.app.ui_listeners import run_listeners
    from ui_mcp.lua_runtime.fork_server import prestart
    from ui_mcp.webserver.server import App, Routes
else:
    join_server = lazy("ui_mcp.app.commands.join:join_server")
    serve_on_ports = lazy("ui_mcp.app.ui_http_server:serve_on_ports")
    run_listeners = lazy("ui_mcp.app.ui_listeners:run_listeners")
    prestart = lazy("ui_mcp.lua_runtime.fork_server:prestart")


def run_serve(base_dir: str, flags: JsonObject, directories: tuple[str, ...] = ()) -> int:
    """Serve on fixed ports until interrupted; `directories` are allowed besides the project."""
    return run(_serve, base_dir, flags, directories)


async def _serve(base_dir: str, flags: JsonObject, directories: tuple[str, ...]) -> int:
    to_stderr(flags.get("logging.verbosity", 0))
    announcements, listen_ports = Announcements(), ListenPorts()
    async with until_signalled(), open_host(flags, listen_ports, announcements, directories) as host:
        is_new = needs_install(Workspace.at(base_dir))
        configured = await host.configure(base_dir)
        if is_new and configured.install_problem is None:
            _tell_installed(configured.workspace)
        joins = True
        while joins:
            try:
                await serve_on_ports(host, listen_ports, announcements)
            except AlreadyRunningError as error:
                if "url" in error.details:  # a server of an older version, which cannot be joined
                    raise
                joins = await join_server(configured.workspace)
    return 0


def _tell_installed(workspace: Workspace) -> None:
    """Tell a person what appeared in their project."""
    if sys.stdout.isatty():
        folders = sorted({file.path.partition("/")[0] for file in bundled_files(workspace)})
        sys.stdout.write(
            f"Installed skills and guides for agents in {', '.join(folders)}; `ui-mcp uninstall` removes them.\n"
        )


@asynccontextmanager
async def open_host(
    flags: JsonObject,
    listen_ports: ListenPorts,
    announcements: Announcements,
    directories: tuple[str, ...] = (),
    transports: "Callable[[], App] | None" = None,
    *,
    tour: "Routes" = (),
) -> AsyncIterator[UiServer]:
    """Open the UI server; the web stack is imported when it starts running.

    `transports` makes MCP over HTTP, for a server whose MCP port opens and closes with the UI. `tour` are the routes
    by which the person's page shows one.
    """

    def serve(configured: Configured) -> AbstractAsyncContextManager[Running]:
        if configured.config.lua.host == "process":
            prestart()
        return run_listeners(host, configured, listen_ports, announcements, transports, tour=tour)

    host = UiServer(serve, flags, announcements, directories)
    async with host:
        try:
            yield host
        finally:
            await host.stop()
