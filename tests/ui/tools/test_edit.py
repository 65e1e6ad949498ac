"""`ui_edit` in a running server: load or leave alone, and say what became of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ui_mcp.errors import InvalidArgumentsError, NotFoundError
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.testing.browser import Browser, open_page
from ui_mcp.toolkit.functions import FunctionToolset
from ui_mcp.toolkit.tool import Call, Text
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running
from ui_mcp.ui.tools.edit import edit
from ui_mcp.ui.tools.read import read

APP = """\
Note = session:prototype("Note", { title = "draft", n = 0 })
function Note:shown() return self.title .. "!" end
if not session.reloading then note = Note:new() end
"""
VIEW = '<template><div><b ui-value="title"></b><i ui-value="shown()"></i></div></template>'
FILES: list[JsonObject] = [
    {"path": "app.lua", "text": APP},
    {"path": "viewdefs/Note.DEFAULT.html", "text": VIEW},
]


async def call(host: UiServer, name: str, /, **arguments: Json) -> list[str]:
    result = await FunctionToolset(host, [edit, read]).call(name, arguments, Call())
    return [block.text for block in result.content if isinstance(block, Text)]


async def change(host: UiServer, *changes: JsonObject, **arguments: Json) -> JsonObject:
    [text] = await call(host, "ui_edit", app="note", changes=list(changes), **arguments)
    answer: JsonObject = loads(text)
    return answer


def files(running: Running) -> dict[str, str]:
    folder = running.workspace.apps / "note"
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
async def note(host: UiServer, running: Running) -> AsyncIterator[Browser]:
    await change(host, *FILES)
    session = running.sessions.get("1")
    await session.display("note")
    async with open_page(session, driven=True) as browser:  # this page answers no questions of introspection
        yield browser


@pytest.mark.covers("UI-EDIT-1")
async def test_an_edit_reaches_the_page_and_keeps_the_state(host: UiServer, running: Running, note: Browser) -> None:
    await running.sessions.get("1").run_lua('note.title = "live"')

    answer = await change(
        host,
        {"path": "app.lua", "old": '"!"', "new": '"?"'},
        {"path": "viewdefs/Note.DEFAULT.html", "old": "<i ", "new": "<em "},
        {"path": "viewdefs/Note.DEFAULT.html", "old": "</i>", "new": "</em>"},
    )

    await note.until(lambda: note.value("shown()") == "live?")
    assert answer["ok"] is True
    assert answer["files"] == {"app.lua": "changed", "viewdefs/Note.DEFAULT.html": "changed"}


@pytest.mark.covers("UI-EDIT-5")
@pytest.mark.parametrize(
    ("new", "line", "message"),
    [("= = 1", 2, "unexpected symbol near '='"), ('= 1\nerror("boom")', 3, "boom")],
    ids=["does not compile", "fails while it runs"],
)
async def test_an_edit_that_fails_leaves_files_page_and_events_as_they_were(
    host: UiServer, running: Running, note: Browser, new: str, line: int, message: str
) -> None:
    before, text, events = files(running), note.text, len(running.sessions.get("1").events)

    answer = await change(
        host,
        {"path": "app.lua", "old": "})\n", "new": f"}})\nx {new}\n"},
        {"path": "viewdefs/Note.DEFAULT.html", "text": "<template><p>new</p></template>"},
        {"path": "viewdefs/Other.DEFAULT.html", "text": "<template><p>new</p></template>"},
    )

    assert answer["ok"] is False
    [problem] = answer["load_errors"]
    assert (problem["file"], problem["line"], problem["message"]) == ("app.lua", line, message)
    assert f"> {line}| " in problem["source"]
    assert (files(running), note.text, len(running.sessions.get("1").events)) == (before, text, events)
    assert loads(await running.sessions.get("1").run_lua("return note:shown()")) == "draft!"


@pytest.mark.covers("UI-EDIT-5")
async def test_a_draft_is_corrected_by_a_small_change(host: UiServer, running: Running, note: Browser) -> None:
    failed = await change(host, {"path": "app.lua", "text": APP + "x = = 1\n"}, {"path": "b.lua", "text": "return 1\n"})

    answer = await change(host, {"path": "app.lua", "old": "= = 1", "new": "= 1"}, base=failed["draft"])

    assert answer["ok"] is True
    assert files(running) | {"viewdefs/Note.DEFAULT.html": ""} == {
        "app.lua": APP + "x = 1\n", "b.lua": "return 1\n", "viewdefs/Note.DEFAULT.html": "",
    }  # fmt: skip


@pytest.mark.covers("UI-EDIT-5")
async def test_a_wrong_viewdef_is_refused_with_its_place(host: UiServer, running: Running, note: Browser) -> None:
    before = files(running)

    answer = await change(
        host, {"path": "viewdefs/Note.DEFAULT.html", "text": "<template>"}, {"path": "viewdefs/x.html", "text": "a"}
    )

    assert {problem["file"] for problem in answer["load_errors"]} >= {"viewdefs/x.html"}
    assert files(running) == before


@pytest.mark.covers("UI-EDIT-6")
async def test_only_findings_that_are_new_since_the_last_edit_are_reported(host: UiServer, running: Running) -> None:
    first = await change(host, *FILES, {"path": "b.lua", "text": "function Note:lost() end\n"})
    second = await change(
        host, {"path": "b.lua", "text": "-- moved\nfunction Note:lost() end\nfunction Note:too() end\n"}
    )
    third = await change(host, {"path": "b.lua", "delete": True})

    assert [finding["rule"] for finding in first["audit"]] == ["dead_method"]
    assert [finding["location"] for finding in second["audit"]] == ["b.lua:3"]
    assert ("audit" in third, third["audit_fixed"]) == (False, 2)


@pytest.mark.covers("UI-EDIT-1")
async def test_a_dry_run_checks_and_changes_nothing(host: UiServer, running: Running, note: Browser) -> None:
    before = files(running)

    good = await change(host, {"path": "app.lua", "old": "n = 0", "new": "n = 1"}, dry_run=True)
    bad = await change(host, {"path": "app.lua", "old": "n = 0", "new": "n = = 1"}, dry_run=True)

    assert (good["ok"], bad["ok"]) == (True, False)
    assert "+Note = session:prototype" in good["diff"]
    assert files(running) == before


@pytest.mark.covers("UI-EDIT-1")
async def test_a_deleted_viewdef_no_longer_shows_and_comes_back_by_undo(
    host: UiServer, running: Running, note: Browser
) -> None:
    text = note.text
    await change(host, {"path": "viewdefs/Note.DEFAULT.html", "delete": True})
    await note.until(lambda: "draft" not in note.text)

    [answer] = await call(host, "ui_edit", app="note", undo=True)

    await note.until(lambda: note.text == text)
    assert loads(answer)["files"] == {"viewdefs/Note.DEFAULT.html": "created"}


@pytest.mark.covers("UI-EDIT-1")
async def test_before_the_start_files_are_written_and_the_answer_says_that_nothing_was_loaded(host: UiServer) -> None:
    answer = await change(host, *FILES)

    assert (answer["ok"], "not started" in answer["note"]) == (True, True)
    assert (host.configured().workspace.apps / "note" / "app.lua").read_text() == APP


@pytest.mark.covers("UI-EDIT-1")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([], "Nothing to do"),
        ([{"path": "app.lua", "old": "Note", "new": "x"}], r"old occurs 4 times, at lines 1, 1, 2"),
        ([{"path": "app.lua", "old": "function Note:show()", "new": "x"}], r"nearest text is at line 2"),
        ([{"path": "no.lua", "old": "x", "new": "y"}], "there is no such file"),
        ([{"path": "app.lua"}], "either text, or old and new, or delete"),
        ([{"path": "app.lua", "text": "x", "delete": True}], "either text, or old and new, or delete"),
        ([{"path": "b.lua", "text": "x"}, {"path": "B.lua", "text": "y"}], "differ only in case"),
    ],
)
async def test_what_cannot_be_done_is_said(host: UiServer, changes: list[JsonObject], message: str) -> None:
    await change(host, *FILES)
    with pytest.raises(InvalidArgumentsError, match=message):
        await change(host, *changes)


@pytest.mark.covers("UI-EDIT-4")
async def test_files_guides_and_logs_are_read(host: UiServer, running: Running) -> None:
    version = (await change(host, *FILES))["version"]
    running.workspace.log.joinpath("lua.log").write_text("".join(f"{n}\n" for n in range(500)))

    assert await call(host, "ui_read", path="apps/note/app.lua") == [APP, f"version {version}"]
    assert await call(host, "ui_read", path="apps/note/app.lua", line=2, lines=1) == [
        'function Note:shown() return self.title .. "!" end\n\n… lines 2 to 2 of 3', f"version {version}",
    ]  # fmt: skip
    assert (await call(host, "ui_read", path="apps/note"))[0].splitlines()[0] == f"app.lua {len(APP)} bytes"
    assert (await call(host, "ui_read", path="log/lua.log"))[0].startswith("400\n401\n")
    assert (await call(host, "ui_read", path="ui://viewdefs"))[0].startswith("#")
    assert "apps/note" in (await call(host, "ui_read"))[0]


@pytest.mark.covers("UI-EDIT-4")
@pytest.mark.parametrize(
    "path",
    ["apps/note/../../config/config.toml", "log/../config/config.toml", "config/config.toml", "apps/..", "mcp-token"],
)
async def test_nothing_else_is_read(host: UiServer, path: str) -> None:
    await change(host, *FILES)
    from ui_mcp.errors import RefusedError

    with pytest.raises((RefusedError, NotFoundError, InvalidArgumentsError)):
        await call(host, "ui_read", path=path)


@pytest.mark.covers("UI-EDIT-2")
async def test_the_server_takes_back_an_interrupted_edit_when_it_starts(host: UiServer, tmp_path: Path) -> None:
    from ui_mcp.ui.editing.changes import FileChange
    from ui_mcp.ui.editing.editor import AppEditor
    from ui_mcp.ui.editing.journal import EditJournal

    await change(host, *FILES)
    workspace = host.configured().workspace
    plan = await AppEditor(workspace, "note", None).plan([FileChange("app.lua", text="half")], None)
    EditJournal(workspace, "note").apply(plan.edit, plan.contents)

    await host.configure(workspace.given)

    assert (workspace.apps / "note" / "app.lua").read_text() == APP
