from ui_mcp.testing.browser import Browser
from ui_mcp.testing.project import OpenApp

APP = "pizza"


def options(browser: Browser, path: str) -> list[tuple[str, str]]:
    return [(row.value("id"), row.value("label")) for row in browser.rows(path)]


async def test_the_options_of_a_select_come_from_a_list(app: OpenApp) -> None:
    _, browser = app

    assert options(browser, "dishes") == [("margherita", "Margherita"), ("funghi", "Funghi")]
    assert options(browser, "sizes()") == []


async def test_the_second_select_follows_the_first(app: OpenApp) -> None:
    _, browser = app
    await browser.type("choose()", "margherita")
    assert [value for value, _ in options(browser, "sizes()")] == ["small", "large", "party"]
    await browser.type("size", "party")
    assert browser.value("incomplete()") is False

    await browser.type("choose()", "funghi")

    assert [value for value, _ in options(browser, "sizes()")] == ["small", "large"]
    assert (browser.value("size"), browser.value("incomplete()")) == ("", True)


async def test_an_order_goes_to_the_agent_and_empties_the_form(app: OpenApp) -> None:
    session, browser = app
    await browser.type("choose()", "funghi")
    await browser.type("size", "small")

    await browser.click("order()")

    assert session.events.peek() == [{"app": "pizza", "event": "order", "dish": "funghi", "size": "small"}]
    assert (browser.value("choose()"), browser.value("size")) == ("", "")
