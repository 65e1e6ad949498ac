"""Waiting for changed files."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from ui_mcp import file_watcher
from ui_mcp.file_watcher import InotifyWatch, Rest, open_inotify, watching

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


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[InotifyWatch]:
    found = open_inotify([tmp_path], [])
    assert found is not None
    with closing(found):
        yield found


@linux
async def test_a_save_in_a_folder_made_later_is_reported_by_its_path(deep: InotifyWatch, tmp_path: Path) -> None:
    file = tmp_path / "new" / "below" / "a.lua"
    file.parent.mkdir(parents=True)
    assert tmp_path / "new" in await deep.next_burst(60, 0.02, 1)
    file.write_text("x = 1")

    assert await deep.next_burst(60, 0.02, 1) == {file}


@linux
async def test_a_moved_folder_is_reported_under_its_new_name(deep: InotifyWatch, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old").rename(tmp_path / "new")
    await deep.next_burst(60, 0.02, 1)
    (tmp_path / "new" / "a.lua").write_text("x = 1")

    assert await deep.next_burst(60, 0.02, 1) == {tmp_path / "new" / "a.lua"}


@linux
async def test_lost_events_name_no_path(deep: InotifyWatch, tmp_path: Path) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    (tmp_path / "a").touch()
    for number in range(limit):
        (tmp_path / "a").rename(tmp_path / "b") if number % 2 == 0 else (tmp_path / "b").rename(tmp_path / "a")

    assert await deep.next_burst(60, 0.02, 60) == set()


@linux
async def test_a_folder_that_comes_back_is_watched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_watcher, "RESCAN_SECONDS", 0.01)
    monkeypatch.setattr(file_watcher, "RESCAN_SHARE", 1.0)
    file = tmp_path / "missing" / "a.lua"
    async with watching(frozenset({file.parent}), frozenset()) as bursts:
        assert await anext(bursts) is None
        file.parent.mkdir()
        assert await anext(bursts) is None
        monkeypatch.setattr(file_watcher, "RESCAN_SECONDS", FOR_EVER)
        file.touch()
        with anyio.fail_after(60):
            assert await anext(bursts) == {file}


@linux
async def test_a_folder_that_is_watched_alone_reports_nothing_of_its_folders(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    async with watching(frozenset(), frozenset({tmp_path})) as bursts:
        (tmp_path / "below" / "a.lua").touch()
        (tmp_path / "b.lua").touch()
        with anyio.fail_after(60):
            assert await anext(bursts) == {tmp_path / "b.lua"}
