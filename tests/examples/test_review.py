from ui_mcp.testing.project import OpenApp

APP = "review"


async def test_a_diff_keeps_what_is_common(app: OpenApp) -> None:
    session, browser = app
    await session.run_lua(
        "review:load('T', {{path = 'a', before = 'one\\ntwo\\nthree\\n', after = 'one\\n2\\nthree\\n'}})"
    )
    browser.catch_up()

    lines = [(row.value("mark"), row.value("text")) for row in browser.rows("lines()")]
    assert lines == [("", "one"), ("\N{MINUS SIGN}", "two"), ("+", "2"), ("", "three")]


async def test_comments_and_the_verdict_reach_the_agent(app: OpenApp) -> None:
    session, browser = app
    await browser.click("..write(number)", view=browser.rows("lines()")[1])
    await session.run_lua("review.draft = 'Why not sum()?'")
    await session.run_lua("review:comment()")
    browser.catch_up()
    assert browser.value("summary()") == "0 of 3 files read, 1 comments"

    await browser.click("markRead()")
    assert browser.value("file().path") == "tests/test_prices.py"
    await browser.click("decide('changes')")
    [event] = session.events.peek()
    assert (event["verdict"], event["comments"][0]["text"]) == ("changes", "Why not sum()?")
    assert browser.page.errors == []


async def test_a_file_has_an_address(app: OpenApp) -> None:
    session, browser = app
    await session.run_lua("review:visit('CHANGELOG.md')")
    browser.catch_up()

    assert browser.value("file().path") == "CHANGELOG.md"
    assert await session.run_lua("return review:address()") == '"CHANGELOG.md"'
