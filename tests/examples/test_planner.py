from ui_mcp.testing.project import OpenApp

APP = "planner"


async def test_a_task_is_checked_and_planned(app: OpenApp) -> None:
    session, browser = app
    await browser.click("add()")
    assert "What is to be done?" in browser.text
    await session.run_lua("planner.title, planner.from, planner.to = 'Paint', '2026-03-30T00:00', '2026-03-29T00:00'")
    await browser.click("add()")
    assert "It ends before it begins." in browser.text

    await session.run_lua("planner.to = '2026-04-02T00:00'")
    await browser.click("add()")
    told = {"app": "planner", "event": "planned", "title": "Paint", "from": "2026-03-30"}
    assert session.events.peek() == [told]
    last = "local t = planner.tasks[#planner.tasks] return {t.title, t.from, t.to, t.color}"
    assert await session.run_lua(last) == '["Paint","2026-03-30","2026-04-02","#3b5bdb"]'
    bars = "planner:turn('%s') local b = planner:bars() return {#b, b[1].left, b[1].width}"
    assert await session.run_lua(bars % "2026-04-01") == '[1,"0%","6.6666666666667%"]'
    assert (await session.run_lua("planner:turn('2026-03-01') return #planner:bars()")) == "1"
    browser.catch_up()
    assert browser.value("monthTitle()") == "March 2026"


async def test_an_hour_is_picked_and_a_meeting_is_no_bar(app: OpenApp) -> None:
    session, _ = app
    assert await session.run_lua("planner:pick('2026-02-27T14:00') return {planner.from, planner.to}") == (
        '["2026-02-27T14:00","2026-02-27T15:00"]'
    )
    await session.run_lua("planner.title = 'Talk' planner:add() planner:turn('2026-02-01')")
    assert await session.run_lua("return {#planner:bars(), planner.tasks[#planner.tasks].title}") == '[0,"Talk"]'


async def test_a_chosen_task_is_told_and_removed(app: OpenApp) -> None:
    session, browser = app
    count = int(await session.run_lua("planner:choose(planner.tasks[1]) return #planner.tasks"))
    browser.catch_up()
    assert browser.value("hint()") == "Sketch the start page, Ada for Site"

    await browser.click("remove(chosen)")
    assert await session.run_lua("return {#planner.tasks, planner:hint()}") == f'[{count - 1},""]'


async def test_a_task_of_an_older_version_keeps_its_length(app: OpenApp) -> None:
    session, _ = app
    old = "local t = Task:new({ from = '2026-03-30', days = 4, project = 'Docs' }) t:mutate() return {t.to, t.color}"
    assert await session.run_lua(old) == '["2026-04-02","#0f766e"]'


async def test_a_view_of_a_day_has_an_address(app: OpenApp) -> None:
    session, browser = app
    await session.run_lua("planner:visit('week/2027-01-04') planner:visit('nonsense') planner:visit('year/2026-01-01')")
    browser.catch_up()

    assert browser.value("monthTitle()") == "January 2027"
    assert await session.run_lua("return {planner:address()}") == '["week/2027-01-04","From 2027-01-04"]'
