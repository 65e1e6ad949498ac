"""The chat over HTTP: `/chat/…` endpoints, an event stream, and the chat page."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import anyio
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ui_mcp.chat.attachments import AttachmentStore, attachments_in
from ui_mcp.chat.composer_http import AttachmentApi, PromptApi
from ui_mcp.chat.identity import LOCAL, POST_ASSISTANT, POST_USER, READ, AccessTokens, Principal
from ui_mcp.chat.message import DEFAULT_CONVERSATION, Author, Draft, Message, id_text, optional_id
from ui_mcp.chat.prompts import PromptLibrary
from ui_mcp.chat.service import Chat, ReadRequest
from ui_mcp.chat.tools import OpenChat, PostArgs
from ui_mcp.errors import ChatError, NotFoundError
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.validation import InvalidDataError, read_json
from ui_mcp.version import bundled_version
from ui_mcp.webserver.auth import PRINCIPAL, Admit, BearerAuth, Rate, principal_of
from ui_mcp.webserver.person_app import ATTACHMENTS, HtmlRoute, entry_routes, file_route, person_html
from ui_mcp.webserver.person_auth import (
    CREDENTIAL_HEADER,
    DRIVEN_BROWSER,
    ENTER,
    READING,
    Access,
    PageNonces,
    careful,
    driven,
    mark_person,
    refusal,
)
from ui_mcp.webserver.responses import event_stream, event_text
from ui_mcp.webserver.server import received_at
from ui_mcp.webserver.static import shared_style_route
from ui_mcp.workspace import BUNDLE

CHAT_PAGE = BUNDLE / "web" / "chat"
PROMPTS = "/chat/prompts"


def chat_page_routes(inbox: Callable[[Request], Awaitable[Response]], nonces: PageNonces) -> Sequence[BaseRoute]:
    """Return the routes of the chat page and its files.

    `/chat` serves the page to browsers and the inbox to programs. Put these routes after those of the bridge.
    """

    async def page(request: Request) -> Response:
        return person_html(CHAT_PAGE / "index.html", nonces)

    return [
        HtmlRoute("/chat", page, methods=["GET"]),
        Route("/chat", inbox, methods=["GET"]),
        file_route("/chat", CHAT_PAGE),
        shared_style_route(),
    ]


UNNAMED = "agent"
"""The principal of agents that were given no name."""


async def message_events(chat: Chat, who: Principal, ask: ReadRequest) -> AsyncIterator[str]:
    """Yield the messages after the cursor as server-sent events until interrupted.

    Each stream reads the store itself, so that a slow client does not delay others.
    """
    arrived_at = anyio.current_time() if ask.received_at is None else ask.received_at
    after, receipts = ask.after_id, None
    with chat.tail.watching():
        yield "retry: 1000\n\n"
        while not chat.tail.interrupted_since(arrived_at):
            version = chat.tail.version
            page = await chat.read(who, ReadRequest(after, conversation=ask.conversation))
            if page.messages:
                yield "".join(event_text("message", entry(one), id_text(one.id)) for one in page.messages)
            after = optional_id(page.last)
            if page.has_more:
                continue
            newest = await chat.receipts.read(ask.conversation)
            if newest != receipts:
                receipts = newest
                yield event_text("receipts", newest)
            await chat.tail.wait_version(version)


def entry(message: Message) -> JsonObject:
    """Return a message as JSON for pages.

    It has the `client_id` by which the sender's page matches it to its local echo, and an agent's name if it has one.
    """
    matched = {"client_id": message.client_id} if message.client_id else {}
    named = {"name": message.principal} if message.author == "assistant" and message.principal != UNNAMED else {}
    return message.to_json() | matched | named


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
    """Serves `/chat/…` to clients for which `who` returns a principal."""

    def __init__(
        self,
        chat: Opened,
        who: Who,
        per_second: float = 20.0,
        side: Author = "assistant",
        *,
        files: AttachmentStore | None = None,
    ) -> None:
        self._chat = chat
        self._files = files
        self._who = who
        self._side: Author = side
        self._rate = Rate(per_second)
        self.inbox = self._answering(self._inbox)

    def routes(self) -> Sequence[Route]:
        return [*self.reading_routes(), Route("/chat/messages", self._answering(self._post), methods=["POST"])]

    def reading_routes(self) -> Sequence[Route]:
        """Return the routes that only read."""
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
        if after is None:  # without a cursor the stream begins with new messages
            after = await chat.head(who, _conversation(request))
        ask = ReadRequest(after, conversation=_conversation(request), received_at=received_at(request))
        await chat.read(who, ask)  # raises now: an invalid request gets an error status, not a broken stream
        return event_stream(message_events(chat, who, ask))

    async def _post(self, request: Request, chat: Chat, who: Principal) -> Response:
        args = await _body(request)
        drafts = args.drafts()
        delay = self._rate.allow(who.name, len(drafts))
        if delay:
            headers = {"Retry-After": str(int(delay) + 1)}
            return failed(429, "rate_limited", "Too many posts; slow down", {"retry_after_s": delay}, headers)
        # A caller who may post as neither learns what is missing on this side.
        sides: dict[str, Author] = {POST_USER: "user", POST_ASSISTANT: "assistant"}
        author = next((side for scope, side in sides.items() if scope in who.scopes), self._side)
        await self._keep_files(author, drafts)
        posted = await chat.post(who, author, args.conversation, drafts)
        status = 200 if all(done.repeated for done in posted) else 201
        if args.messages is None:
            return _json(posted[0].to_json(), status)
        return _json({"ids": [id_text(done.id) for done in posted], "last_id": id_text(posted[-1].id)}, status)

    async def _keep_files(self, author: Author, drafts: Sequence[Draft]) -> None:
        """Keep the files of a person's messages, before these are stored."""
        if self._files is None or author != "user":
            return
        for digest in {file.digest for draft in drafts for file in attachments_in(draft.content)}:
            try:
                await self._files.keep(digest)
            except NotFoundError as error:
                raise ChatError(error.message, "invalid_argument") from error


def entries(messages: Sequence[Message]) -> list[JsonObject]:
    return [entry(message) for message in messages]


def failed(
    status: int, code: str, message: str, details: JsonObject | None = None, headers: dict[str, str] | None = None
) -> Response:
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
        return read_json(PostArgs, body)
    except InvalidDataError as error:
        problem = error.problems[0]
        place = "" if problem.path else "body: "
        raise ChatError(f"{place}{problem}", "invalid_argument") from error


def _ask(request: Request) -> ReadRequest:
    authors = request.query_params.get("authors")
    wanted = [_author(name) for name in authors.split(",")] if authors else None
    after = request.query_params.get("after")
    return ReadRequest(after, _limit(request), wanted, _conversation(request), received_at=received_at(request))


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
    # Nine digits are more than any limit; int() of a very long text raises.
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


CODE_PATH = "/chat/code"


class HumanFaceAccess:
    """ASGI middleware that accepts the person's credential instead of a bearer token.

    Requests with the credential must pass the checks of a person's origin.
    """

    def __init__(self, app: ASGIApp, admit: Admit, access: Access) -> None:
        self.app = app
        self._access = access
        self._by_token = BearerAuth(app, admit)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._by_token(scope, receive, send)
            return
        connection, send = HTTPConnection(scope), careful(send)
        entering = (scope["method"], scope["path"]) == ("POST", ENTER)
        if driven(connection):  # an agent that drives a browser must not act as the person
            await DRIVEN_BROWSER.response()(scope, receive, send)
        elif _is_public(scope):
            await self.app(scope, receive, send)
        elif not entering and CREDENTIAL_HEADER not in connection.headers:
            await self._by_token(scope, receive, send)
        elif found := refusal(connection, self._access, entering=entering, upload=scope["path"] == ATTACHMENTS):
            await found.response()(scope, receive, send)
        else:
            if not entering:
                mark_person(scope)
                scope[PRINCIPAL] = LOCAL
            await self.app(scope, receive, send)


def _is_public(scope: Scope) -> bool:
    """Return whether a request needs no credential: the page and its files, and the exchange of a link's code."""
    path = scope["path"]
    if path == CODE_PATH:
        return True
    is_file = path.startswith("/look/") or (path.startswith("/chat/") and "." in path)
    html = "text/html" in HTTPConnection(scope).headers.get("accept", "")
    return scope["method"] in READING and (path == "/" or is_file or (path == "/chat" and html))


def human_face_routes(
    opened: OpenChat, per_second: float, access: Access, files: AttachmentStore, prompts: PromptLibrary
) -> Sequence[BaseRoute]:
    """Return the routes of the human's chat server: the bridge, the page, and sign-in."""
    bridge = _face_bridge(opened, per_second, "user", files)

    async def describe(request: Request) -> JsonObject:
        return {"app_url": "", "version": bundled_version(), "base_dir": "", "pending": 0}

    return [
        Route("/", lambda _: RedirectResponse("/chat"), methods=["GET"]),
        Route(CODE_PATH, _exchange(opened), methods=["POST"]),
        *entry_routes(access, describe),
        *bridge.routes(),
        *_human_only(opened, [*AttachmentApi(files).routes(ATTACHMENTS), *PromptApi(prompts).routes(PROMPTS)]),
        *chat_page_routes(bridge.inbox, access.nonces),
    ]


def assistant_face_routes(opened: OpenChat, per_second: float) -> Sequence[Route]:
    """Return the routes of the assistant's chat server: the bridge only, because the page posts as the human."""
    return _face_bridge(opened, per_second, "assistant").routes()


def _exchange(opened: OpenChat) -> Callable[[Request], Awaitable[Response]]:
    keys = AccessTokens(opened.chat.store)

    async def exchange(request: Request) -> Response:
        try:
            code = loads(await request.body())["code"]
            token = await keys.exchange(code)
        except (ValueError, KeyError, TypeError, AttributeError):
            return failed(400, "invalid_argument", "Send {code} as JSON")
        if token is None:
            return failed(401, "unauthorized", "This link was used before or is too old; ask for another")
        return JSONResponse({"token": token}, headers={"Cache-Control": "no-store"})

    return exchange


def _human_only(opened: OpenChat, routes: Sequence[Route]) -> list[Route]:
    """Return routes that refuse observers and agents, who may have tokens of this server too."""

    def guarded(route: Route) -> Route:
        async def answer(request: Request) -> Response:
            who = await opened.directory.of(principal_of(request.scope))
            if POST_USER not in who.scopes:
                return failed(403, "forbidden", f"{who.name} may not do this: scope {POST_USER} is missing")
            response: Response = await route.endpoint(request)
            return response

        return Route(route.path, answer, methods=sorted(route.methods or {"GET"}))

    return [guarded(route) for route in routes]


def _face_bridge(opened: OpenChat, per_second: float, side: Author, files: AttachmentStore | None = None) -> ChatBridge:
    async def who(request: Request) -> Principal | None:
        return await opened.directory.of(principal_of(request.scope))

    async def chat() -> Chat:
        return opened.chat

    return ChatBridge(chat, who, per_second, side, files=files)
