"""Borders: what an MCP server behind a URL answers, as statuses, headers, bodies and streams of events."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
from hypothesis import strategies as st

from fuzz.border import Border
from fuzz.mounted import ANSWERS, ASKED
from fuzz.values import any_json, damage, damaged, mutated, text_of
from ui_mcp.errors import UiMcpError
from ui_mcp.jsonrpc import messages
from ui_mcp.mcp_client.client import McpClient, Options, ServerRequestHandler
from ui_mcp.mcp_client.http import HttpConnection
from ui_mcp.mcp_client.negotiation import discovery_first
from ui_mcp.mcp_client.session import Session
from ui_mcp.mcp_client.streamable_http import StreamableHttpWire
from ui_mcp.mcp_client.transport import NotificationHandlers, relay_notifications
from ui_mcp.toolkit.tool import Call

URL = "http://server.test/mcp"
GREETING = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s"}}
DISCOVERED = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "resultType": "complete"}
GOOD: dict[str, Any] = {**ANSWERS, "initialize": GREETING, "server/discover": DISCOVERED}


@dataclass(frozen=True, slots=True)
class Case:
    """How a server answers every request from the second on: around the right result, something wrong."""

    status: int
    kind: str
    headers: dict[str, str]
    before: tuple[bytes, ...]
    result: Any
    garbled: Any
    """Changes to the bytes of the body, or None."""


class Server:
    """Answers the first requests rightly and those after them as the case says."""

    def __init__(self, case: Case | None, requests: int = 40) -> None:
        self._case = case
        self._left = requests

    async def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self._left -= 1
        if self._left < 0 or request.method != "POST":
            return httpx2.Response(405)
        message = messages.decode(await request.aread())
        if "id" not in message or "method" not in message:
            return httpx2.Response(202)
        right = {"jsonrpc": "2.0", "id": message["id"], "result": GOOD.get(message["method"], {})}
        if self._case is None:
            return httpx2.Response(200, json=right)
        return self._wrong(self._case, right)

    def _wrong(self, case: Case, right: dict[str, Any]) -> httpx2.Response:
        body = text_of({**right, "result": case.result} if case.result is not None else right).encode()
        if case.kind == "text/event-stream":
            lines = b"".join(b"id: 1\nretry: 0\ndata: " + one.replace(b"\n", b" ") + b"\n\n" for one in case.before)
            body = lines + b"data: " + body.replace(b"\n", b" ") + b"\n\n"
        if case.garbled is not None:
            body = damaged(body, case.garbled)
        return httpx2.Response(case.status, content=body, headers={**case.headers, "content-type": case.kind})


@asynccontextmanager
async def connected(server: Server) -> AsyncIterator[McpClient]:
    callers = ServerRequestHandler(())
    notified = relay_notifications(lambda _: None, lambda *_: None)
    handlers = NotificationHandlers(notified, callers.answer, lambda _: None, callers.capabilities)
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(server))
    async with client, anyio.create_task_group() as tasks:
        wire = StreamableHttpWire(HttpConnection(client, URL), tasks)
        session = wire.session = Session(wire, handlers, tasks)
        await discovery_first(session, "auto")
        yield McpClient(session, callers, Options(call_seconds=2))
        await wire.close()
        tasks.cancel_scope.cancel()


class Servers:
    """A client of a fuzzed server, and one of a good server."""

    def __init__(self, good: McpClient) -> None:
        self._good = good

    async def take(self, case: Case) -> None:
        problem: Exception | None = None
        try:
            async with connected(Server(case)) as client:
                for use in (client.tools(Call()), client.call("do", {"a": "x"}, Call()), client.ping()):
                    with suppress(UiMcpError):
                        await use
        except* UiMcpError as error:
            problem = error
        assert problem is None or str(problem)

    async def neighbour_answers(self) -> None:
        assert (await self._good.call("do", {"a": "x"}, Call())).structured == {"a": "x"}


@asynccontextmanager
async def servers_opened(folder: Path) -> AsyncIterator[Servers]:
    async with connected(Server(None, requests=10**9)) as good:
        yield Servers(good)


statuses = st.sampled_from([200, 200, 200, 201, 202, 204, 301, 307, 400, 401, 404, 405, 409, 429, 500, 503])
kinds = st.sampled_from(["application/json", "text/event-stream", "text/html", "Application/JSON; charset=x", ""])
headers = st.fixed_dictionaries(
    {},
    optional={
        "mcp-session-id": st.sampled_from(["s", "", "é".encode().decode("latin-1"), "x" * 5000]),
        "location": st.sampled_from(["/mcp", "http://elsewhere.test/", "//", "http://[", "\x7f"]),
        "content-encoding": st.sampled_from(["gzip", "br", "nothing", "identity"]),
        "content-length": st.sampled_from(["0", "-1", "x"]),
    },
)
raws = st.builds(lambda tree: text_of(tree).encode(), st.sampled_from(ASKED) | mutated(*ASKED) | any_json)
BORDERS = [
    Border(
        "answers of a server behind a URL",
        st.builds(
            Case,
            statuses,
            kinds,
            headers,
            st.lists(raws, max_size=3).map(tuple),
            st.none() | mutated(*GOOD.values()) | any_json,
            st.none() | damage,
        ),
        servers_opened,
        150,
    )
]
