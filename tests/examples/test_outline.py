from ui_mcp.testing.project import OpenApp

APP = "outline"


async def test_lists_inside_lists_arrive_in_one_frame(app: OpenApp) -> None:
    _, browser = app
    assert len(browser.page.frames) == 1

    topics = browser.app.view("root").rows("topics")

    assert [topic.value("title") for topic in topics] == ["1.1", "1.2", "1.3"]
    assert [leaf.value("title") for leaf in topics[1].rows("topics")[2].rows("topics")] == [
        "1.2.3.1",
        "1.2.3.2",
        "1.2.3.3",
    ]
    assert browser.value("total()") == "40 topics"


async def test_a_branch_grows_where_it_is_asked_to(app: OpenApp) -> None:
    _, browser = app
    leaf = browser.app.view("root").rows("topics")[0].rows("topics")[0].rows("topics")[0]
    assert leaf.value("leaf()") is True

    await browser.click("add()", leaf)

    assert leaf.value("leaf()") is False
    assert [topic.value("title") for topic in leaf.rows("topics")] == ["1.1.1.1.1"]
    assert browser.value("total()") == "41 topics"


async def test_reversing_takes_whole_branches_along(app: OpenApp) -> None:
    _, browser = app
    await browser.click("reverse()")

    topics = browser.app.view("root").rows("topics")
    assert [topic.value("title") for topic in topics] == ["1.3", "1.2", "1.1"]
    assert topics[0].rows("topics")[0].value("title") == "1.3.1"


async def test_a_closed_branch_is_hidden(app: OpenApp) -> None:
    _, browser = app
    await browser.click("toggle()", browser.app.view("root").rows("topics")[0])

    assert "1.1.1" not in browser.text.split()
    assert "1.2.1" in browser.text.split()
