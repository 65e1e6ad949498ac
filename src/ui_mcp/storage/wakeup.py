"""Wakes other processes after a commit: each listener has a named pipe beside the store, and a byte is written to each.

Only a hint. Where there are no named pipes no process is woken, and listeners poll.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

import anyio

from ui_mcp.errors import DISK_ERRNOS

_SUFFIX = ".bell"
_READ_BYTES = 4096

NOTIFIED_SECONDS, POLL_SECONDS = 10.0, 0.25
"""How long to wait between two looks at a store whose changes wake us, and at one whose changes do not."""


def pipe_folder(store: Path) -> Path:
    """Return the folder of a store's pipes."""
    return store.with_name(f"{store.name}-bells")


class WakeupPipe:
    """The pipes of one store: our own, by which we are woken, and those of the other processes."""

    def __init__(self, store: Path, report: Callable[[str], None]) -> None:
        self._folder = pipe_folder(store.resolve())
        self._own: Path | None = None
        self._pipe: int | None = None
        self._possible = hasattr(os, "mkfifo")
        self._report = report

    def listen(self) -> bool:
        """Be woken from now on; False where that is not possible."""
        if self._pipe is None and self._possible:
            try:
                self._create()
            except OSError as error:
                self._possible = error.errno in DISK_ERRNOS
                self._report(f"No named pipe in {self._folder}, polling instead: {error}")
        return self._pipe is not None

    def _create(self) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        name = f"{os.getpid()}-{token_hex(4)}"
        unready, ready = self._folder / name, self._folder / f"{name}{_SUFFIX}"
        os.mkfifo(unready, 0o600)
        # Reading and writing: the pipe never ends, however often others open and close it.
        self._pipe = os.open(unready, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        unready.rename(ready)  # only now: processes delete a pipe that no process has open
        self._own = ready

    async def wait(self) -> None:
        """Return when another process has committed."""
        if self._pipe is None:
            await anyio.sleep_forever()
            return
        await anyio.wait_readable(self._pipe)
        with suppress(BlockingIOError):
            os.read(self._pipe, _READ_BYTES)

    def wake_others(self) -> None:
        """Wake every other listener."""
        with suppress(OSError), os.scandir(self._folder) as found:
            for entry in found:
                if entry.name.endswith(_SUFFIX) and (self._own is None or entry.name != self._own.name):
                    _wake(entry.path)

    def close(self) -> None:
        """Remove our own pipe."""
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            os.close(pipe)
        if self._own is not None:
            with suppress(OSError):  # the next process that writes to it deletes it
                self._own.unlink()


def _wake(path: str) -> None:
    try:
        pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # its process was killed
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - called with every commit
        return
    try:
        with suppress(BlockingIOError):  # full: enough wake-ups are waiting
            os.write(pipe, b"!")
    finally:
        os.close(pipe)
