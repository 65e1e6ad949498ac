"""Runs the event loop until a signal, tells which processes exist, and kills orphaned children."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from threading import Thread
from typing import IO, TypeVar

import anyio
from anyio import from_thread, lowlevel
from anyio.abc import TaskGroup

T = TypeVar("T")


# Reads `+ GROUP` and `- GROUP` lines. End of input means that this program is gone: kill the remaining groups.
_SCRIPT = """
trap '' INT TERM HUP
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) case "$groups" in *" $group "*) groups="${groups%%" $group "*} ${groups#*" $group "}" ;; esac ;;
  esac
done
[ "$groups" = ' ' ] && exit
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
sleep 2
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
"""


class OrphanKiller:
    """Kills registered process groups once this program is gone, by a shell process that outlives it."""

    def __init__(self) -> None:
        self._pipe: IO[bytes] | None = None

    def watch(self, group: int) -> None:
        """Kill process group `group` if this program dies."""
        self._send(f"+ {group}\n")

    def forget(self, group: int) -> None:
        """Remove a process group that has ended."""
        self._send(f"- {group}\n")

    def _send(self, line: str) -> None:
        if sys.platform == "win32":
            return
        # Without the shell process (killed, or no /bin/sh) children still see the end of their input when we exit.
        with contextlib.suppress(OSError):
            if self._pipe is None:
                self._pipe = _start_shell()
            self._pipe.write(line.encode())


def _start_shell() -> IO[bytes]:
    process = subprocess.Popen(
        ["/bin/sh", "-c", _SCRIPT],
        bufsize=0,  # lines must already be in the pipe when we are killed
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    if process.stdin is None:
        raise OSError("the watchdog has no input")
    _running.append(process)
    return process.stdin


_running: list[subprocess.Popen[bytes]] = []
"""References that keep `Popen.__del__` from polling the shell processes, which outlive this program."""

WATCHDOG = OrphanKiller()


async def in_daemon_thread(work: Callable[[], T]) -> T:
    """Run blocking `work` in a daemon thread, which does not keep the process alive; raise what it raises."""
    token = lowlevel.current_token()
    done = anyio.Event()
    outcome: list[T] = []
    failure: list[Exception] = []

    def run() -> None:
        try:
            outcome.append(work())
        except Exception as error:  # noqa: BLE001 - raised again in the task that waits
            failure.append(error)
        try:
            from_thread.run_sync(done.set, token=token)
        except RuntimeError:
            return  # the event loop has ended meanwhile

    Thread(target=run, daemon=True, name="ui-mcp blocking call").start()
    await done.wait()
    if failure:
        raise failure[0]
    return outcome[0]


SWITCH_SECONDS = 0.0005
"""GIL switch interval: favours event-loop latency over thread throughput."""


def run(main: Callable[..., Awaitable[int]], *arguments: object) -> int:
    """Run a coroutine function and return its exit code; uses uvloop except on Windows."""
    sys.setswitchinterval(SWITCH_SECONDS)
    # What has been imported lives as long as the process: exclude it from collections.
    gc.freeze()
    # A large snapshot has 100,000 live objects; collecting garbage among them took a third of the response time.
    gc.set_threshold(100_000, 50, 100)
    gc.enable()
    try:
        return anyio.run(main, *arguments, backend_options={"use_uvloop": sys.platform != "win32"})
    except BaseExceptionGroup as group:
        raise only_error(group) from group


def only_error(error: BaseException) -> BaseException:
    """Return the exception inside groups that contain a single one."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


@asynccontextmanager
async def until_signalled() -> AsyncIterator[None]:
    """Cancel the block on SIGINT or SIGTERM."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_cancel_on_signal, tasks)
        yield
        tasks.cancel_scope.cancel()


async def _cancel_on_signal(tasks: TaskGroup) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            tasks.cancel_scope.cancel()
            return


def pid_exists(pid: int) -> bool:
    """Return whether a process of this id runs, under whatever account."""
    if pid <= 0:  # to kill(2), a group of processes
        return False
    if sys.platform == "win32":
        return _windows_pid_exists(pid)
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # it belongs to another account
        return True
    return True


PARENT_PID = os.getppid()  # at import, as early as possible: the parent may exit during start-up
POLL_SECONDS = 2.0


async def parent_gone() -> None:
    """Wait until the parent process has exited."""
    if sys.platform == "win32":
        await _windows_parent_gone()
        return
    # An orphan is adopted by another process, which changes its parent pid.
    while os.getppid() == PARENT_PID:  # noqa: ASYNC110 - POSIX has no event for it
        await anyio.sleep(POLL_SECONDS)


if sys.platform == "win32":

    def _windows_pid_exists(pid: int) -> bool:
        # Not os.kill(pid, 0): on Windows that sends Ctrl+C.
        import ctypes

        synchronize, access_denied, still_running = 0x00100000, 5, 0x102
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        handle = kernel.OpenProcess(synchronize, 0, pid)
        if not handle:
            return ctypes.get_last_error() == access_denied
        try:
            return bool(kernel.WaitForSingleObject(handle, 0) == still_running)
        finally:
            kernel.CloseHandle(handle)

    async def _windows_parent_gone() -> None:
        import ctypes

        synchronize, infinite = 0x00100000, 0xFFFFFFFF
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        handle = kernel.OpenProcess(synchronize, 0, PARENT_PID)
        if not handle:
            await anyio.sleep_forever()
        await in_daemon_thread(lambda: kernel.WaitForSingleObject(handle, infinite))
