"""The chat over plain HTTP, for front ends and scripts: post, read, wait, and a stream of events."""

from collections.abc import Awaitable, Callable, Sequence

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ui_mcp.chat.identity import POST_USER, READ, Principal
from ui_mcp.chat.message import DEFAULT_CONVERSATION, Author, Message, id_text
from ui_mcp.chat.service import Ask, Chat
from ui_mcp.chat.tools import PostArgs
from ui_mcp.errors import ChatError
from ui_mcp.httpd.chat_stream import entry, event_stream
from ui_mcp.httpd.rate import Rate
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.webserver.server import came

MAX_BODY = 1024 * 1024
WAIT_SECONDS = 30.0
STATUS = {
    "forbidden": 403,
    "unknown_conversation": 404,
    "content_too_large": 413,
    "unsupported_mime": 415,
    "rate_limited": 429,
    "storage_error": 500,
    "busy": 503,
}

Who = Callable[[Request], Awaitable[Principal | None]]
Opened = Callable[[], Awaitable[Chat]]


class ChatBridge:
    """Answers `/chat/…` for whoever `who` recognises."""

    def __init__(self, chat: Opened, who: Who, per_second: float = 20.0) -> None:
        self._chat = chat
        self._who = who
        self._rate = Rate(per_second)
        self.inbox = self._answering(self._inbox)

    def routes(self) -> Sequence[Route]:
        """Return the bridge's paths."""
        return [*self.reading_routes(), Route("/chat/messages", self._answering(self._post), methods=["POST"])]

    def reading_routes(self) -> Sequence[Route]:
        """Return the paths that only read."""
        return [
            Route("/chat/inbox", self.inbox, methods=["GET"]),
            Route("/chat/messages", self._answering(self._messages), methods=["GET"]),
            Route("/chat/wait", self._answering(self._wait), methods=["GET"]),
            Route("/chat/receipts", self._answering(self._receipts), methods=["GET"]),
            Route("/chat/stream", self._answering(self._stream), methods=["GET"]),
        ]

    def _answering(
        self, work: Callable[[Request, Chat, Principal], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            who = await self._who(request)
            if who is None:
                return failed(401, "unauthorized", "Open the page of this server, or send a bearer token")
            try:
                return await work(request, await self._chat(), who)
            except ChatError as error:
                return failed(STATUS.get(error.code, 400), error.code, error.message, error.details)

        return answer

    async def _inbox(self, request: Request, chat: Chat, who: Principal) -> Response:
        window = await chat.window(who, _conversation(request))
        return _json(window.to_json() | {"messages": entries(window.messages)})

    async def _messages(self, request: Request, chat: Chat, who: Principal) -> Response:
        before = request.query_params.get("before")
        if before is not None:
            window = await chat.earlier(who, _conversation(request), before, _limit(request))
            return _json({"messages": entries(window.messages), "has_earlier": window.cut})
        page = await chat.read(who, _ask(request))
        return _json(page.to_json() | {"messages": entries(page.messages)})

    async def _wait(self, request: Request, chat: Chat, who: Principal) -> Response:
        page = await chat.wait(who, _ask(request), _seconds(request))
        if not page.messages:
            return Response(status_code=204)
        return _json(page.to_json() | {"messages": entries(page.messages)})

    async def _receipts(self, request: Request, chat: Chat, who: Principal) -> Response:
        who.require(READ)
        return _json(await chat.receipts.read(_conversation(request)))

    async def _stream(self, request: Request, chat: Chat, who: Principal) -> Response:
        who.require(READ)
        after = request.headers.get("last-event-id") or request.query_params.get("after")
        if after is None:
            after = await chat.head(who, _conversation(request))
        ask = Ask(after, conversation=_conversation(request), came=came(request))
        await chat.read(who, ask)  # whatever is wrong with the question is an answer, not a broken stream
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(event_stream(chat, who, ask), media_type="text/event-stream", headers=headers)

    async def _post(self, request: Request, chat: Chat, who: Principal) -> Response:
        args = await _body(request)
        drafts = args.drafts()
        delay = self._rate.allow(who.name, len(drafts))
        if delay:
            headers = {"Retry-After": str(int(delay) + 1)}
            return failed(429, "rate_limited", "Too many posts; slow down", {"retry_after_s": delay}, headers)
        author: Author = "user" if POST_USER in who.scopes else "assistant"
        posted = await chat.post(who, author, args.conversation, drafts)
        status = 200 if all(done.repeated for done in posted) else 201
        if args.messages is None:
            return _json(posted[0].to_json(), status)
        return _json({"ids": [id_text(done.id) for done in posted], "last_id": id_text(posted[-1].id)}, status)


def entries(messages: Sequence[Message]) -> list[JsonObject]:
    """Write messages for a front end."""
    return [entry(message) for message in messages]


def failed(
    status: int, code: str, message: str, details: JsonObject | None = None, headers: dict[str, str] | None = None
) -> Response:
    """Answer with what went wrong."""
    body = {"error": {"code": code, "message": message, "details": details or {}}}
    return JSONResponse(body, status, headers)


async def _body(request: Request) -> PostArgs:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise ChatError("Send application/json", "unsupported_mime")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise ChatError("A request may have at most 1 MiB", "content_too_large")
    try:
        return PostArgs.model_validate_json(body)
    except ValidationError as error:
        problem = error.errors(include_input=False)[0]
        place = ".".join(map(str, problem["loc"])) or "body"
        raise ChatError(f"{place}: {problem['msg']}", "invalid_argument") from error


def _ask(request: Request) -> Ask:
    authors = request.query_params.get("authors")
    wanted = [_author(name) for name in authors.split(",")] if authors else None
    after = request.query_params.get("after")
    return Ask(after, _limit(request), wanted, _conversation(request), came=came(request))


def _author(name: str) -> Author:
    match name:
        case "user" | "assistant":
            return name
    raise ChatError(f"authors are user and assistant, not {name[:40]!r}", "invalid_argument")


def _conversation(request: Request) -> str:
    return request.query_params.get("conversation", DEFAULT_CONVERSATION)


def _limit(request: Request) -> int | None:
    text = request.query_params.get("limit")
    if text is not None and not (text.isascii() and text.isdecimal()):
        raise ChatError(f"limit is a whole number, not {text[:40]!r}", "invalid_argument")
    return None if text is None else int(text[:9])


def _seconds(request: Request) -> float:
    try:
        seconds = float(request.query_params.get("timeout", WAIT_SECONDS))
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise ChatError("timeout is a number of seconds", "invalid_argument")
    return seconds


def _json(body: JsonObject, status: int = 200) -> Response:
    return Response(dumps(body), status, media_type="application/json")
