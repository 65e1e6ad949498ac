"""Tells other processes of a commit at once: a named pipe per follower beside the store, and a byte in each.

Only a hint. Where there are no named pipes nobody is told, and followers look for themselves.
"""

import os
from contextlib import suppress
from pathlib import Path

import anyio

from ui_mcp.errors import DISK_ERRNOS
from ui_mcp.ids import secret_id
from ui_mcp.log import logger

_log = logger("hints")
_SUFFIX = ".bell"
_ENOUGH = 4096


class WakeupPipe:
    """The bells of one store: our own to be woken by, the others' to ring."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own: Path | None = None
        self._pipe: int | None = None
        self._possible = hasattr(os, "mkfifo")

    def listen(self) -> bool:
        """Be woken from now on; False where that is not possible."""
        if self._pipe is None and self._possible:
            try:
                self._hang()
            except OSError as error:
                self._possible = error.errno in DISK_ERRNOS
                _log.info("No bell in %s, looking instead: %s", self._folder, error)
        return self._pipe is not None

    def _hang(self) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        name = f"{os.getpid()}-{secret_id()[:8]}"
        unready, ready = self._folder / name, self._folder / f"{name}{_SUFFIX}"
        os.mkfifo(unready, 0o600)
        # Reading and writing: the pipe never ends, however often others open and close it.
        self._pipe = os.open(unready, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        unready.rename(ready)  # only now may it be rung: who finds a bell that nobody holds takes it down
        self._own = ready

    async def wait(self) -> None:
        """Return when somebody rang."""
        if self._pipe is None:
            await anyio.sleep_forever()
            return
        await anyio.wait_readable(self._pipe)
        with suppress(BlockingIOError):
            os.read(self._pipe, _ENOUGH)

    def wake_others(self) -> None:
        """Wake every other follower."""
        with suppress(OSError), os.scandir(self._folder) as found:
            for entry in found:
                if entry.name.endswith(_SUFFIX) and (self._own is None or entry.name != self._own.name):
                    _ring(entry.path)

    def close(self) -> None:
        """Take our own bell down."""
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            os.close(pipe)
        if self._own is not None:
            with suppress(OSError):  # who rings it next takes it down
                self._own.unlink()


def _ring(path: str) -> None:
    try:
        pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # its process was killed
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - called with every commit
        return
    try:
        with suppress(BlockingIOError):  # full: it has been rung often enough
            os.write(pipe, b"!")
    finally:
        os.close(pipe)
