from ui_mcp.testing.project import OpenApp

APP = "board"


async def test_a_new_card_lands_in_the_first_column(app: OpenApp) -> None:
    session, browser = app
    await browser.type("draft", "  Call Ada ")
    await browser.click("add()")

    first = browser.rows("columns")[0]
    assert [card.value("title") for card in first.rows("cards")][-1] == "Call Ada"
    assert browser.value("draft") == ""
    assert session.events.peek() == [{"app": "board", "event": "added", "title": "Call Ada"}]


async def test_an_arrow_moves_a_card_and_tells_the_agent(app: OpenApp) -> None:
    session, browser = app
    card = browser.rows("columns")[0].rows("cards")[0]
    await browser.click("right()", card)

    assert [column.value("count()") for column in browser.rows("columns")] == [2, 2, 1]
    assert session.events.peek() == [
        {"app": "board", "event": "moved", "card": "Write the release notes", "from": "todo", "to": "doing"}
    ]


async def test_a_drop_moves_a_card_and_nonsense_does_nothing(app: OpenApp) -> None:
    _, browser = app
    await browser.type("drop(_)", "1 done")
    assert browser.value("summary()") == "2 of 5 done"

    await browser.type("drop(_)", "999 done")
    await browser.type("drop(_)", "1 undefined")
    assert browser.value("summary()") == "2 of 5 done"
