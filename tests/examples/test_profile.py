from ui_mcp.testing.project import OpenApp

APP = "profile"


async def test_cancelling_throws_the_draft_away(app: OpenApp) -> None:
    _, browser = app
    await browser.click("edit()")
    await browser.type("name", "Nobody", browser.app.view("draft"))
    await browser.click("cancel()")

    assert browser.app.text == "Ada , London Edit"
    await browser.click("edit()")
    assert browser.app.view("draft").value("name") == "Ada"


async def test_saving_takes_the_draft_over(app: OpenApp) -> None:
    session, browser = app
    await browser.click("edit()")
    await browser.type("name", "Ada King", browser.app.view("draft"))
    await browser.type("newsletter", True, browser.app.view("draft"))
    await browser.click("save()")

    assert browser.app.text == "Ada King , London Edit"
    assert session.events.peek() == [{"app": "profile", "event": "saved", "name": "Ada King"}]
    assert await session.run_lua("return profile.person.newsletter") == "true"


async def test_a_problem_keeps_the_form_open(app: OpenApp) -> None:
    _, browser = app
    await browser.click("edit()")
    await browser.type("name", "", browser.app.view("draft"))
    await browser.click("save()")

    assert "A name is needed." in browser.text
    assert browser.value("reading()") is False
