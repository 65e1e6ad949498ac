"""A disk of its own for one test, which can be made read-only or full, or tear a write, while it is in use."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from soak import fuse


class FailingDisk:
    """A folder and the switch of the disk it lies on."""

    def __init__(self, folder: Path, switch: Path, synced: Path) -> None:
        self.folder = folder
        self.synced = synced
        """Every file as it was at its last fsync."""
        self._switch = switch
        self.repair()

    def fail(self, how: str) -> None:
        """Refuse every change from now on: `ro`, or `full`; `torn N`: do so after half of the Nth write to a log."""
        self._switch.write_text(how)

    @property
    def is_cut(self) -> bool:
        """Whether a write was torn."""
        return self._switch.read_text() == "cut"

    def repair(self) -> None:
        """Take changes again."""
        self._switch.write_text("")


@contextmanager
def failing_disk(around: Path) -> Iterator[FailingDisk]:
    """Mount one; only root may, and where the kernel has no FUSE there is none."""
    if os.getuid() != 0:
        pytest.skip("only root may mount")
    assert Path("/dev/fuse").exists() or os.environ.get("CI") != "true", "/dev/fuse is missing"
    if not Path("/dev/fuse").exists():
        pytest.skip("/dev/fuse is missing")
    behind, place, switch, synced = (around / name for name in ("behind", "disk", "switch", "synced"))
    behind.mkdir()
    place.mkdir()
    disk = FailingDisk(place, switch, synced)
    command = [sys.executable, fuse.__file__, str(behind), str(place), str(switch), str(synced)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "mounted\n"
        try:
            yield disk
        finally:
            disk.repair()
            ctypes.CDLL(None).umount2(str(place).encode(), 2)
            process.kill()
