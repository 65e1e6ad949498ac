"""The list of conversations: titles, pins, archive and search; conversations are saved from it."""

from collections.abc import Sequence
from dataclasses import replace

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.agent.journal import AgentSummary, Label
from ui_mcp.chat.attachments import AttachmentStore, with_names
from ui_mcp.errors import InvalidArgumentsError, NotFoundError
from ui_mcp.gateway.web.conversation_files import FORMATS, written
from ui_mcp.gateway.web.conversation_import import MAX_IMPORT, conversations_in, events_of
from ui_mcp.gateway.web.conversations import Conversations, shown_messages
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.webserver.responses import answering, body_of

TITLE_CHARS = 80
MOST_FOUND = 50
SNIPPET_CHARS = 60
"""Characters of a found message before and after the words."""


class ConversationList:
    """Lists conversations for the person, and changes what is listed."""

    def __init__(self, conversations: Conversations, attachments: AttachmentStore) -> None:
        self._conversations = conversations
        self._attachments = attachments

    def routes(self) -> Sequence[BaseRoute]:
        one = "/api/conversations/{id}"
        return [
            Route("/api/conversations", answering(self.list), methods=["GET"]),
            Route(one, answering(self.change), methods=["PATCH"]),
            Route(f"{one}/export", answering(self.export), methods=["GET"]),
            Route("/api/conversations/import", answering(self.bring_in), methods=["POST"]),
        ]

    async def list(self, request: Request) -> Response:
        """List conversations, pinned ones first, then the newest; `q` searches all messages and titles."""
        listed = await self._conversations.list_agents()
        words = request.query_params.get("q", "").strip()
        if not words:
            return JSONResponse([summary_json(one) for one in listed])
        hits = await self._conversations.search(words, MOST_FOUND)
        found = {hit.agent: snippet(with_names(hit.text), words) for hit in hits}
        titled = [one for one in listed if one.agent in found or words.casefold() in title_of(one).casefold()]
        return JSONResponse([summary_json(one) | {"match": found.get(one.agent, "")} for one in titled])

    async def change(self, request: Request) -> Response:
        """Set `title`, `folder`, `pinned` or `archived` of a conversation."""
        summary = await self._summary(request)
        body = await body_of(request)
        names = {name: body[name] for name in ("title", "folder") if name in body}
        flags = {name: body[name] for name in ("pinned", "archived") if name in body}
        is_text = all(isinstance(value, str) for value in names.values())
        if not is_text or not all(isinstance(value, bool) for value in flags.values()):
            raise InvalidArgumentsError("title and folder must be text, pinned and archived true or false")
        short: JsonObject = {name: " ".join(value.split())[:TITLE_CHARS] for name, value in names.items()}
        label = replace(summary.label, **short, **flags)
        await self._conversations.set_label(summary.agent, label)
        return JSONResponse(summary_json(replace(summary, label=label)))

    async def export(self, request: Request) -> Response:
        """Return a conversation as a file: `format` is md, json or html."""
        summary = await self._summary(request)
        form = request.query_params.get("format", "md")
        if form not in FORMATS:
            raise InvalidArgumentsError(f"format must be one of {', '.join(FORMATS)}")
        kind = FORMATS[form]
        messages = shown_messages(await self._conversations.open(summary.agent))
        content = await written(form, title_of(summary), messages, self._attachments)
        headers = {"content-disposition": f'attachment; filename="conversation-{summary.agent}.{form}"'}
        return Response(content, media_type=kind, headers=headers)

    async def bring_in(self, request: Request) -> Response:
        """Add the conversations of a JSON file, of this chat or of another product."""
        found = conversations_in(await _json_of(request))
        names: list[str] = []
        for one in found:
            name = await self._conversations.add(await events_of(one.messages, self._attachments))
            await self._conversations.set_label(name, Label(title=" ".join(one.title.split())[:TITLE_CHARS]))
            names.append(name)
        return JSONResponse({"conversations": names, "messages": sum(len(one.messages) for one in found)}, 201)

    async def _summary(self, request: Request) -> AgentSummary:
        name = request.path_params["id"]
        found = next((one for one in await self._conversations.list_agents() if one.agent == name), None)
        if found is None:
            raise NotFoundError(f"No conversation {name}")
        return found


async def _json_of(request: Request) -> Json:
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > MAX_IMPORT:
            raise InvalidArgumentsError(f"The file is larger than {MAX_IMPORT // 1024 // 1024} MB")
    try:
        return await to_thread.run_sync(loads, bytes(data))
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentsError("The file is not JSON") from error


def title_of(summary: AgentSummary) -> str:
    return summary.label.title or " ".join(with_names(summary.first_text).split())[:TITLE_CHARS]


def summary_json(summary: AgentSummary) -> JsonObject:
    return {
        "id": summary.agent,
        "title": title_of(summary),
        "created_at": summary.began,
        "updated_at": summary.ended,
        "pinned": summary.label.pinned,
        "archived": summary.label.archived,
        "folder": summary.label.folder,
    }


def snippet(text: str, words: str) -> str:
    """Return the surroundings of the words in a text, on one line."""
    at = max(0, text.casefold().find(words.casefold()))
    start, end = max(0, at - SNIPPET_CHARS), at + len(words) + SNIPPET_CHARS
    cut = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{cut}{'…' if end < len(text) else ''}"
