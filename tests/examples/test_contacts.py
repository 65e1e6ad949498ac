from ui_mcp.jsontypes import loads
from ui_mcp.testing.project import OpenApp

APP = "contacts"


async def test_searching_shortens_the_list(app: OpenApp) -> None:
    _, browser = app
    assert [row.value("name()") for row in browser.rows("found()")] == ["Ada Lovelace", "Grace Hopper", "Alan Turing"]

    await browser.type("search", "a")
    assert browser.value("summary()") == "3 of 3"
    await browser.type("search", "hop")

    assert browser.value("summary()") == "1 of 3"
    assert [row.value("name()") for row in browser.rows("found()")] == ["Grace Hopper"]


async def test_selecting_a_row_opens_its_form_and_edits_reach_the_row(app: OpenApp) -> None:
    session, browser = app
    assert browser.value("nobody()") is True
    await browser.click("select()", browser.rows("found()")[1])
    assert [row.value("selected()") for row in browser.rows("found()")] == [False, True, False]
    assert browser.app.view("current").value("firstName") == "Grace"

    await browser.type("firstName", "Amazing Grace")

    assert browser.rows("found()")[1].value("name()") == "Amazing Grace Hopper"
    assert loads(await session.run_lua("return session:getApp().list[2].firstName")) == "Amazing Grace"


async def test_adding_and_removing_changes_the_list(app: OpenApp) -> None:
    _, browser = app
    await browser.click("add()")
    assert browser.value("summary()") == "4 of 4"
    assert browser.rows("found()")[3].value("selected()") is True

    await browser.click("remove()")

    assert browser.value("summary()") == "3 of 3"
    assert browser.value("nobody()") is True


async def test_the_agent_is_asked_to_write_a_mail(app: OpenApp) -> None:
    session, browser = app
    await browser.click("select()", browser.rows("found()")[0])

    await browser.click("mail()")

    assert session.events.peek() == [{"app": "contacts", "event": "mail", "to": "ada@example.org"}]
