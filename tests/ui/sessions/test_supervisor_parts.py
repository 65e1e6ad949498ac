"""The small parts of a session: timers, crash counting, thinned-out announcements."""

import time
from asyncio import all_tasks, get_running_loop

import pytest
from anyio import Event, create_task_group, fail_after
from anyio.lowlevel import checkpoint

from ui_mcp.errors import RefusedError
from ui_mcp.ui.sessions.context import ThrottledAnnouncer
from ui_mcp.ui.sessions.events import EventQueue
from ui_mcp.ui.sessions.pages import Connection, Pages
from ui_mcp.ui.sessions.supervisor import MAX_TIMERS, CrashLimiter, Timers, WorkerOutputs


class Fired:
    """Records the timers that fired."""

    def __init__(self) -> None:
        self.handles: list[int] = []
        self._changed = Event()

    async def fire(self, handle: int) -> None:
        self.handles.append(handle)
        self._changed.set()

    async def until(self, count: int) -> list[int]:
        with fail_after(60):
            while len(self.handles) < count:
                self._changed = Event()
                await self._changed.wait()
        return self.handles


@pytest.mark.covers("UI-LSES-9")
async def test_timers_fire_in_order_of_their_time_and_are_forgotten() -> None:
    fired = Fired()

    async with create_task_group() as group:
        timers = Timers(group, fired.fire)
        for handle, seconds in ((1, 1.0), (2, 0.0), (3, 0.5)):
            timers.start(handle, seconds)

        assert await fired.until(3) == [2, 3, 1]
    assert len(timers) == 0


@pytest.mark.covers("UI-LSES-9", "UI-ROB-4")
async def test_cancelled_timers_do_not_fire_and_unknown_handles_are_ignored() -> None:
    fired = Fired()

    async with create_task_group() as group:
        timers = Timers(group, fired.fire)
        timers.start(1, 0.2)
        timers.start(2, 60)
        timers.start(3, 0.5)
        timers.cancel(1)
        timers.cancel(99)
        timers.start(2, 0.0)

        assert await fired.until(2) == [2, 3]
    assert len(timers) == 0


@pytest.mark.covers("UI-LSES-13")
async def test_more_timers_than_a_session_may_have_are_refused_and_none_costs_a_task() -> None:
    async def fire(handle: int) -> None:
        raise AssertionError(handle)

    async with create_task_group() as group:
        timers = Timers(group, fire)
        tasks = len(all_tasks())
        for handle in range(MAX_TIMERS):
            timers.start(handle, 3600)

        with pytest.raises(RefusedError, match="10000 timers"):
            timers.start(MAX_TIMERS, 3600)
        timers.start(0, 3600)  # one that is replaced counts once

        assert len(timers) == MAX_TIMERS
        assert len(all_tasks()) == tasks
        timers.cancel_all()


async def test_a_timer_that_was_cancelled_while_due_does_not_fire() -> None:
    fired = Fired()

    async with create_task_group() as group:
        timers = Timers(group, fired.fire)
        timers.start(1, 0)
        timers.cancel_all()
        timers.start(2, 0.01)

        assert await fired.until(1) == [2]


async def test_a_timer_that_is_cancelled_in_the_moment_it_is_due_does_not_fire_and_harms_nobody() -> None:
    fired = Fired()

    async with create_task_group() as group:
        timers = Timers(group, fired.fire)
        timers.start(1, 0.01)
        timers.start(2, 0.01)
        loop = get_running_loop()
        loop.call_later(0.011, timers.cancel, 1)
        loop.call_later(0.011, timers.start, 2, 0.01)
        time.sleep(0.05)  # all of it is due at once

        assert await fired.until(1) == [2]
    assert fired.handles == [2]
    assert len(timers) == 0


def test_the_third_crash_within_a_minute_is_one_too_many() -> None:
    crashes = CrashLimiter()

    assert [crashes.may_restart(now) for now in (0.0, 10.0, 59.0)] == [True, True, False]


def test_crashes_far_apart_are_forgiven() -> None:
    crashes = CrashLimiter()

    assert all(crashes.may_restart(now) for now in (0.0, 40.0, 80.0, 120.0))


@pytest.mark.covers("UI-RES-10")
async def test_a_burst_of_changes_is_announced_at_once_and_once_more_at_its_end() -> None:
    announced: list[str] = []

    async with create_task_group() as group:
        told = ThrottledAnnouncer(group, announced.append, interval=0.05)
        told("ui://state")
        with fail_after(60):
            while not announced:
                await checkpoint()
        for _ in range(50):
            told("ui://state")
        told("ui://events")

    assert sorted(announced) == ["ui://events", "ui://state", "ui://state"]
    assert announced[0] == "ui://state"


@pytest.mark.covers("UI-RES-10")
async def test_nothing_is_announced_again_before_its_time() -> None:
    announced: list[str] = []

    async with create_task_group() as group:
        told = ThrottledAnnouncer(group, announced.append, interval=3600)
        for _ in range(100):
            told("ui://state")
            await checkpoint()
        group.cancel_scope.cancel()

    assert announced == ["ui://state"]


async def test_a_worker_that_was_replaced_is_not_heard_any_more() -> None:
    heard: list[str] = []
    queue = EventQueue()
    pages = Pages(_nobody_asks)
    page = pages.add()
    outputs = WorkerOutputs(
        pages,
        queue,
        _no_timers(),
        lambda: heard.append("frame"),
        lambda kind, _: heard.append(kind),
        heard.append,
    )
    outputs.current = False

    outputs.frame(page.number, "{}")
    outputs.event("1")
    outputs.timer(1, 0)
    outputs.cancel(1)
    outputs.note("displayed", "x")
    outputs.ended("killed")

    assert (heard, len(queue), len(outputs.timers), page.outbox.take_now()) == ([], 0, 0, [])


async def _nobody_asks(_page: Connection, _frame: str) -> None:
    return


def _no_timers() -> Timers:
    async def fire(handle: int) -> None:
        raise AssertionError(handle)

    return Timers(create_task_group(), fire)
