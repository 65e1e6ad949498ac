from ui_mcp.testing.project import OpenApp

APP = "mission-control"


async def test_steps_and_what_happens_are_shown(app: OpenApp) -> None:
    session, browser = app
    await session.run_lua("mcp:createTodos({'Read', 'Write'}) mcp:startTodoStep(2) missionControl:look()")
    browser.catch_up()

    assert browser.value("progress()") == "1 of 2"
    assert "Write: in progress" in [row.value("text") for row in browser.rows("timeline")]


async def test_questions_link_to_the_persons_page_and_the_chat_is_read(app: OpenApp) -> None:
    _, browser = app
    await browser.type("personUrl", "http://127.0.0.1:9")
    await browser.type("questionsJson", '{"approvals": [{"id": "a1", "tool": "shop__refund"}]}')
    await browser.type("chatJson", '{"messages": [{"sender": "human", "text": "Hello"}]}')

    assert [row.value("text") for row in browser.rows("questions()")] == ["shop__refund"]
    assert [row.value("link") for row in browser.rows("questions()")] == ["http://127.0.0.1:9/approvals#approval-a1"]
    assert [row.value("text") for row in browser.rows("messages()")] == ["Hello"]
    await browser.type("chatJson", "not JSON")
    assert browser.rows("messages()") == []
    assert browser.page.errors == []


async def test_a_wish_goes_to_the_agent(app: OpenApp) -> None:
    session, browser = app
    await browser.type("asked", "Show the orders")
    await browser.click("ask()")

    assert session.events.peek() == [{"app": "mission-control", "event": "asked", "text": "Show the orders"}]
    assert browser.value("asked") == ""
