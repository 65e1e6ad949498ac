"""The one atomic write of the program."""

import os
import stat
from pathlib import Path

import pytest

from ui_mcp.files import write_atomic


def test_the_mode_is_set_whatever_the_umask_is(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_atomic(tmp_path / "open", b"x")
        write_atomic(tmp_path / "private", b"x", mode=0o600)
    finally:
        os.umask(before)

    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("open", "private")]

    assert modes == [0o644, 0o600]


@pytest.mark.covers("UI-LINK-1")
def test_a_link_is_replaced_and_its_target_stays(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    target.write_bytes(b"theirs")
    link.symlink_to(target)

    write_atomic(link, b"ours")

    assert (link.is_symlink(), link.read_bytes(), target.read_bytes()) == (False, b"ours", b"theirs")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")

    def fail(_descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)

    with pytest.raises(OSError, match="disk full"):
        write_atomic(file, b"new")

    assert ([one.name for one in tmp_path.iterdir()], file.read_bytes()) == (["file"], b"old")
