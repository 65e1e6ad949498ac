"""Servers that come back after a restart."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ui_mcp.compositor.kept_mounts import KeptMounts
from ui_mcp.compositor.settings import BackendSettings


def test_servers_that_are_mounted_at_once_are_all_kept(tmp_path: Path) -> None:
    kept = KeptMounts(tmp_path / "mounts.json")
    names = [f"server{number}" for number in range(30)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda name: kept.add(BackendSettings(name=name, command="x")), names))
        list(threads.map(kept.remove, names[10:]))

    assert sorted(one.name for one in kept.load()) == sorted(names[:10])
