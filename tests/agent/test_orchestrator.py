"""The orchestrator: every message once, in order, across crashes at any write."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent.test_loop import ToolContext, add, post
from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.loop import Loop, LoopSettings
from ui_mcp.agent.models.scripted import ScriptedModel, read_script
from ui_mcp.agent.orchestrator import InboxPage, Orchestrator, PollSettings
from ui_mcp.agent.timeline import RunState, StoredEvent
from ui_mcp.errors import JournalError, LeaseLostError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.storage.leases import Lease
from ui_mcp.toolkit.functions import FunctionToolset

SCRIPT = [
    {"when": {"user": "sum"}, "emit": [{"call": "calc__add", "args": {"a": 2, "b": 3}}]},
    {"when": {"user": "."}, "emit": [{"call": "chat_assistant_post", "args": {"content": "re: {{user}}"}}]},
    {"when": {"tool": "calc__add"}, "emit": [{"call": "chat_assistant_post", "args": {"content": "{{result.sum}}"}}]},
    {"emit": [{"call": "loop_yield_turn"}]},
]


PACE = PollSettings(lease_seconds=0.05, renew_seconds=0.02, poll_seconds=0.02, retry_seconds=0.005)


class People:
    """An inbox in memory."""

    def __init__(self, *texts: str) -> None:
        self.messages = [{"id": f"{n:04}", "mime": "text/plain", "content": text} for n, text in enumerate(texts, 1)]
        self.news = anyio.Event()

    async def read(self, after: str | None, limit: int) -> InboxPage:
        new = [message for message in self.messages if message["id"] > (after or "")]
        page = new[:limit]
        return InboxPage(page, page[-1]["id"] if page else after, len(new) > len(page))

    async def hint(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await self.news.wait()


class Crash(Exception):
    """The process is gone."""


class Fragile(JournalStore):
    """Crashes at the n-th write, before or after it is on disk."""

    def __init__(self, file: Path, crash_at: int, *, after: bool) -> None:
        super().__init__(file)
        self._left = crash_at
        self._after = after

    async def append(self, agent: str, lease: Lease, events: Sequence[NewEvent]) -> list[StoredEvent]:
        return await self._fragile(super().append(agent, lease, events))

    async def inject(
        self, agent: str, lease: Lease, messages: Sequence[JsonObject], watermark: str
    ) -> list[StoredEvent]:
        return await self._fragile(super().inject(agent, lease, messages, watermark))

    async def _fragile(self, write: Any) -> list[StoredEvent]:
        self._left -= 1
        if self._left == 0 and not self._after:
            write.close()
            raise Crash
        stored: list[StoredEvent] = await write
        if self._left == 0:
            raise Crash
        return stored


def orchestrator(journal: JournalStore, people: People, context: ToolContext) -> Orchestrator:
    tools = FunctionToolset(context, [post, add])

    def make_loop(writer: JournalWriter) -> Loop:
        return Loop(ScriptedModel(read_script(SCRIPT)), tools, writer, LoopSettings())

    return Orchestrator("a", journal, people, make_loop, poll=PACE)


async def until_asleep(running: Orchestrator) -> None:
    """Run until nothing is left to do, or until it crashes."""
    async with anyio.create_task_group() as tasks:

        async def stop_when_asleep() -> None:
            while running.state != "sleeping":
                await anyio.sleep(0.005)
            tasks.cancel_scope.cancel()

        tasks.start_soon(stop_when_asleep)
        await running.run()


@pytest.mark.covers("R-OR-3", "R-OR-6", "R-OR-9")
async def test_messages_become_turns_in_order(tmp_path: Path) -> None:
    journal, context = JournalStore(tmp_path / "j.db"), ToolContext()
    people = People("sum please", "hello", "and again")

    await until_asleep(orchestrator(journal, people, context))
    people.messages.append({"id": "0004", "mime": "text/plain", "content": "later"})
    people.news.set()
    await until_asleep(orchestrator(journal, people, context))

    events = await journal.events("a")
    taken = [event.data["text"] for event in events if event.type == "user_text"]
    assert taken == ["sum please", "hello", "and again", "later"]
    assert context.posted == ["re: and again", "re: later"]
    assert events[-1].data["reason"] == "yield"
    assert await journal.watermark("a") == "0004"
    await journal.close()


@pytest.mark.slow
@pytest.mark.covers("R-OR-4", "R-OR-5", "R-LO-13", "R-ST-5")
@pytest.mark.parametrize("after", [False, True])
async def test_a_crash_at_any_write_loses_nothing_and_repeats_nothing(tmp_path: Path, after: bool) -> None:
    people = People("sum", "hello", "sum again")
    crashes = 0
    for crash_at in range(1, 30):
        file, context = tmp_path / f"{crash_at}.db", ToolContext()
        try:
            await until_asleep(orchestrator(Fragile(file, crash_at, after=after), people, context))
            break
        except ExceptionGroup:
            crashes += 1

        reopened = JournalStore(file)
        await anyio.sleep(0.06)  # the dead orchestrator's lease runs out
        await until_asleep(orchestrator(reopened, people, context))

        events = await reopened.events("a")
        taken = [event.data["message_id"] for event in events if event.type == "user_text"]
        assert taken == ["0001", "0002", "0003"], crash_at
        called = [event.data["call_id"] for event in events if event.type == "tool_call"]
        ended = [event.data["call_id"] for event in events if event.type == "function_call_output"]
        assert len(called) == len(set(called)), crash_at
        assert sorted(set(called) - set(ended)) == [], crash_at
        assert events[-1].type == "ui_end_turn"
        said = [event.data["md"] for event in events if event.type == "ui_message"]
        assert said == context.posted, crash_at
        await reopened.close()
    assert crashes > 5


class Flaky(Fragile):
    """Fails at the n-th write and at the next three uses, as a full disk does, and then works again."""

    failures = 0

    async def take_lease(self, agent: str, holder: str, seconds: float) -> Lease | None:
        self._fail_again()
        return await super().take_lease(agent, holder, seconds)

    async def _fragile(self, write: Any) -> list[StoredEvent]:
        try:
            self._fail_again()
            return await super()._fragile(write)
        except (Crash, JournalError) as error:
            write.close()
            self.failures += isinstance(error, Crash)
            raise JournalError("the disk is full") from error

    def _fail_again(self) -> None:
        if 0 < self.failures < 4:
            self.failures += 1
            raise JournalError("the disk is full")


@pytest.mark.covers("R-OR-4", "R-OR-5")
@pytest.mark.parametrize("after", [False, True])
async def test_a_journal_that_fails_for_a_while_is_waited_for_and_nothing_is_lost(tmp_path: Path, after: bool) -> None:
    for fail_at in range(1, 7):
        journal, context = Flaky(tmp_path / f"{fail_at}.db", fail_at, after=after), ToolContext()

        await until_asleep(orchestrator(journal, People("sum", "hello"), context))

        events = await journal.events("a")
        assert journal.failures == 4, fail_at
        assert [event.data["message_id"] for event in events if event.type == "user_text"] == ["0001", "0002"]
        assert [event.data["md"] for event in events if event.type == "ui_message"] == context.posted, fail_at
        assert events[-1].type == "ui_end_turn"
        await journal.close()


@pytest.mark.covers("R-OR-8")
async def test_a_second_orchestrator_waits_and_a_stale_one_cannot_write(tmp_path: Path) -> None:
    journal = JournalStore(tmp_path / "j.db")
    first = await journal.take_lease("a", "first", 60)
    assert first is not None
    assert await journal.take_lease("a", "second", 60) is None
    assert await journal.take_lease("a", "first", 0.05) == first
    with anyio.fail_after(60):
        while (second := await journal.take_lease("a", "second", 60)) is None:
            await anyio.sleep(0.02)

    assert second.fence > first.fence
    with pytest.raises(LeaseLostError):
        await journal.append("a", first, [NewEvent("notice", {})])
    with pytest.raises(LeaseLostError):
        await journal.inject("a", first, [], "1")
    await journal.append("a", second, [NewEvent("notice", {"level": "info", "text": "x"})])
    assert len(await journal.events("a")) == 1
    await journal.close()


async def reached(running: Orchestrator, state: RunState) -> None:
    while running.state != state:
        await anyio.sleep(0.005)


@pytest.mark.covers("R-LO-2", "R-LO-10")
async def test_a_running_turn_can_be_stopped(tmp_path: Path) -> None:
    journal, context = JournalStore(tmp_path / "j.db"), ToolContext()
    script = read_script([{"emit": [{"delay_ms": 60000}]}])

    def make_loop(writer: JournalWriter) -> Loop:
        return Loop(ScriptedModel(script), FunctionToolset(context, [post]), writer, LoopSettings())

    running = Orchestrator("a", journal, People("hello"), make_loop)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(running.run)
            await reached(running, "running")
            assert running.stop_turn()
            await reached(running, "sleeping")
            tasks.cancel_scope.cancel()

    assert (await journal.events("a"))[-1].data["reason"] == "abort"
    await journal.close()


@pytest.mark.covers("R-OR-8")
async def test_one_whose_agent_is_forgotten_stops_without_an_error(tmp_path: Path) -> None:
    journal, context = JournalStore(tmp_path / "j.db"), ToolContext()
    script = read_script([{"emit": [{"delay_ms": 600_000}]}])

    def make_loop(writer: JournalWriter) -> Loop:
        return Loop(ScriptedModel(script), FunctionToolset(context, [post]), writer, LoopSettings())

    running = Orchestrator("a", journal, People("hello"), make_loop, poll=PollSettings(renew_seconds=600))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(running.run)
            while running.state != "running":
                await anyio.sleep(0.005)
            assert await journal.delete_agent("a")
            assert running.stop_turn()

    assert running.state == "idle"
    assert await journal.events("a") == []
    await journal.close()
