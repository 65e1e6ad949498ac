"""Every call into a session ends with change detection, and pages follow."""

from collections.abc import AsyncIterator

import pytest
from anyio import create_task_group, fail_after
from anyio.lowlevel import checkpoint

from ui_mcp.errors import LuaError, SessionGoneError
from ui_mcp.jsontypes import loads
from ui_mcp.testing.browser import Browser, open_page
from ui_mcp.testing.project import open_sessions
from ui_mcp.ui.sessions.registry import SessionRegistry
from ui_mcp.ui.sessions.session import Session
from ui_mcp.wire import Op
from ui_mcp.workspace import Workspace

VIEW = '<template><p><b ui-value="count()"></b> <i ui-value="n"></i></p></template>'
APP = """
looks = 0
mcp.value = {type = 'Thing', n = 0, count = function() looks = looks + 1 return looks end}
thing = mcp.value
"""


@pytest.fixture
async def shown(sessions: SessionRegistry, session: Session) -> Session:
    await sessions.upload_viewdef("Thing.DEFAULT", VIEW)
    await session.run_lua(APP)
    return session


@pytest.fixture
async def browser(shown: Session) -> AsyncIterator[Browser]:
    async with open_page(shown) as browser:
        yield browser


@pytest.mark.covers("UI-EXEC-2")
async def test_an_empty_entry_refreshes_every_page(shown: Session, browser: Browser) -> None:
    before = browser.value("count()")

    await shown.call(Op.REFRESH)
    browser.catch_up()

    assert browser.value("count()") > before


@pytest.mark.covers("UI-EXEC-4")
async def test_nothing_is_looked_at_while_no_page_is_open(shown: Session) -> None:
    await shown.run_lua("thing.n = 1")
    await shown.call(Op.REFRESH)

    assert await shown.run_lua("return looks") == "0"


@pytest.mark.covers("UI-TOOL-15")
async def test_what_code_changed_before_it_failed_is_shown(shown: Session, browser: Browser) -> None:
    with pytest.raises(LuaError):
        await shown.run_lua("thing.n = 7 error('later')")
    browser.catch_up()

    assert browser.value("n") == 7


@pytest.mark.covers("UI-LSES-9")
async def test_timers_run_like_calls_and_pages_follow(shown: Session, browser: Browser) -> None:
    handles = await shown.run_lua(
        """
        local a = session:setTimeout(function() thing.n = thing.n + 1 end, 10)
        local b = session:setTimeout(function() thing.n = 1000 end, 10)
        local c = session:setInterval(function() thing.n = thing.n + 10 end, 15)
        session:setImmediate(function() thing.n = thing.n + 100 end)
        session:clearInterval(b)
        interval = c
        return {a, b, c}
        """
    )
    assert loads(handles) == [1, 2, 3]
    await browser.until(lambda: browser.value("n") >= 121)
    await shown.run_lua("session:clearTimeout(interval)")
    browser.catch_up()

    assert len(shown._timers) == 0
    assert browser.value("n") % 10 == 1


@pytest.mark.covers("UI-LSES-9", "UI-LOG-2", "UI-EXEC-3")
async def test_a_timer_that_fails_is_logged_and_the_next_one_runs(
    shown: Session, browser: Browser, workspace: Workspace
) -> None:
    await shown.run_lua(
        "session:setTimeout(function() error('tick tock') end, 1) session:setTimeout(function() thing.n = 5 end, 20)"
    )
    await browser.until(lambda: browser.value("n") == 5)

    assert "tick tock" in (workspace.log / "lua-err.log").read_text()


@pytest.mark.covers("UI-SES-6", "UI-LSES-9")
async def test_timers_end_with_their_session(sessions: SessionRegistry, shown: Session) -> None:
    await shown.run_lua("session:setInterval(function() end, 5)")
    await sessions.destroy(shown)

    assert len(shown._timers) == 0


@pytest.mark.covers("UI-LUA-6", "UI-LUA-13")
@pytest.mark.parametrize("file", ["main.lua", "mcp.lua"])
async def test_start_up_code_that_fails_is_shown_in_the_page_and_reported(workspace: Workspace, file: str) -> None:
    (workspace.lua / file).write_text("error('not today')")
    async with open_sessions(workspace) as sessions, sessions.get("1").attach() as page:
        frames = "".join(page.outbox.take_now())
        events = sessions.get("1").events.peek()
        menu = await sessions.get("1").run_lua("return type(mcp.availableApps)")

    assert f"lua/{file}:1: not today" in frames
    assert [event["event"] for event in events] == ["load_error"]
    assert menu == '"function"'


@pytest.mark.covers("UI-LUA-13")
async def test_a_corrected_shell_runs_when_it_is_saved(workspace: Workspace) -> None:
    shell = workspace.lua / "mcp.lua"
    shell.write_text("error('not today')")
    async with open_sessions(workspace) as sessions:
        session = sessions.get("1")
        shell.write_text("mcp.corrected = true")
        await session.call(Op.RELOAD, str(shell))
        async with session.attach() as page:
            assert "not today" not in "".join(page.outbox.take_now())
        assert await session.run_lua("return mcp.corrected") == "true"


@pytest.mark.covers("UI-FSM-8")
@pytest.mark.parametrize("reconfigured", [True, False])
async def test_a_blocked_waiter_hears_of_another_directory_but_a_plain_end_is_no_event(
    workspace: Workspace, *, reconfigured: bool
) -> None:
    heard: list[str] = []

    async def wait(session: Session) -> None:
        try:
            async with session.events.taken(20) as events:
                heard.extend(events)
        except SessionGoneError as error:
            heard.append(error.message)

    with fail_after(60):
        async with create_task_group() as group, open_sessions(workspace) as sessions:
            session = sessions.get("1")
            group.start_soon(wait, session)
            while not session.events.polling:
                await checkpoint()
            if reconfigured:
                sessions.announce_reconfigured()

    assert heard == ['{"app":"ui-mcp","event":"server_reconfigured"}' if reconfigured else "No active session"]
    with pytest.raises(SessionGoneError):
        await session.run_lua("return 1")


@pytest.mark.covers("UI-EXEC-1")
async def test_pages_and_tools_take_turns_in_one_order(shown: Session) -> None:
    await shown.run_lua("order = {} thing.push = function(self, n) order[#order + 1] = n thing.n = n end")
    async with create_task_group() as group:
        for number in range(30):
            group.start_soon(shown.run_lua, f"thing:push({number})")

    assert loads(await shown.run_lua("return order")) == list(range(30))


@pytest.mark.covers("UI-EXEC-1")
async def test_clicks_and_timers_wait_for_the_code_that_runs(
    sessions: SessionRegistry, shown: Session, browser: Browser
) -> None:
    await sessions.upload_viewdef("Thing.DEFAULT", '<template><button ui-action="press()">x</button></template>')
    browser.catch_up()
    await shown.run_lua(
        "order = {} thing.press = function() order[#order + 1] = 'click' end "
        "session:setTimeout(function() order[#order + 1] = 'timer' end, 1)"
    )
    slow = (
        "order[#order + 1] = 'begin' local t = os.clock() while os.clock() - t < 0.3 do end order[#order + 1] = 'end'"
    )
    async with create_task_group() as group:
        group.start_soon(shown.run_lua, slow)
        group.start_soon(browser.click, "press()")
    with fail_after(60):
        while len(found := loads(await shown.run_lua("return order"))) < 4:
            await checkpoint()

    begin = found.index("begin")
    assert found[begin + 1] == "end"
    assert sorted(found) == ["begin", "click", "end", "timer"]


@pytest.mark.covers("UI-ROB-5")
async def test_starting_and_stopping_again_and_again_leaves_nothing_behind(workspace: Workspace) -> None:
    for number in range(5):
        async with open_sessions(workspace) as sessions, open_page(sessions.get("1")):
            assert await sessions.get("1").run_lua(f"return {number}") == str(number)
