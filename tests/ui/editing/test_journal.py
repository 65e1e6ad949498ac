"""Edits of an app's files: applied as a whole whatever ends the process, and undone exactly."""

import os
import random
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import pytest

from ui_mcp.errors import NotFoundError, RefusedError
from ui_mcp.ui.app_files import version_of
from ui_mcp.ui.editing.changes import FileChange, changed_files
from ui_mcp.ui.editing.editor import AppEditor, Plan
from ui_mcp.ui.editing.journal import KEPT_EDITS, EditJournal, editing, recover_edits
from ui_mcp.workspace import Workspace

Files = dict[str, tuple[bytes, int]]
PATHS = ("app.lua", "viewdefs/A.DEFAULT.html", "viewdefs/deep/B.DEFAULT.html", "lib.lua", "notes[1].md")
WATCHED = ("open", "os.", "tempfile.mkstemp")


@pytest.fixture
def app(workspace: Workspace) -> Path:
    folder = workspace.apps / "shop"
    folder.mkdir(parents=True)
    (folder / "app.lua").write_bytes(b"one = 1\r\ntwo = 2\r\n")
    return folder


def contents(app: Path) -> Files:
    """Return everything in the app's directory, hidden files too."""
    files = [file for file in app.rglob("*") if file.is_file()]
    return {str(file.relative_to(app)): (file.read_bytes(), file.stat().st_mode & 0o777) for file in files}


async def make(workspace: Workspace, changes: Sequence[FileChange] | None, base: str | None = None) -> Plan:
    """Apply changes, or undo the last ones."""
    editor = AppEditor(workspace, "shop", None)
    async with editor.alone():
        plan = await (editor.plan_undo() if changes is None else editor.plan(changes, base))
        await editor.apply(plan, show=False)
    return plan


def edit(workspace: Workspace, *changes: FileChange, base: str | None = None) -> Plan:
    return anyio.run(make, workspace, changes, base)


def undo(workspace: Workspace) -> Plan:
    return anyio.run(make, workspace, None)


def killed_at(number: int, work: Callable[[], object]) -> bool:
    """Do the work in a process that is killed before its n-th operation on files; return whether it was."""
    child = os.fork()
    if child == 0:  # pragma: no cover — the child never reports
        left = [number]

        def count(event: str, args: object) -> None:
            if event.startswith(WATCHED):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(count)
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def random_changes(chance: random.Random, files: Files) -> list[FileChange]:
    """Return changes that fit the files: whole files, one line, deletions."""
    changes = []
    for path in chance.sample(PATHS, chance.randint(1, len(PATHS))):
        line = f"line {chance.random()}\n"
        old = files[path][0].decode() if path in files else ""
        match chance.choice(("text", "replace", "delete")):
            case "replace" if old and old.count(old[:40]) == 1:
                changes.append(FileChange(path, old=old[:40], new=line))
            case "delete" if old:
                changes.append(FileChange(path, delete=True))
            case _:
                changes.append(FileChange(path, text=line * chance.randint(1, 50)))
    return changes


def applied(files: Files, changes: Sequence[FileChange]) -> Files:
    wanted = changed_files({path: content for path, (content, _) in files.items()}, changes)
    new = {
        path: (content, files[path][1] if path in files else 0o644)
        for path, content in wanted.items()
        if content is not None
    }
    return {path: state for path, state in {**files, **new}.items() if wanted.get(path, b"") is not None}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills need a fork")
@pytest.mark.slow
@pytest.mark.timeout(300)  # a few hundred processes each
@pytest.mark.covers("UI-EDIT-2")
@pytest.mark.parametrize("first", range(0, 200, 20))
def test_200_sequences_with_kills_leave_whole_files_and_undo_exactly(
    workspace: Workspace, app: Path, first: int
) -> None:
    (app / "app.lua").chmod(0o755)
    start = contents(app)
    killed = 0
    for seed in range(first, first + 20):
        chance = random.Random(seed)
        history: list[Files] = [start]
        for _ in range(6):
            now = history[-1]
            back = len(history) > 1 and chance.random() < 0.3
            changes = None if back else random_changes(chance, now)
            after = history[-2] if changes is None else applied(now, changes)
            if chance.random() < 0.8:
                killed += killed_at(chance.randint(1, 60), lambda changes=changes: anyio.run(make, workspace, changes))  # type: ignore[misc]
                if chance.random() < 0.5:  # nor does it matter if recovering is killed
                    killed_at(chance.randint(1, 25), lambda: recover_edits(workspace))
                recover_edits(workspace)
            else:
                anyio.run(make, workspace, changes)
            found = contents(app)
            assert found in (now, after), f"seed {seed}"
            if changes is None and found == after:
                history.pop()
            elif found != now:
                history.append(after)
        while len(history) > 1:
            undo(workspace)
            history.pop()
            assert contents(app) == history[-1], f"seed {seed}"
        assert not [folder for folder in app.rglob("*") if folder.is_dir()], "what edits made is gone"
    assert killed > 20  # of about 100


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills need a fork")
@pytest.mark.covers("UI-EDIT-2")
def test_a_file_that_a_person_saved_after_the_kill_stays(workspace: Workspace, app: Path) -> None:
    changes = [FileChange("a.lua", text="a"), FileChange("app.lua", text="new")]
    journal = workspace.versions / "shop" / "pending.json"
    for number in range(1, 200):
        assert killed_at(number, lambda: anyio.run(make, workspace, changes))
        if journal.exists() and (app / "a.lua").exists():
            break
        recover_edits(workspace)
    (app / "a.lua").write_text("a person's")

    recover_edits(workspace)

    assert {path: content for path, (content, _) in contents(app).items()} == {
        "a.lua": b"a person's",
        "app.lua": b"one = 1\r\ntwo = 2\r\n",
    }


@pytest.mark.covers("UI-EDIT-1")
def test_one_place_is_replaced_with_the_line_ends_of_the_file(workspace: Workspace, app: Path) -> None:
    plan = edit(workspace, FileChange("app.lua", old="one = 1\ntwo", new="one = 2\ntwo"))

    assert (app / "app.lua").read_bytes() == b"one = 2\r\ntwo = 2\r\n"
    assert plan.changes() == {"app.lua": "changed"}
    assert plan.edit.version == version_of({"app.lua": b"one = 2\r\ntwo = 2\r\n"})


@pytest.mark.covers("UI-EDIT-3")
def test_a_base_that_a_person_has_changed_is_refused_with_the_difference(workspace: Workspace, app: Path) -> None:
    version = edit(workspace, FileChange("app.lua", text="one\n")).edit.version
    edit(workspace, FileChange("app.lua", text="two\n"), base=version)
    version = edit(workspace, FileChange("app.lua", text="three\n")).edit.version
    (app / "app.lua").write_text("a person's\n")

    with pytest.raises(RefusedError, match=r"(?s)it was saved meanwhile.*-three\n\+a person's"):
        edit(workspace, FileChange("app.lua", text="four\n"), base=version)
    assert (app / "app.lua").read_text() == "a person's\n"


@pytest.mark.covers("UI-EDIT-3")
def test_an_undo_never_takes_back_what_a_person_saved(workspace: Workspace, app: Path) -> None:
    with pytest.raises(NotFoundError, match="no edit of apps/shop to undo"):
        undo(workspace)
    edit(workspace, FileChange("app.lua", text="one\n"))
    (app / "app.lua").write_text("a person's\n")

    with pytest.raises(RefusedError, match=r"(?s)Not undone: app.lua changed.*\+a person's"):
        undo(workspace)


@pytest.mark.covers("UI-EDIT-1")
def test_an_undone_new_app_is_gone(workspace: Workspace) -> None:
    edit(workspace, FileChange("viewdefs/Shop.DEFAULT.html", text="<p></p>"), FileChange("app.lua", text="shop = {}"))
    assert (workspace.apps / "shop" / "app.lua").exists()

    undo(workspace)

    assert not (workspace.apps / "shop").exists()


@pytest.mark.covers("UI-EDIT-2")
def test_the_journal_keeps_the_latest_edits_and_their_contents_only(workspace: Workspace, app: Path) -> None:
    for number in range(KEPT_EDITS + 21):
        edit(workspace, FileChange("app.lua", text=f"{number}\n"))

    store = workspace.versions / "shop"
    assert len(list(store.glob("[0-9]*.json"))) == KEPT_EDITS
    assert len(list((store / "files").iterdir())) == KEPT_EDITS + 1
    for number in reversed(range(20, KEPT_EDITS + 20)):
        undo(workspace)
        assert (app / "app.lua").read_text() == f"{number}\n"
    with pytest.raises(NotFoundError):
        undo(workspace)


@pytest.mark.covers("UI-EDIT-2")
def test_an_edit_that_is_being_made_is_not_recovered_by_another_process(workspace: Workspace, app: Path) -> None:
    editor = AppEditor(workspace, "shop", None)
    with editing(workspace):
        plan = anyio.run(editor.plan, [FileChange("app.lua", text="new")], None)
        journal = EditJournal(workspace, "shop")
        journal.apply(plan.edit, plan.contents)

        recover_edits(workspace)

        assert (app / "app.lua").read_text() == "new"
        journal.commit()


@pytest.mark.covers("UI-EDIT-4")
@pytest.mark.parametrize(
    "path",
    [
        "../other/app.lua", "/etc/passwd", "viewdefs/../../x.lua", "", ".hidden", "viewdefs//a.html", "a\\b.lua",
        "a.lua:stream", "viewdefs", "app.lua/x.lua", "APP.lua", "linked/x.lua", "link.lua", "a\n.lua", "x" * 600,
    ],
)  # fmt: skip
def test_only_plain_paths_of_the_app_are_written(workspace: Workspace, app: Path, tmp_path: Path, path: str) -> None:
    (app / "viewdefs").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (app / "linked").symlink_to(tmp_path / "elsewhere")
    (app / "link.lua").symlink_to(tmp_path / "elsewhere" / "file.lua")

    with pytest.raises(RefusedError):
        edit(workspace, FileChange(path, text="x"))

    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.covers("UI-EDIT-4")
@pytest.mark.parametrize("name", ["..", "a/b", "Shop", "", "away"])
def test_only_apps_of_the_project_are_edited(workspace: Workspace, app: Path, tmp_path: Path, name: str) -> None:
    (workspace.apps / "away").symlink_to(tmp_path)
    from ui_mcp.errors import InvalidArgumentsError

    with pytest.raises((RefusedError, InvalidArgumentsError)):
        AppEditor(workspace, name, None)
