"""The boundary of a source: anything raised inside becomes its error, logged once, and its work is tried again."""

import logging

import anyio
import pytest

from ui_mcp import isolation
from ui_mcp.errors import UpstreamError
from ui_mcp.isolation import Boundary, Workers


@pytest.mark.covers("GW-ISO-1")
@pytest.mark.parametrize(
    "error", [KeyError("name"), RecursionError(), UpstreamError("it is away"), ExceptionGroup("", [TypeError("x")])]
)
def test_what_is_raised_inside_is_told_to_the_source_and_logged_once(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[str] = []
    boundary = Boundary("target a", told.append)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            with boundary:
                raise error

    records = [record for record in caplog.records if record.name == "ui_mcp.isolation"]
    assert len(told) == 3
    assert len(records) == 1
    assert bool(records[0].exc_info) == (not isinstance(error, UpstreamError))


def test_being_cancelled_and_interrupted_is_not_an_error_of_the_source() -> None:
    with pytest.raises(KeyboardInterrupt), Boundary("target a", pytest.fail):
        raise KeyboardInterrupt


@pytest.mark.covers("GW-ISO-1")
async def test_work_that_fails_is_tried_again_beside_work_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "FIRST_PAUSE", 0.0)
    told: list[str] = []
    calm, steady = anyio.Event(), anyio.Event()

    async def failing() -> None:
        if len(told) < 3:
            raise TypeError("strange")
        calm.set()

    async def going_on() -> None:
        await calm.wait()
        steady.set()

    workers = Workers()
    async with anyio.create_task_group() as workers.tasks:
        workers.start("a", failing, Boundary("a", told.append))
        workers.start("b", going_on, Boundary("b", pytest.fail))
        with anyio.fail_after(60):
            await steady.wait()

    assert told == ["failed unexpectedly (TypeError: strange)\nThe log has the details."] * 3
