"""Borders: MCP messages of clients, over HTTP (in this process) and over the pipes of a real one."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from hypothesis import strategies as st

from fuzz.border import Border
from fuzz.values import any_json, damage, damaged, messages, mutated, text_of
from mcp_server.definitions import sample_definition
from ui_mcp.jsontypes import Json
from ui_mcp.mcp_server.transports.routes import McpRoutes
from ui_mcp.webserver.security import AccessRules, SecurityMiddleware

VERSION = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {"sampling": {}}, "clientInfo": {"name": "t", "version": "1"}}
REQUESTS = [
    ("initialize", HELLO),
    ("ping", {}),
    ("tools/list", {"cursor": "x"}),
    ("tools/call", {"name": "echo", "arguments": {"text": "a", "times": 2}, "_meta": {"progressToken": 7}}),
    ("tools/call", {"name": "facts", "arguments": {}}),
    ("resources/list", {}),
    ("resources/read", {"uri": "ui://a"}),
    ("resources/subscribe", {"uri": "ui://a"}),
    ("resources/templates/list", {}),
    ("prompts/get", {"name": "p", "arguments": {"a": "b"}}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "b"}}),
    ("logging/setLevel", {"level": "info"}),
    ("server/discover", {"_meta": VERSION}),
    ("tools/call", {"name": "echo", "arguments": {"text": "a"}, "_meta": VERSION}),
    ("notifications/initialized", {}),
    ("notifications/cancelled", {"requestId": 1, "reason": "r"}),
    ("notifications/progress", {"progressToken": 1, "progress": 0.5}),
]
MESSAGES: list[Json] = [{"jsonrpc": "2.0", "id": 1, "method": method, "params": params} for method, params in REQUESTS]
MESSAGES += [{"jsonrpc": "2.0", "method": method, "params": params} for method, params in REQUESTS[-3:]]
MESSAGES += [
    {"jsonrpc": "2.0", "id": 1, "result": {"action": "accept", "content": {}}},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no", "data": {}}},
    [{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}],
]
FINE = {200, 202, 400, 404, 405, 406, 413, 415, 421, 503}
OPAQUE = b'"Internal error"'
"""The answer to a client after an unexpected error."""
ACCEPT = "application/json, text/event-stream"


class HttpClients:
    """Two clients of one listener: a bad one with a session, and a good one."""

    def __init__(self) -> None:
        self._app = SecurityMiddleware(McpRoutes(sample_definition()), AccessRules(frozenset({80})))
        self._sessions: list[str] = []

    async def greet(self) -> None:
        """Shake hands twice."""
        for _ in range(2):
            _, headers, _ = await self.post("/mcp", text_of(MESSAGES[0]).encode(), {})
            self._sessions.append(headers["mcp-session-id"])

    async def take(self, case: tuple[str, dict[str, str], bytes]) -> None:
        path, headers, body = case
        status, _, answer = await self.post(path, body, {"mcp-session-id": self._sessions[0], **headers})
        assert status in FINE, status
        assert OPAQUE not in answer, answer

    async def neighbour_answers(self) -> None:
        ping = text_of({"jsonrpc": "2.0", "id": "p", "method": "ping"}).encode()
        status, _, body = await self.post("/mcp", ping, {"mcp-session-id": self._sessions[1]})
        assert status == 200
        assert b'"result":{}' in body

    async def post(self, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        """Send one request straight into the application and leave after a moment."""
        given = {"host": "127.0.0.1", "content-type": "application/json", "accept": ACCEPT, **headers}
        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "query_string": b"sessionId=x",
            "client": ("127.0.0.1", 1),
            "headers": [(name.encode(), value.encode("latin-1", "replace")) for name, value in given.items()],
        }
        sent: list[Any] = []
        parts: list[Any] = [{"type": "http.request", "body": body}]
        done = anyio.Event()

        async def receive() -> Any:
            if parts:
                return parts.pop()
            with anyio.move_on_after(2):
                await done.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        done.set()
        if not sent:  # one that never ends, such as `hang`: the client left it
            return 200, {}, b""
        names = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return sent[0]["status"], names, b"".join(one.get("body", b"") for one in sent[1:])


@asynccontextmanager
async def http_opened(folder: Path) -> AsyncIterator[HttpClients]:
    clients = HttpClients()
    await clients.greet()
    yield clients


class Piped:
    """A server process at the other end of two pipes; after each case it must answer a ping."""

    def __init__(self, process: Process) -> None:
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, BufferedByteReceiveStream(process.stdout)
        self._ids = count(1)

    async def take(self, case: bytes) -> None:
        await self._stdin.send(case.replace(b"\n", b" ") + b"\n")

    async def neighbour_answers(self) -> None:
        name = f"ping-{next(self._ids)}"
        await self._stdin.send(text_of({"jsonrpc": "2.0", "id": name, "method": "ping"}).encode() + b"\n")
        while True:
            text = await self._stdout.receive_until(b"\n", 2**26)
            assert OPAQUE not in text, text
            line = json.loads(text)
            if isinstance(line, dict) and line.get("id") == name:
                assert line["result"] == {}
                break
        assert self._process.returncode is None


@asynccontextmanager
async def stdio_opened(folder: Path) -> AsyncIterator[Piped]:
    tests = Path(__file__).parents[1]
    async with await anyio.open_process(
        [sys.executable, "-m", "mcp_server.serve_stdio"], cwd=tests, stderr=None
    ) as process:
        piped = Piped(process)
        await piped.neighbour_answers()
        yield piped
        assert process.stdin is not None
        await process.stdin.aclose()
        await process.wait()


names = st.sampled_from(["mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name", "accept", "last-event-id"])
values = st.sampled_from(["2025-06-18", "2026-07-28", "9", "", "application/json", "text/event-stream", "tools/call"])
posts = st.tuples(
    st.sampled_from(["/mcp", "/mcp", "/mcp", "/message", "/messages", "/other"]),
    st.dictionaries(names, values | st.text(max_size=5), max_size=2),
    messages(*MESSAGES),
)
lines = messages(*MESSAGES) | st.builds(
    damaged, st.builds(lambda tree: text_of(tree).encode(), mutated(*MESSAGES) | any_json), damage
)

BORDERS = [
    Border("MCP over HTTP", posts, http_opened, 900),
    Border("MCP over stdio", lines, stdio_opened, 800),
]
