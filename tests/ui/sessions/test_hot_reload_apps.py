"""Files saved while an app is shown: state stays, code and templates change, the page follows by itself."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from anyio import fail_after
from anyio.lowlevel import checkpoint

from ui_mcp.jsontypes import loads
from ui_mcp.testing.browser import Browser, open_page
from ui_mcp.testing.project import open_sessions
from ui_mcp.ui.sessions.registry import SessionRegistry
from ui_mcp.ui.sessions.session import Session
from ui_mcp.workspace import Workspace

APP = """
Note = session:prototype("Note", { title = "draft", old = "kept" })
function Note:shown() return self.title .. "!" end
if not session.reloading then
  note = Note:new({ title = "live" })
  note.old = "own"
end
"""
VIEW = '<template><div><b ui-value="title"></b><i ui-value="shown()"></i></div></template>'


@pytest.fixture
def app(workspace: Workspace) -> Path:
    folder = workspace.apps / "note"
    (folder / "viewdefs").mkdir(parents=True)
    (folder / "app.lua").write_text(APP)
    (folder / "viewdefs" / "Note.DEFAULT.html").write_text(VIEW)
    return folder


@pytest.fixture
async def sessions(workspace: Workspace, app: Path) -> AsyncIterator[SessionRegistry]:
    async with open_sessions(workspace) as sessions:
        await sessions.get("1").display("note")
        yield sessions


@pytest.fixture
async def browser(session: Session) -> AsyncIterator[Browser]:
    async with open_page(session) as browser:
        yield browser


def save(file: Path, content: str) -> None:
    (fresh := file.with_suffix(".new")).write_text(content)
    fresh.replace(file)


async def until_logged(caplog: pytest.LogCaptureFixture, text: str) -> None:
    with fail_after(60):
        while text not in caplog.text:
            await checkpoint()


async def until_event(session: Session, event: str) -> dict[str, object]:
    with fail_after(60):
        while True:
            for found in session.events.peek():
                if found["event"] == event:
                    return dict(found)
            await checkpoint()


@pytest.mark.covers("UI-HOT-3", "UI-HOT-7")
async def test_a_changed_method_shows_at_once_and_state_stays(app: Path, session: Session, browser: Browser) -> None:
    await session.run_lua("note.title = 'typed'")
    save(app / "app.lua", APP.replace('"!"', '"?"'))

    await browser.until(lambda: browser.value("shown()") == "typed?")

    assert browser.value("title") == "typed"


@pytest.mark.covers("UI-HOT-5")
async def test_a_field_added_to_the_prototype_is_there_for_living_instances(
    app: Path, session: Session, browser: Browser
) -> None:
    save(app / "app.lua", APP.replace('title = "draft"', 'title = "draft", size = 3').replace('"!"', "self.size"))

    await browser.until(lambda: browser.value("shown()") == "live3")


@pytest.mark.covers("UI-HOT-5", "UI-HOT-6")
async def test_a_field_removed_from_the_prototype_vanishes_from_instances(
    app: Path, session: Session, browser: Browser
) -> None:
    save(app / "app.lua", APP.replace(', old = "kept"', "").replace('"!"', '"-" .. tostring(self.old)'))

    await browser.until(lambda: browser.value("shown()") == "live-nil")


@pytest.mark.covers("UI-HOT-6")
async def test_mutate_carries_a_renamed_field_over(app: Path, session: Session, browser: Browser) -> None:
    renamed = APP.replace('old = "kept"', 'fresh = ""') + "function Note:mutate() self.fresh = self.old end\n"
    save(app / "app.lua", renamed.replace('"!"', "self.fresh"))

    await browser.until(lambda: browser.value("shown()") == "liveown")

    assert await session.run_lua("return note.old") == "null"


@pytest.mark.covers("UI-HOT-3")
async def test_the_log_calls_only_what_is_live_reloaded(
    app: Path, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "ui_mcp")
    save(app / "app.lua", APP + "this is not lua")
    save(app / "viewdefs" / "Note.DEFAULT.html", "no template")
    await until_event(session, "load_error")
    await until_logged(caplog, "reload of")
    assert "session 1: reload failed: apps/note/app.lua:8: syntax error" in caplog.text
    assert "reload of .claude/ui/apps/note/viewdefs/Note.DEFAULT.html failed: " in caplog.text
    assert "reloaded" not in caplog.text

    save(app / "app.lua", APP.replace('"!"', '"?"'))

    await until_logged(caplog, "reloaded .claude/ui/apps/note/app.lua")


@pytest.mark.covers("UI-HOT-3")
async def test_a_broken_file_keeps_the_old_code_and_is_reported_until_repaired(
    app: Path, workspace: Workspace, session: Session, browser: Browser
) -> None:
    save(app / "app.lua", APP + "this is not lua")
    problem = await until_event(session, "load_error")
    await browser.until(lambda: browser.page.notices)
    assert "app.lua" in str(problem["message"])
    assert browser.page.notices[-1]["code"] == "load_error"
    assert loads(await session.run_lua("return note:shown()")) == "live!"
    assert "app.lua" in (workspace.log / "lua-err.log").read_text()
    assert await session.run_lua("return session.reloading") == "false"

    save(app / "app.lua", APP.replace('"!"', '" mended"'))

    await browser.until(lambda: browser.value("shown()") == "live mended")
    broken, resolved = browser.page.notices
    assert (resolved["code"], resolved["text"]) == ("load_recovered", broken["text"])


@pytest.mark.covers("UI-HOT-3", "UI-LSES-5")
async def test_reloading_is_true_only_while_a_file_runs_again(app: Path, session: Session, browser: Browser) -> None:
    save(app / "app.lua", APP + "seen = session.reloading\nnote.title = 'again'\n")

    await browser.until(lambda: browser.value("title") == "again")

    assert loads(await session.run_lua("return {seen, session.reloading or false}")) == [True, False]


@pytest.mark.covers("UI-HOT-8")
async def test_a_changed_viewdef_is_rendered_with_the_same_state(app: Path, session: Session, browser: Browser) -> None:
    await session.run_lua("note.title = 'typed'")
    save(app / "viewdefs" / "Note.DEFAULT.html", '<template><h1>New <u ui-value="title"></u></h1></template>')

    await browser.until(lambda: browser.text == "New typed")


@pytest.mark.covers("UI-HOT-8")
async def test_a_broken_viewdef_keeps_the_old_one_and_is_reported_until_repaired(
    app: Path, session: Session, browser: Browser
) -> None:
    save(app / "viewdefs" / "Note.DEFAULT.html", "<template>no element</template>")
    problem = await until_event(session, "load_error")

    assert "Note.DEFAULT.html" in str(problem["message"])
    assert browser.text == "live live!"

    save(app / "viewdefs" / "Note.DEFAULT.html", VIEW)

    await browser.until(lambda: [notice["code"] for notice in browser.page.notices] == ["load_error", "load_recovered"])


@pytest.mark.covers("UI-HOT-8")
async def test_a_new_viewdef_appears_in_views_that_waited_for_it(app: Path, session: Session, browser: Browser) -> None:
    await session.run_lua("Card = session:prototype('Card', {n = 5}) mcp.value = Card:new()")
    browser.catch_up()
    assert browser.text == "No viewdef for Card: write viewdefs/Card.DEFAULT.html"
    save(app / "viewdefs" / "Card.DEFAULT.html", '<template><b ui-value="n"></b></template>')

    await browser.until(lambda: browser.text == "5")


@pytest.mark.covers("UI-HOT-1")
async def test_an_app_made_while_running_can_be_displayed(
    workspace: Workspace, session: Session, browser: Browser
) -> None:
    folder = workspace.apps / "late-comer"
    (folder / "viewdefs").mkdir(parents=True)
    (folder / "viewdefs" / "Late.DEFAULT.html").write_text('<template><b ui-value="n"></b></template>')
    (folder / "app.lua").write_text("lateComer = lateComer or {type = 'Late', n = 1}")
    await session.display("late-comer")

    await browser.until(lambda: browser.text == "1")
    save(folder / "app.lua", "lateComer.n = 2")
    await browser.until(lambda: browser.text == "2")


@pytest.mark.covers("UI-HOT-3")
async def test_every_session_that_loaded_a_file_gets_its_change(
    app: Path, sessions: SessionRegistry, session: Session, browser: Browser
) -> None:
    other, without = await sessions.create(), await sessions.create()
    await other.display("note")
    async with open_page(other) as second:
        save(app / "app.lua", APP.replace('"!"', '"?"'))
        await browser.until(lambda: browser.value("shown()") == "live?")
        await second.until(lambda: second.value("shown()") == "live?")

    assert await without.run_lua("return note") == "null"


@pytest.mark.covers("UI-HOT-2")
async def test_a_burst_of_saves_runs_the_file_once(app: Path, session: Session, browser: Browser) -> None:
    await session.run_lua("runs = 0")
    for number in range(20):
        save(app / "app.lua", APP + f"runs = (runs or 0) + 1\nnote.title = 'n{number}'\n")

    await browser.until(lambda: browser.value("title") == "n19")

    assert int(await session.run_lua("return runs")) <= 3


@pytest.mark.covers("UI-ROB-1", "UI-ROB-2")
async def test_a_file_that_no_parser_understands_harms_nobody(app: Path, session: Session, browser: Browser) -> None:
    save(app / "viewdefs" / "Odd.DEFAULT.html", "<template><![;")
    (app / "viewdefs" / "Bytes.DEFAULT.html").write_bytes(b"<template><p>\xff\xfe\x00</p></template>")
    (app / "bytes.lua").write_bytes(b"\xff\xfe\x00")
    save(app / "app.lua", APP.replace('"!"', '" still here"'))

    await browser.until(lambda: browser.value("shown()") == "live still here")

    problem = await until_event(session, "load_error")
    assert "Odd.DEFAULT.html" in str(problem["message"])
