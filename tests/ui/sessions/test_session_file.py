"""A session goes into one file and continues elsewhere."""

import zipfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from anyio import fail_after, to_thread
from anyio.lowlevel import checkpoint

from ui_mcp.app.commands.session import export_session, import_session
from ui_mcp.errors import InvalidArgumentsError, NotFoundError, RefusedError
from ui_mcp.jsontypes import loads
from ui_mcp.testing.project import make_workspace, open_session_file, open_sessions
from ui_mcp.ui.app_files import MAX_BYTES
from ui_mcp.ui.sessions.record import SessionRecords
from ui_mcp.ui.sessions.session_file import read
from ui_mcp.ui.state.database import JournalSettings, StateDatabase
from ui_mcp.workspace import STATE_FILE, Workspace

APP = """
Note = session:prototype("Note", { title = "draft" })
if not session.reloading then note = Note:new() end
"""
VIEW = '<template><b ui-value="title"></b></template>'

pytestmark = [pytest.mark.anyio, pytest.mark.covers("STATE-8")]


@dataclass
class Exported:
    file: Path
    text: str


def database_of(workspace: Workspace) -> StateDatabase:
    return StateDatabase(JournalSettings(str(workspace.state_dir / STATE_FILE)))


@pytest.fixture
async def exported(tmp_path: Path) -> Exported:
    """A session with changed state, exported while its server runs."""
    workspace = make_workspace(tmp_path / "here")
    workspace.state_dir.mkdir(parents=True)
    folder = workspace.apps / "note" / "viewdefs"
    folder.mkdir(parents=True)
    (folder.parent / "app.lua").write_text(APP)
    (folder.parent / "init.lua").write_text('require "note"')
    (folder / "Note.DEFAULT.html").write_text(VIEW)
    async with open_sessions(workspace, records=SessionRecords(workspace.state_dir)) as sessions:
        session = sessions.get("1")
        await session.display("note")
        await session.run_lua(
            "note.title = 'changed'; note.me = note; local n = 1; note.count = function() n = n + 1 return n end"
        )
        with fail_after(60):
            while session.unsaved:
                await checkpoint()
        database = database_of(workspace)
        text = await export_session(workspace, database, tmp_path / "bug.uisession")
        await database.close()
    return Exported(tmp_path / "bug.uisession", text)


async def test_a_test_continues_an_exported_session(exported: Exported, tmp_path: Path) -> None:
    assert exported.text == f"Wrote {exported.file}: the state and 3 files of apps\n"
    async with open_session_file(exported.file, tmp_path / "test") as (session, browser):
        assert browser.text == "changed"
        assert await session.run_lua("return note.me == note and note.count()") == "2"


async def test_the_next_server_of_another_directory_continues_it(exported: Exported, tmp_path: Path) -> None:
    there = make_workspace(tmp_path / "there")
    there.state_dir.mkdir(parents=True)
    database = database_of(there)
    assert "Imported note;" in await import_session(there, database, exported.file)
    with pytest.raises(RefusedError, match="has a session"):
        await import_session(there, database, exported.file)
    await database.close()

    async with open_sessions(there, records=SessionRecords(there.state_dir, resumes=True)) as sessions:
        assert await sessions.get("1").run_lua("return note.title") == '"changed"'
        assert sessions.get("1").displayed == "note"


async def test_an_app_that_differs_is_not_overwritten(exported: Exported, tmp_path: Path) -> None:
    there = make_workspace(tmp_path / "there")
    (there.apps / "note").mkdir()
    (there.apps / "note" / "app.lua").write_text("mine")
    database = database_of(there)
    with pytest.raises(RefusedError, match="apps/note exists and differs"):
        await import_session(there, database, exported.file)
    await database.close()
    assert (there.apps / "note" / "app.lua").read_text() == "mine"


def changed(file: Path, copy: Path) -> Path:
    """Return a copy whose state was written by another account."""
    with closing(zipfile.ZipFile(file)) as old, closing(zipfile.ZipFile(copy, "w")) as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content.replace(b"changed", b"foreign") if name == "state.json" else content)
    return copy


async def test_bytecode_of_another_account_is_left_out(exported: Exported, tmp_path: Path) -> None:
    found = await to_thread.run_sync(read, await to_thread.run_sync(changed, exported.file, tmp_path / "foreign"))

    functions = [record for record in loads(found.records) if record[0] == "f"]
    assert functions
    assert {record[4] for record in functions} == {None}
    async with open_session_file(tmp_path / "foreign", tmp_path / "test") as (session, browser):
        assert browser.text == "foreign"
        assert await session.run_lua("return note.count == nil") == "true"


async def test_anything_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no archive")
    with pytest.raises(InvalidArgumentsError, match="not a session file"):
        read(tmp_path / "text")
    workspace = make_workspace(tmp_path / "empty")
    database = database_of(workspace)
    with pytest.raises(NotFoundError, match="No session is saved"):
        await export_session(workspace, database, tmp_path / "x")
    await database.close()


@pytest.mark.parametrize(
    "path", ["note/../../../evil.lua", "../evil/app.lua", "/evil/app.lua", "note/a\\b.lua", "note"]
)
async def test_a_path_out_of_the_app_is_refused_and_nothing_is_written(
    exported: Exported, tmp_path: Path, path: str
) -> None:
    def copied() -> Path:
        with closing(zipfile.ZipFile(exported.file)) as old, closing(zipfile.ZipFile(tmp_path / "odd", "w")) as new:
            for name in old.namelist():
                new.writestr(name, old.read(name))
            new.writestr(f"apps/{path}", "evil()")
        return tmp_path / "odd"

    found = await to_thread.run_sync(read, await to_thread.run_sync(copied))
    there = make_workspace(tmp_path / "there")

    with pytest.raises((RefusedError, InvalidArgumentsError)):
        found.unpack(there)

    assert not list(there.apps.iterdir())
    assert not list(tmp_path.rglob("evil*"))


def test_what_cannot_be_unpacked_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "large", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("session.json", "{}")
        archive.writestr("state.json", b"0" * (MAX_BYTES + 1))
    with pytest.raises(InvalidArgumentsError, match="too large"):
        read(tmp_path / "large")

    with zipfile.ZipFile(tmp_path / "locked", "w") as archive:
        archive.writestr("session.json", "{}")
    marked = bytearray((tmp_path / "locked").read_bytes())
    marked[6] |= 1  # encrypted, in the local header and in the directory
    marked[marked.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "locked").write_bytes(marked)
    with pytest.raises(InvalidArgumentsError, match="not a session file"):
        read(tmp_path / "locked")
