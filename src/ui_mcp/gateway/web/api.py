"""HTTP API of the chat: conversations, messages, event streams, tool selection."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.agent.conversation import Conversation
from ui_mcp.agent.journal import AgentSummary
from ui_mcp.agent.tools import Selection
from ui_mcp.chat.composer_http import AttachmentApi
from ui_mcp.errors import DeniedError, InvalidArgumentsError, NotFoundError
from ui_mcp.gateway.web.conversations import shown_messages
from ui_mcp.gateway.web.streams import ChatSessions
from ui_mcp.jsontypes import JsonObject
from ui_mcp.webserver.person_app import file_route, person_html
from ui_mcp.webserver.person_auth import PageNonces, is_person
from ui_mcp.webserver.responses import answering, body_of, event_stream, text_of
from ui_mcp.workspace import BUNDLE


class ConversationsApi(Protocol):
    async def list_agents(self) -> list[AgentSummary]: ...
    async def create(self) -> str: ...
    async def open(self, name: str) -> Conversation: ...
    def served(self, name: str) -> Conversation | None: ...
    async def say(self, name: str, text: str, client_id: str | None = None) -> str: ...
    async def delete_agent(self, name: str) -> bool: ...
    async def selection(self, name: str) -> Selection: ...
    async def select(self, name: str, selection: Selection) -> None: ...


Decide = Callable[[str, JsonObject], Awaitable[JsonObject]]
"""Answers an approval, given its id and the body of the request."""

ForwardToken = Callable[[str, str], None]
"""Forwards a person's own bearer token (second argument) with the calls of a conversation (first)."""


class ForwardedTokens:
    """Reads tokens from `Authorization`, or from `X-Target-Authorization` if the server has a token of its own."""

    def __init__(self, forward: ForwardToken, *, has_token: bool) -> None:
        self._forward = forward
        self._header = "x-target-authorization" if has_token else "authorization"

    def take(self, request: Request, conversation: str) -> None:
        """Forward the bearer token of a request, if it has one."""
        kind, _, token = request.headers.get(self._header, "").partition(" ")
        if kind.lower() == "bearer" and token.strip():
            self._forward(conversation, token.strip())


class NluiApi:
    def __init__(
        self,
        conversations: ConversationsApi,
        sessions: ChatSessions,
        decide: Decide,
        tokens: ForwardedTokens,
        attachments: AttachmentApi,
    ) -> None:
        self._attachments = attachments
        self._conversations = conversations
        self._sessions = sessions
        self._decide = decide
        self._tokens = tokens

    def routes(self) -> Sequence[BaseRoute]:
        one = "/api/conversations/{id}"
        return [
            Route("/api/chat", answering(self.chat), methods=["POST"]),
            Route("/api/chat/stop", answering(self.stop), methods=["POST"]),
            Route("/api/chat/confirm", answering(self.confirm), methods=["POST"]),
            Route("/api/conversations", answering(self.create), methods=["POST"]),
            Route(one, answering(self.read), methods=["GET"]),
            Route(one, answering(self.delete), methods=["DELETE"]),
            Route(f"{one}/messages/{{index:int}}", answering(self.edit), methods=["PUT"]),
            Route(f"{one}/messages/{{index:int}}", answering(self.cut), methods=["DELETE"]),
            Route(f"{one}/messages/{{index:int}}/from", answering(self.cut), methods=["DELETE"]),
            Route(f"{one}/version", answering(self.show_version), methods=["PUT"]),
            Route(f"{one}/regenerate", answering(self.regenerate), methods=["POST"]),
            Route(f"{one}/tools", answering(self.selection), methods=["GET"]),
            Route(f"{one}/tools", answering(self.select), methods=["PUT"]),
            Route("/api/chat/{session}/events", answering(self.events), methods=["GET"]),
            Route("/agents", answering(self.agents), methods=["GET"]),
            Route("/agents/{id}/abort", answering(self.abort), methods=["POST"]),
            Route("/agents/{id}/resume", answering(self.resume), methods=["POST"]),
        ]

    async def chat(self, request: Request) -> Response:
        """Post a message and stream the events of its turn; a client that disconnects does not stop the turn."""
        body = await body_of(request)
        message, client_id = await self._attachments.message(body, "message"), body.get("client_id")
        begins = "session_id" not in body and _given_name(body) is None
        if begins:
            conversation = await self._conversations.open(await self._conversations.create())
        else:
            conversation = await self._addressed(request, body)
        self._tokens.take(request, conversation.name)
        # Recording starts before the message is posted, so that no event is missed.
        session = await self._sessions.begin(conversation)
        session.said(
            await self._conversations.say(conversation.name, message, client_id if isinstance(client_id, str) else None)
        )
        return event_stream(session.texts())

    async def events(self, request: Request) -> Response:
        """Resume a stream after the event that `Last-Event-ID` names."""
        session = self._sessions.get(request.path_params["session"])
        last = request.headers.get("last-event-id", "")
        # `isdigit` alone accepts digits that `int` does not, and the length bounds the number.
        return event_stream(session.texts(int(last) if last.isascii() and last.isdigit() and len(last) < 10 else 0))

    async def stop(self, request: Request) -> Response:
        conversation = await self._addressed(request, await body_of(request))
        return JSONResponse({"stopped": conversation.stop()})

    async def confirm(self, request: Request) -> Response:
        body = await body_of(request)
        conversation = await self._addressed(request, body)
        asked = [item for item in conversation.journal.timeline.state.items if item["kind"] == "approval"]
        wanted = body.get("approval_id")
        pending = [item for item in asked if item["status"] == "pending" and wanted in {None, item["approval_id"]}]
        if not pending:
            return JSONResponse({"error": "Nothing waits for an answer"}, 409)
        approval = pending[-1]
        decision = {**body, "digest": body.get("digest") or approval["digest"]}
        return JSONResponse(await self._decide(approval["approval_id"], decision))

    async def agents(self, request: Request) -> Response:
        """List all agents with their states; one that is not served is idle."""
        names = [summary.agent for summary in await self._conversations.list_agents()]
        served = [(name, self._conversations.served(name)) for name in names]
        return JSONResponse([{"id": name, "state": one.run_state if one else "idle"} for name, one in served])

    async def abort(self, request: Request) -> Response:
        return JSONResponse({"stopped": (await self._known(request)).stop()})

    async def resume(self, request: Request) -> Response:
        """Serve an agent again: it answers messages left unanswered, and goes on where it was stopped or failed."""
        conversation = await self._known(request)
        if conversation.run_state in {"aborted", "error"}:
            await conversation.resume()
        return JSONResponse({"id": request.path_params["id"], "state": conversation.run_state})

    async def create(self, request: Request) -> Response:
        return JSONResponse({"id": await self._conversations.create(), "title": "", "messages": []}, 201)

    async def read(self, request: Request) -> Response:
        """Return a conversation with its messages."""
        conversation = await self._known(request)
        messages = shown_messages(conversation)
        title = next((message["content"] for message in messages if message["role"] == "user"), "")
        return JSONResponse({"id": conversation.name, "title": title[:80], "messages": messages})

    async def delete(self, request: Request) -> Response:
        """Delete a conversation and end its streams."""
        name = request.path_params["id"]
        if not await self._conversations.delete_agent(name):
            raise NotFoundError(f"No conversation {name}")
        self._sessions.end(name, "The conversation was deleted")
        return JSONResponse({"ok": True})

    async def edit(self, request: Request) -> Response:
        """Replace an earlier message and continue from there."""
        body = await body_of(request)
        text = await self._attachments.message(body, "content", "message")
        conversation = await self._known(request)
        await conversation.rewind(_message_at(conversation, request.path_params["index"])["item"])
        await self._conversations.say(conversation.name, text)
        return JSONResponse({"ok": True})

    async def cut(self, request: Request) -> Response:
        """Hide a message and everything after it."""
        conversation = await self._known(request)
        await conversation.rewind(_message_at(conversation, request.path_params["index"])["item"], is_cut=True)
        return JSONResponse({"ok": True})

    async def show_version(self, request: Request) -> Response:
        """Show another version of an edited or repeated message, with what followed it."""
        item = text_of(await body_of(request), "item")
        await (await self._known(request)).show_version(item)
        return JSONResponse({"ok": True})

    async def regenerate(self, request: Request) -> Response:
        """Repeat the last user message up to an index."""
        body = await body_of(request)
        conversation = await self._known(request)
        messages = shown_messages(conversation)
        index = body.get("from_index", len(messages) - 1)
        if not isinstance(index, int) or index < 0:
            raise InvalidArgumentsError("from_index must be a whole number, 0 or more")
        asked = [message for message in messages[: index + 1] if message["role"] == "user"]
        if not asked:
            raise NotFoundError("There is no question to ask again")
        await conversation.again(asked[-1]["item"])
        return JSONResponse({"ok": True})

    async def selection(self, request: Request) -> Response:
        return JSONResponse((await self._conversations.selection(request.path_params["id"])).as_json())

    async def select(self, request: Request) -> Response:
        body = await body_of(request)
        sources = body.get("enabled_sources")
        enabled = None if sources is None else _names(sources, "enabled_sources")
        chosen = Selection(enabled, _names(body.get("disabled_tools", []), "disabled_tools"))
        await self._conversations.select(request.path_params["id"], chosen)
        return JSONResponse(chosen.as_json())

    async def _known(self, request: Request) -> Conversation:
        name = request.path_params["id"]
        if name not in {summary.agent for summary in await self._conversations.list_agents()}:
            raise NotFoundError(f"No conversation {name}")
        return await self._conversations.open(name)

    async def _addressed(self, request: Request, body: JsonObject) -> Conversation:
        """Return the conversation of a session, whose id is a secret; only the person may name a conversation directly.

        Raises:
            NotFoundError: there is no such session.
            DeniedError: a program names a conversation that it did not begin.
        """
        if "session_id" in body:
            return self._sessions.get(body["session_id"]).conversation
        name = _given_name(body)
        if name is None:
            raise NotFoundError("Unknown session_id")
        if not is_person(request):
            raise DeniedError("Only the person's page may name a conversation; send the session_id of your stream")
        return await self._conversations.open(name)


def _given_name(body: JsonObject) -> str | None:
    name = body.get("conversation_id")
    return name if isinstance(name, str) and name else None


def _message_at(conversation: Conversation, index: int) -> JsonObject:
    messages = shown_messages(conversation)
    if not 0 <= index < len(messages):
        raise NotFoundError(f"There is no message {index}")
    return messages[index]


def _names(given: object, name: str) -> frozenset[str]:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise InvalidArgumentsError(f"{name} must be a list of names")
    return frozenset(given)


NLUI_PAGE = BUNDLE / "web" / "nlui"
ELEMENTS = BUNDLE / "web" / "vendor" / "elements"


def page_routes(nonces: PageNonces, frames: Callable[[str], Sequence[str]]) -> Sequence[BaseRoute]:
    """Return the routes of the page; `frames` returns the origins of apps, given the name of this host."""

    async def page(request: Request) -> Response:
        return person_html(NLUI_PAGE / "index.html", nonces, frames=frames(request.url.hostname or ""))

    files = [file_route("/nlui/elements", ELEMENTS), file_route("/nlui", NLUI_PAGE)]
    return [Route("/", page, methods=["GET"]), *files]
