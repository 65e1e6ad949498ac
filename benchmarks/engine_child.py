"""A child process per session: how long it takes to start, and what it adds to one entry."""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import anyio
from claims import claim

from ui_mcp.lua_runtime.interface import WorkerConfig, WorkerHost
from ui_mcp.lua_runtime.worker_process import ProcessWorkerHost
from ui_mcp.lua_runtime.worker_thread import ThreadWorkerHost
from ui_mcp.wire import Op

BAR = 0.120


class NullOutputs:
    """Discards the outputs of a worker."""

    def frame(self, connection: int, text: str) -> None: ...

    def event(self, text: str) -> None: ...

    def timer(self, handle: int, seconds: float) -> None: ...

    def cancel(self, handle: int) -> None: ...

    def note(self, kind: str, text: str) -> None: ...

    def ended(self, reason: str) -> None: ...


async def start_time(launch: WorkerConfig, times: int = 15) -> float:
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        worker = await ProcessWorkerHost().launch(launch, NullOutputs())
        taken.append(time.perf_counter() - begin)
        await worker.close()
    return statistics.median(taken)


async def entry_time(host: WorkerHost, launch: WorkerConfig, times: int = 2_000) -> float:
    worker = await host.launch(launch, NullOutputs())
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        await worker.call(Op.RUN, "return 1")
        taken.append(time.perf_counter() - begin)
    await worker.close()
    return statistics.median(taken)


async def bare_python(times: int = 15) -> float:
    """Return the start-up time of the bare interpreter, for comparison."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        await anyio.run_process([sys.executable, "-I", "-S", "-c", ""])
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


async def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        launch = WorkerConfig(base_dir=str(Path(folder) / "ui"), project=folder)
        started, bare = await start_time(launch), await bare_python()
        print(f"start in a child: {started * 1e3:.0f} ms (bar {BAR * 1e3:.0f}; bare interpreter {bare * 1e3:.0f})")
        child, thread = await entry_time(ProcessWorkerHost(), launch), await entry_time(ThreadWorkerHost(), launch)
        print(f"one entry: child {child * 1e6:.0f} µs, in process {thread * 1e6:.0f} µs ({child / thread:.1f}x)")
        return 0 if claim("a child starts, ms", started * 1e3, at_most=BAR * 1e3) else 1


if __name__ == "__main__":
    sys.exit(anyio.run(main))
