"""Begins the journal of an agent whose chat has answers already, so that nothing is answered or done twice."""

from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.chat.identity import principal
from ui_mcp.chat.message import Message, cursor, id_text
from ui_mcp.chat.service import Chat
from ui_mcp.log import logger

READER = principal("agent", "observer")
MAX_CHARS = 20_000
"""Characters of earlier messages that the model gets."""
HEAD = "[The conversation up to your newest answer; you have no record of the calls you made in it]"
NOTICE = (
    "The agent's own record of this conversation is gone or was never kept. It goes on after its newest answer, and "
    "does not repeat what it has done. `ui-mcp agent --from-start` answers everything again."
)
LOST = (
    "Messages that the agent has read are no longer in the chat; it was deleted or restored from an older copy. The "
    "agent goes on with its own record of them and with what is written from now on."
)
_log = logger("agent")


async def begin_journal(chat: Chat, conversation: str, writer: JournalWriter, *, from_start: bool = False) -> None:
    """Make the journal of an agent that starts fit the chat, if either of them was lost."""
    if writer.watermark is not None:
        await _follow_lost_chat(chat, conversation, writer, writer.watermark)
    elif not writer.events and not from_start:
        await continue_after_answers(chat, conversation, writer)


async def _follow_lost_chat(chat: Chat, conversation: str, writer: JournalWriter, read: str) -> None:
    """Move the watermark back to a chat that ends before it: new ids may be below those of the chat that is gone."""
    window = await chat.earlier(READER, conversation, id_text(cursor(read) + 1), 1)
    newest = window.messages[-1].id if window.messages else 0
    if newest == cursor(read):
        return
    await writer.write(NewEvent("notice", {"level": "warning", "text": LOST}))
    await writer.inject([], id_text(newest))
    _log.warning("agent %s: %s", writer.agent, LOST)


async def continue_after_answers(chat: Chat, conversation: str, writer: JournalWriter) -> None:
    """Set an empty journal to the newest answer in the chat; does nothing in a chat without answers."""
    said = await _until_newest_answer(chat, conversation)
    if not said:
        return
    text = "\n\n".join(f"{'Person' if one.author == 'user' else 'You'}: {one.content}" for one in said)
    await writer.write(
        NewEvent("compacted", {"text": f"{HEAD}\n{text[-MAX_CHARS:]}"}),
        NewEvent("notice", {"level": "warning", "text": NOTICE}),
    )
    await writer.inject([], id_text(said[-1].id))
    _log.warning("agent %s: %s", writer.agent, NOTICE)


async def _until_newest_answer(chat: Chat, conversation: str) -> list[Message]:
    """Return messages up to the newest answer, the last ones if there are many; none without an answer."""
    before, answered = id_text(2**63 - 1), list[Message]()
    while not answered:
        window = await chat.earlier(READER, conversation, before, None)
        answers = [at for at, one in enumerate(window.messages) if one.author == "assistant"]
        answered = list(window.messages[: answers[-1] + 1]) if answers else []
        if not window.cut or not window.messages:
            break
        before = id_text(window.messages[0].id)
    return answered
