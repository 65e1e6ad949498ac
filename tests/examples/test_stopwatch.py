from ui_mcp.testing.project import OpenApp

APP = "stopwatch"


async def test_a_running_watch_ticks_by_itself_and_stops(app: OpenApp) -> None:
    session, browser = app
    assert (browser.value("shown()"), browser.value("label()")) == ("0.0 s", "Start")

    await browser.click("toggle()")
    await browser.until(lambda: float(browser.value("shown()").removesuffix(" s")) >= 0.3)
    await browser.click("toggle()")

    assert browser.value("label()") == "Start"
    assert len(session._timers) == 0


async def test_a_lap_is_listed_and_its_message_goes_away(app: OpenApp) -> None:
    _, browser = app
    await browser.click("lap()")
    assert [row.text for row in browser.rows("laps")] == ["1 : 0.0 s"]
    assert browser.value("message") == "Lap 1 taken"

    await browser.until(lambda: browser.value("message") == "")


async def test_resetting_empties_the_list(app: OpenApp) -> None:
    _, browser = app
    await browser.click("lap()")
    await browser.click("lap()")
    await browser.click("reset()")

    assert browser.rows("laps") == []
