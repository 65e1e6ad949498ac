from ui_mcp.testing.project import OpenApp

APP = "logs"


async def test_level_and_text_filter_the_lines(app: OpenApp) -> None:
    session, browser = app
    await session.run_lua("logs:toggle() logs:clear() logs:write('error', 'api', 'no such order')")
    await session.run_lua("logs:write('debug', 'gc', 'x')")
    browser.catch_up()
    assert browser.value("count()") == "2 of 2 lines"

    await browser.type("level", "warn")
    assert [row.value("text") for row in browser.rows("shown()")] == ["no such order"]
    await browser.type("wanted", "ORDER")
    assert browser.value("count()") == "1 of 2 lines"
    await browser.type("wanted", "nothing")
    assert browser.value("count()") == "0 of 2 lines"


async def test_it_keeps_no_more_than_two_thousand_lines_and_a_minute(app: OpenApp) -> None:
    session, browser = app
    await session.run_lua("for at = 1, 2500 do logs:write('info', 'api', at) end for _ = 1, 90 do logs:tick() end")

    assert await session.run_lua("return {#logs.lines, #logs.rates}") == "[2000,60]"
    await browser.click("toggle()")
    before = await session.run_lua("return logs.written")
    await session.run_lua("logs:tick()")
    assert await session.run_lua("return logs.written") == before
