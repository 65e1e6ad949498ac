import pytest
from anyio import create_task_group, fail_after
from anyio.lowlevel import checkpoint

from ui_mcp.ui.sessions.pages import Closed, Outbox
from ui_mcp.wire import FELL_BEHIND, RESTARTED


@pytest.mark.covers("UI-WIRE-7")
async def test_frames_come_out_in_the_order_they_were_put() -> None:
    outbox = Outbox()
    for frame in "abc":
        outbox.put(frame)

    assert await outbox.take() == ["a", "b", "c"]
    assert outbox.take_now() == []


async def test_a_reader_is_woken_by_the_next_frame() -> None:
    outbox, got = Outbox(), []

    async def read() -> None:
        got.append(await outbox.take())

    with fail_after(60):
        async with create_task_group() as group:
            group.start_soon(read)
            await checkpoint()
            outbox.put("a")

    assert got == [["a"]]


@pytest.mark.covers("UI-ROB-4", "UI-WIRE-11")
async def test_a_page_that_does_not_read_is_closed_to_start_afresh() -> None:
    outbox = Outbox(limit=10)
    outbox.put("x" * 10)
    before = outbox.closed
    outbox.put("y")

    assert (before, outbox.closed) == (None, Closed(FELL_BEHIND, "the page did not read"))
    assert await outbox.take() == []


@pytest.mark.covers("UI-ROB-4")
async def test_a_page_that_reads_in_time_may_get_any_amount() -> None:
    outbox = Outbox(limit=10)
    for _ in range(100):
        outbox.put("x" * 10)
        assert await outbox.take() == ["x" * 10]

    assert outbox.closed is None


async def test_what_was_put_before_closing_still_arrives() -> None:
    outbox = Outbox()
    outbox.put("notice")
    outbox.close(RESTARTED, "session restarted")
    outbox.close(1000, "later reasons do not count")
    outbox.put("too late")

    assert [await outbox.take(), await outbox.take(), outbox.closed] == [
        ["notice"],
        [],
        Closed(RESTARTED, "session restarted"),
    ]
