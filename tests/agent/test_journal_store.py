"""Every kind of journal keeps the same promises."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest

from chat.conftest import postgres_server, postgres_url  # noqa: F401 - fixtures
from ui_mcp.agent.journal import AgentRequest, Found, Journal, Label, MemoryJournal, NewEvent
from ui_mcp.agent.journal_store import JournalStore, journal_place
from ui_mcp.agent.observer import StoreReader
from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.errors import LeaseLostError
from ui_mcp.storage.leases import holder_name

NOTE = NewEvent("notice", {"level": "info", "text": "x\0y ünïcode"})


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def journal(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Journal]:
    if request.param == "memory":
        made: Journal = MemoryJournal()
    else:
        url = request.getfixturevalue("postgres_url")() if request.param == "postgres" else None
        made = JournalStore(journal_place(url, tmp_path))
    yield made
    await made.close()


def said(number: int) -> dict[str, str]:
    return {"message_id": f"{number:04}", "mime": "text/plain", "text": f"message {number}"}


@pytest.mark.covers("R-OR-4", "R-ST-5", "R-ST-7")
async def test_messages_are_stored_once_with_their_watermark(journal: Journal) -> None:
    lease = await journal.take_lease("a", "me", 60)
    assert lease is not None
    assert [event.id for event in await journal.inject("a", lease, [said(1), said(2)], "0002")] == [1, 2]
    assert [event.id for event in await journal.inject("a", lease, [said(2), said(3)], "0003")] == [3]
    await journal.append("a", lease, [NOTE, NOTE])

    events = await journal.events("a")
    assert [event.id for event in events] == [1, 2, 3, 4, 5]
    assert events[3].data == NOTE.data
    assert await journal.events("a", 4) == events[4:]
    assert await journal.watermark("a") == "0003"
    (life,) = await journal.list_agents()
    assert (life.agent, life.first_text, life.events) == ("a", "message 1", 5)
    assert await journal.delete_agent("a")
    assert not await journal.delete_agent("a")
    assert await journal.events("a") == []
    assert await journal.watermark("a") is None


@pytest.mark.covers("R-OR-8")
async def test_one_holder_at_a_time_and_a_stale_one_cannot_write(journal: Journal) -> None:
    first = await journal.take_lease("a", "first", 60)
    assert first is not None
    assert await journal.take_lease("a", "second", 60) is None
    assert await journal.take_lease("a", "first", 0.05) == first
    with anyio.fail_after(60):
        while (second := await journal.take_lease("a", "second", 60)) is None:
            await anyio.sleep(0.02)

    assert second.fence == first.fence + 1
    with pytest.raises(LeaseLostError):
        await journal.append("a", first, [NOTE])
    with pytest.raises(LeaseLostError):
        await journal.inject("a", first, [said(1)], "0001")
    assert await journal.events("a") == []
    assert await journal.watermark("a") is None
    await journal.drop_lease("a", first)
    assert await journal.take_lease("a", "third", 60) is None
    await journal.drop_lease("a", second)
    assert await journal.take_lease("a", "third", 60) is not None


@pytest.mark.covers("R-OR-8")
async def test_the_lease_of_a_process_that_died_on_this_machine_is_free(journal: Journal) -> None:
    host, pid, rest = holder_name().split(":")
    dead = f"{host}:{2**22 - 3}:{rest}"
    assert await journal.take_lease("a", dead, 60) is not None
    assert await journal.take_lease("a", holder_name(), 60) is not None
    assert await journal.take_lease("a", f"elsewhere:{pid}:{rest}", 60) is None


@pytest.mark.covers("R-ST-7")
async def test_many_writes_at_once_get_numbers_without_gaps(journal: Journal) -> None:
    lease = await journal.take_lease("a", "me", 60)
    assert lease is not None
    stored: list[StoredEvent] = []

    async def write() -> None:
        for _ in range(10):
            stored.extend(await journal.append("a", lease, [NOTE, NOTE]))

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(write)

    assert sorted(event.id for event in stored) == list(range(1, 81))
    assert [event.id for event in await journal.events("a")] == list(range(1, 81))


@pytest.mark.covers("R-OR-8")
async def test_a_shared_journal_can_be_watched_from_elsewhere(postgres_url: Callable[[], str]) -> None:  # noqa: F811
    journal = JournalStore(postgres_url())
    reader = StoreReader(journal, "a")
    assert (await reader.news(), reader.served) == ([], False)
    lease = await journal.take_lease("a", "me", 60)
    assert lease is not None
    stored = await journal.append("a", lease, [NOTE])

    assert (await reader.news(), reader.served) == (stored, True)
    assert await reader.news() == []
    await journal.drop_lease("a", lease)
    await reader.news()
    assert not reader.served
    await journal.close()


@pytest.mark.covers("R-OR-11")
async def test_a_request_reaches_the_process_that_serves_the_agent_once(journal: Journal) -> None:
    assert not await journal.ask("a", "stop")  # no one serves it
    lease = await journal.take_lease("a", "me", 60)
    assert lease is not None
    await journal.append("a", lease, [NOTE])
    assert await journal.take_request("a") is None

    assert await journal.ask("a", "resume")
    assert await journal.ask("a", "stop")  # the last one counts

    assert await journal.take_request("a") == AgentRequest("stop", 1)
    assert await journal.take_request("a") is None


@pytest.mark.covers("R-UI-9")
async def test_labels_are_kept_and_messages_found_in_any_case(journal: Journal) -> None:
    for agent, text in (("a", "Grüße aus Köln: 100% fine"), ("b", "nothing here")):
        lease = await journal.take_lease(agent, "me", 60)
        assert lease is not None
        await journal.inject(agent, lease, [{"message_id": "1", "mime": "text/plain", "text": text}], "1")
        await journal.append(agent, lease, [NewEvent("ui_message", {"message_id": "2", "md": f"Re: {text}"})])
    await journal.set_label("a", Label("Trip", pinned=True))
    await journal.set_label("a", Label("Cologne", archived=True))

    labels = {one.agent: one.label for one in await journal.list_agents()}
    assert labels == {"a": Label("Cologne", archived=True), "b": Label()}
    assert await journal.search("GRÜSSE AUS köln", 10) == [Found("a", "Re: Grüße aus Köln: 100% fine")]
    assert await journal.search("0% f", 10) == [Found("a", "Re: Grüße aus Köln: 100% fine")]
    assert await journal.search("1%0", 10) == []
    await journal.delete_agent("a")
    assert await journal.search("köln", 10) == []
