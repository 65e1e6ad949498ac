"""Answers that something is not there: a page for people, a line for programs."""

from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

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


def own_link_needed(request: Request) -> Response:
    """Say where the link is that lets a browser in."""
    text = "Open the link with the session id that ui_open_browser gives."
    return failure(request, 403, "This page needs its own link", text)


def failure(request: Request, status: int, title: str, text: str, *, start: bool = False) -> Response:
    """Say `title` and `text`; `start` offers people the way to the start page."""
    if "text/html" not in request.headers.get("accept", ""):
        return PlainTextResponse(f"{text if status != 404 else title}\n", status)
    page = _PAGE.format(title=escape(title), text=escape(text), way_out=_START if start else "")
    policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; base-uri 'none'"
    return HTMLResponse(page, status, headers={"Cache-Control": "no-store", "Content-Security-Policy": policy})
