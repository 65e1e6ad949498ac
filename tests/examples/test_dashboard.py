from ui_mcp.testing.browser import Browser
from ui_mcp.testing.project import OpenApp

APP = "dashboard"


def figures(browser: Browser) -> list[str]:
    return [str(row.value("text")) for row in browser.rows("figures()")]


async def test_an_order_moves_every_figure(app: OpenApp) -> None:
    session, browser = app
    await browser.type("live", False)  # the stream sells too
    before = figures(browser)
    await session.run_lua("dashboard:sell()")
    browser.catch_up()

    assert int(figures(browser)[1].replace(",", "")) == int(before[1].replace(",", "")) + 1
    assert figures(browser)[0] != before[0]
    assert len(browser.rows("sales")) == 8


async def test_the_period_changes_figures_and_curve_and_marks_its_button(app: OpenApp) -> None:
    session, browser = app
    before = figures(browser)
    await browser.click("show('month')")

    assert await session.run_lua("return #dashboard:points()") == "30"
    assert figures(browser)[0] != before[0]
    assert (browser.value("look('day')"), browser.value("look('month')")) == ("default", "primary")


async def test_a_day_of_orders_does_not_run_away(app: OpenApp) -> None:
    session, browser = app
    first = await session.run_lua("return dashboard.series.day[1].revenue")
    await session.run_lua("for _ = 1, 20000 do dashboard:tick() end")
    browser.catch_up()

    assert await session.run_lua("return {#dashboard.series.day, #dashboard.sales, #dashboard.sold}") == "[24,8,200]"
    assert await session.run_lua("return dashboard.series.day[1].revenue") != first
    assert int(figures(browser)[0].removeprefix("€ ").replace(",", "")) < 200_000


async def test_a_paused_stream_stands_still(app: OpenApp) -> None:
    session, browser = app
    await browser.type("live", False)
    before = figures(browser)
    await session.run_lua("dashboard:tick()")
    browser.catch_up()

    assert figures(browser) == before
