"""Serves one agent over stdin and stdout: `ui-mcp mcp`."""

import anyio

from ui_mcp.app.mounted_gateway import mounted_gateway
from ui_mcp.app.ui_server import open_host
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import to_stderr
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports.stdio import serve
from ui_mcp.processes import run, until_signalled
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.chat_events import CAPABILITY, open_for_subscribers, wants_channel
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.mcp import ui_definition


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
        await serve(McpServer(ui_definition(host, announcements, gateway, experimental=experimental)), stdin, stdout)
        tasks.cancel_scope.cancel()
    return 0
