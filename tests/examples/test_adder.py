from ui_mcp.testing.project import OpenApp

APP = "adder"


async def test_the_sum_follows_what_is_typed(app: OpenApp) -> None:
    _, browser = app
    assert browser.app.text == "2 3 Sum: 5 Swap Tell the agent"

    await browser.type("first", "40")

    assert browser.value("sum()") == 43


async def test_swapping_moves_both_numbers_and_nothing_else_travels(app: OpenApp) -> None:
    _, browser = app
    frames = len(browser.page.frames)

    await browser.click("swap()")

    assert (browser.value("first"), browser.value("second"), browser.value("sum()")) == (3, 2, 5)
    assert len(browser.page.frames) == frames + 1


async def test_the_agent_hears_of_the_sum(app: OpenApp) -> None:
    session, browser = app

    await browser.click("share()")

    assert session.events.peek() == [{"app": "adder", "event": "sum", "value": 5}]
