"""What a model is writing reaches other processes before it is whole, and nothing of it stays behind."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.agent.live import LiveAnswer, posted_text
from ui_mcp.agent.model import Retrying
from ui_mcp.agent.observer import FileReader, TimelineObserver
from ui_mcp.chat.service import open_chat
from ui_mcp.jsontypes import JsonObject

pytestmark = pytest.mark.covers("R-LIVE-1")
POSTS = frozenset({"chat_assistant_post"})


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.data())
def test_the_beginning_of_a_message_is_read_from_half_of_its_json(text: str, data: st.DataObject) -> None:
    whole = json.dumps({"conversation": "default", "content": text}, ensure_ascii=data.draw(st.booleans()))
    cut = data.draw(st.integers(0, len(whole)))

    assert text.startswith(posted_text(whole[:cut]))
    assert posted_text(whole) == text


def test_several_messages_are_shown_together() -> None:
    assert posted_text('{"messages": [{"content": "a\\"b"}, {"content":"c') == 'a"b\n\nc'


async def _next(frames: AsyncIterator[JsonObject], kind: str) -> JsonObject:
    async for frame in frames:
        if frame["type"] == kind:
            return frame
    raise AssertionError(kind)


async def test_pages_of_another_process_see_a_message_grow_and_a_retry(tmp_path: Path) -> None:
    journal = JournalStore(tmp_path / "agent.db")
    lease = await journal.take_lease("default", "me", 600)
    assert lease is not None
    await journal.append(
        "default", lease, [NewEvent("turn_open", {}), NewEvent("user_text", {"message_id": "1", "text": "hi"})]
    )
    live = LiveAnswer(lambda shown: journal.set_live("default", shown), POSTS, shows_text=False)
    deltas = live.deltas()
    async with open_chat(f"sqlite:///{tmp_path}/runtime.db") as chat, anyio.create_task_group() as tasks:
        observed = TimelineObserver("default", chat, FileReader(tmp_path / "agent.db", "default"))
        with anyio.fail_after(60), observed.watched() as frames:
            tasks.start_soon(live.run)
            deltas.retrying(Retrying("The model is busy (429)", 4.0, 2, 6))
            retried = await _next(frames, "retrying")
            deltas.text("Thinking aloud, which nobody sees.")
            deltas.argument("shop__ship", '{"content": "an order')
            deltas.argument("chat_assistant_post", '{"content": "Hel')
            begun = await _next(frames, "answering")
            deltas.argument("chat_assistant_post", "lo **th")
            grown = await _next(frames, "answering")
            deltas.sampled()
            gone = await _next(frames, "answering")
        tasks.cancel_scope.cancel()
    await journal.close()

    assert retried == {
        "type": "retrying",
        "reason": "The model is busy (429)",
        "seconds": 4.0,
        "attempt": 2,
        "attempts": 6,
    }
    assert [begun["text"], grown["text"], gone["text"]] == ["Hel", "Hello **th", ""]


async def test_what_a_killed_agent_was_writing_is_not_shown_by_the_next_one(tmp_path: Path) -> None:
    journal = JournalStore(tmp_path / "agent.db")
    await journal.set_live("default", {"text": "half"})
    live = LiveAnswer(lambda shown: journal.set_live("default", shown), POSTS, shows_text=True)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(live.run)
        with anyio.fail_after(60):
            while await journal.live("default") is not None:
                await anyio.sleep(0.01)
            live.deltas().text("new")
            while await journal.live("default") != {"text": "new"}:
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    await journal.close()
