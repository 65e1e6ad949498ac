"""MCP over the older HTTP+SSE transport: `GET /sse` is the stream, `POST /message(s)` receives messages."""

from collections.abc import Callable
from dataclasses import dataclass
from secrets import token_hex
from urllib.parse import parse_qs

import anyio
from anyio.abc import TaskGroup

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.mcp_server.connection import ClientConnection, answer_batch
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports import http

MAX_SESSIONS = 1000
POST_PATHS = ("/message", "/messages")


@dataclass(frozen=True, slots=True)
class _Session:
    """An open stream: its client connection and the tasks that answer posted messages."""

    client: ClientConnection
    tasks: TaskGroup

    async def take(self, message: Json) -> None:
        """Handle one posted message; the answer is sent on the stream."""
        match rpc.kind_of(message):
            # Not in a task: later messages need the negotiated version.
            case "request" if message["method"] == "initialize":
                await self._answer(message)
            case "request":
                self.tasks.start_soon(self._answer, message)
            case "notification":
                await self.client.on_notification(message)
            case "response":
                self.client.on_response(message)
            case _:
                self.tasks.start_soon(self._answer_batch, message)

    async def post(self, message: Json) -> None:
        self.client.queue.put(message)

    async def _answer(self, message: JsonObject) -> None:
        answer = await self.client.answer(message, self.post)
        if answer is not None:
            await self.post(answer)

    async def _answer_batch(self, messages: list[Json]) -> None:
        answer = await answer_batch(self.client, messages, self.post)
        if answer is not None:
            await self.post(answer)


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
        self._sessions: dict[str, _Session] = {}

    async def stream(self, scope: http.Scope, receive: http.Receive, send: http.Send) -> None:
        """Handle `GET /sse`: open a session and send its messages until the client disconnects."""
        if scope["method"] != "GET":
            await http.respond_text(send, 405, "Use GET", ((b"allow", b"GET"),))
            return
        if len(self._sessions) >= MAX_SESSIONS:
            await http.respond_text(send, 503, f"At most {MAX_SESSIONS} clients are served")
            return
        session_id = token_hex(16)
        client = ClientConnection(self._service, principal=self._principal(scope), session_id=session_id)
        try:
            async with anyio.create_task_group() as tasks:
                self._sessions[session_id] = _Session(client, tasks)
                tasks.start_soon(_cancel_when_disconnected, receive, tasks)
                await self._send_all(client, session_id, send)
                tasks.cancel_scope.cancel()
        except* (http.ClientDisconnectedError, OSError):
            pass  # the client is gone: its session ends below
        finally:
            self._sessions.pop(session_id, None)
            client.close()

    async def _send_all(self, client: ClientConnection, session_id: str, send: http.Send) -> None:
        stream = http.EventStream(send)
        await stream.event(f"{self._post_path}?sessionId={session_id}".encode(), b"endpoint")
        while True:
            messages: list[JsonObject] | None = None
            with anyio.move_on_after(http.KEEP_ALIVE_SECONDS):
                messages = await client.queue.get()
            if messages is None:
                await stream.keep_alive()
            elif not messages:
                await stream.end()
                return
            else:
                for message in messages:
                    await stream.message(message)

    async def message(self, scope: http.Scope, receive: http.Receive, send: http.Send) -> None:
        """Handle `POST /message`: one message for a session."""
        if scope["method"] != "POST":
            await http.respond_text(send, 405, "Use POST", ((b"allow", b"POST"),))
            return
        session_id = _session_id(scope)
        session = self._sessions.get(session_id or "")
        if session is None:
            known = (404, "No such session") if session_id else (400, "sessionId is missing")
            await http.respond_text(send, *known)
            return
        try:
            message = rpc.decode(await http.read_body(receive))
        except http.ClientDisconnectedError:
            return
        except http.BodyTooLargeError:
            await http.respond_text(send, 413, "Bodies are limited to 4 MiB")
        except ValueError:
            await http.respond_json(send, 400, rpc.error(None, rpc.PARSE_ERROR, "Parse error"))
        else:
            if session_id not in self._sessions:  # it ended while the body was being read
                await http.respond_text(send, 404, "No such session")
                return
            await self._accept(session, message, send)

    async def _accept(self, session: _Session, message: Json, send: http.Send) -> None:
        if rpc.kind_of(message) == "invalid" and not isinstance(message, list):
            await http.respond_json(send, 400, rpc.invalid(message))
            return
        await session.take(message)
        await http.respond_text(send, 202, "Accepted")


def _session_id(scope: http.Scope) -> str | None:
    query = parse_qs(scope["query_string"].decode("latin-1"))
    values = query.get("sessionId") or query.get("session_id")
    return values[0] if values else None


async def _cancel_when_disconnected(receive: http.Receive, tasks: TaskGroup) -> None:
    await http.wait_disconnect(receive)
    tasks.cancel_scope.cancel()
