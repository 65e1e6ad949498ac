from ui_mcp.testing.project import OpenApp

APP = "thousand-rows"


async def test_a_thousand_rows_arrive_in_one_frame(app: OpenApp) -> None:
    _, browser = app
    rows = browser.rows("rows")

    assert (len(browser.page.frames), len(rows)) == (1, 1000)
    assert rows[999].value("name") == "Row 1000"


async def test_one_click_sends_only_what_changed(app: OpenApp) -> None:
    _, browser = app
    await browser.click("star()", browser.rows("rows")[500])

    assert browser.rows("rows")[500].value("shown()") == "★"
    assert len(browser.page.frames[-1]) < 60


async def test_a_finished_row_is_counted(app: OpenApp) -> None:
    _, browser = app
    await browser.click("finish()", browser.rows("rows")[0])

    assert browser.rows("rows")[0].value("done") is True
    assert browser.value("done()") == "1 of 1000 done"


async def test_reversing_and_dropping_keep_every_row_right(app: OpenApp) -> None:
    _, browser = app
    await browser.click("reverse()")
    await browser.click("drop()")

    rows = browser.rows("rows")
    assert [row.value("name") for row in rows] == [f"Row {number}" for number in range(999, 0, -1)]
    await browser.click("finish()", rows[0])
    assert browser.rows("rows")[0].value("done") is True
