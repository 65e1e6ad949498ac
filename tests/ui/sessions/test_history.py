"""Undo, redo, looking back and forking, as people in several pages and an agent do it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ui_mcp.errors import NotFoundError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.testing.browser import Browser, open_page
from ui_mcp.testing.project import open_sessions
from ui_mcp.ui.sessions.registry import SessionRegistry
from ui_mcp.ui.sessions.session import Session
from ui_mcp.workspace import Workspace

APP = """
local Task = session:prototype("Task", { name = "", done = false })
Todo = session:prototype("Todo", { tasks = EMPTY, title = "", label = "" })
function Todo:add() table.insert(self.tasks, Task:new({ name = self.title, list = self })) end
function Task:delete()
  for i, task in ipairs(self.list.tasks) do
    if task == self then table.remove(self.list.tasks, i) end
  end
end
if not session.reloading then todo = Todo:new({ tasks = {} }) end
"""
VIEW = """<template><div><input ui-value="title"><input ui-value="label"><button ui-action="add()">Add</button>
<div ui-viewlist="tasks"></div></div></template>"""
ROW = (
    '<template><p><b ui-value="name"></b><input ui-value="name"><button ui-action="delete()">x</button></p></template>'
)


@pytest.fixture
async def sessions(workspace: Workspace) -> AsyncIterator[SessionRegistry]:
    viewdefs: Path = workspace.apps / "todo" / "viewdefs"
    viewdefs.mkdir(parents=True)
    (workspace.apps / "todo" / "app.lua").write_text(APP)
    (viewdefs / "Todo.DEFAULT.html").write_text(VIEW)
    (viewdefs / "Task.list-item.html").write_text(ROW)
    async with open_sessions(workspace) as sessions:
        await sessions.get("1").display("todo")
        yield sessions


@pytest.fixture
async def browser(session: Session) -> AsyncIterator[Browser]:
    async with open_page(session) as browser:
        yield browser


async def add(browser: Browser, *names: str) -> None:
    for name in names:
        await browser.type("title", name)
        await browser.click("add()")


def names(browser: Browser) -> list[str]:
    return [str(row.value("name")) for row in browser.rows("tasks")]


async def labels(session: Session) -> list[str]:
    found: list[JsonObject] = (await session.history.steps())["steps"]
    return [str(step["label"]) for step in found]


@pytest.mark.covers("STATE-5")
async def test_a_deleted_task_comes_back_and_goes_again(session: Session, browser: Browser) -> None:
    await add(browser, "bread", "milk", "eggs")
    await labels(session)
    await browser.click("delete()", browser.rows("tasks")[1])
    assert names(browser) == ["bread", "eggs"]

    undone = await browser.history("undo")
    assert (undone["label"], names(browser)) == ("Delete task 'milk'", ["bread", "milk", "eggs"])

    await browser.history("redo")
    assert names(browser) == ["bread", "eggs"]
    assert (await labels(session))[:3] == ["Redo Delete task 'milk'", "Undo Delete task 'milk'", "Delete task 'milk'"]


@pytest.mark.covers("STATE-5")
async def test_who_did_what_is_in_the_history(session: Session, browser: Browser) -> None:
    await browser.type("label", "mine")
    await session.run_lua("todo.label = 'agent'")
    await browser.type("label", "again")
    await session.run_lua("session:setTimeout(function() todo.label = 'rang' end, 0)")
    await browser.until(lambda: browser.value("label") == "rang")

    found = (await session.history.steps())["steps"]

    assert [(step["by"], step["label"]) for step in found][:5] == [
        ("timer", "Timer"),
        ("agent", "Run session:setTimeout(function() todo.label = 'rang' end, 0)"),
        ("person", "Set label"),
        ("agent", "Run todo.label = 'agent'"),
        ("person", "Set label"),
    ]
    assert {step["app"] for step in found} == {"todo", ""}


@pytest.mark.covers("STATE-5")
async def test_of_two_tabs_each_undoes_its_own_and_what_the_other_changed_since_stays(
    session: Session, browser: Browser
) -> None:
    async with open_page(session) as other:
        await browser.type("title", "one")
        await other.type("label", "two")
        assert (await browser.history("undo"))["label"] == "Set title"
        other.catch_up()
        assert (other.value("title"), other.value("label")) == ("", "two")
        await browser.history("redo")

        await browser.type("label", "mine")
        await other.type("label", "theirs")
        with pytest.raises(AssertionError, match="everything it changed was changed since"):
            await browser.history("undo")
        assert (await other.history("undo"))["label"] == "Set label"
        browser.catch_up()
        assert browser.value("label") == "mine"


@pytest.mark.covers("STATE-5")
async def test_a_new_step_ends_what_can_be_redone(browser: Browser) -> None:
    await add(browser, "a")
    await browser.history("undo")
    await browser.type("label", "other")

    with pytest.raises(AssertionError, match="There is nothing to redo"):
        await browser.history("redo")


@pytest.mark.covers("STATE-5")
async def test_an_agent_takes_back_its_own_step_or_any_that_it_names(session: Session, browser: Browser) -> None:
    await session.run_lua("todo.title = 'agent'")
    await browser.type("label", "person")
    [newest, *_] = (await session.history.steps())["steps"]

    assert (await session.history.undo("agent")).label == "Run todo.title = 'agent'"
    assert (await session.history.undo("agent", step=newest["step"])).label == "Set label"
    with pytest.raises(NotFoundError, match="is undone already"):
        await session.history.undo("agent", step=newest["step"])
    assert await session.run_lua("return todo.title .. todo.label") == '""'


@pytest.mark.covers("STATE-5")
async def test_an_app_names_its_own_steps(session: Session) -> None:
    await session.run_lua("session:label('Sort by date'); todo.title = 'sorted'")

    assert (await labels(session))[0] == "Sort by date"


@pytest.mark.covers("STATE-6")
async def test_a_past_moment_is_shown_and_cannot_be_changed(
    sessions: SessionRegistry, session: Session, browser: Browser
) -> None:
    await add(browser, "a")
    then = (await session.history.steps())["last"]
    await add(browser, "b")
    secret = (await browser.history("look", step=then))["session"]
    shown = sessions.get(secret)
    async with open_page(shown) as past:
        assert names(past) == ["a"]
        await past.click("add()")
        assert names(past) == ["a"]
        assert past.page.errors[-1]["description"] == "A past moment can only be looked at"

        assert (await browser.history("look", step=then + 2))["session"] == secret
        past.catch_up()
        assert names(past) == ["a", "b"]
    assert names(browser) == ["a", "b"]


@pytest.mark.covers("STATE-6")
async def test_the_return_to_a_past_moment_can_be_undone(session: Session, browser: Browser) -> None:
    await add(browser, "a")
    then = (await session.history.steps())["last"]
    await add(browser, "b", "c")
    await browser.history("return", step=then)
    assert names(browser) == ["a"]

    await browser.history("undo")

    assert names(browser) == ["a", "b", "c"]


@pytest.mark.covers("STATE-6")
async def test_a_fork_is_a_session_of_its_own_with_that_state(
    sessions: SessionRegistry, session: Session, browser: Browser
) -> None:
    await add(browser, "a")
    then = (await session.history.steps())["last"]
    await add(browser, "b")

    fork = sessions.get((await browser.history("fork", step=then))["session"])
    async with open_page(fork) as other:
        await add(other, "tried")
        assert names(other) == ["a", "tried"]
    assert names(browser) == ["a", "b"]
    assert (fork.vended, fork.displayed) == ("2", "todo")


@pytest.mark.covers("STATE-6")
async def test_a_step_that_is_not_kept_is_refused(session: Session) -> None:
    with pytest.raises(NotFoundError, match="Step 99999 is not"):
        await session.history.undo("agent", step=99999)
    with pytest.raises(NotFoundError):
        await session.history.undo("agent", step=1)
