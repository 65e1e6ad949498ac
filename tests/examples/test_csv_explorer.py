from ui_mcp.testing.project import OpenApp

APP = "csv-explorer"


async def test_the_sample_is_summed_by_continent(app: OpenApp) -> None:
    session, browser = app
    assert browser.value("summary()") == "20 rows, 6 columns, 3 of them numbers"
    assert browser.value("chartTitle()") == "Population by continent"
    assert await session.run_lua("local p = csvExplorer:points()[1] return {p.label, p.value}") == '["Asia",124.7]'


async def test_quotes_hold_commas_and_quotes(app: OpenApp) -> None:
    session, browser = app
    await browser.type("pasted", 'name,price\n"Tea, green",3\n"He said ""no""",4.5\n')
    await browser.click("import()")

    assert await session.run_lua("return csvExplorer.rows") == (
        '[{"name":"Tea, green","price":3},{"name":"He said \\"no\\"","price":4.5}]'
    )
    assert [row.value("name") for row in browser.rows("columns()")] == ["name", "price"]
    assert browser.page.errors == []


async def test_a_text_without_rows_is_refused_and_kept(app: OpenApp) -> None:
    _, browser = app
    await browser.type("pasted", "only a heading")
    await browser.click("import()")

    assert "needs a heading" in browser.text
    assert browser.value("summary()") == "20 rows, 6 columns, 3 of them numbers"
