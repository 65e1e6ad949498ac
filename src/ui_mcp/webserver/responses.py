"""Error pages, JSON errors and event streams."""

from collections.abc import AsyncIterator, Awaitable, Callable
from html import escape

import anyio
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from ui_mcp.errors import (
    AlreadyDecidedError,
    DeniedError,
    DigestMismatchError,
    ExpiredError,
    InvalidArgumentsError,
    MountError,
    NotFoundError,
    UiMcpError,
    UnknownApprovalError,
)
from ui_mcp.jsontypes import Json, JsonObject, dumps

STATUSES: dict[type[UiMcpError], int] = {
    NotFoundError: 404,
    UnknownApprovalError: 404,
    AlreadyDecidedError: 409,
    MountError: 409,
    ExpiredError: 410,
    DigestMismatchError: 412,
    DeniedError: 403,
}

Handler = Callable[[Request], Awaitable[Response]]


def answering(handler: Handler) -> Handler:
    """Wrap a handler so that our errors become JSON responses with a fitting status."""

    async def answered(request: Request) -> Response:
        try:
            return await handler(request)
        except UiMcpError as error:
            status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 400)
            return JSONResponse({"error": error.message}, status)

    return answered


async def body_of(request: Request) -> JsonObject:
    """Return the JSON object in a request's body.

    Raises:
        InvalidArgumentsError: the body is something else.
    """
    try:
        body: Json = await request.json()
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentsError("The body must be JSON") from error
    if not isinstance(body, dict):
        raise InvalidArgumentsError("The body must be a JSON object")
    return body


def text_of(body: JsonObject, *names: str) -> str:
    """Return the first of these fields that is set; it must be a non-blank text.

    Raises:
        InvalidArgumentsError: it is missing, blank or no text.
    """
    value = next((body[name] for name in names if body.get(name)), None)
    if not isinstance(value, str) or not value.strip():
        raise InvalidArgumentsError(f"{names[0]} must be a non-empty string")
    return value


PAGE_HEAD = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/look/look.css">
<script src="/look/look.js"></script>
"""
"""How every plain page begins; its `head` is still open."""

_PAGE = (
    PAGE_HEAD
    + """\
</head>
<body class="plain-body"><main class="plain">
<h1>{title}</h1>
<p>{text}</p>
{hint}
</main></body>
</html>
"""
)

_START = '<p><a class="plain-button" href="/">Go to the start page</a></p>'


async def not_found_app(scope: Scope, receive: Receive, send: Send) -> None:
    """ASGI application that answers 404 for every path."""
    if scope["type"] == "websocket":
        await receive()
    await not_found(HTTPConnection(scope))(scope, receive, send)


def not_found(request: HTTPConnection) -> Response:
    """Return a 404 response with a link to the start page."""
    text = f"There is no page at {request.scope['path']}; the address may have a mistake."
    return failure(request, 404, "Not found", text, start=True)


def session_link_required(request: HTTPConnection) -> Response:
    """Return a 403 response that explains how to get a link that signs the browser in."""
    text = "This browser has not been let in. Ask your agent to open the page, or run: ui-mcp open"
    return failure(request, 403, "This page needs its own link", text)


def failure(request: HTTPConnection, status: int, title: str, text: str, *, start: bool = False) -> Response:
    """Return an error as a page or plain text, as the client accepts; `start` adds a link to the start page."""
    if "text/html" not in request.headers.get("accept", ""):
        return PlainTextResponse(f"{text if status != 404 else title}\n", status)
    page = _PAGE.format(title=escape(title), text=escape(text), hint=_START if start else "")
    policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; font-src 'self'; base-uri 'none'"
    return HTMLResponse(page, status, headers={"Cache-Control": "no-store", "Content-Security-Policy": policy})


KEEP_ALIVE = 15.0


def event_text(name: str, data: JsonObject, number: str = "") -> str:
    """Return one server-sent event; without a number, it leaves the client's Last-Event-ID as it is."""
    first = f"id: {number}\n" if number else ""
    return f"{first}event: {name}\ndata: {dumps(data)}\n\n"


def event_stream(texts: AsyncIterator[str]) -> StreamingResponse:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # nginx would hold events back
    return StreamingResponse(kept_alive(texts), media_type="text/event-stream", headers=headers)


async def kept_alive(texts: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield the texts, and a comment after every `KEEP_ALIVE` seconds without one."""
    send, receive = anyio.create_memory_object_stream[str](0)

    async def pump() -> None:
        async for text in texts:
            await send.send(text)
        send.close()

    async with anyio.create_task_group() as tasks, send, receive:
        tasks.start_soon(pump)
        while True:
            text = ": still here\n\n"
            with anyio.move_on_after(KEEP_ALIVE):
                try:
                    text = await receive.receive()
                except anyio.EndOfStream:
                    return
            yield text
