"""A worker in a process of its own: it may die, the server does not notice more than that."""

import os
import signal
from pathlib import Path

import anyio
import pytest

from lua_runtime.workers import Recorded, launch_at
from ui_mcp.errors import SessionGoneError
from ui_mcp.lua_runtime import worker_process
from ui_mcp.lua_runtime.fork_server import FORKS
from ui_mcp.lua_runtime.interface import EntryContext
from ui_mcp.lua_runtime.worker_process import ProcessWorkerHost
from ui_mcp.wire import Op

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True, params=[True, False], ids=["forked", "spawned"])
def forks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Workers of the fork server, and started without one."""
    wanted = bool(request.param)
    if wanted and not FORKS:
        pytest.skip("no fork server on this system")
    monkeypatch.setattr(worker_process, "FORKS", wanted)
    return wanted


async def test_a_child_answers_like_a_worker_in_process(tmp_path: Path) -> None:
    outputs = Recorded()
    worker = await ProcessWorkerHost().launch(launch_at(tmp_path), outputs)

    reply = await worker.call(
        Op.RUN, "mcp.pushState({n = mcp.pendingEventCount()}) print('out') return 'é'", facts=EntryContext(pending=3)
    )

    assert (reply.result, reply.fault, outputs.events) == ('"é"', None, ['{"n":3}'])
    assert (tmp_path / "ui" / "log" / "lua.log").read_text() == "out\n"
    await worker.close()
    await worker.close()
    with pytest.raises(SessionGoneError):
        await worker.call(Op.REFRESH)
    assert outputs.endings == []


@pytest.mark.covers("UI-LUA-6")
async def test_a_failing_start_leaves_no_process(tmp_path: Path) -> None:
    (tmp_path / "ui" / "lua").mkdir(parents=True)
    bomb = "string.find(('a'):rep(40), ('a?'):rep(40) .. ('a'):rep(40))"
    (tmp_path / "ui" / "lua" / "main.lua").write_text(bomb)

    with pytest.raises(SessionGoneError, match="timeout"):
        await ProcessWorkerHost().launch(launch_at(tmp_path, max_seconds=2), Recorded())


@pytest.mark.covers("UI-BUDG-1", "UI-ROB-1")
async def test_a_pattern_bomb_ends_only_its_session(tmp_path: Path) -> None:
    outputs = Recorded()
    worker = await ProcessWorkerHost().launch(launch_at(tmp_path, max_seconds=2), outputs)
    bomb = "return string.find(('a'):rep(40), ('a?'):rep(40) .. ('a'):rep(40))"

    with pytest.raises(SessionGoneError, match=r"timeout: Lua code ran longer than 2 s"):
        await worker.call(Op.RUN, bomb)

    assert outputs.endings == ["timeout: Lua code ran longer than 2 s"]
    with pytest.raises(SessionGoneError):
        await worker.call(Op.RUN, "return 1")
    await worker.close()


@pytest.mark.covers("UI-BUDG-4", "UI-ROB-1")
async def test_a_huge_allocation_is_an_error_and_keeping_too_much_is_the_end(tmp_path: Path) -> None:
    outputs = Recorded()
    worker = await ProcessWorkerHost().launch(launch_at(tmp_path, max_memory_mb=16), outputs)

    grown = await worker.call(Op.RUN, "local s = 'x' for i = 1, 31 do s = s .. s end return #s")
    assert grown.fault is not None
    assert grown.fault.code == "memory"
    assert (await worker.call(Op.RUN, "collectgarbage() return 1")).result == "1"
    kept = await worker.call(Op.RUN, "keep = {} while true do keep = {keep} end")
    assert kept.fault is not None

    with anyio.fail_after(60):
        await outputs.over.wait()
    assert outputs.endings == ["memory: Lua memory limit reached"]
    await worker.close()


async def test_a_killed_child_is_noticed_while_idle(tmp_path: Path) -> None:
    outputs = Recorded()
    worker = await ProcessWorkerHost().launch(launch_at(tmp_path), outputs)

    os.kill(worker.pid, signal.SIGKILL)

    with anyio.fail_after(60):
        await outputs.over.wait()
    assert outputs.endings == ["The session's process ended with status -9"]
    await worker.close()


@pytest.mark.covers("UI-BUDG-6")
async def test_a_stopped_child_holds_a_call_no_longer_than_its_budget(tmp_path: Path) -> None:
    worker = await ProcessWorkerHost().launch(launch_at(tmp_path, max_seconds=1), Recorded())
    assert (await worker.call(Op.RUN, "return 1")).result == "1"

    os.kill(worker.pid, signal.SIGSTOP)

    # Far more than the budget of a second, less than the 40 s after which a child that is only slow is given up.
    with pytest.raises(SessionGoneError, match="stopped"), anyio.fail_after(30):
        await worker.call(Op.RUN, "return 2")
    await worker.close()


async def test_a_cancelled_caller_does_not_disturb_the_next(tmp_path: Path) -> None:
    worker = await ProcessWorkerHost().launch(launch_at(tmp_path, max_seconds=60), Recorded())

    with anyio.move_on_after(0.05):
        await worker.call(Op.RUN, "local t = os.clock() while os.clock() < t + 0.2 do end return 'first'")

    assert (await worker.call(Op.RUN, "return 'second'")).result == '"second"'
    await worker.close()


async def test_nothing_lua_writes_reaches_the_pipe(tmp_path: Path) -> None:
    worker = await ProcessWorkerHost().launch(launch_at(tmp_path), Recorded())

    reply = await worker.call(Op.RUN, "io.stdout:write('x') io.write('y') print('z') io.stderr:write('w') return 1")

    assert reply.result == "1"
    await worker.close()
