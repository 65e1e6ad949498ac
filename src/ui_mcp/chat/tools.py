"""The `chat_*` tools and the context in which they run."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from ui_mcp.chat.identity import Authenticator, Principal
from ui_mcp.chat.message import DEFAULT_CONVERSATION, Author, Draft, id_text
from ui_mcp.chat.service import Chat, ReadRequest
from ui_mcp.config import Config
from ui_mcp.errors import ChatError, InvalidArgumentsError, UnknownToolError
from ui_mcp.fields import Before, Limit
from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.toolkit.functions import FunctionTool, FunctionToolset, tool
from ui_mcp.toolkit.tool import Annotations, Call, Text, Tool, ToolResult, structured_result

Side = Literal["human", "assistant"]


@dataclass(frozen=True, slots=True)
class OpenChat:
    """An open chat with the authenticator of its callers."""

    chat: Chat
    directory: Authenticator

    async def caller(self, call: Call) -> Principal:
        return await self.directory.of(call.principal)


ChatContext = Callable[[], Awaitable[OpenChat]]
"""Returns the chat, opened on first use: a server may be configured before it has a chat."""


def chat_context(chat: Chat, directory: Authenticator) -> ChatContext:
    """Return the context of a chat that is already open."""
    opened = OpenChat(chat, directory)

    async def context() -> OpenChat:
        return opened

    return context


Mime = Annotated[str, "text/markdown (default) or text/plain."]

ClientId = Annotated[str | None, "Your own id; a repeated one posts nothing."]


@dataclass(frozen=True, slots=True)
class Item:
    """One message of a batch."""

    content: str
    mime: str = "text/markdown"
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class PostArgs:
    """What is said: `content`, or several `messages` at once."""

    content: Annotated[str | None, "The text, at most 256 KiB."] = None
    mime: Mime = "text/markdown"
    client_id: ClientId = None
    messages: Annotated[list[Item] | None, "1 to 100 messages instead of `content`, posted together."] = None
    conversation: str = DEFAULT_CONVERSATION

    def drafts(self) -> list[Draft]:
        """Return the messages to post.

        Raises:
            ChatError: both forms or neither were given.
        """
        if (self.content is None) == (self.messages is None):
            raise ChatError("Pass either content or messages", "invalid_argument")
        if self.messages is not None:
            return [Draft(item.content, item.mime, item.client_id) for item in self.messages]
        return [Draft(self.content or "", self.mime, self.client_id)]


@tool(
    "chat_human_post",
    PostArgs,
    title="Post as the human",
    annotations=Annotations(destructive=False),
    aliases=("chat.human.post", "post"),
)
async def human_post(context: ChatContext, args: PostArgs, call: Call) -> ToolResult:
    """Post what the human says. Returns {id, ts}, or {ids, last_id} for `messages`.

    The message is on disk when this returns, and subscribers of ui://chat/inbox are notified.
    """
    return structured_result(await _post(context, args, call, "user"))


@tool(
    "chat_assistant_post",
    PostArgs,
    title="Say something to the human",
    annotations=Annotations(destructive=False),
    aliases=(
        "chat.assistant.post",
        "chat__assistant_post",
        "post",
        "ui.send_message",
        "ui_send_message",
        "ui__send_message",
    ),
)
async def assistant_post(context: ChatContext, args: PostArgs, call: Call) -> ToolResult:
    """Say something to the human in the chat; Markdown is rendered.

    When: they should read it outside of the app. Answers come by chat_wait_since. Example: {"content": "Done."}
    """
    return structured_result(await _post(context, args, call, "assistant"))


async def _post(context: ChatContext, args: PostArgs, call: Call, author: Author) -> JsonObject:
    opened = await context()
    posted = await opened.chat.post(await opened.caller(call), author, args.conversation, args.drafts())
    if args.messages is None:
        return posted[0].to_json()
    return {"ids": [id_text(done.id) for done in posted], "last_id": id_text(posted[-1].id)}


WAIT_SECONDS = 30.0


def _only_a_number(given: Json) -> Json:
    # Elsewhere "5" is read as 5; how much is read is decided by what was written, never by a guess.
    if given is not None and (isinstance(given, bool) or not isinstance(given, int)):
        raise ValueError("should be a whole number")
    return given


@dataclass(frozen=True, slots=True)
class ReadArgs:
    """Where to read from."""

    after_id: Annotated[str | None, "The last_id you have."] = None
    limit: Annotated[int | None, Before(_only_a_number), Limit(ge=1)] = None
    authors: list[Author] | None = None
    conversation: str = DEFAULT_CONVERSATION
    subscriber: str | None = None
    """For administrators."""

    def ask(self) -> ReadRequest:
        return ReadRequest(self.after_id, self.limit, self.authors, self.conversation, self.subscriber)


@dataclass(frozen=True, slots=True)
class WaitArgs(ReadArgs):
    """Where to read from and how long to wait for something to be there."""

    timeout_s: Annotated[float, "Up to 120.", Limit(ge=0)] = WAIT_SECONDS


@tool(
    "chat_read_since",
    ReadArgs,
    title="Read messages",
    annotations=Annotations(read_only=True, idempotent=True),
    aliases=("chat.read_since", "chat__read_since", "ui.chat_read_since", "ui_chat_read_since", "read_since"),
)
async def read_since(context: ChatContext, args: ReadArgs, call: Call) -> ToolResult:
    """Return the chat's messages after `after_id`, oldest first.

    When: to catch up. Pass last_id as after_id next time. Example: {"authors": ["user"]}
    """
    opened = await context()
    page = await opened.chat.read(await opened.caller(call), args.ask())
    return structured_result(page.to_json())


@tool(
    "chat_wait_since",
    WaitArgs,
    title="Wait for messages",
    annotations=Annotations(read_only=True, idempotent=True),
    aliases=("chat.wait_since", "chat__wait_since", "ui_chat_wait_since"),
)
async def wait_since(context: ChatContext, args: WaitArgs, call: Call) -> ToolResult:
    """Wait for a message after `after_id`; answers like chat_read_since, empty when time is up.

    When: you expect the human's answer. Example: {"after_id": "12"}
    """
    opened = await context()
    caller = await opened.caller(call)
    page = await opened.chat.wait(caller, args.ask(), args.timeout_s, call.closing)
    return structured_result(page.to_json())


MARKED = "chat_read_and_advance"


@dataclass(frozen=True, slots=True)
class AdvanceArgs:
    """What is finished, and how much to read."""

    ack: Annotated[str | None, "last_id of the answer that you have finished with; absent: read again."] = None
    limit: Annotated[int | None, "Up to 1000.", Before(_only_a_number), Limit(ge=1)] = None
    authors: list[Author] | None = None
    conversation: Annotated[str, "Which inbox."] = DEFAULT_CONVERSATION
    subscriber: Annotated[str | None, "Read as another subscriber (administrators only)."] = None


@tool(
    MARKED,
    AdvanceArgs,
    title="Read messages by your mark",
    annotations=Annotations(destructive=False),
    aliases=("chat.read_and_advance", "chat__read_and_advance", "read_and_advance"),
)
async def read_and_advance(context: ChatContext, args: AdvanceArgs, call: Call) -> ToolResult:
    """Return the messages after the mark that the server keeps for you, like chat_read_since.

    Pass the answer's last_id as `ack` once you have dealt with it: only that moves your mark, never back.
    """
    opened = await context()
    ask = ReadRequest(None, args.limit, args.authors, args.conversation, args.subscriber)
    page = await opened.chat.read_and_advance(await opened.caller(call), ask, args.ack)
    return structured_result(page.to_json())


LEGACY = frozenset({"ui.send_message", "ui_send_message", "ui__send_message"})
UNREAD = "ui-mcp/unread"
DEPRECATED = "ui-mcp/deprecated"

_TOOLS: dict[Side, tuple[FunctionTool[ChatContext], ...]] = {
    "human": (human_post, read_since, wait_since, read_and_advance),
    "assistant": (assistant_post, read_since, wait_since, read_and_advance),
}


@dataclass(frozen=True, slots=True)
class Naming:
    """Names under which tools are listed; every spelling can be called, listed or not."""

    names: Literal["snake", "dotted"] = "snake"
    legacy: Literal["compat", "list", "off"] = "compat"
    marks: bool = False
    """Whether `chat_read_and_advance` is listed."""


class ChatTools:
    """The chat tools of one side, which return errors as structured results."""

    def __init__(
        self,
        context: ChatContext,
        side: Side,
        naming: Naming = Naming(),
        conversation: str = DEFAULT_CONVERSATION,
    ) -> None:
        """`conversation` is meant by calls that name none."""
        self._context = context
        self._naming = naming
        self._conversation = conversation
        self._functions = FunctionToolset(context, _TOOLS[side])

    async def tools(self, call: Call) -> Sequence[Tool]:
        offered = await self._functions.tools(call)
        listed = [self._named(tool) for tool in offered if self._naming.marks or tool.name != MARKED]
        if self._naming.legacy == "list":
            listed += [replace(tool, name="ui_send_message") for tool in listed if LEGACY & set(tool.aliases)]
        return listed

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call a tool; chat errors and invalid arguments return `{"error": {code, message, details}}`.

        Raises:
            UnknownToolError: no tool has this name.
        """
        if name in LEGACY and self._naming.legacy == "off":
            raise UnknownToolError(name)
        try:
            result = await self._functions.call(name, {"conversation": self._conversation, **arguments}, call)
        except ChatError as error:
            return _failed(error.code, error.message, error.details)
        except InvalidArgumentsError as error:
            return _failed("invalid_argument", error.message, error.details)
        return replace(result, meta=await self._meta(name, arguments, call))

    def _named(self, tool: Tool) -> Tool:
        properties = tool.input_schema["properties"]
        conversation = {**properties["conversation"], "default": self._conversation}
        schema = {**tool.input_schema, "properties": {**properties, "conversation": conversation}}
        dotted = next((alias for alias in tool.aliases if alias.startswith("chat.")), tool.name)
        return replace(tool, name=dotted if self._naming.names == "dotted" else tool.name, input_schema=schema)

    async def _meta(self, name: str, arguments: JsonObject, call: Call) -> JsonObject | None:
        opened = await self._context()
        conversation = arguments.get("conversation", self._conversation)
        unread = await opened.chat.unread(await opened.caller(call), conversation)
        meta: JsonObject = {UNREAD: unread} if unread else {}
        if name in LEGACY:
            meta[DEPRECATED] = "chat_assistant_post"
        return meta or None


def _failed(code: str, message: str, details: dict[str, object]) -> ToolResult:
    body: JsonObject = {"error": {"code": code, "message": message, "details": details}}
    return ToolResult((Text(dumps(body)),), structured=body, is_error=True)


def naming_of(config: Config) -> Naming:
    return Naming(config.chat.tool_names, config.chat.legacy_ui_tools, config.chat.server_marks)
