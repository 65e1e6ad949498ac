from ui_mcp.testing.project import OpenApp

APP = "api-monitor"

CALL = "apiMonitor:published({ service = 'shop', operation = 'list', status = %d, ms = %d })"


async def test_reported_calls_replace_the_simulation(app: OpenApp) -> None:
    session, browser = app
    assert "simulation" in str(browser.value("source()"))
    await session.run_lua(CALL % (200, 80))
    await session.run_lua(CALL % (503, 120))
    browser.catch_up()

    figures = [browser.value(path) for path in ("callCount()", "errorRate()", "meanLatency()")]
    assert figures == [2, "50.0 %", "100 ms"]
    assert [row.value("value") for row in browser.rows("services()")] == ["all", "shop"]


async def test_hours_of_calls_stay_a_window_of_five_minutes(app: OpenApp) -> None:
    session, browser = app
    await session.run_lua("for _ = 1, 4000 do apiMonitor:tick() end")

    assert await session.run_lua("return {#apiMonitor.calls, #apiMonitor.steps}") == "[500,30]"
    assert 290 <= int(await session.run_lua("return apiMonitor:callCount()")) <= 300
    assert browser.page.errors == []


async def test_nonsense_is_not_recorded(app: OpenApp) -> None:
    session, _ = app
    await session.run_lua("apiMonitor.calls = {} apiMonitor:record('x') apiMonitor:record({ ms = 'slow' })")

    assert await session.run_lua("return #apiMonitor.calls") == "0"
