"""Finds processes that use the files of a base directory, also those that hold no lock at the moment."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

PROCESSES = Path("/proc")


def waiting_for(pipes: Path) -> int | None:
    """Return a process that waits at a named pipe in the folder of a store; pipes are named after their process."""
    if not hasattr(os, "mkfifo") or not pipes.is_dir():
        return None
    for pipe in sorted(pipes.iterdir()):
        with suppress(OSError):  # without a reader there is nobody to open it for
            if stat.S_ISFIFO(pipe.lstat().st_mode):
                os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW))
                number = pipe.name.partition("-")[0]
                return int(number) if number.isdecimal() else 0
    return None


def having_open(files: Iterable[Path]) -> tuple[int, Path] | None:
    """Return another process of this account that has one of the files open, and the file; only Linux tells."""
    wanted: dict[tuple[int, int], Path] = {}
    for file in files:
        with suppress(OSError):
            found = file.lstat()
            wanted[found.st_dev, found.st_ino] = file
    for process in _others() if wanted else ():
        for target in _open_files(process):
            if target in wanted:
                return int(process.name), wanted[target]
    return None


def _others() -> Iterator[Path]:
    own = str(os.getpid())
    with suppress(OSError):
        yield from (entry for entry in PROCESSES.iterdir() if entry.name.isdecimal() and entry.name != own)


def _open_files(process: Path) -> Iterator[tuple[int, int]]:
    with suppress(OSError), os.scandir(process / "fd") as entries:  # it has ended, or is not ours to look at
        for entry in entries:
            with suppress(OSError):
                # Only files: asking for more could wait for a network disk that is away.
                if os.readlink(entry.path).startswith("/"):  # noqa: PTH115 - many thousands of them
                    found = os.stat(entry.path)  # noqa: PTH116
                    yield found.st_dev, found.st_ino
