"""Announcements are hints: right when they come, and nothing depends on them."""

import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from terminals import with_terminal
from ui_mcp.chat import announcer
from ui_mcp.chat import tail as tails
from ui_mcp.chat.announcer import Announcer, ReceiptWriter
from ui_mcp.chat.identity import principal
from ui_mcp.chat.message import Draft, Page, now_us
from ui_mcp.chat.service import Chat, ReadRequest, open_chat
from ui_mcp.chat.sqlite_store import SqliteStore
from ui_mcp.chat.store import Post, Query
from ui_mcp.chat.tail import Follower, Tail
from ui_mcp.toolkit.announcements import Announcement, Announcements, ResourceUpdated

HUMAN, AGENT = principal("human", "human"), principal("agent", "agent")


class Heard:
    """Collects announcements and waits for one."""

    def __init__(self, bus: Announcements) -> None:
        self.all: list[ResourceUpdated] = []
        self.subscribed = False
        self._posted = anyio.Event()
        bus.listen(self._hear)

    def _hear(self, announcement: Announcement) -> bool:
        assert isinstance(announcement, ResourceUpdated)
        self.all.append(announcement)
        self._posted.set()
        self._posted = anyio.Event()
        return self.subscribed

    def of(self, uri: str) -> list[ResourceUpdated]:
        return [heard for heard in self.all if heard.uri == uri]

    async def until(self, uri: str, count: int = 1) -> None:
        with anyio.fail_after(60):
            while len(self.of(uri)) < count:
                await self._posted.wait()


@pytest.fixture(autouse=True)
def no_net(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tail's fallback poll finds nothing: only notifications count."""
    monkeypatch.setattr(tails, "IDLE_SECONDS", 3600.0)


@pytest.fixture
async def room(store_url: str) -> AsyncIterator[tuple[Chat, Heard]]:
    bus = Announcements()
    heard = Heard(bus)
    async with open_chat(store_url, announcements=bus) as chat:
        yield chat, heard


@pytest.mark.covers("R-NO-1", "R-NO-4", "R-NO-6")
async def test_a_batch_of_people_is_announced_once_with_the_messages(room: tuple[Chat, Heard]) -> None:
    chat, heard = room
    await chat.post(HUMAN, "user", "default", [Draft("a"), Draft("b")])
    await heard.until("ui://chat/inbox")

    (announced,) = heard.of("ui://chat/inbox")
    assert [message["content"] for message in (announced.extra or {})["messages"]] == ["a", "b"]


@pytest.mark.covers("R-NO-1", "CHAT-UI-4")
async def test_what_people_wrote_between_the_start_and_the_opening_is_told(store_url: str) -> None:
    bus = Announcements()
    heard = Heard(bus)
    async with open_chat(store_url) as elsewhere:
        await elsewhere.post(HUMAN, "user", "default", [Draft("before the start")])
        (before,) = (await elsewhere.read(HUMAN, ReadRequest())).messages
        while (start := time.time()) * 1000 < before.ts // 1000 + 1:
            pass
        await elsewhere.post(HUMAN, "user", "default", [Draft("after it")])
        async with open_chat(store_url, announcements=bus, since=start):
            await heard.until("ui://chat/inbox")

    (told,) = heard.of("ui://chat/inbox")
    assert [message["content"] for message in (told.extra or {})["messages"]] == ["after it"]


@pytest.mark.covers("R-NO-1")
async def test_the_first_message_is_told_at_once_and_those_right_after_it_as_one_further_batch(
    room: tuple[Chat, Heard], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcer, "BATCH_SECONDS", 3600.0)  # the batch ends when the test says so, however slow it is
    chat, heard = room
    await chat.post(HUMAN, "user", "default", [Draft("first")])
    await heard.until("ui://chat/inbox")
    told = anyio.current_time()
    for n in range(4):
        await chat.post(HUMAN, "user", "default", [Draft(f"next {n}")])
        await chat.post(AGENT, "assistant", "default", [Draft("in between")])
    monkeypatch.setattr(announcer, "BATCH_SECONDS", anyio.current_time() - told + 0.1)
    await chat.post(HUMAN, "user", "default", [Draft("next 4")])
    await heard.until("ui://chat/inbox", 2)

    batches = [
        [message["content"] for message in (told.extra or {})["messages"]] for told in heard.of("ui://chat/inbox")
    ]
    assert batches == [["first"], [f"next {n}" for n in range(5)]]


@pytest.mark.covers("R-NO-2", "R-NO-10")
async def test_an_assistant_post_moves_only_the_head(room: tuple[Chat, Heard]) -> None:
    chat, heard = room
    await chat.post(AGENT, "assistant", "default", [Draft("hello")])
    await heard.until("ui://chat/head")
    await chat.post(HUMAN, "user", "default", [Draft("hi")])
    await heard.until("ui://chat/inbox")

    (announced,) = heard.of("ui://chat/inbox")
    assert [message["content"] for message in (announced.extra or {})["messages"]] == ["hi"]


@pytest.mark.covers("R-NO-4")
async def test_a_large_batch_is_announced_without_its_messages(room: tuple[Chat, Heard]) -> None:
    chat, heard = room
    await chat.post(HUMAN, "user", "default", [Draft("x" * 17_000)])
    await heard.until("ui://chat/inbox")
    await chat.post(HUMAN, "user", "default", [Draft("x")] * 21)
    await heard.until("ui://chat/inbox", 2)

    assert [announced.extra for announced in heard.of("ui://chat/inbox")] == [None, None]


@pytest.mark.covers("CHAT-RECEIPT-1")
async def test_a_message_counts_as_notified_only_when_somebody_listens(room: tuple[Chat, Heard]) -> None:
    chat, heard = room
    await chat.post(HUMAN, "user", "default", [Draft("into the void")])
    await heard.until("ui://chat/inbox")
    await chat.receipts.flush()
    unheard = await chat.receipts.read("default")

    heard.subscribed = True
    (posted,) = await chat.post(HUMAN, "user", "default", [Draft("to somebody")])
    await heard.until("ui://chat/inbox", 2)
    await chat.receipts.flush()

    assert unheard["notified"] is None
    assert (await chat.receipts.read("default"))["notified"] == posted.to_json()["id"]


@pytest.mark.covers("R-NO-8")
async def test_a_post_through_another_opener_is_announced_here(store_url: str, room: tuple[Chat, Heard]) -> None:
    _, heard = room
    async with open_chat(store_url) as elsewhere:
        await elsewhere.post(HUMAN, "user", "ops", [Draft("hi")])
        await heard.until("ui://chat/inbox/ops")

    assert heard.of("ui://chat/inbox") == []


@pytest.mark.covers("R-ST-4")
async def test_the_store_is_watched_closely_only_while_somebody_subscribes_or_waits(tmp_path: Path) -> None:
    asked: list[bool] = []

    class Noting(SqliteStore):
        turn = anyio.Event()

        async def changed(self, limit: float, *, closely: bool = True) -> bool:
            asked.append(closely)
            turn, self.turn = self.turn, anyio.Event()
            turn.set()
            return await super().changed(limit, closely=closely)

        async def asked(self, *, closely: bool) -> None:
            with anyio.fail_after(60):
                while asked[-1:] != [closely]:
                    await self.turn.wait()

    store, bus = await Noting.open(tmp_path / "chat.db"), Announcements()
    assert isinstance(store, Noting)
    tail = Tail(store)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tail.run)
        tasks.start_soon(Announcer(store, tail, ReceiptWriter(store), bus, lambda _: None).run)
        await store.asked(closely=False)
        bus.interest("ui://themes", 1)
        bus.interest("ui-mcp://chat/inbox", 1)
        await store.asked(closely=True)
        bus.interest("ui-mcp://chat/inbox", -1)
        await store.append(Post("default", "user", "human", (Draft("wake up"),)))
        await store.asked(closely=False)
        with tail.watching():
            await store.asked(closely=True)
        tasks.cancel_scope.cancel()
    await store.close()

    assert not asked[0]


async def test_a_writer_whose_clock_is_wrong_is_noticed_too(tmp_path: Path) -> None:
    late = await SqliteStore.open(tmp_path / "chat.db", clock=lambda: now_us() - 7_200_000_000)
    async with open_chat(f"sqlite:///{tmp_path}/chat.db") as chat:
        with chat.tail.watching(), anyio.fail_after(60):
            for number in range(3):
                newest = await chat.post(HUMAN, "user", "default", [Draft("now")])
                (old,) = await late.append(Post(f"ops{number}", "user", "human", (Draft("two hours ago"),)))
                await chat.tail.wait_past(f"ops{number}", 0)
    await late.close()

    assert old.id < newest[0].id


@pytest.mark.slow
@pytest.mark.covers("R-ST-4", "R-NO-8")
async def test_another_process_is_woken_without_looking(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/storage/runtime.db"
    bus = Announcements()
    heard = Heard(bus)
    async with open_chat(url, announcements=bus, poll=3600.0) as chat:
        with chat.tail.watching():
            posting = [sys.executable, "-m", "ui_mcp", "chat", "post", "from elsewhere", "--dir", str(tmp_path)]
            await anyio.run_process(with_terminal(posting))
            await heard.until("ui://chat/inbox")
        bells = tmp_path / "storage" / "runtime.db-bells"
        kept = list(bells.iterdir())
        os.mkfifo(bells / "1-dead.bell")
        await chat.post(HUMAN, "user", "default", [Draft("a dead follower's bell is taken down")])
        after = list(bells.iterdir())

    assert len(kept) == 1
    assert after == kept
    assert list(bells.iterdir()) == []


@pytest.mark.covers("R-NO-5", "R-RS-4")
@settings(max_examples=25, deadline=None)
@given(
    posts=st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.integers(1, 4)), max_size=12),
    hints=st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=12),
    limit=st.integers(1, 5),
)
def test_lost_doubled_and_reordered_hints_change_nothing(
    posts: list[tuple[str, int]], hints: list[list[int]], limit: int
) -> None:
    """After each post the followers named in `hints` hear of it: perhaps none, perhaps one of them three times."""
    with TemporaryDirectory() as folder:
        anyio.run(_hinted, Path(folder), posts, hints, limit)


async def _hinted(folder: Path, posts: list[tuple[str, int]], hints: list[list[int]], limit: int) -> None:
    async with open_chat(f"sqlite:///{folder}/chat.db") as chat:
        held: list[list[str]] = [[], [], [], []]

        async def read(after: int) -> Page:
            return await chat.store.since(Query("default", after, limit, authors=frozenset({"user"})))

        def keep(mine: list[str]) -> Follower:
            async def take(page: Page) -> None:
                mine.extend(message.content for message in page.messages)

            return Follower(read, take)

        followers = [keep(mine) for mine in held]
        for turn, (author, count) in enumerate(posts):
            who = HUMAN if author == "user" else AGENT
            await chat.post(who, author, "default", [Draft(f"{turn}.{n}") for n in range(count)])  # type: ignore[arg-type]
            for number in hints[turn] if turn < len(hints) else []:
                await followers[number].drain()
        for follower in followers:
            await follower.drain()

        said = [f"{turn}.{n}" for turn, (author, count) in enumerate(posts) for n in range(count) if author == "user"]
        assert held == [said] * 4
