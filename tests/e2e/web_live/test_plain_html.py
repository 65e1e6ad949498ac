"""Plain HTML without any style of the app's own looks finished, and gives way to every rule that an app writes."""

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from .conftest import Server
from .test_pages import accessible

pytestmark = pytest.mark.slow

ROWS = """
Row = session:prototype("Row", { name = "", amount = 0, paid = false })
Plain = session:prototype("Plain", { title = "Expenses", rows = EMPTY })
if not session.reloading then
    plain = Plain:new()
    plain.rows = {}
    for at, name in ipairs({ "Rent", "Coffee", "Train" }) do
        plain.rows[at] = Row:new({ name = name, amount = 12.5 * at })
    end
end
"""
VIEW = """<template>
  <main>
    <header><h1 ui-value="title"></h1><nav><button type="button">Export</button></nav></header>
    <form id="entry">
      <label>Name <input></label>
      <label>Note <textarea></textarea></label>
      <label><input type="checkbox"> Paid</label>
      <button>Save</button>
    </form>
    <form id="line"><input aria-label="Find"><button>Go</button></form>
    <table>
      <thead><tr><th>Name</th><th>Amount</th></tr></thead>
      <tbody ui-viewlist="rows" ui-namespace="row"></tbody>
    </table>
    <ul ui-viewlist="rows" ui-namespace="line"></ul>
    <div id="cards" ui-viewlist="rows" ui-namespace="card"></div>
    <dl><dt>Owner</dt><dd>Ann</dd></dl>
    <details open><summary>More</summary><p>Text with <code>code</code> and a <a href="#entry">link</a>.</p></details>
  </main>
</template>
"""
ROW_VIEWS = {
    "row": '<tr><td ui-value="name"></td><td><output ui-value="amount"></output></td></tr>',
    "line": '<li><label><input type="checkbox" ui-value="paid"> <span ui-value="name"></span></label></li>',
    "card": '<article><h3 ui-value="name"></h3><button type="button">Open</button></article>',
}


def show(server: Server, view: str) -> None:
    folder = server.base / "apps" / "plain"
    (folder / "viewdefs").mkdir(parents=True, exist_ok=True)
    (folder / "app.lua").write_text(ROWS)
    (folder / "viewdefs" / "Plain.DEFAULT.html").write_text(view)
    for name, html in ROW_VIEWS.items():
        (folder / "viewdefs" / f"Row.{name}.html").write_text(f"<template>{html}</template>")
    assert server.call("ui_display", name="plain").startswith("Displayed app: plain")


def style(page: Page, selector: str, name: str) -> Any:
    return page.locator(selector).first.evaluate("(element, name) => getComputedStyle(element)[name]", name)


def box(page: Page, selector: str, at: int = 0) -> dict[str, float]:
    found = page.locator(selector).nth(at).bounding_box()
    assert found is not None
    return {name: round(value) for name, value in dict(found).items()}  # type: ignore[call-overload]


@pytest.mark.covers("UI-PAGE-10")
def test_plain_html_is_laid_out_like_a_product(server: Server, page: Page) -> None:
    show(server, VIEW)
    page.goto(server.url)
    expect(page.locator("#cards article")).to_have_count(3)

    field, label = box(page, "#entry input"), box(page, "#entry label")
    assert field["width"] == label["width"] == box(page, "#entry")["width"] <= 640
    assert style(page, "#entry", "rowGap") == "16px"
    assert box(page, "#line input")["y"] == box(page, "#line button")["y"], "one field and its button share a line"
    assert style(page, "#entry button", "backgroundColor") != style(page, "nav button", "backgroundColor")
    assert (style(page, "td:nth-child(2)", "textAlign"), style(page, "th:nth-child(2)", "textAlign")) == ("end", "end")
    assert style(page, "ul", "listStyleType") == "none"
    assert box(page, "#cards article", 0)["y"] == box(page, "#cards article", 1)["y"], "cards form a grid"
    assert box(page, "#line")["y"] - box(page, "#entry")["y"] - box(page, "#entry")["height"] == 16


@pytest.mark.covers("UI-PAGE-10")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_plain_html_is_accessible_and_fits_a_phone(server: Server, page: Page, scheme: Any) -> None:
    show(server, VIEW)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(server.url)
    expect(page.locator("#cards article")).to_have_count(3)

    accessible(page)
    assert page.evaluate("document.querySelector('.shell-main').scrollWidth") == 390


@pytest.mark.covers("UI-PAGE-10")
def test_any_rule_of_an_app_wins_and_an_app_with_its_own_layout_keeps_it(server: Server, page: Page) -> None:
    own = "<style>button { padding: 1px } .mine { color: rgb(1, 2, 3) }</style>"
    show(server, f'<template><div class="mine">{own}<form><input><button>Go</button></form></div></template>')
    page.goto(server.url)

    expect(page.locator(".mine form")).to_have_css("display", "block")
    expect(page.locator(".mine button")).to_have_css("padding", "1px")

    show(server, '<template><div class="ui-unstyled"><form><input><button>Go</button></form></div></template>')
    page.goto(server.url)
    expect(page.locator(".ui-unstyled button")).to_have_css("background-color", "rgb(239, 239, 239)")


@pytest.mark.covers("UI-PAGE-10")
def test_only_the_app_is_printed(counter: Server, page: Page) -> None:
    page.goto(counter.url)
    expect(page.locator("#count")).to_have_text("0")
    page.emulate_media(media="print")

    expect(page.locator(".shell-bar")).to_be_hidden()
    expect(page.locator("#count")).to_be_visible()
    expect(page.locator(".shell-main")).to_have_css("overflow", "visible")


@pytest.mark.covers("UI-PAGE-11")
def test_the_typeface_comes_late_the_first_time_and_at_once_afterwards(
    counter: Server, context: BrowserContext
) -> None:
    page = context.new_page()
    with page.expect_response("**/look/inter-latin-*.woff2") as font:
        page.goto(counter.url)
    assert font.value.header_value("cache-control") == "public, max-age=31536000, immutable"
    page.wait_for_function("document.fonts.check('16px \"Inter Variable\"')")
    assert page.evaluate("[...document.fonts].filter((one) => one.status === 'loaded').length") == 1, "one alphabet"

    for path in ("/variables", "/no-such-page"):
        page.goto(counter.url + path)
        assert page.evaluate("document.fonts.load('16px \"Inter Variable\"').then((faces) => faces.length)") == 1

    page.clock.install()
    page.clock.pause_at("2100-01-01")  # nothing that is put off happens
    page.goto(counter.url)
    page.wait_for_selector("link[href='/look/typeface.css']", state="attached")
