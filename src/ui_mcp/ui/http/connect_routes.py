"""`GET /connect`: what a person copies into each host to connect it to this running server."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running


def connect_routes(host: UiServer) -> Sequence[BaseRoute]:
    async def connect(request: Request) -> Response:
        return JSONResponse(connections(host.running()))

    return [Route("/connect", connect, methods=["GET"])]


@dataclass(frozen=True, slots=True)
class Connection:
    """What to do in one host."""

    host: str
    how: str
    """Where the text belongs."""
    text: str
    """A command, or what a file has to contain."""


def mcp_url(running: Running) -> str:
    """Return the address of MCP over HTTP for programs on this machine."""
    return f"{running.config.server.local_url(running.mcp_port)}/mcp"


def connections(running: Running) -> JsonObject:
    """Return the ways to connect to a running server, the most common hosts first."""
    url = mcp_url(running)
    return {
        "url": url,
        "hosts": [asdict(one) for one in hosts_for(url)],
        "setup": "ui-mcp setup",
        "token": str(running.workspace.base / ".ui-mcp") if running.config.server.require_token else None,
    }


def hosts_for(url: str) -> list[Connection]:
    """Return what to do in each host for a server at this address; pure."""
    quoted, named = shlex.quote(url), dumps({"name": "ui", "type": "http", "url": url})
    terminal = "Run this in your project"
    return [
        Connection("Claude Code", terminal, f"claude mcp add --transport http ui {quoted}"),
        Connection("Codex", terminal, f"codex mcp add ui --url {quoted}"),
        Connection("VS Code", terminal, f"code --add-mcp {shlex.quote(named)}"),
        Connection("Cursor", "Put this into .cursor/mcp.json", _file("mcpServers", {"url": url})),
        Connection("Gemini CLI", terminal, f"gemini mcp add --transport http ui {quoted}"),
        Connection("opencode", "Put this into opencode.json", _file("mcp", {"type": "remote", "url": url})),
        Connection("Other", "The address, for streamable HTTP", url),
    ]


def _file(section: str, entry: JsonObject) -> str:
    return dumps({section: {"ui": entry}})
