"""Resting between two looks at files."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from ui_mcp import file_watcher
from ui_mcp.file_watcher import Rest

FOR_EVER = 1e6
linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


@pytest.fixture
def rest(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rest]:
    """Rest that ends by a hint or not at all."""
    monkeypatch.setattr(file_watcher, "RESCAN_SECONDS", FOR_EVER)
    with closing(Rest(FOR_EVER)) as rest:
        yield rest


async def changes(rest: Rest, *files: Path) -> None:
    with anyio.fail_after(60):
        await rest.wait_changed(files)


@linux
async def test_who_begins_to_watch_looks_first_and_is_woken_by_the_next_save(rest: Rest, tmp_path: Path) -> None:
    file = tmp_path / "nlui.yaml"

    await changes(rest, file)
    file.write_text("llm: {}")
    await changes(rest, file)


@linux
async def test_a_file_behind_a_link_is_watched_where_it_is_and_where_it_is_named(rest: Rest, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    link, file = tmp_path / "here" / "api.json", tmp_path / "there" / "api.json"
    link.symlink_to(file)
    await changes(rest, link)

    file.write_text("{}")
    await changes(rest, link)
    link.unlink()
    await changes(rest, link)


@linux
async def test_other_files_are_watched_as_soon_as_they_are_named(rest: Rest, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    first, second = tmp_path / "api.json", tmp_path / "more" / "parts.json"
    await changes(rest, first)

    await changes(rest, first, second)
    second.write_text("{}")
    await changes(rest, first, second)


async def test_without_hints_it_is_time_to_look_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "true")
    with closing(Rest(0.01)) as rest:
        for _ in range(3):
            await changes(rest, tmp_path / "nlui.yaml")
