"""The fork server: workers by fork, which share nothing but memory and end exactly as they did before."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NoReturn

import anyio
import pytest
from anyio.lowlevel import checkpoint

from lua_runtime.workers import Recorded, launch_at
from ui_mcp.errors import SessionGoneError
from ui_mcp.lua_runtime import fork_client, fork_server
from ui_mcp.lua_runtime.fork_server import FORKS, command
from ui_mcp.lua_runtime.interface import EMPTY_CONTEXT
from ui_mcp.lua_runtime.worker_process import ProcessWorker, ProcessWorkerHost
from ui_mcp.wire import Op

SHOWING = """
import sys
sys.path[:0] = sys.argv[1:]
sys.stdout.reconfigure(encoding="utf-8")
import ui_mcp.lua_runtime.fork_server
import ui_mcp.lua_runtime.worker
from ui_mcp.lua_runtime.vm import LuaVm
core = LuaVm({launch!r}, lambda *_: None, lambda _: None)
before = set(sys.modules)
core.call("start", (), {facts!r})
core.call("display", ("note",), {facts!r})
code, _, _, title = core.call("run", ("return mcp.apps()[1].title",), {facts!r})[:4]
print(sorted(set(sys.modules) - before), title.strip('"'))
"""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not FORKS, reason="no fork server on this system")]


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    """Both loops: they find the end of a connection in different ways."""
    return "asyncio", {"use_uvloop": request.param}


@asynccontextmanager
async def workers(folder: Path, count: int = 1) -> AsyncIterator[list[ProcessWorker]]:
    opened = [await ProcessWorkerHost().launch(launch_at(folder), Recorded()) for _ in range(count)]
    try:
        yield opened
    finally:
        for worker in opened:
            await worker.close()


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def descriptors(pid: int) -> dict[int, str]:
    found = {}
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found[int(entry.name)] = str(entry.readlink())
    return found


async def test_workers_outlive_a_killed_fork_server_and_the_next_comes_from_another(tmp_path: Path) -> None:
    async with workers(tmp_path, 2) as (first, second):
        killed = fork_client.for_running_loop()
        await first.call(Op.RUN, "kept = 7")

        os.kill(killed.process.pid, signal.SIGKILL)
        async with workers(tmp_path) as [third]:
            assert (await third.call(Op.RUN, "return kept")).result == "null"
            assert fork_client.for_running_loop() is not killed
            assert children(fork_client.for_running_loop().process.pid) == [third.pid]

        assert (await first.call(Op.RUN, "return kept")).result == "7"
        os.kill(second.pid, signal.SIGKILL)
        with pytest.raises(SessionGoneError, match="process ended"):
            await second.call(Op.RUN, "while true do end")
    with pytest.raises(ProcessLookupError):
        os.kill(killed.process.pid, 0)


async def test_what_is_asked_before_it_is_known_how_a_worker_ended_fails_with_it(tmp_path: Path) -> None:
    async with workers(tmp_path) as [worker]:
        client = fork_client.for_running_loop()
        os.kill(client.process.pid, signal.SIGSTOP)
        os.kill(worker.pid, signal.SIGKILL)
        with anyio.fail_after(60):
            while not client._requests:
                await checkpoint()
        asked = [worker.call(Op.RUN, "return 1") for _ in range(3)]
        os.kill(client.process.pid, signal.SIGCONT)

        for answer in asked:
            with pytest.raises(SessionGoneError, match="status -9"):
                await answer


async def test_a_fork_server_killed_while_it_is_asked_is_replaced(tmp_path: Path) -> None:
    stopped = fork_client.for_running_loop().process.pid
    os.kill(stopped, signal.SIGSTOP)

    async with asyncio.TaskGroup() as group:
        launches = [group.create_task(ProcessWorkerHost().launch(launch_at(tmp_path), Recorded())) for _ in range(3)]
        await asyncio.sleep(0)
        os.kill(stopped, signal.SIGKILL)

    assert children(fork_client.for_running_loop().process.pid) == [task.result().pid for task in launches]
    for task in launches:
        await task.result().close()


async def test_a_fork_server_that_does_not_answer_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_client, "REPLY_TIMEOUT", 0.1)
    stopped = fork_client.for_running_loop().process.pid
    os.kill(stopped, signal.SIGSTOP)

    launch = asyncio.create_task(ProcessWorkerHost().launch(launch_at(tmp_path), Recorded()))
    await asyncio.sleep(0)
    monkeypatch.undo()
    worker = await launch

    assert children(fork_client.for_running_loop().process.pid) == [worker.pid]
    with pytest.raises(ProcessLookupError):
        os.kill(stopped, 0)
    await worker.close()


async def test_without_a_fork_server_a_worker_is_a_program_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> NoReturn:
        raise OSError("no room for another process")

    monkeypatch.setattr(fork_client, "_by_loop", {})
    monkeypatch.setattr(fork_server, "idle", [])
    monkeypatch.setattr(fork_client, "ForkServerProcess", refuse)

    async with workers(tmp_path) as [worker]:
        assert (await worker.call(Op.RUN, "return 1")).result == "1"
        assert worker.pid in children(os.getpid())


async def test_a_launch_that_is_given_up_leaves_no_process(tmp_path: Path) -> None:
    fork_server_pid = fork_client.for_running_loop().process.pid
    os.kill(fork_server_pid, signal.SIGSTOP)
    with anyio.move_on_after(0.05):
        await ProcessWorkerHost().launch(launch_at(tmp_path), Recorded())
    os.kill(fork_server_pid, signal.SIGCONT)
    with anyio.fail_after(60):
        while fork_client.for_running_loop()._requests:
            await checkpoint()
    assert children(fork_server_pid) == []

    async with workers(tmp_path) as [worker]:
        assert children(fork_server_pid) == [worker.pid]


async def test_a_worker_holds_nothing_but_its_own_pipes_and_leads_a_session_of_its_own(tmp_path: Path) -> None:
    async with workers(tmp_path, 4) as opened:
        fork_server_pid = fork_client.for_running_loop().process.pid
        pids = [worker.pid for worker in opened]
        held = [[name for _, name in sorted(descriptors(pid).items())] for pid in pids]

        assert [each[:3] for each in held] == [["/dev/null"] * 3] * 4
        pipes = [name for each in held for name in each[3:]]
        assert len(set(pipes)) == len(pipes) == 8
        assert all(name.startswith("pipe:") for name in pipes)
        assert sorted(descriptors(fork_server_pid)) == [0, 1, 2, 3]
        assert [os.getsid(pid) for pid in [fork_server_pid, *pids]] == [fork_server_pid, *pids]
        names = [(await worker.call(Op.RUN, "return os.tmpname()")).result for worker in opened]
        assert len(set(names)) == 4


async def test_what_two_hundred_workers_took_is_given_back(tmp_path: Path) -> None:
    gc.collect()  # what other tests left open must not be closed while we count
    async with workers(tmp_path):
        fork_server_pid, before = fork_client.for_running_loop().process.pid, len(descriptors(os.getpid()))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ProcessWorkerHost().launch(launch_at(tmp_path), Recorded())) for _ in range(200)]
        opened = [task.result() for task in tasks]
        assert len(children(fork_server_pid)) == 201

        answers = await asyncio.gather(*(worker.call(Op.RUN, f"return {at}") for at, worker in enumerate(opened)))
        assert [int(reply.result) for reply in answers] == list(range(200))
        for at, worker in enumerate(opened):
            os.kill(worker.pid, signal.SIGKILL) if at % 2 else None
            await worker.close()

        assert len(children(fork_server_pid)) == 1
        assert len(descriptors(os.getpid())) == before


def test_a_loop_that_was_closed_leaves_its_fork_server_to_the_next(tmp_path: Path) -> None:
    async def fork_server_pid() -> int:
        async with workers(tmp_path):
            return fork_client.for_running_loop().process.pid

    assert asyncio.run(fork_server_pid()) == asyncio.run(fork_server_pid())


def test_a_worker_that_shows_an_app_imports_nothing_more(tmp_path: Path) -> None:
    """What a worker imports by itself it waits for, and shares with no other worker."""
    (tmp_path / "ui" / "apps" / "note").mkdir(parents=True)
    (tmp_path / "ui" / "apps" / "note" / "app.lua").write_text("note = {type = 'Note'}")
    (tmp_path / "ui" / "apps" / "note" / "README.md").write_text("# Nótes 🗒\n\nWords.", encoding="utf-8")
    *program, package, lupa = command("worker", "")
    script = SHOWING.format(launch=launch_at(tmp_path).settings(), facts=(*EMPTY_CONTEXT,))

    done = subprocess.run([*program[:-1], script, package, lupa], capture_output=True, text=True, check=True)

    assert done.stdout == "[] Nótes 🗒\n"


@pytest.mark.covers("UI-ROB-1")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "stopped"])
def test_nothing_is_left_of_a_server_that_ended(tmp_path: Path, how: signal.Signals) -> None:
    command = [sys.executable, "-m", "ui_mcp", "serve", "--port", "0", "--mcp-port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        [fork_server_pid] = children(server.pid)
        [worker] = children(fork_server_pid)
        watched = [os.pidfd_open(pid) for pid in (fork_server_pid, worker)]
        try:
            server.send_signal(how)
            server.wait(60)
            for process in watched:
                assert anyio.run(_over, process)
        finally:
            for process in watched:
                os.close(process)


async def _over(process: int) -> bool:
    with anyio.fail_after(60):
        await anyio.wait_readable(process)
    return True
