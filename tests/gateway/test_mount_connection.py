"""Servers that come back after a restart."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ui_mcp.gateway.config.settings import BackendSettings
from ui_mcp.gateway.mount_connection import SavedMounts


def test_servers_that_are_mounted_at_once_are_all_kept(tmp_path: Path) -> None:
    kept = SavedMounts(tmp_path / "mounts.json")
    names = [f"server{number}" for number in range(30)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda name: kept.add(BackendSettings(name=name, command="x")), names))
        list(threads.map(kept.remove, names[10:]))

    assert sorted(one.name for one in kept.load()) == sorted(names[:10])


@pytest.mark.covers("UI-TRUST-1")
def test_servers_that_somebody_else_kept_are_not_mounted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    mine, clone = tmp_path / "mine/mounts.json", tmp_path / "clone/mounts.json"
    SavedMounts(mine).add(BackendSettings(name="a", command="x"))
    clone.parent.mkdir()
    clone.write_bytes(mine.read_bytes())

    assert [one.name for one in SavedMounts(mine).load()] == ["a"]
    assert SavedMounts(clone).load() == ()
    assert "was not written by this account" in caplog.text
    clone.unlink()
    clone.symlink_to(mine)
    assert SavedMounts(clone).load() == ()
    mine.write_text(mine.read_text().replace('"x"', '"y"'))
    assert SavedMounts(mine).load() == ()


@pytest.mark.covers("UI-TRUST-1")
def test_servers_are_kept_through_no_link(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "mounts.new").symlink_to(tmp_path / "victim")
    SavedMounts(tmp_path / "mounts.json").add(BackendSettings(name="a", command="x"))

    assert (tmp_path / "victim").read_text() == "mine"
    assert not (tmp_path / "mounts.json").is_symlink()
