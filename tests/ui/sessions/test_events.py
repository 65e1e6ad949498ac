import random
from contextlib import suppress

import pytest
from anyio import create_task_group, fail_after, move_on_after, sleep_forever
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.errors import SessionGoneError
from ui_mcp.jsontypes import dumps, loads
from ui_mcp.ui.sessions.events import MAX_BYTES, MAX_EVENTS, Change, EventQueue, as_array, clamp_wait


async def take(queue: EventQueue, timeout: float = 60.0) -> list[str]:
    async with queue.taken(timeout) as events:
        return events


async def until_polling(queue: EventQueue, waiters: int = 1) -> None:
    with fail_after(60):
        while len(queue._waiters) < waiters:
            await checkpoint()


@pytest.mark.covers("UI-WAIT-1", "UI-WAIT-3")
async def test_a_drain_returns_everything_in_push_order_and_empties_the_queue() -> None:
    queue = EventQueue()
    queue.push('{"n":1}', '{"n":2}')
    queue.push('{"n":3}')

    assert as_array(await take(queue)) == '[{"n":1},{"n":2},{"n":3}]'
    assert len(queue) == 0


@pytest.mark.covers("UI-WAIT-3")
async def test_an_empty_queue_answers_with_nothing_after_the_timeout() -> None:
    assert await take(EventQueue(), timeout=0.01) == []


@pytest.mark.covers("UI-WAIT-5")
async def test_an_event_pushed_while_a_waiter_registers_is_delivered_at_once() -> None:
    queue = EventQueue(lambda change: queue.push('{"n":1}') if change == "waiting" else None)

    assert await take(queue, timeout=60) == ['{"n":1}']


@pytest.mark.covers("UI-WAIT-6")
async def test_the_longest_waiting_gets_the_whole_batch_and_the_others_keep_waiting() -> None:
    queue = EventQueue()
    got: dict[str, list[str]] = {}

    async def waiter(name: str) -> None:
        got[name] = await take(queue)

    async with create_task_group() as group:
        for number, name in enumerate(("first", "second"), start=1):
            group.start_soon(waiter, name)
            await until_polling(queue, number)
        queue.push("1")
        queue.push("2")
        await until_polling(queue, 1)
        while "first" not in got:
            await checkpoint()
        assert (got, queue.polling) == ({"first": ["1", "2"]}, True)
        queue.push("3")

    assert got == {"first": ["1", "2"], "second": ["3"]}


async def test_a_newcomer_does_not_overtake_a_waiter_that_was_already_chosen() -> None:
    queue = EventQueue()
    got: list[tuple[str, list[str]]] = []

    async def waiter(name: str, timeout: float) -> None:
        got.append((name, await take(queue, timeout)))

    async with create_task_group() as group:
        group.start_soon(waiter, "early", 60.0)
        await until_polling(queue)
        queue.push("1")
        await waiter("late", 0.01)

    assert got == [("early", ["1"]), ("late", [])]


@pytest.mark.covers("UI-WAIT-7")
async def test_events_that_could_not_be_answered_return_to_the_front() -> None:
    queue = EventQueue()
    queue.push("1", "2")

    with suppress(ConnectionError):
        async with queue.taken(1):
            queue.push("3")
            raise ConnectionError

    assert queue.texts() == ["1", "2", "3"]


@pytest.mark.covers("UI-WAIT-7", "UI-WAIT-8")
async def test_a_cancelled_waiter_stops_polling_at_once_and_leaves_its_batch_to_the_next() -> None:
    queue = EventQueue()
    got: list[list[str]] = []

    async def writes_for_ever() -> None:
        async with queue.taken(60):
            await sleep_forever()

    async def second() -> None:
        got.append(await take(queue))

    async with create_task_group() as group:
        with move_on_after(60) as first:
            async with create_task_group() as inner:
                inner.start_soon(writes_for_ever)
                await until_polling(queue, 1)
                group.start_soon(second)
                await until_polling(queue, 2)
                queue.push("1")
                first.cancel()

    assert got == [["1"]]
    assert not queue.polling


@pytest.mark.covers("UI-WAIT-6", "UI-WAIT-8")
async def test_a_push_that_picks_a_waiter_on_its_way_out_reaches_the_next() -> None:
    queue = EventQueue()
    got: list[list[str]] = []

    async def second() -> None:
        got.append(await take(queue, 60))

    with fail_after(60):
        async with create_task_group() as group:
            with move_on_after(60) as leaving:
                async with create_task_group() as inner:
                    inner.start_soon(take, queue, 60)
                    await until_polling(queue, 1)
                    group.start_soon(second)
                    await until_polling(queue, 2)
                    leaving.cancel()
                    queue.push("1")

    assert got == [["1"]]


@pytest.mark.covers("UI-WAIT-8", "UI-WAIT-9")
async def test_every_step_of_a_wait_is_told() -> None:
    told: list[tuple[Change, bool]] = []
    queue = EventQueue(lambda change: told.append((change, queue.polling)))

    async with create_task_group() as group:
        group.start_soon(take, queue)
        await until_polling(queue)
        queue.push("1")

    assert told == [("waiting", True), ("pushed", True), ("drained", True), ("ended", False)]


async def test_wait_time_is_zero_while_somebody_waits() -> None:
    queue = EventQueue()
    assert queue.wait_time > 0
    async with create_task_group() as group:
        group.start_soon(take, queue)
        await until_polling(queue)
        assert queue.wait_time == 0
        queue.push("1")


@pytest.mark.covers("UI-WAIT-4", "UI-FSM-8")
async def test_closing_gives_the_last_events_to_one_waiter_and_releases_the_others() -> None:
    queue = EventQueue()
    got: list[object] = []

    async def waiter() -> None:
        try:
            got.append(await take(queue))
        except SessionGoneError as error:
            got.append(str(error))

    async with create_task_group() as group:
        for number in (1, 2):
            group.start_soon(waiter)
            await until_polling(queue, number)
        queue.push_system('{"event":"server_reconfigured"}')
        queue.close()

    assert got == [['{"event":"server_reconfigured"}'], "No active session"]
    with pytest.raises(SessionGoneError):
        await take(queue)


@pytest.mark.covers("UI-WAIT-11")
def test_a_full_queue_drops_its_oldest_events_and_counts_them() -> None:
    queue = EventQueue()
    queue.push_system('{"app":"ui-mcp"}')
    queue.push(*[str(number) for number in range(MAX_EVENTS + 2)])

    dropped, system, *rest = queue.drain()

    assert loads(dropped) == {"app": "ui-mcp", "event": "events_dropped", "count": 3}
    assert (system, rest[0], rest[-1], len(rest)) == ('{"app":"ui-mcp"}', "3", str(MAX_EVENTS + 1), MAX_EVENTS - 1)
    assert queue.drain() == []


@pytest.mark.covers("UI-WAIT-11")
def test_too_many_bytes_are_dropped_too() -> None:
    queue = EventQueue()
    queue.push("x" * MAX_BYTES)
    queue.push('"y"')

    assert [len(event) < 100 for event in queue.drain()] == [True, True]


@pytest.mark.covers("UI-WAIT-2")
@pytest.mark.parametrize(
    ("given_text", "seconds"),
    [(None, 30), ("x", 30), ("", 30), ("nan", 30), ("0", 1), ("-5", 1), ("2.5", 2.5), ("120", 120), ("9999", 120)],
)
def test_the_timeout_is_clamped(given_text: str | None, seconds: float) -> None:
    assert clamp_wait(given_text) == seconds


@given(st.one_of(st.text(), st.floats()))
def test_any_timeout_gives_between_one_second_and_two_minutes(value: str | float) -> None:
    assert 1 <= clamp_wait(value) <= 120


async def produce(queue: EventQueue, producer: int, count: int) -> None:
    for number in range(count):
        queue.push(dumps([producer, number]))
        if number % (producer + 2) == 0:
            await checkpoint()


@pytest.mark.covers("UI-WAIT-6", "UI-WAIT-7")
async def test_ten_thousand_events_from_eight_producers_arrive_once_each_in_order() -> None:
    queue, rng, received = EventQueue(), random.Random(7), list[list[int]]()
    producers, each = 8, 1250

    async def consume_once() -> None:
        async with queue.taken(0.2) as events:
            if rng.random() < 0.3:
                raise ConnectionError
            received.extend(loads(event) for event in events)

    async def consume() -> None:
        while len(received) < producers * each:
            with move_on_after(0.5 if rng.random() < 0.9 else 0):
                with suppress(ConnectionError):
                    await consume_once()

    with fail_after(60):
        async with create_task_group() as group:
            for start in [consume] * 3:
                group.start_soon(start)
            for number in range(producers):
                group.start_soon(produce, queue, number, each)

    assert len(received) == producers * each
    for producer in range(producers):
        assert [number for who, number in received if who == producer] == list(range(each))
