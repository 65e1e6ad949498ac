"""The installed shell around apps: the steps of the agent, and the theme that is kept."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from servers import running_server
from ui_mcp.testing.browser import open_page
from ui_mcp.ui.sessions.session import Session


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    async with running_server(tmp_path) as running:
        yield running.sessions.get("1")


@pytest.mark.covers("UI-SHELL-1")
async def test_the_page_follows_the_steps_that_an_agent_announces(session: Session) -> None:
    async with open_page(session) as page:
        await session.run_lua("mcp:createTodos({'Design', 'Write code'}, 'shop') mcp:startTodoStep(2)")
        await page.until(lambda: page.value("todoTitle()") == "1 of 2 steps done")
        texts = await session.run_lua(
            "local t = {} for i, s in ipairs(mcp:shownTodos()) do t[i] = s:mark() .. s:shownText() end return t"
        )
        await page.click("clearTodos()")
        await page.until(lambda: page.value("hasTodos()") is False)

    assert texts == '["✓Design","▸Write code…"]'


@pytest.mark.covers("UI-THEME-4")
async def test_the_theme_is_kept_beside_other_settings_and_auto_keeps_none(session: Session) -> None:
    await session.run_lua("mcp:writeSettings({checkUpdate = true}) mcp.themeChoice = 'dusk' mcp:keepTheme()")
    kept = await session.run_lua("local s = mcp:readSettings() return {s.theme, s.checkUpdate}")
    await session.run_lua("mcp.themeChoice = 'auto' mcp:keepTheme()")

    assert kept == '["dusk",true]'
    assert await session.run_lua("return mcp:readSettings()") == '{"checkUpdate":true}'
