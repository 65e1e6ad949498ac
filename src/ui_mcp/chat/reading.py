"""`chat_read_since` and `chat_wait_since`: reading with a cursor of one's own."""

from pydantic import Field

from ui_mcp.chat.desk import Desk
from ui_mcp.chat.message import DEFAULT_CONVERSATION, Author
from ui_mcp.chat.service import Ask
from ui_mcp.toolkit.functions import Args, tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, structured_result

WAIT_SECONDS = 30.0


class ReadArgs(Args):
    """Where to read from."""

    after_id: str | None = Field(None, description="The last_id you have; absent: from the start.")
    limit: int | None = Field(None, ge=1, description="At most so many messages, up to 1000 (default).")
    authors: list[Author] | None = Field(None, description='Only these authors, e.g. ["user"].')
    conversation: str = Field(DEFAULT_CONVERSATION, description="Which inbox.")
    subscriber: str | None = Field(None, description="Read as another subscriber (administrators only).")

    def ask(self) -> Ask:
        """Return the question behind the arguments."""
        return Ask(self.after_id, self.limit, self.authors, self.conversation, self.subscriber)


class WaitArgs(ReadArgs):
    """Where to read from and how long to wait for something to be there."""

    timeout_s: float = Field(WAIT_SECONDS, ge=0, description="Seconds to wait, up to 120; keep below your call limit.")


@tool(
    "chat_read_since",
    ReadArgs,
    title="Read messages",
    annotations=Annotations(read_only=True, idempotent=True),
    aliases=("chat.read_since", "ui.chat_read_since", "ui_chat_read_since", "read_since"),
)
async def read_since(desk: Desk, args: ReadArgs, call: Call) -> ToolResult:
    """Return the messages after `after_id`, oldest first, as {messages, last_id, head_id, has_more}.

    Keep last_id and pass it as after_id next time: nothing is skipped or repeated. While has_more is true, read on.
    """
    opened = await desk()
    page = await opened.chat.read(await opened.caller(call), args.ask())
    return structured_result(page.to_json())


@tool(
    "chat_wait_since",
    WaitArgs,
    title="Wait for messages",
    annotations=Annotations(read_only=True, idempotent=True),
    aliases=("chat.wait_since", "ui_chat_wait_since"),
)
async def wait_since(desk: Desk, args: WaitArgs, call: Call) -> ToolResult:
    """Wait until a message exists after `after_id`, then answer like chat_read_since; an empty page when time is up.

    Nothing is taken away by waiting. Use authors ["user"] to wait for the human.
    """
    opened = await desk()
    caller = await opened.caller(call)
    page = await opened.chat.wait(caller, args.ask(), args.timeout_s, call.closing)
    return structured_result(page.to_json())
