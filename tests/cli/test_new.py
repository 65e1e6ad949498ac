"""`ui-mcp new`: the app it makes works, and nothing is ever overwritten."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.command import ui_mcp
from integration.lineclient import LineClient
from introspection.demos import needs
from ui_mcp.errors import RefusedError
from ui_mcp.testing.project import open_app
from ui_mcp.ui.audit import audit, global_name
from ui_mcp.ui.console.scaffold import TEMPLATES, check_name, scaffold
from ui_mcp.workspace import Workspace

APPS = ".claude/ui/apps"


@pytest.mark.covers("UI-CLI-11", "UI-DIR-4")
async def test_a_new_app_works_and_the_audit_is_content(tmp_path: Path) -> None:
    done = ui_mcp("new", "week-plan", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "apps/week-plan/viewdefs/WeekPlan.DEFAULT.html" in done.stdout
    assert audit(tmp_path / APPS, "week-plan")["violations"] == []

    async with open_app(tmp_path / APPS / "week-plan", tmp_path / "elsewhere") as (session, browser):
        assert "Week plan" in browser.text
        await browser.type("draft", "Buy milk")
        await browser.click("add()")
        await browser.click("toggle()")
        assert "1 of 1 done" in browser.text
        await browser.click("drop()")
        assert "Buy milk" not in browser.text
        assert session.events.peek() == [{"app": "week-plan", "event": "added", "text": "Buy milk"}]
        assert browser.page.errors == []


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[LineClient]:
    needs("chromium")
    with LineClient(cwd=tmp_path) as client:
        yield client


@pytest.mark.slow
@pytest.mark.covers("UI-CLI-11")
def test_the_scenario_of_a_new_app_passes_in_a_real_browser(agent: LineClient, tmp_path: Path) -> None:
    ui_mcp("new", "week-plan", "--title", 'The "Week" <b>& more', cwd=tmp_path)
    agent.call("ui_start")

    scenario = json.loads((tmp_path / APPS / "week-plan/test.json").read_text())

    assert agent.call("ui_test", **scenario) == {"ok": True, "steps": len(scenario["steps"])}


@pytest.mark.covers("UI-CLI-11")
def test_an_app_that_is_there_is_never_touched(tmp_path: Path) -> None:
    ui_mcp("new", "tasks", cwd=tmp_path)
    mine = tmp_path / APPS / "tasks/app.lua"
    mine.write_text("-- mine")

    done = ui_mcp("new", "tasks", cwd=tmp_path)

    assert done.returncode == 1
    assert "already exists" in done.stderr
    assert mine.read_text() == "-- mine"


@pytest.mark.covers("UI-CLI-11")
@pytest.mark.parametrize("name", ["Tasks", "../x", "a b", "a--b", "-a", "1a", "end", "mcp", "session", "", "x" * 41])
def test_names_that_cannot_be_an_apps_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RefusedError):
        scaffold(Workspace.at(tmp_path / "ui"), name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.covers("UI-CLI-11")
@given(st.text(alphabet="abz09-_./ A\n", max_size=45))
def test_an_accepted_name_is_one_path_part_and_a_lua_name(name: str) -> None:
    try:
        check_name(name)
    except RefusedError:
        return
    assert Path(name).name == name
    assert global_name(name).isidentifier()


@pytest.mark.covers("UI-CLI-11")
def test_a_link_that_leads_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    base = tmp_path / "project/.claude/ui"
    base.mkdir(parents=True)
    (base / "apps").symlink_to(outside)

    with pytest.raises(RefusedError):
        scaffold(Workspace.at(base), "tasks")
    assert list(outside.iterdir()) == []


TRIED = {
    "table": ([("name", "Tea"), ("amount", "3")], ["add()"], "Amount"),
    "dashboard": ([], [], "Over time"),
    "wizard": ([("name", "Ada"), ("email", "a@b")], ["forward()", "forward()", "send()"], "it was sent"),
    "board": ([("draft", "Write")], ["add()"], "1 open"),
    "chat": ([("draft", "Hello")], ["send()"], "you"),
    "logs": ([("wanted", "Waiting")], ["clear()"], "Level"),
}


@pytest.mark.covers("UI-CLI-11")
@pytest.mark.parametrize("template", TRIED)
async def test_every_template_makes_an_app_that_works(tmp_path: Path, template: str) -> None:
    scaffold(Workspace.at(tmp_path / "made"), "my-app", "Mine", template)
    typed, clicked, shown = TRIED[template]
    async with open_app(tmp_path / "made/apps/my-app", tmp_path / "tried") as (session, browser):
        for path, text in typed:
            await browser.type(path, text)
        for path in clicked:
            await browser.click(path)

        assert shown in browser.text
        assert "Mine" in browser.text
        assert browser.page.errors == []
        assert await session.run_lua("return myApp ~= nil") == "true"
    assert audit(tmp_path / "made/apps", "my-app")["violations"] == []


@pytest.mark.covers("UI-CLI-11")
def test_a_template_that_does_not_exist_is_refused_with_those_that_do(tmp_path: Path) -> None:
    done = ui_mcp("new", "tasks", "--template", "tabel", cwd=tmp_path)

    assert done.returncode == 1
    assert "There is no template 'tabel'" in done.stderr
    assert "Templates: list, board, chat, dashboard, logs, table, wizard." in done.stderr
    assert not (tmp_path / APPS / "tasks").exists()


def test_the_help_names_every_template(tmp_path: Path) -> None:
    assert set(TEMPLATES) - {"list"} == TRIED.keys()
    shown = ui_mcp("new", "--help", cwd=tmp_path).stdout
    assert [name for name in TEMPLATES if name not in shown] == []
