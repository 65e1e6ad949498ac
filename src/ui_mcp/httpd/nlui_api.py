"""NLUI's chat API: conversations, messages, streams of events, tools."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.agent.conversation import Conversation
from ui_mcp.agent.journal import Life
from ui_mcp.agent.nlui_events import NluiEvents
from ui_mcp.agent.selection import Selection
from ui_mcp.compositor.approvals.row import (
    AlreadyDecidedError,
    DigestMismatchError,
    ExpiredError,
    UnknownApprovalError,
)
from ui_mcp.errors import InvalidArgumentsError, NotFoundError, UiMcpError
from ui_mcp.httpd.events import event_stream, event_text
from ui_mcp.ids import secret_id
from ui_mcp.jsontypes import Json, JsonObject

STATUSES: dict[type[UiMcpError], int] = {
    NotFoundError: 404,
    UnknownApprovalError: 404,
    AlreadyDecidedError: 409,
    ExpiredError: 410,
    DigestMismatchError: 412,
}
SHOWN = {"user_message": "user", "assistant_markdown": "assistant", "tool": "tool"}


class Talks(Protocol):
    """The conversations behind the API."""

    async def lives(self) -> list[Life]: ...
    async def create(self) -> str: ...
    async def open(self, name: str) -> Conversation: ...
    async def say(self, name: str, text: str, client_id: str | None = None) -> str: ...
    async def forget(self, name: str) -> bool: ...
    async def selection(self, name: str) -> Selection: ...
    async def select(self, name: str, selection: Selection) -> None: ...


@dataclass(frozen=True, slots=True)
class About:
    """What else the API tells: tools and settings come from the gateway."""

    tools: Callable[[], Awaitable[list[JsonObject]]]
    sources: Callable[[], Awaitable[list[JsonObject]]]
    model: Callable[[], JsonObject]
    decide: Callable[[str, JsonObject], Awaitable[JsonObject]]
    """Answers an approval: id and the body of the request."""


class NluiApi:
    """Answers the requests of the chat page and of other front ends."""

    def __init__(self, talks: Talks, about: About) -> None:
        self._talks = talks
        self._about = about
        self._sessions: dict[str, str] = {}

    def routes(self) -> Sequence[BaseRoute]:
        """Return the endpoints."""
        one = "/api/conversations/{id}"
        return [
            Route("/api/chat", _errors(self.chat), methods=["POST"]),
            Route("/api/chat/stop", _errors(self.stop), methods=["POST"]),
            Route("/api/chat/confirm", _errors(self.confirm), methods=["POST"]),
            Route("/api/conversations", _errors(self.conversations), methods=["GET"]),
            Route("/api/conversations", _errors(self.create), methods=["POST"]),
            Route(one, _errors(self.read), methods=["GET"]),
            Route(one, _errors(self.delete), methods=["DELETE"]),
            Route(f"{one}/messages/{{index:int}}", _errors(self.edit), methods=["PUT"]),
            Route(f"{one}/messages/{{index:int}}", _errors(self.cut), methods=["DELETE"]),
            Route(f"{one}/messages/{{index:int}}/from", _errors(self.cut), methods=["DELETE"]),
            Route(f"{one}/regenerate", _errors(self.regenerate), methods=["POST"]),
            Route(f"{one}/tools", _errors(self.selection), methods=["GET"]),
            Route(f"{one}/tools", _errors(self.select), methods=["PUT"]),
            Route("/api/tools", _errors(self.tools), methods=["GET"]),
            Route("/api/tools/sources", _errors(self.sources), methods=["GET"]),
            Route("/api/config/llm", _errors(self.model), methods=["GET"]),
            Route("/api/health", _errors(self.health), methods=["GET"]),
            Route("/api/info", _errors(self.info), methods=["GET"]),
        ]

    async def chat(self, request: Request) -> Response:
        """Take a message and stream what comes of it."""
        body = await _body(request)
        message = body.get("message")
        if not isinstance(message, str) or not message.strip():
            raise InvalidArgumentsError("message must be a non-empty string")
        name = str(body.get("conversation_id") or await self._talks.create())
        session = secret_id()
        self._sessions[session] = name
        conversation = await self._talks.open(name)

        async def texts() -> AsyncIterator[str]:
            events = NluiEvents(session, name)
            with conversation.news.watched() as news:
                await self._talks.say(name, message, body.get("client_id"))
                number = 1
                yield event_text(*events.opening(), str(number))
                async for frame in news:
                    for event in events.of(frame):
                        number += 1
                        yield event_text(*event, str(number))
                    if events.done:
                        return

        return event_stream(texts())

    async def stop(self, request: Request) -> Response:
        """Stop a running turn."""
        conversation = await self._of_session(await _body(request))
        return JSONResponse({"stopped": conversation.stop()})

    async def confirm(self, request: Request) -> Response:
        """Answer a question about a call."""
        body = await _body(request)
        conversation = await self._of_session(body)
        asked = [item for item in conversation.scribe.timeline.state.items if item["kind"] == "approval"]
        wanted = body.get("approval_id")
        pending = [item for item in asked if item["status"] == "pending" and wanted in {None, item["approval_id"]}]
        if not pending:
            return JSONResponse({"error": "Nothing waits for an answer"}, 409)
        approval = pending[-1]
        decision = {**body, "digest": body.get("digest") or approval["digest"]}
        return JSONResponse(await self._about.decide(approval["approval_id"], decision))

    async def conversations(self, request: Request) -> Response:
        """List conversations, the newest first."""
        return JSONResponse([_listed(life) for life in await self._talks.lives()])

    async def create(self, request: Request) -> Response:
        """Begin a conversation."""
        return JSONResponse({"id": await self._talks.create(), "title": "", "messages": []}, 201)

    async def read(self, request: Request) -> Response:
        """Return a conversation's messages."""
        conversation = await self._known(request)
        messages = shown_messages(conversation)
        title = next((message["content"] for message in messages if message["role"] == "user"), "")
        return JSONResponse({"id": conversation.name, "title": title[:80], "messages": messages})

    async def delete(self, request: Request) -> Response:
        """Forget a conversation."""
        if not await self._talks.forget(request.path_params["id"]):
            raise NotFoundError(f"No conversation {request.path_params['id']}")
        return JSONResponse({"ok": True})

    async def edit(self, request: Request) -> Response:
        """Say something else instead of an earlier message, and go on from there."""
        body = await _body(request)
        text = body.get("content") or body.get("message")
        if not isinstance(text, str) or not text.strip():
            raise InvalidArgumentsError("content must be a non-empty string")
        conversation = await self._known(request)
        await conversation.rewind(_message_at(conversation, request.path_params["index"])["item"])
        await self._talks.say(conversation.name, text)
        return JSONResponse({"ok": True})

    async def cut(self, request: Request) -> Response:
        """Hide a message and everything after it."""
        conversation = await self._known(request)
        await conversation.rewind(_message_at(conversation, request.path_params["index"])["item"])
        return JSONResponse({"ok": True})

    async def regenerate(self, request: Request) -> Response:
        """Ask the last question before an index once more."""
        body = await _body(request)
        conversation = await self._known(request)
        messages = shown_messages(conversation)
        index = body.get("from_index", len(messages) - 1)
        asked = [message for message in messages[: int(index) + 1] if message["role"] == "user"]
        if not asked:
            raise NotFoundError("There is no question to ask again")
        await conversation.again(asked[-1]["item"])
        return JSONResponse({"ok": True})

    async def selection(self, request: Request) -> Response:
        """Return which tools the conversation may use."""
        return JSONResponse((await self._talks.selection(request.path_params["id"])).as_json())

    async def select(self, request: Request) -> Response:
        """Choose which tools the conversation may use."""
        body = await _body(request)
        sources = body.get("enabled_sources")
        chosen = Selection(
            frozenset(sources) if sources is not None else None, frozenset(body.get("disabled_tools", ()))
        )
        await self._talks.select(request.path_params["id"], chosen)
        return JSONResponse(chosen.as_json())

    async def tools(self, request: Request) -> Response:
        """List all tools."""
        return JSONResponse(await self._about.tools())

    async def sources(self, request: Request) -> Response:
        """List the sources of tools with their health."""
        return JSONResponse(await self._about.sources())

    async def model(self, request: Request) -> Response:
        """Tell which model answers; its key is masked."""
        return JSONResponse(self._about.model())

    async def health(self, request: Request) -> Response:
        """Say that we are here."""
        return JSONResponse({"status": "ok", "tools": len(await self._about.tools())})

    async def info(self, request: Request) -> Response:
        """Say what this is."""
        return JSONResponse({"language": "en", "tools": len(await self._about.tools())})

    async def _known(self, request: Request) -> Conversation:
        name = request.path_params["id"]
        if name not in {life.agent for life in await self._talks.lives()}:
            raise NotFoundError(f"No conversation {name}")
        return await self._talks.open(name)

    async def _of_session(self, body: JsonObject) -> Conversation:
        name = self._sessions.get(str(body.get("session_id"))) or body.get("conversation_id")
        if not isinstance(name, str):
            raise NotFoundError("Unknown session_id")
        return await self._talks.open(name)


def shown_messages(conversation: Conversation) -> list[JsonObject]:
    """Return what the conversation shows, numbered."""
    items = [
        item
        for item in conversation.scribe.timeline.state.items
        if item["kind"] in SHOWN and not item.get("superseded")
    ]
    return [
        {"index": index, "item": item["id"], "role": SHOWN[item["kind"]], **_content(item)}
        for index, item in enumerate(items)
    ]


def _content(item: JsonObject) -> JsonObject:
    if item["kind"] == "tool":
        return {"name": item["name"], "arguments": item.get("args", {}), "content": item.get("content")}
    return {"content": item.get("text") or item.get("md") or ""}


def _message_at(conversation: Conversation, index: int) -> JsonObject:
    messages = shown_messages(conversation)
    if not 0 <= index < len(messages):
        raise NotFoundError(f"There is no message {index}")
    return messages[index]


def _listed(life: Life) -> JsonObject:
    title = life.first_text[:80]
    return {"id": life.agent, "title": title, "created_at": life.began, "updated_at": life.ended}


async def _body(request: Request) -> JsonObject:
    try:
        body: Json = await request.json()
    except ValueError as error:
        raise InvalidArgumentsError("The body must be JSON") from error
    if not isinstance(body, dict):
        raise InvalidArgumentsError("The body must be a JSON object")
    return body


def _errors(handler: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    async def answered(request: Request) -> Response:
        try:
            return await handler(request)
        except UiMcpError as error:
            status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 400)
            return JSONResponse({"error": error.message}, status)

    return answered
