"""Staged imports: outside `apps/` until the person accepts one."""

from pathlib import Path

import pytest

from ui.console.archives import APP, zipped
from ui_mcp.config import LuaPermissions
from ui_mcp.errors import NotFoundError, RefusedError
from ui_mcp.ui.checkpoints import Checkpoints
from ui_mcp.ui.console.catalog import described, listed, remove, restore
from ui_mcp.ui.console.imports import Imports, Source, archive_hint, find_apps
from ui_mcp.workspace import Workspace

pytestmark = pytest.mark.covers("UI-SHELL-3")
SOURCE = Source("archive", "notes.zip")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    found = Workspace.at(tmp_path / ".claude" / "ui")
    found.apps.mkdir(parents=True)
    return found


@pytest.fixture
def imports(workspace: Workspace) -> Imports:
    return Imports(workspace, LuaPermissions())


def test_a_staged_app_is_no_app_until_it_is_accepted(workspace: Workspace, imports: Imports) -> None:
    told = imports.stage(zipped(APP), SOURCE)
    before = listed(workspace)
    imports.accept(told["id"], "notes", "notes")

    assert before == []
    assert [app["name"] for app in told["apps"]] == ["notes"]
    assert {path.relative_to(workspace.apps).as_posix() for path in workspace.apps.rglob("*") if path.is_file()} == set(
        APP
    )
    assert imports.staged() == []
    source = described(workspace, LuaPermissions(), "notes")["source"]
    assert {key: source[key] for key in ("kind", "label", "changed")} == {**SOURCE.as_json(), "changed": False}


def test_a_change_after_the_import_is_noticed(workspace: Workspace, imports: Imports) -> None:
    imports.accept(imports.stage(zipped(APP), SOURCE)["id"], "notes", "notes")
    (workspace.apps / "notes" / "app.lua").write_text("-- other\n")

    assert listed(workspace)[0]["source"]["changed"] is True
    assert "-- other" in Checkpoints(workspace, "notes").diff()


def test_a_discarded_import_leaves_nothing(workspace: Workspace, imports: Imports) -> None:
    number = imports.stage(zipped(APP), SOURCE)["id"]
    imports.discard(number)

    assert list(workspace.apps.iterdir()) == []
    assert list((workspace.own / "imports").iterdir()) == []
    with pytest.raises(NotFoundError):
        imports.accept(number, "notes", "notes")


def test_a_refused_archive_leaves_nothing(workspace: Workspace, imports: Imports) -> None:
    for files in ({"../up": "x"}, {"text.txt": "no app"}):
        with pytest.raises(RefusedError):
            imports.stage(zipped(files), SOURCE)

    assert list((workspace.own / "imports").iterdir()) == []


def test_a_taken_name_needs_another_name_or_a_replacement_that_can_be_undone(
    workspace: Workspace, imports: Imports
) -> None:
    old = workspace.apps / "notes"
    old.mkdir()
    (old / "app.lua").write_text("old")
    number = imports.stage(zipped(APP), SOURCE)["id"]
    with pytest.raises(RefusedError, match="already"):
        imports.accept(number, "notes", "notes")
    imports.accept(number, "notes", "notes", replace=True)

    assert (old / "app.lua").read_text().startswith("-- notes")
    [kept] = (workspace.own / "deleted").iterdir()
    assert (kept / "files" / "app.lua").read_text() == "old"


@pytest.mark.parametrize("name", ["../up", "Notes", "mcp", "", "a b"])
def test_an_invalid_name_is_refused(imports: Imports, name: str) -> None:
    number = imports.stage(zipped(APP), SOURCE)["id"]

    with pytest.raises(RefusedError, match=r"name of an app|reserved"):
        imports.accept(number, "notes", name)


def test_an_apps_folder_that_leads_away_is_not_written(tmp_path: Path, workspace: Workspace, imports: Imports) -> None:
    number = imports.stage(zipped(APP), SOURCE)["id"]
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    workspace.apps.rmdir()
    workspace.apps.symlink_to(elsewhere)

    with pytest.raises(RefusedError, match="leads out"):
        imports.accept(number, "notes", "notes")
    assert list(elsewhere.iterdir()) == []


def test_several_apps_of_one_archive_are_accepted_one_by_one(workspace: Workspace, imports: Imports) -> None:
    told = imports.stage(zipped({"repo/apps/one/app.lua": "1", "repo/apps/two/app.lua": "2"}), SOURCE)
    number = told["id"]
    imports.accept(number, "repo/apps/one", "one")
    left = [app["folder"] for app in imports.described(number)["apps"]]
    imports.accept(number, "repo/apps/two", "two")

    assert [app["name"] for app in told["apps"]] == ["one", "two"]
    assert left == ["repo/apps/two"]
    assert [app["name"] for app in listed(workspace)] == ["one", "two"]


def test_files_at_the_top_are_an_app_named_after_the_archive(imports: Imports) -> None:
    told = imports.stage(zipped({"app.lua": "1", "lib/app.lua": "2"}), SOURCE, archive_hint("Week_Plan.tar.gz"))

    assert [(app["folder"], app["name"]) for app in told["apps"]] == [("", "week-plan")]


def test_a_staged_file_is_shown_and_nothing_else(workspace: Workspace, imports: Imports) -> None:
    number = imports.stage(zipped({**APP, "notes/picture.png": b"\x89PNG\0"}), SOURCE)["id"]

    assert imports.file(number, "notes/requirements.md")["text"] == APP["notes/requirements.md"]
    assert imports.file(number, "notes/picture.png")["binary"] is True
    for path in ("../import.json", "/etc/passwd", "notes", "none"):
        with pytest.raises(NotFoundError):
            imports.file(number, path)


def test_a_deleted_app_can_be_brought_back(workspace: Workspace, imports: Imports) -> None:
    imports.accept(imports.stage(zipped(APP), SOURCE)["id"], "notes", "notes")
    undo = remove(workspace, "notes")
    gone = listed(workspace)
    restore(workspace, undo)

    assert gone == []
    assert listed(workspace)[0]["source"]["label"] == "notes.zip"
    with pytest.raises(NotFoundError):
        restore(workspace, undo)
    with pytest.raises(NotFoundError):
        restore(workspace, "../../etc")


def test_a_linked_app_is_not_deleted(workspace: Workspace) -> None:
    real = workspace.project / "mine"
    real.mkdir()
    (real / "app.lua").write_text("1")
    (workspace.apps / "mine").symlink_to(real)

    with pytest.raises(RefusedError, match="is a link"):
        remove(workspace, "mine")
    assert (real / "app.lua").is_file()


def test_apps_inside_an_app_belong_to_it(tmp_path: Path) -> None:
    for path in ("a/app.lua", "a/parts/app.lua", "b/requirements.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")

    assert find_apps(tmp_path) == ["a", "b"]
