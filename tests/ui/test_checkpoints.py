"""Checkpoints of an app: what was saved comes back, and nothing else is touched."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.errors import InvalidArgumentsError, NotFoundError, RefusedError
from ui_mcp.ui.app_files import file_diff
from ui_mcp.ui.checkpoints import Checkpoints
from ui_mcp.workspace import Workspace

pytestmark = pytest.mark.covers("UI-CHECK-1")


@pytest.fixture
def app(workspace: Workspace) -> Path:
    folder = workspace.apps / "shop"
    (folder / "viewdefs").mkdir(parents=True)
    (folder / "app.lua").write_text("one\n")
    (folder / "viewdefs" / "Shop.DEFAULT.html").write_bytes(b"\xff\x00")
    return folder


@pytest.fixture
def kept(workspace: Workspace, app: Path) -> Checkpoints:
    return Checkpoints(workspace, "shop")


def contents(app: Path) -> dict[str, bytes]:
    return {file.relative_to(app).as_posix(): file.read_bytes() for file in app.rglob("*") if file.is_file()}


def test_a_rollback_restores_every_file_and_a_second_one_undoes_it(kept: Checkpoints, app: Path) -> None:
    before = contents(app)
    kept.save("start")
    (app / "app.lua").write_text("two\n")
    (app / "viewdefs" / "Shop.DEFAULT.html").unlink()
    (app / "viewdefs" / "New.DEFAULT.html").write_text("new")
    changed = contents(app)

    assert kept.roll_back(1)[0] == "Rolled back to checkpoint: start"
    assert contents(app) == before
    assert kept.roll_back()[0] == "Undid the last rollback"
    assert contents(app) == changed


def test_unchanged_files_are_not_saved_again(kept: Checkpoints, app: Path) -> None:
    assert kept.save("first") == "Saved checkpoint: first"
    assert kept.save("second") == "No changes to checkpoint"
    (app / "app.lua").write_text("two\n")
    assert kept.save() == "Saved checkpoint: checkpoint"
    assert kept.count() == 2
    assert [line.split()[0::2] for line in kept.listing().splitlines()] == [["1", "checkpoint"], ["2", "first"]]


def test_the_difference_is_shown_as_patches_are(kept: Checkpoints, app: Path) -> None:
    kept.save()
    assert kept.diff() == "No changes since checkpoint 1"
    (app / "app.lua").write_text("two\n")
    (app / "viewdefs" / "Shop.DEFAULT.html").unlink()

    shown = kept.diff().splitlines()

    assert shown[:2] == ["--- a/app.lua", "+++ b/app.lua"]
    assert shown[-1] == "Binary files a/viewdefs/Shop.DEFAULT.html and /dev/null differ"


def test_a_baseline_forgets_all_and_can_be_restored(kept: Checkpoints, app: Path) -> None:
    kept.save("old")
    assert kept.baseline() == "Baseline set for shop"
    assert (kept.count(), kept.listing()) == (0, "No checkpoints for shop")
    (app / "app.lua").write_text("two\n")

    kept.roll_back(1)

    assert (app / "app.lua").read_text() == "one\n"


def test_hidden_files_and_links_are_left_alone(kept: Checkpoints, app: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (app / "link.lua").symlink_to(secret)
    (app / ".git").mkdir()
    (app / ".git" / "HEAD").write_text("ref")
    kept.save()
    (app / "app.lua").write_text("two\n")

    kept.roll_back(1)

    assert (app / "link.lua").is_symlink()
    assert (app / ".git" / "HEAD").read_text() == "ref"
    assert b"secret" not in b"".join(contents(app.parents[1] / ".ui-mcp").values())


def test_what_does_not_exist_is_named(workspace: Workspace, kept: Checkpoints) -> None:
    with pytest.raises(NotFoundError, match="App not found: other"):
        Checkpoints(workspace, "other")
    with pytest.raises(NotFoundError, match="No checkpoints for shop"):
        kept.roll_back(1)
    kept.save()
    with pytest.raises(NotFoundError, match="Checkpoint 9 not found"):
        kept.diff(9)


@pytest.mark.parametrize("name", ["..", "../shop", "a/b", "", "a\0b"])
def test_names_that_lead_elsewhere_are_refused(workspace: Workspace, name: str) -> None:
    with pytest.raises(InvalidArgumentsError):
        Checkpoints(workspace, name)


def test_a_record_that_came_with_a_project_writes_nothing_outside(
    kept: Checkpoints, workspace: Workspace, app: Path
) -> None:
    kept.save()
    [record] = (workspace.own / "checkpoints" / "shop").glob("*.json")
    stored = json.loads(record.read_text())
    stored["files"]["../../evil.lua"] = stored["files"]["app.lua"]
    record.write_text(json.dumps(stored))

    with pytest.raises(NotFoundError):
        kept.roll_back(1)
    assert not (app.parents[1] / "evil.lua").exists()


def test_a_folder_replaced_by_a_link_is_not_written_through(kept: Checkpoints, app: Path, tmp_path: Path) -> None:
    kept.save()
    (app / "viewdefs" / "Shop.DEFAULT.html").unlink()
    (app / "viewdefs").rmdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (app / "viewdefs").symlink_to(outside)

    with pytest.raises(OSError, match="link"):
        kept.roll_back(1)
    assert list(outside.iterdir()) == []


def test_a_store_that_is_a_link_is_refused(kept: Checkpoints, workspace: Workspace, tmp_path: Path) -> None:
    workspace.own.mkdir(parents=True, exist_ok=True)
    (workspace.own / "checkpoints").symlink_to(tmp_path)

    with pytest.raises(RefusedError):
        kept.save()


def test_a_damaged_file_is_reported_before_anything_changes(kept: Checkpoints, workspace: Workspace, app: Path) -> None:
    kept.save()
    for blob in (workspace.own / "checkpoints" / "shop" / "files").iterdir():
        blob.write_bytes(b"nonsense")
    (app / "app.lua").write_text("two\n")

    with pytest.raises(NotFoundError, match="damaged"):
        kept.roll_back(1)
    assert (app / "app.lua").read_text() == "two\n"


@given(st.binary(max_size=50), st.binary(max_size=50))
def test_equal_contents_have_no_difference(old: bytes, new: bytes) -> None:
    assert (file_diff("x", old, old), file_diff("x", None, None)) == ([], [])
    assert isinstance(file_diff("x", old, new), list)
