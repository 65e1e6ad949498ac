"""Posting, reading and waiting with their rules."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from ui_mcp.chat.http import message_events
from ui_mcp.chat.identity import Principal, principal
from ui_mcp.chat.message import Draft, Page
from ui_mcp.chat.service import Chat, ReadRequest, open_chat
from ui_mcp.errors import ChatError

HUMAN = principal("human", "human")
AGENT = principal("agent", "agent")


@pytest.fixture
async def chat(store_url: str) -> AsyncIterator[Chat]:
    async with open_chat(store_url) as opened:
        yield opened


async def say(chat: Chat, *texts: str) -> None:
    await chat.post(HUMAN, "user", "default", [Draft(text) for text in texts])


async def answer(chat: Chat, *texts: str) -> None:
    await chat.post(AGENT, "assistant", "default", [Draft(text) for text in texts])


@pytest.mark.covers("R-PO-3")
async def test_neither_side_can_post_as_the_other(chat: Chat) -> None:
    for who, author in ((AGENT, "user"), (HUMAN, "assistant")):
        with pytest.raises(ChatError) as caught:
            await chat.post(who, author, "default", [Draft("x")])  # type: ignore[arg-type]
        assert caught.value.code == "forbidden"

    assert (await chat.read(HUMAN, ReadRequest())).messages == ()


@pytest.mark.covers("R-RS-7")
async def test_reading_as_another_subscriber_is_for_administrators(chat: Chat) -> None:
    await say(chat, "hi")

    admin = await chat.read(principal("root", "admin"), ReadRequest(subscriber="human"))
    with pytest.raises(ChatError) as caught:
        await chat.read(AGENT, ReadRequest(subscriber="human"))

    assert [message.content for message in admin.messages] == ["hi"]
    assert caught.value.code == "forbidden"


async def test_without_the_scope_nothing_can_be_read(chat: Chat) -> None:
    with pytest.raises(ChatError) as caught:
        await chat.window(Principal("nobody", frozenset()), "default")
    assert caught.value.code == "forbidden"


@pytest.mark.covers("R-RS-2")
async def test_reading_moves_nothing(chat: Chat) -> None:
    await say(chat, "a", "b")

    assert (
        await chat.read(AGENT, ReadRequest())
        == await chat.read(AGENT, ReadRequest())
        == await chat.read(HUMAN, ReadRequest())
    )


@pytest.mark.covers("R-RS-9")
async def test_a_waiter_gets_the_message_that_comes(chat: Chat) -> None:
    got: list[str] = []

    async def wait() -> None:
        page = await chat.wait(AGENT, ReadRequest(authors=["user"]), 30)
        got.extend(message.content for message in page.messages)

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await answer(chat, "not this")
            await say(chat, "this")

    assert got == ["this"]


@pytest.mark.covers("R-RS-9")
async def test_a_waiter_gets_an_empty_page_when_time_is_up_or_it_leaves(chat: Chat) -> None:
    leaving = anyio.Event()
    leaving.set()

    in_time = await chat.wait(AGENT, ReadRequest(), 0)
    left = await chat.wait(AGENT, ReadRequest(), 60, leaving.wait)

    assert [in_time.messages, left.messages] == [(), ()]


async def test_an_interruption_between_looking_and_waiting_is_not_missed(chat: Chat) -> None:
    looked = chat.tail.version
    chat.tail.cancel_waiters()
    with anyio.fail_after(30):
        assert await chat.tail.wait_version(looked) != looked


async def test_who_came_before_an_interruption_is_sent_home_although_it_does_not_wait_yet(chat: Chat) -> None:
    asked = ReadRequest("", received_at=anyio.current_time())
    chat.tail.cancel_waiters()
    with anyio.fail_after(30):
        waited = await chat.wait(AGENT, asked, 60)
        streamed = [part async for part in message_events(chat, HUMAN, asked)]

    assert waited.messages == ()
    assert streamed == ["retry: 1000\n\n"]


async def test_who_comes_after_an_interruption_waits(chat: Chat) -> None:
    chat.tail.cancel_waiters()
    got: list[str] = []

    async def wait() -> None:
        page = await chat.wait(AGENT, ReadRequest(), 60)
        got.extend(message.content for message in page.messages)

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await say(chat, "later")

    assert got == ["later"]


async def test_a_waiter_with_something_to_read_does_not_wait(chat: Chat) -> None:
    await say(chat, "here")

    with anyio.fail_after(30):
        assert len((await chat.wait(AGENT, ReadRequest(), 60)).messages) == 1


@pytest.mark.covers("R-RS-6", "R-RS-9")
async def test_a_filtered_wait_finds_what_stands_behind_a_long_run_of_others(chat: Chat) -> None:
    for _ in range(51):
        await answer(chat, *["progress"] * 100)
    await say(chat, "stop")

    with anyio.fail_after(30):
        page = await chat.wait(AGENT, ReadRequest(authors=["user"]), 60)

    assert [message.content for message in page.messages] == ["stop"]
    assert not page.has_more


@pytest.mark.covers("R-RS-11")
async def test_unread_counts_since_the_last_page_handed_out(chat: Chat) -> None:
    await say(chat, "1", "2")
    before = await chat.unread(AGENT, "default")

    await chat.read(AGENT, ReadRequest())
    nothing = await chat.unread(AGENT, "default")
    await say(chat, "3")

    assert [before, nothing] == [{"default": 2}, None]
    assert await chat.unread(AGENT, "default") == {"default": 1}
    assert await chat.unread(HUMAN, "default") is None


@pytest.mark.covers("CHAT-RECEIPT-1")
async def test_the_human_sees_what_the_agent_has_read(chat: Chat) -> None:
    await say(chat, "1")
    page = await chat.read(HUMAN, ReadRequest())
    await chat.receipts.flush()
    before = await chat.receipts.read("default")

    await chat.read(AGENT, ReadRequest())
    await chat.receipts.flush()

    assert before == {"notified": None, "read": None}
    assert await chat.receipts.read("default") == {"notified": None, "read": page.to_json()["last_id"]}


async def test_receipts_that_cannot_be_written_wait_until_they_can(tmp_path: Path) -> None:
    async with open_chat(f"sqlite:///{tmp_path / 'runtime.db'}") as chat:
        await say(chat, "1")
        await chat.receipts.flush()
        writer = chat.store._file._writer._connection  # type: ignore[attr-defined]
        writer.execute("PRAGMA query_only = 1")
        page = await chat.read(AGENT, ReadRequest())
        await chat.receipts.flush()
        refused = await chat.receipts.read("default")
        writer.execute("PRAGMA query_only = 0")

        assert refused["read"] is None
        with anyio.fail_after(30):
            while (await chat.receipts.read("default"))["read"] != page.to_json()["last_id"]:
                await anyio.sleep(0.05)


@pytest.mark.covers("R-RS-8")
async def test_who_sees_the_old_mark_has_read_before_the_mark_was_moved(chat: Chat) -> None:
    async def again() -> None:
        repeats.append(await chat.read_and_advance(AGENT, ReadRequest(), None))

    async def finish(ack: str) -> None:
        moved.append(await chat.read_and_advance(AGENT, ReadRequest(), ack))

    for _ in range(150):
        await say(chat, "known")
        known = (await chat.read_and_advance(AGENT, ReadRequest(), None)).last or 0
        repeats: list[Page] = []
        moved: list[Page] = []
        async with anyio.create_task_group() as tasks:
            for work in (again, again, lambda ack=str(known): finish(ack), lambda: say(chat, "new"), again):
                tasks.start_soon(work)
        old = [page for page in repeats if page.messages and page.messages[0].id <= known]
        assert all((page.head or 0) <= (moved[0].head or 0) for page in old)
        await finish(str(moved[0].head))
