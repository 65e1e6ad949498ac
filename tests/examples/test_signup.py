from ui_mcp.testing.project import OpenApp

APP = "signup"


async def test_a_field_complains_only_after_it_was_used(app: OpenApp) -> None:
    _, browser = app
    assert browser.value("nameHint()") == ""

    await browser.click("useName()")
    assert browser.value("nameHint()") == "Please tell us your name."

    await browser.type("name", "Ada")
    assert not browser.value("nameBad()")


async def test_a_complete_form_reaches_the_agent(app: OpenApp) -> None:
    session, browser = app
    await browser.type("name", "Ada")
    await browser.type("email", "ada@example.org")
    await browser.type("password", "analytical-Engine-1")
    assert browser.value("incomplete()") is True
    await browser.type("terms", True)
    await browser.click("send()")

    assert browser.value("greeting()") == "Welcome, Ada!"
    assert session.events.peek() == [
        {
            "app": "signup",
            "event": "signed_up",
            "name": "Ada",
            "email": "ada@example.org",
            "plan": "team",
            "seats": 5,
        }
    ]


async def test_an_incomplete_form_says_what_is_missing(app: OpenApp) -> None:
    session, browser = app
    await browser.click("send()")

    assert browser.value("emailHint()") == "That does not look like a mail address."
    assert session.events.peek() == []
