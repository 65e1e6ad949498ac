"""The `ui://chat/…` resources and the MCP servers of both sides of a chat."""

from collections.abc import Sequence
from urllib.parse import parse_qs, unquote, urlsplit

from ui_mcp.chat.announcer import HEAD, INBOX
from ui_mcp.chat.identity import (
    POST_ASSISTANT,
    POST_USER,
    READ,
    AccessTokens,
    Authenticator,
    Principal,
    Role,
    principal,
)
from ui_mcp.chat.message import DEFAULT_CONVERSATION, conversation_name
from ui_mcp.chat.service import Chat, ReadRequest
from ui_mcp.chat.tools import ChatContext, ChatTools, OpenChat, Side, chat_context, naming_of
from ui_mcp.config import Config
from ui_mcp.errors import ChatError, RefusedError, ResourceNotFoundError
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_tasks.store import TaskFile, TaskStore
from ui_mcp.mcp_tasks.tasks import Tasks
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Call
from ui_mcp.version import bundled_version
from ui_mcp.workspace import TASKS_FILE, Workspace

RECEIPTS = "ui://chat/receipts"
_JSON = "application/json"
_INBOX_TEXT = "Newest messages as {last_id, messages[]}; updates announce what people wrote."
_HEAD_TEXT = "Id of the newest message; updates announce every message, the assistant's too."
_RECEIPTS_TEXT = "Up to which message the inbox was announced and read by an agent."


class ChatResources:
    def __init__(self, context: ChatContext) -> None:
        self._context = context

    async def resources(self, call: Call) -> Sequence[Resource]:
        """Return the resources of the default conversation."""
        return [
            Resource(INBOX, "chat-inbox", _INBOX_TEXT, _JSON, title="Chat inbox"),
            Resource(HEAD, "chat-head", _HEAD_TEXT, _JSON, title="Chat head"),
            Resource(RECEIPTS, "chat-receipts", _RECEIPTS_TEXT, _JSON, title="Chat receipts"),
        ]

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        """Return the templates for other conversations and for reading in pages."""
        return [
            ResourceTemplate(f"{INBOX}/{{conversation}}", "chat-inbox-of", _INBOX_TEXT, _JSON),
            ResourceTemplate(f"{INBOX}{{?after,limit}}", "chat-inbox-page", "One page after a message id.", _JSON),
            ResourceTemplate(f"{HEAD}/{{conversation}}", "chat-head-of", _HEAD_TEXT, _JSON),
            ResourceTemplate(f"{RECEIPTS}/{{conversation}}", "chat-receipts-of", _RECEIPTS_TEXT, _JSON),
        ]

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        """Return one resource as JSON.

        Raises:
            ResourceNotFoundError: the URI or its conversation does not exist.
            RefusedError: the chat refused the request.
        """
        family, conversation, query = _parts(uri)
        opened = await self._context()
        try:
            caller = await opened.caller(call)
            body = await _body(opened, caller, family, conversation_name(conversation), query)
        except ChatError as error:
            if error.code == "unknown_conversation":
                raise ResourceNotFoundError(uri, error.message) from error
            raise RefusedError(error.message, code=error.code) from error
        return [ResourceContent(uri, _JSON, dumps(body))]


async def _body(opened: OpenChat, who: Principal, family: str, conversation: str, query: dict[str, str]) -> JsonObject:
    chat = opened.chat
    if family == HEAD:
        return {"last_id": await chat.head(who, conversation)}
    if family == RECEIPTS:
        who.require(READ)
        return await chat.receipts.read(conversation)
    if not query:
        return (await chat.window(who, conversation)).to_json()
    limit = query.get("limit")
    if limit is not None and not (limit.isascii() and limit.isdecimal()):
        raise ChatError(f"limit is a whole number, not {limit[:40]!r}", "invalid_argument")
    ask = ReadRequest(query.get("after"), None if limit is None else int(limit[:9]), conversation=conversation)
    return (await chat.read(who, ask)).to_json()


def _parts(uri: str) -> tuple[str, str, dict[str, str]]:
    """Split a URI into family, conversation and query.

    Raises:
        ResourceNotFoundError: the URI is not one of a chat resource.
    """
    split = urlsplit(uri)
    plain = f"{split.scheme}://{split.netloc}{split.path}"
    for family in (INBOX, HEAD, RECEIPTS):
        if plain == family or plain.startswith(f"{family}/"):
            name = unquote(plain[len(family) + 1 :]) or DEFAULT_CONVERSATION
            query = {key: values[0] for key, values in parse_qs(split.query).items()}
            if set(query) <= ({"after", "limit"} if family == INBOX else set()):
                return family, name, query
    raise ResourceNotFoundError(uri)


ROLES: dict[Side, tuple[Role, str]] = {"human": ("human", POST_USER), "assistant": ("agent", POST_ASSISTANT)}

INSTRUCTIONS: dict[Side, str] = {
    "human": (
        "The human's side of a chat with an agent. chat_human_post says something as the human. Subscribe to "
        "ui://chat/inbox to hear of the human's messages and to ui://chat/head to hear of all; read with "
        "chat_read_since(after_id) and keep last_id."
    ),
    "assistant": (
        "The agent's side of a chat with a human. chat_assistant_post is the only way to reach them. Wait for them "
        'with chat_wait_since(after_id, authors ["user"]) or subscribe to ui://chat/inbox; read with '
        "chat_read_since(after_id) and keep last_id: nothing is lost or repeated, even over restarts."
    ),
}


@dataclass(frozen=True, slots=True)
class ChatServerOptions:
    """Which side of the chat is served, for which directory, and the principal of clients on a pipe."""

    side: Side
    base_dir: str
    principal: str | None = None
    verbosity: int = 0
    store: str | None = None
    """URL of a store to use instead of the workspace's own."""


def directory_of(served: ChatServerOptions, chat: Chat, *, always: bool = False) -> Authenticator:
    """Return the authenticator of one side's server; with `always` every client must present a token."""
    role, scope = ROLES[served.side]
    return Authenticator(
        AccessTokens(chat.store), principal(served.principal or role, role), open_scope=scope, always=always
    )


def chat_definition(
    served: ChatServerOptions, config: Config, opened: OpenChat, announcements: Announcements
) -> ServerDefinition:
    context = chat_context(opened.chat, opened.directory)
    return ServerDefinition(
        name=f"ui-mcp-chat-{served.side}",
        title="Chat with the agent" if served.side == "human" else "Chat with the human",
        version=bundled_version(),
        toolset=ChatTools(context, served.side, naming_of(config)),
        resources=ChatResources(context),
        announcements=announcements,
        instructions=INSTRUCTIONS[served.side],
        tasks=Tasks(TaskStore(TaskFile(lambda: Workspace.at(served.base_dir).state_dir / TASKS_FILE))),
        experimental={"claude/channel": {}} if config.mcp.claude_channel and served.side == "assistant" else {},
    )
