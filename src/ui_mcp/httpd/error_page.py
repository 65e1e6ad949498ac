"""Answers that something is not there: a page for people, a line for programs."""

from html import escape

from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/look/look.css">
<script src="/look/look.js"></script>
</head>
<body class="plain-body"><main class="plain">
<h1>{title}</h1>
<p>{text}</p>
{way_out}
</main></body>
</html>
"""
_START = '<p><a class="plain-button" href="/">Go to the start page</a></p>'


async def nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer as an application whose every path is unknown."""
    if scope["type"] == "websocket":
        await receive()
    await not_found(HTTPConnection(scope))(scope, receive, send)


def not_found(request: HTTPConnection) -> Response:
    """Say that nothing is at an address, and lead people to the start page."""
    text = f"There is no page at {request.scope['path']}; the address may have a mistake."
    return failure(request, 404, "Not found", text, start=True)


def own_link_needed(request: HTTPConnection) -> Response:
    """Say where the link is that lets a browser in."""
    text = "This browser has not been let in. Ask your agent to open the page, or run: ui-mcp approvals open"
    return failure(request, 403, "This page needs its own link", text)


def failure(request: HTTPConnection, status: int, title: str, text: str, *, start: bool = False) -> Response:
    """Say `title` and `text`; `start` offers people the way to the start page."""
    if "text/html" not in request.headers.get("accept", ""):
        return PlainTextResponse(f"{text if status != 404 else title}\n", status)
    page = _PAGE.format(title=escape(title), text=escape(text), way_out=_START if start else "")
    policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; base-uri 'none'"
    return HTMLResponse(page, status, headers={"Cache-Control": "no-store", "Content-Security-Policy": policy})
