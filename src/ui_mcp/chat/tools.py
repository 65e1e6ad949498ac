"""`chat_human_post` and `chat_assistant_post`: saying something, as the side one is on."""

from typing import Annotated

from pydantic import Field

from ui_mcp.chat.desk import Desk
from ui_mcp.chat.message import DEFAULT_CONVERSATION, Author, Draft, id_text
from ui_mcp.chat.toolset import Naming
from ui_mcp.config import Config
from ui_mcp.errors import ChatError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import Args, tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, structured_result

Mime = Annotated[str, Field(description="text/markdown (default) or text/plain.")]

ClientId = Annotated[
    str | None,
    Field(description="Your own id for this message; repeating it returns the first answer and posts nothing."),
]


class Item(Args):
    """One message of a batch."""

    content: str = Field(description="The text.")
    mime: Mime = "text/markdown"
    client_id: ClientId = None


class PostArgs(Args):
    """What is said: `content`, or several `messages` at once."""

    content: str | None = Field(None, description="The text, at most 256 KiB.")
    mime: Mime = "text/markdown"
    client_id: ClientId = None
    messages: list[Item] | None = Field(None, description="1 to 100 messages instead of `content`, posted together.")
    conversation: str = Field(DEFAULT_CONVERSATION, description="Which inbox.")

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
async def human_post(desk: Desk, args: PostArgs, call: Call) -> ToolResult:
    """Post what the human says. Returns {id, ts}, or {ids, last_id} for `messages`.

    The message is on disk when this returns, and subscribers of ui://chat/inbox are notified.
    """
    return structured_result(await _post(desk, args, call, "user"))


@tool(
    "chat_assistant_post",
    PostArgs,
    title="Say something to the human",
    annotations=Annotations(destructive=False),
    aliases=("chat.assistant.post", "post", "ui.send_message", "ui_send_message", "ui__send_message"),
)
async def assistant_post(desk: Desk, args: PostArgs, call: Call) -> ToolResult:
    """Say something to the human; this is the only way to reach them. Markdown is rendered.

    Returns {id, ts}, or {ids, last_id} for `messages`. Read replies with chat_wait_since or chat_read_since.
    """
    return structured_result(await _post(desk, args, call, "assistant"))


async def _post(desk: Desk, args: PostArgs, call: Call, author: Author) -> JsonObject:
    opened = await desk()
    posted = await opened.chat.post(await opened.caller(call), author, args.conversation, args.drafts())
    if args.messages is None:
        return posted[0].to_json()
    return {"ids": [id_text(done.id) for done in posted], "last_id": id_text(posted[-1].id)}


def naming_of(config: Config) -> Naming:
    """Return how `[chat]` wants tools to be listed."""
    return Naming(config.chat.tool_names, config.chat.legacy_ui_tools)
