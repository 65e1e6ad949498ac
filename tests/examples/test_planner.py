from ui_mcp.testing.project import OpenApp

APP = "planner"


async def test_a_task_is_checked_and_planned(app: OpenApp) -> None:
    session, browser = app
    await browser.click("add()")
    assert "What is to be done?" in browser.text

    await browser.type("title", "Paint")
    await browser.type("from", "2026-03-30")
    await browser.type("days", "4")
    await browser.click("add()")
    assert session.events.peek() == [{"app": "planner", "event": "planned", "title": "Paint", "from": "2026-03-30"}]
    await session.run_lua("planner.month = '2026-03'")
    bars = "local b = planner:bars() return {#b, b[1].title, b[1].task.from}"
    assert await session.run_lua(bars) == '[1,"Paint","2026-03-30"]'
    await session.run_lua("planner:turn(1)")
    browser.catch_up()
    assert browser.value("monthTitle()") == "April 2026"
    assert await session.run_lua("return {#planner:bars(), #planner:weeks()}") == "[1,5]"


async def test_a_day_is_picked_and_a_task_moves_and_goes(app: OpenApp) -> None:
    session, browser = app
    await session.run_lua("planner.month = '2026-02' planner:plan('Ship', '2026-02-27', 2)")
    browser.catch_up()
    week = browser.rows("weeks()")[0]
    await browser.click("....pick(day)", view=week.rows("days")[6])
    assert browser.value("from") == "2026-02-01"

    bar = browser.rows("bars()")[0]
    await browser.click("..move(task, 1)", view=bar)
    assert await session.run_lua("return planner.tasks[#planner.tasks].from") == '"2026-02-28"'
    count = int(await session.run_lua("return #planner.tasks"))
    await browser.click("..remove(task)", view=browser.rows("bars()")[0])
    assert await session.run_lua("return #planner.tasks") == str(count - 1)


async def test_a_month_has_an_address(app: OpenApp) -> None:
    session, browser = app
    await session.run_lua("planner:visit('2027-01') planner:visit('nonsense')")
    browser.catch_up()

    assert browser.value("monthTitle()") == "January 2027"
    assert await session.run_lua("return {planner:address()}") == '["2027-01","January 2027"]'
