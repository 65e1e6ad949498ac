"""An agent whose journal or chat was lost continues; it does not answer anything again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ui_mcp.agent.history import HEAD, LOST, NOTICE, begin_journal, continue_after_answers
from ui_mcp.agent.journal import Journal, MemoryJournal
from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.chat.identity import principal
from ui_mcp.chat.message import Draft, id_text
from ui_mcp.chat.service import Chat, ReadRequest, open_chat
from ui_mcp.storage.leases import Lease

HUMAN, AGENT = principal("human", "human"), principal("agent", "agent")


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chat]:
    async with open_chat(f"sqlite:///{tmp_path / 'chat.db'}") as opened:
        yield opened


async def leased(journal: Journal) -> Lease:
    lease = await journal.take_lease("default", "test", 60)
    assert lease is not None
    return lease


async def begun(chat: Chat, kept: Journal | None = None) -> JournalWriter:
    journal = kept or MemoryJournal()
    writer = JournalWriter(journal, "default", await leased(journal))
    await continue_after_answers(chat, "default", writer)
    return writer


@pytest.mark.covers("R-OR-12")
async def test_what_was_answered_is_history_and_what_came_after_is_new(chat: Chat) -> None:
    await chat.post(HUMAN, "user", "default", [Draft("one")])
    (answer,) = await chat.post(AGENT, "assistant", "default", [Draft("done: one")])
    await chat.post(HUMAN, "user", "default", [Draft("two")])

    writer = await begun(chat)

    assert writer.watermark == id_text(answer.id)
    assert [message.text for message in writer.transcript.messages()] == [f"{HEAD}\nPerson: one\n\nYou: done: one"]
    assert [item["text"] for item in writer.timeline.state.items] == [NOTICE]
    assert not writer.progress.turn


@pytest.mark.covers("R-OR-12")
async def test_a_chat_without_answers_is_read_from_its_beginning(chat: Chat) -> None:
    await chat.post(HUMAN, "user", "default", [Draft("one")])

    writer = await begun(chat)

    assert (writer.watermark, writer.events) == (None, [])


@pytest.mark.covers("R-OR-12")
async def test_an_answer_is_found_behind_many_later_messages(chat: Chat) -> None:
    (answer,) = await chat.post(AGENT, "assistant", "default", [Draft("done")])
    for number in range(1500):
        await chat.post(HUMAN, "user", "default", [Draft(f"message {number}")])

    assert (await begun(chat)).watermark == id_text(answer.id)


@pytest.mark.covers("R-OR-12")
async def test_a_journal_that_was_cut_to_nothing_counts_as_none(chat: Chat, tmp_path: Path) -> None:
    (tmp_path / "agent.db").touch()
    await chat.post(HUMAN, "user", "default", [Draft("one")])
    (answer,) = await chat.post(AGENT, "assistant", "default", [Draft("done: one")])
    journal = JournalStore(tmp_path / "agent.db")

    writer = await begun(chat, journal)
    await journal.close()

    assert writer.watermark == id_text(answer.id)
    assert [item["text"] for item in writer.timeline.state.items] == [NOTICE]


@pytest.mark.covers("R-OR-12")
@pytest.mark.parametrize("read", ["before now", "in the future"])
async def test_a_chat_that_was_deleted_is_told_of_and_its_new_messages_are_taken(chat: Chat, read: str) -> None:
    """With a clock that was set back, ids of the new chat are below those that the agent has read."""
    journal = MemoryJournal()
    writer = JournalWriter(journal, "default", await leased(journal))
    await writer.inject([], id_text(5 if read == "before now" else 2**62))
    await chat.post(HUMAN, "user", "default", [Draft("at the new chat")])
    await begin_journal(chat, "default", writer)
    await chat.post(HUMAN, "user", "default", [Draft("in the new chat")])

    page = await chat.read(AGENT, ReadRequest(writer.watermark))
    await begin_journal(chat, "default", writer)

    assert [item["text"] for item in writer.timeline.state.items] == [LOST]
    assert page.messages[-1].content == "in the new chat"


@pytest.mark.covers("R-OR-12")
async def test_an_agent_that_starts_again_with_its_chat_says_nothing(chat: Chat) -> None:
    journal = MemoryJournal()
    writer = JournalWriter(journal, "default", await leased(journal))
    await chat.post(HUMAN, "user", "default", [Draft("one")])
    (answer,) = await chat.post(AGENT, "assistant", "default", [Draft("done: one")])
    await writer.inject([], id_text(answer.id))
    await chat.post(HUMAN, "user", "default", [Draft("two")])

    await begin_journal(chat, "default", writer)

    assert (writer.watermark, writer.timeline.state.items) == (id_text(answer.id), ())
