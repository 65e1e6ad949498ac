from ui_mcp.testing.project import OpenApp

APP = "wizard"


async def test_a_step_is_checked_before_the_next(app: OpenApp) -> None:
    session, browser = app
    await browser.click("forward()")
    await browser.click("forward()")
    await browser.click("forward()")
    assert await session.run_lua("return wizard.step") == "3"
    assert browser.value("problem('email')") == "An address such as ada@example.com."

    for field, text in {"name": "Ada", "email": "ada@example.com", "street": "1 Way", "postcode": "75001"}.items():
        await browser.type(field, text)
    await browser.click("forward()")
    assert browser.value("problem('city')") == "Which town?"
    await browser.type("city", "Paris")
    await browser.click("forward()")
    assert "1 Way, 75001 Paris" in browser.text

    await browser.click("order()")
    assert "Thank you, Ada" in browser.text
    assert session.events.peek()[0]["price"] == "€ 739"
    assert browser.page.errors == []


async def test_the_price_follows_the_choices(app: OpenApp) -> None:
    _, browser = app
    await browser.type("frame", "electric")
    await browser.click("forward()")
    await browser.type("basket", True)

    assert browser.value("price()") == "€ 2451"


async def test_a_link_leads_no_further_than_what_is_complete(app: OpenApp) -> None:
    session, _ = app
    await session.run_lua("wizard:visit('review')")

    assert await session.run_lua("return {wizard.step, wizard:address()}") == '[3,"delivery","Delivery"]'
