"""`ui-mcp serve`: the UI on one fixed port, MCP over HTTP on another that stays open across reconfigurations."""

import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, nullcontext
from typing import TYPE_CHECKING

import anyio

from ui_mcp.app.directory_place import sole_server
from ui_mcp.app.live_lines import show_live_lines
from ui_mcp.app.mounted_gateway import mounted_gateway
from ui_mcp.app.ui_listeners import PERSON_PORT, guarded_mcp_app, mcp_rules
from ui_mcp.discovery import lazy
from ui_mcp.errors import UiMcpError
from ui_mcp.jsontypes import Json
from ui_mcp.local_socket import AVAILABLE
from ui_mcp.log import logger
from ui_mcp.terminal_style import style_of
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.chat_events import CAPABILITY, QUIET_SECONDS
from ui_mcp.ui.instance import ListenPorts, token_file
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running
from ui_mcp.version import bundled_version
from ui_mcp.webserver.person_app import person_link
from ui_mcp.webserver.server import App, LazyApp, bind, listening, port_of

# The first page comes before the MCP server, which takes a while to import.
if TYPE_CHECKING:
    from ui_mcp.app.joined_clients import accepting
    from ui_mcp.mcp_server.definition import ServerDefinition
    from ui_mcp.mcp_server.server import McpServer
    from ui_mcp.mcp_server.transports.routes import McpRoutes
    from ui_mcp.mcp_tasks.tasks import pausing
    from ui_mcp.ui.mcp import ui_definition
else:
    accepting = lazy("ui_mcp.app.joined_clients:accepting")
    McpServer = lazy("ui_mcp.mcp_server.server:McpServer")
    McpRoutes = lazy("ui_mcp.mcp_server.transports.routes:McpRoutes")
    pausing = lazy("ui_mcp.mcp_tasks.tasks:pausing")
    ui_definition = lazy("ui_mcp.ui.mcp:ui_definition")

UI_PORT = 8000
MCP_PORT = 8001
LOCK_RETRY_SECONDS = 1.0
_log = logger("host")

Ready = Callable[[Running, str], Awaitable[None]]
"""Called with the running server and the URL of the MCP port."""


async def announce(running: Running, mcp_url: str) -> None:
    """Print the addresses."""
    style = style_of()
    lines = [
        f"{style.paint(f'ui-mcp v{bundled_version()}', 'bold')} serves {running.workspace.given}",
        f"  UI   {style.paint(running.url, 'cyan')}",
        f"  MCP  {style.paint(f'{mcp_url}/mcp', 'cyan')}  (SSE: {mcp_url}/sse)",
        f"  You  {style.paint(person_link(running.person_url), 'cyan')}",
    ]
    if sys.stdout.isatty():
        lines.append("       your page, with chat and inbox; the link works once")
        lines.append("Press Ctrl+C to stop. Calls, pages and reloads appear below.")
        if not running.config.logging.verbosity:  # else stderr shows them
            show_live_lines()
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


async def serve_on_ports(
    host: UiServer, listen_ports: ListenPorts, announcements: Announcements, ready: Ready = announce
) -> None:
    """Start the configured server on its fixed ports and serve until cancelled; call `ready` once both accept.

    Raises:
        AlreadyRunningError: another process serves the directory, and can be joined.
    """
    async with AsyncExitStack() as lock:
        await lock.enter_async_context(sole_server(host.configured().workspace))
        try:
            await _serve_on_ports(host, listen_ports, announcements, ready, lock)
        finally:
            with anyio.CancelScope(shield=True):
                await host.stop()  # before the lock is free: the next server needs the directory


async def _serve_on_ports(
    host: UiServer, listen_ports: ListenPorts, announcements: Announcements, ready: Ready, lock: AsyncExitStack
) -> None:
    configured = host.configured()
    config = configured.config
    mcp = bind(config.server.host, _or(config.server.mcp_port, MCP_PORT))
    try:
        listen_ports.ui = _or(config.server.port, UI_PORT)
        listen_ports.person = PERSON_PORT
        listen_ports.mcp, listen_ports.mcp_is_open = port_of(mcp), True
        host.resumes = True
        running = await host.start()
        listen_ports.ui, listen_ports.person = _port(running.url), _port(running.person_url)
        with token_file(configured.workspace) if config.server.require_token else nullcontext() as token:
            rules = mcp_rules(config, frozenset({listen_ports.ui, listen_ports.mcp}), token)
            transports = LazyApp()
            async with listening(guarded_mcp_app(host, rules, transports), mcp, config.server.allowed_users):
                await ready(running, config.server.url(listen_ports.mcp))
                # The first page comes first: importing the MCP server takes a while.
                await transports.wait_requested(within=QUIET_SECONDS)
                await _serve_mcp(host, announcements, transports, lock)
    finally:
        mcp.close()


async def _serve_mcp(host: UiServer, announcements: Announcements, transports: LazyApp, lock: AsyncExitStack) -> None:
    async with mounted_gateway(host, announcements) as gateway:
        experimental = CAPABILITY if host.configured().config.mcp.claude_channel else None
        definition = ui_definition(host, announcements, gateway, experimental=experimental)
        endpoints = McpRoutes(definition)
        transports.set_app(endpoints)
        try:
            async with pausing(definition.tasks):
                await _accept_clients(host, definition, lock)
        finally:
            endpoints.close()


async def _accept_clients(host: UiServer, definition: "ServerDefinition", lock: AsyncExitStack) -> None:
    """Let clients of this machine join, at the socket of whatever directory is being served."""
    service = McpServer(definition)
    while AVAILABLE:
        workspace = host.configured().workspace
        async with accepting(host, service):
            await host.left(workspace)
        await lock.aclose()
        await _lock_directory(host, lock)
    await anyio.sleep_forever()


async def _lock_directory(host: UiServer, lock: AsyncExitStack) -> None:
    """Become the server that clients of the directory join, as soon as that is possible; HTTP works without it."""
    warned = ""
    while True:
        workspace = host.configured().workspace
        try:
            await lock.enter_async_context(sole_server(workspace))
        except (OSError, UiMcpError) as error:
            reason = f"no client can join {workspace.given} yet: {error}"
            if reason != warned:
                _log.warning("%s", reason)
            warned = reason
            await anyio.sleep(LOCK_RETRY_SECONDS)
        else:
            return


def http_transports(definition: "ServerDefinition") -> App:
    """Return MCP over HTTP, built with the first request."""
    built: list[App] = []

    async def app(scope: Json, receive: Json, send: Json) -> None:
        if not built:
            built.append(McpRoutes(definition))
        await built[0](scope, receive, send)

    return app


def _port(url: str) -> int:
    return int(url.rpartition(":")[2])


def _or(port: int | None, default: int) -> int:
    return default if port is None else port
