from ui_mcp.testing.project import OpenApp

APP = "contacts"


async def test_searching_shortens_the_list(app: OpenApp) -> None:
    _, browser = app
    assert browser.value("summary()") == "16 of 16"

    await browser.type("search", "hop")

    assert browser.value("summary()") == "1 of 16"
    assert [row.value("name()") for row in browser.rows("found()")] == ["Grace Hopper"]


async def test_a_heading_sorts_by_its_column(app: OpenApp) -> None:
    _, browser = app
    by_name = browser.rows("found()")[0].value("name()")

    await browser.click("sort('company')")

    assert (by_name, browser.rows("found()")[0].value("name()")) == ("John Backus", "Barbara Liskov")


async def test_selecting_a_row_opens_its_form_and_edits_reach_the_row(app: OpenApp) -> None:
    _, browser = app
    assert browser.value("nobody()") is True
    await browser.type("search", "grace")
    await browser.click("select()", browser.rows("found()")[0])
    assert [row.value("selected()") for row in browser.rows("found()")] == [True]
    assert browser.value("firstName") == "Grace"

    await browser.type("firstName", "Amazing Grace")
    assert browser.rows("found()")[0].value("name()") == "Amazing Grace Hopper"
    await browser.click("close()")

    assert browser.value("nobody()") is True


async def test_adding_and_removing_changes_the_list(app: OpenApp) -> None:
    _, browser = app
    await browser.click("add()")
    assert browser.value("summary()") == "17 of 17"
    assert [row.value("name()") for row in browser.rows("found()") if row.value("selected()")] == ["New Contact"]

    await browser.click("remove()")

    assert browser.value("summary()") == "16 of 16"
    assert browser.value("nobody()") is True


async def test_the_agent_is_asked_to_write_a_mail(app: OpenApp) -> None:
    session, browser = app
    await browser.type("search", "lovelace")
    await browser.click("select()", browser.rows("found()")[0])

    await browser.click("mail()")

    assert session.events.peek() == [{"app": "contacts", "event": "mail", "to": "ada@example.org"}]
