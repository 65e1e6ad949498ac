from ui_mcp.testing.project import OpenApp

APP = "logs"


async def test_the_level_filters_the_lines(app: OpenApp) -> None:
    session, browser = app
    await session.run_lua("logs:toggle() logs:clear() logs:write('error', 'api', 'no such order')")
    await session.run_lua("logs:write('debug', 'gc', 'x')")
    browser.catch_up()
    assert browser.value("count()") == "2 of 2 lines"

    await browser.type("level", "warn")
    assert browser.value("count()") == "1 of 2 lines"
    assert "no such order" in await session.run_lua("return logs:shown()[1]")
    await browser.type("level", "all")
    assert browser.value("count()") == "2 of 2 lines"


async def test_the_terminal_answers_and_acts(app: OpenApp) -> None:
    session, browser = app
    await session.run_lua("logs:clear() logs:run('pause') logs:run('fail disk full') logs:run('nonsense')")
    browser.catch_up()

    assert browser.value("pauseLabel()") == "Resume"
    said = await session.run_lua("return table.concat(logs:shown(), '|')")
    assert " pause" in said
    assert "disk full" in said
    assert "no command nonsense; try help" in said


async def test_it_keeps_no_more_than_two_thousand_lines_and_a_minute(app: OpenApp) -> None:
    session, browser = app
    await session.run_lua("for at = 1, 2500 do logs:write('info', 'api', at) end for _ = 1, 90 do logs:tick() end")

    assert await session.run_lua("return {#logs.lines, #logs.rates}") == "[2000,60]"
    await browser.click("toggle()")
    before = await session.run_lua("return logs.written")
    await session.run_lua("logs:tick()")
    assert await session.run_lua("return logs.written") == before
