"""MCP over streamable HTTP, with sessions."""

from collections.abc import Callable, Mapping
from secrets import token_hex

import anyio
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_duplicated_routing_header, validate_mcp_param_headers, x_mcp_header_map
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.mcp_server import results
from ui_mcp.mcp_server.connection import answer_batch, envelope_of, modern_result
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.notifications import NotificationQueue
from ui_mcp.mcp_server.request_context import DisconnectSignal, RequestContext
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports import http
from ui_mcp.mcp_server.transports.http import HttpReply, refusal, until_disconnected, while_connected
from ui_mcp.mcp_server.transports.http_sessions import Session, Sessions
from ui_mcp.toolkit.tool import Call

_PREFIX = "mcp-param-"


async def check_mirrored_headers(
    definition: ServerDefinition, message: JsonObject, headers: Mapping[str, str], principal: str
) -> None:
    """Check that the `Mcp-Param-*` headers of a modern tool call agree with its arguments.

    Raises:
        MCPError: they do not.
    """
    if message["method"] != "tools/call":
        return
    params = message.get("params", {})
    arguments = params.get("arguments") or {}
    mirrored = any(name.startswith(_PREFIX) for name in headers)
    if not isinstance(arguments, dict) or not (mirrored or definition.mirrors_arguments):
        return
    schema = await _schema(definition, params.get("name"), principal)
    if schema is None or not x_mcp_header_map(schema):
        return
    rejection = validate_mcp_param_headers(schema, arguments, headers)
    if rejection is not None:
        raise MCPError(rejection.code, rejection.message, rejection.data)


async def _schema(definition: ServerDefinition, name: object, principal: str) -> JsonObject | None:
    listed = await definition.toolset.tools(Call(principal=principal, era="modern"))
    return next((tool.input_schema for tool in listed if tool.name == name), None)


HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

CLIENT_ID = "ui-mcp/client_id"
"""The key in `_meta` by which a modern-era client marks several requests as its own."""

_VERSION, _SESSION = "mcp-protocol-version", "mcp-session-id"


class StreamableEndpoint:
    def __init__(self, service: McpServer, *, principal: Callable[[http.Scope], str] = lambda _: "local") -> None:
        self._service = service
        self._principal = principal
        self._disconnect = DisconnectSignal()
        self.sessions = Sessions(service)

    def close(self) -> None:
        """End all sessions; blocked calls return what they have."""
        self._disconnect.set()
        self.sessions.end_all()

    async def __call__(self, scope: http.Scope, receive: http.Receive, send: http.Send) -> None:
        headers = http.headers_of(scope)
        match scope["method"]:
            case "POST":
                await self._post(scope, headers, receive, send)
            case "GET" | "DELETE" as method if headers.get(_VERSION) not in MODERN_PROTOCOL_VERSIONS:
                await self._with_session(method, headers, receive, send)
            case _:
                await http.respond_text(send, 405, "Use POST", ((b"allow", b"POST"),))

    async def _with_session(self, method: str, headers: dict[str, str], receive: http.Receive, send: http.Send) -> None:
        session_id = headers.get(_SESSION)
        session = self.sessions.find(session_id) if session_id else None
        if session_id is None:
            await http.respond_text(send, 405, "This needs a session", ((b"allow", b"POST"),))
        elif session is None:
            await http.respond_json(send, *refusal(404, rpc.INVALID_REQUEST, "No such session"))
        elif method == "DELETE":
            self.sessions.end(session)
            await http.respond(send, 200)
        elif not _accepts(headers, "text/event-stream"):
            await http.respond_json(send, *refusal(406, rpc.INVALID_REQUEST, "Accept text/event-stream"))
        else:
            await self._notifications(session, receive, send)

    async def _notifications(self, session: Session, receive: http.Receive, send: http.Send) -> None:
        if session.stream is not None:
            session.stream.cancel()  # the newest stream wins: the previous one may be a dead connection
        stream = http.EventStream(send, ((b"mcp-session-id", session.id.encode()),))
        try:
            with self.sessions.using(session), anyio.CancelScope() as scope:
                session.stream = scope
                await until_disconnected(receive, lambda: self._send_all(session, stream))
        finally:
            if session.stream is scope:
                session.stream = None
        self._end_cut_off(session)
        if scope.cancelled_caught:
            await stream.end()

    async def _send_all(self, session: Session, stream: http.EventStream) -> None:
        await _send_notifications(session.client.queue, stream)
        self._end_cut_off(session)  # before the stream ends: the client's next call must not find the session
        await stream.end()

    def _end_cut_off(self, session: Session) -> None:
        """End a session that missed notifications, so that the client initializes again and re-reads resources."""
        if session.client.queue.cut_off.is_set():
            self.sessions.end(session)

    async def _post(self, scope: http.Scope, headers: dict[str, str], receive: http.Receive, send: http.Send) -> None:
        problem = _unusable(headers)
        if problem is not None:
            await http.respond_json(send, *problem)
            return
        try:
            message = rpc.decode(await http.read_body(receive))
        except http.ClientDisconnectedError:
            return
        except http.BodyTooLargeError:
            await http.respond_json(send, *refusal(413, rpc.INVALID_REQUEST, "Bodies are limited to 4 MiB"))
            return
        except ValueError:
            await http.respond_json(send, *refusal(400, rpc.PARSE_ERROR, "Parse error"))
            return
        if _speaks_modern(headers, message):
            await self._modern(scope, headers, message, receive, send)
        else:
            await self._handshake(scope, headers, message, receive, send)

    async def _modern(
        self, scope: http.Scope, headers: dict[str, str], message: Json, receive: http.Receive, send: http.Send
    ) -> None:
        kind = rpc.kind_of(message)
        if kind == "notification":
            await self._modern_notification(headers, send)
            return
        if kind != "request":
            await http.respond_json(send, 400, rpc.invalid(message))
            return
        streams = _accepts(headers, "text/event-stream")
        listens = message["method"] == "subscriptions/listen"
        if listens and not streams:
            await http.respond_json(send, *refusal(406, rpc.INVALID_REQUEST, "Accept text/event-stream", message["id"]))
            return
        reply = HttpReply(send, streams=streams, wants_stream=listens or rpc.progress_token(message) is not None)

        async def work() -> JsonObject:
            return await self._modern_answer(scope, headers, message, reply)

        await while_connected(receive, reply, work, statuses=True)

    async def _modern_answer(
        self, scope: http.Scope, headers: dict[str, str], message: JsonObject, reply: HttpReply
    ) -> JsonObject:
        queue = NotificationQueue(self._service.definition.canonical)
        principal = self._principal(scope)
        try:
            request = RequestContext(
                message,
                reply.send_message,
                principal=principal,
                connection=_connection(message),
                disconnect=self._disconnect,
                queue=queue,
            )
            # A proxy could route by one of two values while we read the other.
            repeated = find_duplicated_routing_header((k.decode(), v.decode("latin-1")) for k, v in scope["headers"])
            if repeated is not None:
                raise MCPError(HEADER_MISMATCH, f"{repeated} header appears more than once")
            envelope = envelope_of(message, headers)
            await check_mirrored_headers(self._service.definition, message, headers, principal)
            return rpc.result(message["id"], await modern_result(self._service, message, request, envelope))
        except Exception as error:  # noqa: BLE001 - the boundary where every failure becomes an answer
            return results.failure(message["id"], error)

    async def _modern_notification(self, headers: dict[str, str], send: http.Send) -> None:
        version = headers.get(_VERSION, "")
        if version in MODERN_PROTOCOL_VERSIONS:
            await http.respond(send, 202)
            return
        data = {"supported": list(MODERN_PROTOCOL_VERSIONS), "requested": version}
        body = rpc.error(None, UNSUPPORTED_VERSION, "Unsupported protocol version", data)
        await http.respond_json(send, 400, body)

    async def _handshake(
        self, scope: http.Scope, headers: dict[str, str], message: Json, receive: http.Receive, send: http.Send
    ) -> None:
        kind = rpc.kind_of(message)
        if kind == "invalid" and not isinstance(message, list):
            await http.respond_json(send, 400, rpc.invalid(message))
        elif kind == "request" and message["method"] == "initialize":
            await self._initialize(scope, message, send)
        elif (session := self._session(headers)) is None:
            status = 404 if _SESSION in headers else 400
            await http.respond_json(send, *refusal(status, rpc.INVALID_REQUEST, "No such session; initialize first"))
        else:
            with self.sessions.using(session):
                await self._answer_in_session(session, headers, message, receive, send)

    async def _initialize(self, scope: http.Scope, message: JsonObject, send: http.Send) -> None:
        host, port = scope.get("client") or ("", "")
        session = self.sessions.open(self._principal(scope), f"{host}:{port}" if host else "")
        if session is None:
            await http.respond_json(send, *refusal(503, rpc.INTERNAL_ERROR, "Too many sessions", message["id"]))
            return
        answer = await session.client.answer(message, _discard)
        if answer is None or "error" in answer:
            self.sessions.end(session)
            await http.respond_json(send, 200, answer)
        else:
            await http.respond_json(send, 200, answer, ((b"mcp-session-id", session.id.encode()),))

    async def _answer_in_session(
        self, session: Session, headers: dict[str, str], message: Json, receive: http.Receive, send: http.Send
    ) -> None:
        client = session.client
        session_header = ((b"mcp-session-id", session.id.encode()),)
        match rpc.kind_of(message):
            case "notification":
                await client.on_notification(message)
                await http.respond(send, 202, headers=session_header)
            case "response":
                client.on_response(message)
                await http.respond(send, 202, headers=session_header)
            case _:
                streams = _accepts(headers, "text/event-stream")
                wants = isinstance(message, dict) and rpc.progress_token(message) is not None
                reply = HttpReply(send, streams=streams, wants_stream=wants, headers=session_header)

                async def work() -> Json | None:
                    if isinstance(message, list):
                        return await answer_batch(client, message, reply.send_message)
                    return await client.answer(message, reply.send_message)

                await while_connected(receive, reply, work)

    def _session(self, headers: dict[str, str]) -> Session | None:
        session_id = headers.get(_SESSION)
        return self.sessions.find(session_id) if session_id else None


def _connection(message: JsonObject) -> str:
    """Return the id of the client that sent a self-contained request.

    `clientInfo` names a product, not a client, so only a random id chosen by the client identifies it;
    without one, every request counts as a client of its own.

    Raises:
        MCPError: the id is too short or too long.
    """
    params = message.get("params")
    meta = params.get(rpc.META) if isinstance(params, dict) else None
    given = meta.get(CLIENT_ID) if isinstance(meta, dict) else None
    if given is None:  # other malformed parameters are refused where they are parsed
        return f"request:{token_hex(16)}"
    if not isinstance(given, str) or not 16 <= len(given) <= 200:
        raise MCPError(rpc.INVALID_PARAMS, f'_meta["{CLIENT_ID}"] must be a random text of 16 to 200 characters')
    return f"client:{given}"


def _unusable(headers: dict[str, str]) -> tuple[int, JsonObject] | None:
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return refusal(415, rpc.INVALID_REQUEST, "Content-Type must be application/json")
    if not _accepts(headers, "application/json"):
        return refusal(406, rpc.INVALID_REQUEST, "Accept application/json and text/event-stream")
    return None


def _speaks_modern(headers: dict[str, str], message: Json) -> bool:
    version = headers.get(_VERSION)
    if version in MODERN_PROTOCOL_VERSIONS:
        return True
    known = version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
    return not known or (isinstance(message, dict) and rpc.is_modern(message))


def _accepts(headers: dict[str, str], kind: str) -> bool:
    accepted = headers.get("accept", "*/*").lower()
    wanted = {kind, kind.partition("/")[0] + "/*", "*/*"}
    return any(part.partition(";")[0].strip() in wanted for part in accepted.split(","))


async def _send_notifications(queue: NotificationQueue, stream: http.EventStream) -> None:
    await stream.keep_alive()
    while True:
        messages: list[JsonObject] | None = None
        with anyio.move_on_after(http.KEEP_ALIVE_SECONDS):
            messages = await queue.get()
        if messages is None:
            await stream.keep_alive()
        elif not messages:
            return
        for message in messages or ():
            await stream.message(message)


async def _discard(message: JsonObject) -> None:
    return None
