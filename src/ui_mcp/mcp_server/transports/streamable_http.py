"""MCP over streamable HTTP: self-contained requests of the modern era, and sessions of the handshake era."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from secrets import token_hex

import anyio

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsonrpc.routing_headers import VERSION
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.mcp_server import results
from ui_mcp.mcp_server.connection import ClientConnection
from ui_mcp.mcp_server.notifications import NotificationQueue
from ui_mcp.mcp_server.request import Origin, Request
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports import http, routing_headers
from ui_mcp.mcp_server.transports.http import RefusedError, Reply
from ui_mcp.mcp_server.transports.http_sessions import Session, Sessions
from ui_mcp.mcp_server.versions import (
    HANDSHAKE_VERSIONS,
    MODERN_VERSIONS,
    Client,
    envelope_of,
    modern_client,
    require_modern,
)

CLIENT_ID = "ui-mcp/client_id"
"""The key in `_meta` by which a modern-era client marks several requests as its own."""

_RUN, _requests = token_hex(16), count()
_VERSION, _SESSION = VERSION, "mcp-session-id"
_DEFAULT_VERSION = "2025-03-26"
"""Of requests in a session that do not name one."""
_SESSIONLESS = frozenset(
    {"ping", "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read"}
)
"""Answered in sessions of an earlier run too: some clients never initialize again after a restart."""


@dataclass(frozen=True, slots=True)
class _Post:
    """One POST request and its decoded body."""

    scope: http.Scope
    headers: dict[str, str]
    message: Json
    receive: http.Receive
    send: http.Send

    def reply(self, headers: http.Headers = ()) -> Reply:
        """Return the response, which is a stream if the client asked for progress or notifications."""
        message = self.message if isinstance(self.message, dict) else {}
        listens = message.get("method") == "subscriptions/listen"
        wants_stream = listens or rpc.progress_token(message) is not None
        streams = _accepts(self.headers, "text/event-stream")
        return Reply(self.send, headers, streams=streams, wants_stream=wants_stream)


class StreamableEndpoint:
    def __init__(self, service: McpServer, *, principal: Callable[[http.Scope], str] = lambda _: "local") -> None:
        self._service = service
        self._principal = principal
        self._closing = anyio.Event()
        self._no_queue = NotificationQueue(service.definition.canonical)
        self._argument_headers = routing_headers.ArgumentHeaders(service.definition)
        self._watch = http.DisconnectWatch()
        self.sessions = Sessions(service)

    def close(self) -> None:
        """End all sessions; blocked calls return what they have."""
        self._closing.set()
        self._argument_headers.close()
        self.sessions.end_all()

    @http.endpoint
    async def __call__(self, scope: http.Scope, receive: http.Receive, send: http.Send) -> None:
        headers = http.headers_of(scope)
        match scope["method"]:
            case "POST":
                await self._post(scope, headers, receive, send)
            case "GET" if headers.get(_VERSION) not in MODERN_VERSIONS:
                await self._get(headers, receive, send)
            case "DELETE" if headers.get(_VERSION) not in MODERN_VERSIONS:
                await self._delete(headers, send)
            case _:
                await http.respond(send, 405, b"Use POST", ((b"allow", b"POST"),))

    async def _delete(self, headers: dict[str, str], send: http.Send) -> None:
        self.sessions.end(self._session(headers, missing=405))
        await http.respond(send, 200)

    async def _get(self, headers: dict[str, str], receive: http.Receive, send: http.Send) -> None:
        """Send the notifications of a session."""
        session = self._session(headers, missing=405)
        if not _accepts(headers, "text/event-stream"):
            raise RefusedError(406, "Accept text/event-stream")
        if session.stream is not None:
            session.stream.cancel()  # the newest stream wins: the previous one may be a dead connection
        stream = Reply(send, _session_header(session))
        try:
            with self.sessions.using(session), http.Connected(self._watch, receive, None) as scope:
                session.stream = scope
                await self._notify(session, stream)
        finally:
            if session.stream is scope:
                session.stream = None
        self._end_cut_off(session)
        if scope.cancelled_caught:
            await stream.end()

    async def _notify(self, session: Session, stream: Reply) -> None:
        await stream.keep_alive()
        await stream.forward(session.client.queue)
        self._end_cut_off(session)  # before the stream ends: the client's next call must not find the session
        await stream.end()

    def _end_cut_off(self, session: Session) -> None:
        """End a session that missed notifications, so that the client initializes again and re-reads resources."""
        if session.client.queue.cut_off.is_set():
            self.sessions.end(session)

    def _session(self, headers: dict[str, str], missing: int) -> Session:
        """Return the session that a request names; refuse one that names none with the status `missing`."""
        session_id = headers.get(_SESSION)
        session = self.sessions.find(session_id) if session_id else None
        if session is None:
            status = missing if session_id is None else 404
            raise RefusedError(status, "No such session; initialize first", allow="POST" if status == 405 else "")
        return session

    async def _post(self, scope: http.Scope, headers: dict[str, str], receive: http.Receive, send: http.Send) -> None:
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise RefusedError(415, "Content-Type must be application/json")
        if not _accepts(headers, "application/json"):
            raise RefusedError(406, "Accept application/json and text/event-stream")
        post = _Post(scope, headers, await http.read_message(receive), receive, send)
        await (self._modern(post) if _speaks_modern(post) else self._handshake(post))

    async def _modern(self, post: _Post) -> None:
        message = post.message
        match rpc.kind_of(message):
            case "notification":
                await _acknowledge(post)
            case "request":
                if message["method"] == "subscriptions/listen" and not _accepts(post.headers, "text/event-stream"):
                    raise RefusedError(406, "Accept text/event-stream", request_id=message["id"])
                reply = post.reply()
                with http.Connected(self._watch, post.receive, reply):
                    await self._answer_modern(post, reply)
            case _:
                await http.respond_json(post.send, 400, rpc.invalid(message))

    async def _answer_modern(self, post: _Post, reply: Reply) -> None:
        message = post.message
        try:
            routing_headers.check_unique(post.scope["headers"])
            envelope = envelope_of(message)
            routing_headers.check_headers(message, envelope, post.headers)
            client = modern_client(envelope)
            origin = Origin(self._principal(post.scope), _connection(envelope), self._closing, self._no_queue)
            request = Request(message, client, reply.message, origin)
            await self._argument_headers.check(request, post.headers)
            answer = rpc.result(message["id"], await self._service.result(request))
        except Exception as error:  # noqa: BLE001 - the boundary where every failure becomes an answer
            answer = results.failure(message["id"], error)
        await reply.finish(answer, statuses=True)

    async def _handshake(self, post: _Post) -> None:
        message, kind = post.message, rpc.kind_of(post.message)
        session_id = post.headers.get(_SESSION, "")
        if kind == "invalid" and not isinstance(message, list):
            await http.respond_json(post.send, 400, rpc.invalid(message))
        elif kind == "request" and message["method"] == "initialize":
            await self._initialize(post)
        elif (session := self.sessions.find(session_id)) is not None:
            with self.sessions.using(session):
                await _answer_by(session.client, post, self._watch, _session_header(session))
        elif kind == "request" and message["method"] in _SESSIONLESS and self.sessions.is_foreign(session_id):
            await self._answer_sessionless(post)
        else:
            self._session(post.headers, missing=400)  # raises

    async def _initialize(self, post: _Post) -> None:
        host, port = post.scope.get("client") or ("", "")
        session = self.sessions.open(self._principal(post.scope), f"{host}:{port}" if host else "")
        if session is None:
            raise RefusedError(503, "Too many sessions", code=rpc.INTERNAL_ERROR, request_id=post.message["id"])
        answer = await session.client.answer(post.message, post.reply().message)
        if session.client.client is None:  # the handshake failed
            self.sessions.end(session)
        headers = () if session.client.client is None else _session_header(session)
        await http.respond_json(post.send, 200, answer, headers)

    async def _answer_sessionless(self, post: _Post) -> None:
        """Answer one request of a session that this process does not know, at the version it names."""
        client = Client(post.headers.get(_VERSION, _DEFAULT_VERSION))
        connection = ClientConnection(self._service, principal=self._principal(post.scope), client=client)
        try:
            await _answer_by(connection, post, self._watch)
        finally:
            connection.close()


async def _answer_by(
    client: ClientConnection, post: _Post, watch: http.DisconnectWatch, headers: http.Headers = ()
) -> None:
    """Hand a message to a connection and respond with its answer."""
    reply = post.reply(headers)
    answer: Json = None
    with http.Connected(watch, post.receive, reply) as scope:  # a client's cancellation cancels it too
        work = client.receive(post.message, reply.message, scope)
        answer = None if work is None else await work
    await reply.finish(answer)


async def _acknowledge(post: _Post) -> None:
    """Accept a notification: in the modern era, clients cancel by closing the response."""
    try:
        require_modern(post.headers.get(_VERSION, ""))
    except rpc.RpcError as error:
        await http.respond_json(post.send, 400, rpc.error(None, error.code, error.message, error.data))
    else:
        await http.respond(post.send, 202)


def _session_header(session: Session) -> http.Headers:
    return ((b"mcp-session-id", session.id.encode()),)


def _connection(envelope: JsonObject) -> str:
    """Return the id of the client that sent a self-contained request.

    `clientInfo` names a product, not a client, so only a random id chosen by the client identifies it;
    without one, every request counts as a client of its own.

    Raises:
        RpcError: the id is too short or too long.
    """
    given = envelope.get(CLIENT_ID)
    if given is None:
        return f"request:{_RUN}-{next(_requests)}"
    if not isinstance(given, str) or not 16 <= len(given) <= 200:
        raise rpc.RpcError(rpc.INVALID_PARAMS, f'_meta["{CLIENT_ID}"] must be a random text of 16 to 200 characters')
    return f"client:{given}"


def _speaks_modern(post: _Post) -> bool:
    version = post.headers.get(_VERSION)
    known = version is None or version in HANDSHAKE_VERSIONS
    return not known or (isinstance(post.message, dict) and rpc.is_modern(post.message))


def _accepts(headers: dict[str, str], kind: str) -> bool:
    return _includes(headers.get("accept", "*/*").lower(), kind)


@lru_cache(maxsize=32)  # clients send the same header with every request
def _includes(accepted: str, kind: str) -> bool:
    wanted = {kind, kind.partition("/")[0] + "/*", "*/*"}
    return any(part.partition(";")[0].strip() in wanted for part in accepted.split(","))
