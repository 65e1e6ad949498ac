"""Opens the UI server and runs it: `ui-mcp serve` on fixed ports, `ui-mcp mcp` for one agent on stdin and stdout."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from ui_mcp.app.mounted_gateway import mounted_gateway
from ui_mcp.discovery import lazy
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import to_stderr
from ui_mcp.processes import run, until_signalled
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.chat_events import CAPABILITY, open_for_subscribers, wants_channel
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Configured, Running

# An agent's first answer needs neither the web stack nor Lua; the first page needs no MCP.
if TYPE_CHECKING:
    from ui_mcp.app.ui_http_server import serve_on_ports
    from ui_mcp.app.ui_listeners import run_listeners
    from ui_mcp.lua_runtime.fork_server import prestart
    from ui_mcp.mcp_server.server import McpServer
    from ui_mcp.mcp_server.transports.stdio import serve as serve_stdio
    from ui_mcp.ui.mcp import ui_definition
else:
    serve_on_ports = lazy("ui_mcp.app.ui_http_server:serve_on_ports")
    run_listeners = lazy("ui_mcp.app.ui_listeners:run_listeners")
    prestart = lazy("ui_mcp.lua_runtime.fork_server:prestart")
    McpServer = lazy("ui_mcp.mcp_server.server:McpServer")
    serve_stdio = lazy("ui_mcp.mcp_server.transports.stdio:serve")
    ui_definition = lazy("ui_mcp.ui.mcp:ui_definition")


def run_serve(base_dir: str, flags: JsonObject, directories: tuple[str, ...] = ()) -> int:
    """Serve on fixed ports until interrupted; `directories` are allowed besides the project."""
    return run(_serve, base_dir, flags, directories)


async def _serve(base_dir: str, flags: JsonObject, directories: tuple[str, ...]) -> int:
    to_stderr(flags.get("logging.verbosity", 0))
    announcements, listen_ports = Announcements(), ListenPorts()
    async with until_signalled(), open_host(flags, listen_ports, announcements, directories) as host:
        await host.configure(base_dir)
        await serve_on_ports(host, listen_ports, announcements)
    return 0


def run_stdio(base_dir: str, flags: JsonObject, stdin: int, stdout: int, *, directories: tuple[str, ...] = ()) -> int:
    """Serve one agent on two file descriptors; `directories` are allowed besides the project."""
    return run(_stdio, base_dir, flags, directories, stdin, stdout)


async def _stdio(base_dir: str, flags: JsonObject, directories: tuple[str, ...], stdin: int, stdout: int) -> int:
    to_stderr(flags.get("logging.verbosity", 0))
    announcements = Announcements()
    async with (
        until_signalled(),
        open_host(flags, ListenPorts(lasting=True), announcements, directories) as host,
        mounted_gateway(host, announcements) as gateway,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(host.begin, base_dir)
        tasks.start_soon(open_for_subscribers, host, announcements)
        experimental = CAPABILITY if wants_channel(base_dir, flags) else None
        definition = ui_definition(host, announcements, gateway, experimental=experimental)
        await serve_stdio(McpServer(definition), stdin, stdout)
        tasks.cancel_scope.cancel()
    return 0


@asynccontextmanager
async def open_host(
    flags: JsonObject, listen_ports: ListenPorts, announcements: Announcements, directories: tuple[str, ...] = ()
) -> AsyncIterator[UiServer]:
    """Open the UI server; the web stack is imported when it starts running."""

    def serve(configured: Configured) -> AbstractAsyncContextManager[Running]:
        if configured.config.lua.host == "process":
            prestart()
        return run_listeners(host, configured, listen_ports, announcements)

    host = UiServer(serve, flags, announcements, directories)
    async with host:
        try:
            yield host
        finally:
            await host.stop()
