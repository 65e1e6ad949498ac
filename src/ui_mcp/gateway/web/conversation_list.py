"""The list of conversations: titles, pins, archive, search, and conversations as files."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.agent.journal import AgentSummary
from ui_mcp.errors import InvalidArgumentsError, NotFoundError
from ui_mcp.gateway.web.conversations import Conversations, shown_messages
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.webserver.responses import answering, body_of

TITLE_CHARS = 80
MOST_FOUND = 50
SNIPPET_CHARS = 60
"""Characters of a found message before and after the words."""
_ROLES = {"user": "You", "assistant": "Assistant", "tool": "Tool"}


class ConversationList:
    """Lists conversations for the person, and changes what is listed."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations

    def routes(self) -> Sequence[BaseRoute]:
        one = "/api/conversations/{id}"
        return [
            Route("/api/conversations", answering(self.list), methods=["GET"]),
            Route(one, answering(self.change), methods=["PATCH"]),
            Route(f"{one}/export", answering(self.export), methods=["GET"]),
        ]

    async def list(self, request: Request) -> Response:
        """List conversations, pinned ones first, then the newest; `q` searches all messages and titles."""
        listed = await self._conversations.list_agents()
        words = request.query_params.get("q", "").strip()
        if not words:
            return JSONResponse([summary_json(one) for one in listed])
        hits = await self._conversations.search(words, MOST_FOUND)
        found = {hit.agent: snippet(hit.text, words) for hit in hits}
        titled = [one for one in listed if one.agent in found or words.casefold() in title_of(one).casefold()]
        return JSONResponse([summary_json(one) | {"match": found.get(one.agent, "")} for one in titled])

    async def change(self, request: Request) -> Response:
        """Set `title`, `pinned` or `archived` of a conversation."""
        summary = await self._summary(request)
        body = await body_of(request)
        title = body.get("title", summary.label.title)
        flags = {name: body[name] for name in ("pinned", "archived") if name in body}
        if not isinstance(title, str) or not all(isinstance(value, bool) for value in flags.values()):
            raise InvalidArgumentsError("title must be text, pinned and archived true or false")
        label = replace(summary.label, title=" ".join(title.split())[:TITLE_CHARS], **flags)
        await self._conversations.set_label(summary.agent, label)
        return JSONResponse(summary_json(replace(summary, label=label)))

    async def export(self, request: Request) -> Response:
        """Return a conversation as a file: `format` is md, json or html."""
        summary = await self._summary(request)
        form = request.query_params.get("format", "md")
        if form not in FORMATS:
            raise InvalidArgumentsError(f"format must be one of {', '.join(FORMATS)}")
        kind, write = FORMATS[form]
        messages = shown_messages(await self._conversations.open(summary.agent))
        headers = {"content-disposition": f'attachment; filename="conversation-{summary.agent}.{form}"'}
        return Response(write(title_of(summary), messages), media_type=kind, headers=headers)

    async def _summary(self, request: Request) -> AgentSummary:
        name = request.path_params["id"]
        found = next((one for one in await self._conversations.list_agents() if one.agent == name), None)
        if found is None:
            raise NotFoundError(f"No conversation {name}")
        return found


def title_of(summary: AgentSummary) -> str:
    return summary.label.title or summary.first_text[:TITLE_CHARS]


def summary_json(summary: AgentSummary) -> JsonObject:
    return {
        "id": summary.agent,
        "title": title_of(summary),
        "created_at": summary.began,
        "updated_at": summary.ended,
        "pinned": summary.label.pinned,
        "archived": summary.label.archived,
    }


def snippet(text: str, words: str) -> str:
    """Return the surroundings of the words in a text, on one line."""
    at = max(0, text.casefold().find(words.casefold()))
    start, end = max(0, at - SNIPPET_CHARS), at + len(words) + SNIPPET_CHARS
    cut = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{cut}{'…' if end < len(text) else ''}"


def as_markdown(title: str, messages: Sequence[JsonObject]) -> str:
    parts = [f"# {title or 'Conversation'}"]
    for message in messages:
        parts += [f"## {_heading(message)}", _text(message)]
    return "\n\n".join(parts) + "\n"


def as_html(title: str, messages: Sequence[JsonObject]) -> str:
    """Return a page that needs nothing else; everything in it is text, so that nothing in a conversation can run."""
    shown = "\n".join(
        f'<article class="{message["role"]}"><h2>{escape(_heading(message))}</h2>'
        f"<div>{escape(_text(message))}</div></article>"
        for message in messages
    )
    return PAGE.format(title=escape(title or "Conversation"), shown=shown)


def as_json(title: str, messages: Sequence[JsonObject]) -> str:
    return dumps({"title": title, "messages": list(messages)})


def _heading(message: JsonObject) -> str:
    role = _ROLES[message["role"]]
    return f"{role}: {message['name']}" if "name" in message else role


def _text(message: JsonObject) -> str:
    if message["role"] != "tool":
        return str(message["content"])
    result = (message["content"] or {}).get("result")
    said = result if isinstance(result, str) else dumps(result)
    return f"```json\n{dumps(message['arguments'])}\n```\n\n```\n{said}\n```"


Write = Callable[[str, Sequence[JsonObject]], str]
FORMATS: dict[str, tuple[str, Write]] = {
    "md": ("text/markdown", as_markdown),
    "json": ("application/json", as_json),
    "html": ("text/html", as_html),
}
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
  :root {{ color-scheme: light dark }}
  body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif }}
  article {{ margin: 1rem 0; padding: .5rem 1rem; border: 1px solid #8884; border-radius: .75rem }}
  article.user {{ background: #6672ff1a }}
  h2 {{ margin: 0; font-size: .85rem; opacity: .7 }}
  div {{ white-space: pre-wrap; overflow-wrap: anywhere }}
</style>
<h1>{title}</h1>
{shown}
</html>
"""
