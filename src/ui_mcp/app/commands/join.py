"""Joins a running server as `ui-mcp serve` does, and stops one: `ui-mcp stop`."""

import os
import signal
import sys
from functools import partial
from time import monotonic, sleep

from ui_mcp.app.directory_place import mismatch, place_of
from ui_mcp.app.joining import connected
from ui_mcp.app.server_link import ServerLink
from ui_mcp.errors import LifecycleError, RefusedError, UiMcpError
from ui_mcp.jsonrpc.messages import decode
from ui_mcp.jsontypes import JsonObject, loads
from ui_mcp.mcp_server.transports.local import ENDED
from ui_mcp.mcp_server.versions import LATEST_HANDSHAKE
from ui_mcp.ui.instance import joined_server, other_server
from ui_mcp.version import bundled_version
from ui_mcp.webserver.person_app import person_link
from ui_mcp.workspace import Workspace

CLIENT = "ui-mcp serve"
STOP_SECONDS = 15.0
_PAUSE = 0.05


async def join_server(workspace: Workspace) -> bool:
    """Start the UI of the running server if need be, print its addresses and keep it running.

    Returns whether it ended without a request to end, so that this process may serve instead.
    """
    link = await connected(place_of(workspace), CLIENT, partial(mismatch, workspace))
    if link is None:
        return True
    try:
        client = {"name": CLIENT, "version": bundled_version()}
        hello = {"protocolVersion": LATEST_HANDSHAKE, "capabilities": {}, "clientInfo": client}
        await link.exchange({"jsonrpc": "2.0", "method": "initialize", "params": hello})
        status = loads(await _called(link, "ui_status"))
        if status["state"] != "running":
            await _called(link, "ui_start")
            status = loads(await _called(link, "ui_status"))
        _announce(link.pid, status)
        await link.run(partial(_note_end, link))
    finally:
        link.close()
    return not link.was_stopped


async def _called(link: ServerLink, tool: str) -> str:
    answer = await link.exchange({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": tool, "arguments": {}}})
    result: JsonObject = answer.get("result") or {"isError": True, "content": [{"text": str(answer.get("error"))}]}
    text = str(result["content"][0]["text"])
    if result.get("isError"):
        raise UiMcpError(text)
    return text


def _announce(pid: int, status: JsonObject) -> None:
    mcp_url = f"{status['url'].rpartition(':')[0]}:{status['mcp_port']}"
    sys.stdout.write(
        f"ui-mcp v{status['version']} (pid {pid}) serves {status['base_dir']} already; joined it, on its ports\n"
        f"  UI   {status['url']}\n"
        f"  MCP  {mcp_url}/mcp  (SSE: {mcp_url}/sse)\n"
        f"  You  {person_link(status['person_url'])}\n"
    )
    if sys.stdout.isatty():
        sys.stdout.write("Press Ctrl+C to leave. It ends with its last client and page; `ui-mcp stop` ends it now.\n")
    sys.stdout.flush()


def _note_end(link: ServerLink, line: bytes) -> None:
    if decode(line).get("method") == ENDED:
        link.was_stopped = True
        link.end_input()


def stop_server(workspace: Workspace) -> int | None:
    """End the process that serves a directory and return its pid; None if none does.

    Raises:
        RefusedError: it belongs to another account.
        LifecycleError: it does not end.
    """
    found = joined_server(workspace) or other_server(workspace)
    if found is None or found.pid <= 0:
        return None
    try:
        os.kill(found.pid, signal.SIGTERM)
    except ProcessLookupError:
        return None
    except PermissionError as error:
        raise RefusedError(f"The server (pid {found.pid}) belongs to another account") from error
    deadline = monotonic() + STOP_SECONDS
    while monotonic() < deadline:
        if joined_server(workspace) != found and other_server(workspace) != found:
            return found.pid
        sleep(_PAUSE)
    raise LifecycleError(f"The server (pid {found.pid}) does not end\nKill it: kill -9 {found.pid}")
