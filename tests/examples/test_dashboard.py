from ui_mcp.testing.project import OpenApp

APP = "dashboard"


async def test_an_order_moves_every_figure(app: OpenApp) -> None:
    session, browser = app
    await browser.type("live", False)  # the stream sells too
    before = browser.value("ordersText()")
    await session.run_lua("dashboard:sell()")
    browser.catch_up()

    assert int(browser.value("ordersText()")) == int(before) + 1
    assert len(browser.rows("sales")) == 6
    assert browser.value("linePath()").startswith("M0.0 ")


async def test_the_period_changes_the_curve_and_marks_its_button(app: OpenApp) -> None:
    _, browser = app
    before = browser.value("linePath()")
    await browser.click("showMonth()")

    assert browser.value("linePath()").count("C") == 29
    assert browser.value("linePath()") != before
    assert (browser.value("dayLook()"), browser.value("monthLook()")) == ("default", "primary")


async def test_a_paused_stream_stands_still(app: OpenApp) -> None:
    session, browser = app
    await browser.type("live", False)
    before = browser.value("revenueText()")
    await session.run_lua("dashboard:tick()")
    browser.catch_up()

    assert browser.value("revenueText()") == before
