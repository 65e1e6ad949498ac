from ui_mcp.testing.project import OpenApp

APP = "annotator"


async def test_a_drawn_box_is_kept_and_reported(app: OpenApp) -> None:
    session, browser = app
    await browser.type("kind", "defect")
    await browser.type("draw(_)", "10.0 20.0 30.5 15.2")

    assert session.events.peek() == [
        {"app": "annotator", "event": "drawn", "kind": "defect", "x": 10, "y": 20, "w": 30.5, "h": 15.2}
    ]
    assert [row.value("label") for row in browser.rows("shown()")][-1] == "Box 4"
    assert '"kind": "defect"' in str(browser.value("json()"))


async def test_arrows_move_the_chosen_box_within_the_picture(app: OpenApp) -> None:
    session, browser = app
    await browser.click("..choose(number)", view=browser.rows("shown()")[0])
    await session.run_lua("for _ = 1, 40 do annotator:move(1, 0) end annotator:move(0, -3)")

    assert await session.run_lua("local b = annotator.boxes[1] return {b.x, b.y}") == "[86,5]"


async def test_nonsense_draws_nothing(app: OpenApp) -> None:
    session, browser = app
    await browser.type("draw(_)", "a b c d")

    assert await session.run_lua("return #annotator.boxes") == "3"
