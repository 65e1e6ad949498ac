import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import rmtree

import pytest
from anyio import create_memory_object_stream, create_task_group, fail_after, move_on_after
from anyio.streams.memory import MemoryObjectReceiveStream

from ui_mcp import file_watcher
from ui_mcp.file_watcher import SavedFile, open_inotify
from ui_mcp.ui.sessions.hot_reload import HotReloader, find_roots, names_of
from ui_mcp.workspace import Workspace

Seen = MemoryObjectReceiveStream[list[SavedFile]]


@pytest.fixture(autouse=True, params=["inotify", "watchfiles"])
def means(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Watch by inotify, where it exists and alone, or by watchfiles."""
    if request.param == "watchfiles":
        monkeypatch.setattr(file_watcher, "open_inotify", lambda deep, flat: None)
    monkeypatch.setattr(file_watcher, "RESCAN_SECONDS", 1000)
    return str(request.param)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    found = Workspace.at(tmp_path / "ui")
    for folder in found.folders:
        folder.mkdir(parents=True)
    (found.apps / "adder" / "viewdefs").mkdir(parents=True)
    (found.apps / "adder" / "app.lua").write_text("one = 1")
    return found


@asynccontextmanager
async def watching(workspace: Workspace) -> AsyncIterator[Seen]:
    send, receive = create_memory_object_stream[list[SavedFile]](100)
    async with send, receive, create_task_group() as group:
        await group.start(HotReloader(workspace, send.send).run)
        yield receive
        group.cancel_scope.cancel()


async def next_paths(seen: Seen) -> list[Path]:
    with fail_after(60):
        return [saved.path for saved in await seen.receive()]


@pytest.mark.covers("UI-HOT-1", "UI-HOT-2")
async def test_a_saved_lua_file_is_reported_and_nothing_else(workspace: Workspace) -> None:
    file = workspace.apps / "adder" / "app.lua"
    async with watching(workspace) as seen:
        (workspace.apps / "adder" / "app.lua.tmp").write_text("no")
        (workspace.apps / "adder" / "app.lua~").write_text("no")
        file.write_text("two = 2")

        assert await next_paths(seen) == [file]


@pytest.mark.covers("UI-HOT-2")
async def test_an_atomic_rename_over_a_file_is_a_save(workspace: Workspace) -> None:
    file = workspace.apps / "adder" / "app.lua"
    async with watching(workspace) as seen:
        (fresh := file.with_suffix(".new")).write_text("two = 2")
        fresh.replace(file)

        assert await next_paths(seen) == [file]


@pytest.mark.covers("UI-HOT-2")
async def test_a_burst_of_writes_gives_one_reload(workspace: Workspace) -> None:
    file = workspace.apps / "adder" / "app.lua"
    async with watching(workspace) as seen:
        for number in range(50):
            file.write_text(f"n = {number}")
        assert await next_paths(seen) == [file]

        with move_on_after(0.2) as nothing_more:
            await seen.receive()

    assert nothing_more.cancelled_caught


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there are none anyway")
async def test_without_the_kernels_hints_a_save_is_noticed_too(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = os.uname()
    monkeypatch.setattr(os, "uname", lambda: os.uname_result((*here[:2], "5.15-microsoft", *here[3:])))
    assert open_inotify([workspace.apps], []) is None
    file = workspace.apps / "adder" / "app.lua"
    async with watching(workspace) as seen:
        file.write_text("two = 2")

        assert await next_paths(seen) == [file]


@pytest.mark.covers("UI-HOT-1")
async def test_folders_that_are_deleted_and_made_again_are_watched_again(workspace: Workspace) -> None:
    async with watching(workspace) as seen:
        rmtree(workspace.apps)
        (folder := workspace.apps / "later").mkdir(parents=True)
        (file := folder / "app.lua").write_text("one = 1")
        assert await next_paths(seen) == [file]
        file.write_text("two = 2")

        assert await next_paths(seen) == [file]


async def test_links_in_a_circle_end_no_watch(workspace: Workspace) -> None:
    for name in ("self", "again"):
        (workspace.apps / "adder" / name).symlink_to(workspace.apps)
    file = workspace.apps / "adder" / "app.lua"
    async with watching(workspace) as seen:
        file.write_text("two = 2")

        assert await next_paths(seen) == [file]


@pytest.mark.covers("UI-HOT-2")
async def test_touching_or_deleting_a_file_reports_nothing(workspace: Workspace) -> None:
    file = workspace.apps / "adder" / "app.lua"
    async with watching(workspace) as seen:
        os.utime(file)
        (other := workspace.apps / "adder" / "other.lua").write_text("x = 1")
        assert await next_paths(seen) == [other]
        other.unlink()
        file.write_text("n = 9")

        assert await next_paths(seen) == [file]


@pytest.mark.covers("UI-HOT-1")
async def test_a_new_app_directory_is_watched_with_what_it_already_holds(workspace: Workspace) -> None:
    async with watching(workspace) as seen:
        (viewdefs := workspace.apps / "new" / "deep" / "viewdefs").mkdir(parents=True)
        (first := viewdefs / "New.DEFAULT.html").write_text("<template><p></p></template>")
        assert await next_paths(seen) == [first]
        (second := viewdefs / "New.row.html").write_text("<template><p></p></template>")

        assert await next_paths(seen) == [second]


@pytest.mark.covers("UI-HOT-1")
async def test_the_target_of_a_link_made_later_is_watched(workspace: Workspace, tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (file := elsewhere / "app.lua").write_text("x = 1")
    link = workspace.lua / "linked.lua"
    async with watching(workspace) as seen:
        link.symlink_to(file)
        assert await next_paths(seen) == [file]
        file.write_text("x = 2")

        with fail_after(60):
            assert await seen.receive() == [SavedFile(file, frozenset({file, link}))]


@pytest.mark.covers("UI-HOT-1")
async def test_an_app_that_is_a_link_to_a_directory_is_watched(workspace: Workspace, tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (file := elsewhere / "app.lua").write_text("x = 1")
    (workspace.apps / "far").symlink_to(elsewhere)
    async with watching(workspace) as seen:
        file.write_text("x = 2")

        assert await next_paths(seen) == [file]


def test_a_file_is_known_by_every_link_that_leads_to_it(workspace: Workspace) -> None:
    file = workspace.apps / "adder" / "app.lua"
    (workspace.lua / "adder.lua").symlink_to(file)
    (workspace.lua / "adder").symlink_to(file.parent)

    assert names_of(file, find_roots(workspace)) == {
        file,
        workspace.lua / "adder.lua",
        workspace.lua / "adder" / "app.lua",
    }


def test_links_that_lead_nowhere_are_ignored(workspace: Workspace) -> None:
    (workspace.lua / "gone.lua").symlink_to(workspace.lua / "nowhere.lua")
    (workspace.lua / "loop").symlink_to(workspace.lua / "loop")

    assert find_roots(workspace).links == {}
