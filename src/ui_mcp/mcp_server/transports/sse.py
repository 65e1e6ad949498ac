"""MCP over the older HTTP+SSE transport: `GET /sse` is the stream, `POST /message(s)` receives messages."""

from collections.abc import Callable
from dataclasses import dataclass
from secrets import token_hex
from urllib.parse import parse_qs

import anyio
from anyio.abc import TaskGroup

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import Json
from ui_mcp.mcp_server.connection import Answering, ClientConnection
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports import http
from ui_mcp.mcp_server.transports.http import RefusedError

MAX_SESSIONS = 1000
POST_PATHS = ("/message", "/messages")


@dataclass(frozen=True, slots=True)
class _Session:
    """An open stream: its client connection and the tasks that answer posted messages."""

    client: ClientConnection
    tasks: TaskGroup

    def take(self, message: Json) -> None:
        """Take one posted message; the answer is sent on the stream."""
        work = self.client.receive(message, self._post)
        if work is not None:
            self.tasks.start_soon(self._answer, work)

    async def _answer(self, work: Answering) -> None:
        answer = await work
        if answer is not None:
            await self._post(answer)

    async def _post(self, message: Json) -> None:
        self.client.queue.put(message)


class SseEndpoint:
    def __init__(
        self,
        service: McpServer,
        *,
        post_path: str = POST_PATHS[0],
        principal: Callable[[http.Scope], str] = lambda _: "local",
    ) -> None:
        self._service = service
        self._post_path = post_path
        self._principal = principal
        self._watch = http.DisconnectWatch()
        self._sessions: dict[str, _Session] = {}

    @http.endpoint
    async def stream(self, scope: http.Scope, receive: http.Receive, send: http.Send) -> None:
        """Handle `GET /sse`: open a session and send its messages until the client disconnects."""
        if scope["method"] != "GET":
            raise RefusedError(405, "Use GET", allow="GET")
        if len(self._sessions) >= MAX_SESSIONS:
            raise RefusedError(503, f"At most {MAX_SESSIONS} clients are served")
        session_id = token_hex(16)
        client = ClientConnection(self._service, principal=self._principal(scope), session_id=session_id)
        try:
            with http.Connected(self._watch, receive, None):
                await self._serve(session_id, client, http.Reply(send))
        finally:
            self._sessions.pop(session_id, None)
            client.close()

    async def _serve(self, session_id: str, client: ClientConnection, stream: http.Reply) -> None:
        async with anyio.create_task_group() as tasks:
            self._sessions[session_id] = _Session(client, tasks)
            await stream.event(f"{self._post_path}?sessionId={session_id}".encode(), b"endpoint")
            await stream.forward(client.queue)
            await stream.end()
            tasks.cancel_scope.cancel()

    @http.endpoint
    async def message(self, scope: http.Scope, receive: http.Receive, send: http.Send) -> None:
        """Handle `POST /message`: one message for a session."""
        if scope["method"] != "POST":
            raise RefusedError(405, "Use POST", allow="POST")
        session_id = _session_id(scope)
        if not session_id:
            raise RefusedError(400, "sessionId is missing")
        self._session(session_id)
        message = await http.read_message(receive)
        session = self._session(session_id)  # again: it may have ended while the body was being read
        if rpc.kind_of(message) == "invalid" and not isinstance(message, list):
            raise RefusedError(400, "Invalid request")
        session.take(message)
        await http.respond(send, 202, b"Accepted")

    def _session(self, session_id: str) -> _Session:
        if session_id not in self._sessions:
            raise RefusedError(404, "No such session")
        return self._sessions[session_id]


def _session_id(scope: http.Scope) -> str:
    query = parse_qs(scope["query_string"].decode("latin-1"))
    return next(iter(query.get("sessionId") or query.get("session_id") or ()), "")
