"""A disk that is full around a kill of the server, or has half of a record when it comes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from soak.disk import FailingDisk, failing_disk

if TYPE_CHECKING:
    from soak.crash import Crash

TEXTS = 8
"""Written while the disk is full."""


class Fault:
    """What happens to the disk around a kill: nothing."""

    spares_server = True
    """Whether the worker may be killed alone."""

    def begin(self, crash: "Crash") -> None:
        """Do something before the kill."""

    def end(self, crash: "Crash") -> None:
        """Undo it, while what was killed is gone."""


class FullDisk(Fault):
    """The disk is full for a while."""

    def __init__(self, disk: FailingDisk) -> None:
        self._disk = disk
        self._unsaved: set[str] = set()

    def begin(self, crash: "Crash") -> None:
        self._disk.fail("full")
        self._unsaved = crash.write(TEXTS)
        crash.pause(crash.dice.random() * 2)

    def end(self, crash: "Crash") -> None:
        crash.pause(0.1)
        early = self._unsaved & crash.model.saved
        assert not early, f"acknowledged while the disk was full: {sorted(early)[:5]}"
        self._disk.repair()


class TornRecord(Fault):
    """Half of a write to the store's log is on the disk when the server is killed."""

    spares_server = False

    def __init__(self, disk: FailingDisk) -> None:
        self._disk = disk

    def begin(self, crash: "Crash") -> None:
        self._disk.fail(f"torn {crash.dice.randrange(8)}")
        limit = time.monotonic() + 60
        while not self._disk.is_cut:
            assert time.monotonic() < limit, "nothing was written to the store"
            crash.write(1)
            crash.pause(0.05)

    def end(self, crash: "Crash") -> None:
        self._disk.repair()


FAULTS = {"full": FullDisk, "torn": TornRecord}


@contextmanager
def faulty(around: Path, kind: str | None) -> Iterator[tuple[Path, Fault]]:
    """Provide a folder for the server, and what happens to its disk."""
    if kind is None:
        yield around, Fault()
        return
    with failing_disk(around) as disk:
        yield disk.folder, FAULTS[kind](disk)
