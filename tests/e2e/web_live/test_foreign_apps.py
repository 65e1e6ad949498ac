"""Apps in the style of ui-engine and frictionless, unchanged: what their viewdefs, scripts and styles rely on."""

import pytest
from playwright.sync_api import Page, expect

from .conftest import Server

APP = """
Foreign = session:prototype("Foreign", {js = "", yes = true, shown = true})
if not session.reloading then foreign = Foreign:new() end
"""


def show(server: Server, page: Page, viewdef: str, lua: str = APP) -> None:
    app = server.base / "apps" / "foreign"
    (app / "viewdefs").mkdir(parents=True, exist_ok=True)
    (app / "app.lua").write_text(lua)
    (app / "viewdefs" / "Foreign.DEFAULT.html").write_text(f"<template>{viewdef}</template>")
    server.call("ui_display", name="foreign")
    page.goto(server.url)


@pytest.mark.covers("UI-COMPAT-3")
def test_code_may_call_what_a_script_of_its_viewdef_defines(server: Server, page: Page, console: list[str]) -> None:
    lua = APP.replace('js = ""', 'js = "setTitle(element.id)"')
    script = "<script>window.setTitle = (text) => { document.title = text }</script>"
    html = f'<div><span id="caller" ui-code="js"></span>{script}</div>'
    show(server, page, html, lua)

    expect(page).to_have_title("caller")
    assert [line for line in console if "ui-code" in line] == []


@pytest.mark.covers("UI-COMPAT-3")
def test_a_script_with_src_runs_before_the_inline_script_behind_it(server: Server, page: Page) -> None:
    (server.base / "html" / "library.js").write_text("window.library = { name: 'loaded' };")
    html = """<div><b id="out"></b><span ui-code="js"></span>
      <script src="/library.js"></script>
      <script>document.getElementById("out").textContent = window.library.name</script></div>"""
    show(server, page, html, APP.replace('js = ""', """js = "element.id = window.library.name" """))

    expect(page.locator("#out")).to_have_text("loaded")
    expect(page.locator("#loaded")).to_have_count(1)


@pytest.mark.covers("UI-COMPAT-4")
def test_hidden_wins_over_the_display_of_an_app(server: Server, page: Page) -> None:
    html = """<div><style>.row { display: flex } .tall.hidden.showing { display: grid }</style>
      <p class="row" id="gone" ui-class-hidden="yes">gone</p>
      <p class="hidden" id="back" ui-class-showing="shown">back</p>
      <p class="tall hidden" id="grid" ui-class-showing="shown">grid</p></div>"""
    show(server, page, html)

    expect(page.locator("#back")).to_have_css("display", "block")
    expect(page.locator("#grid")).to_have_css("display", "grid")
    expect(page.locator("#gone")).to_be_hidden()


@pytest.mark.covers("UI-COMPAT-4")
def test_an_app_as_high_as_the_window_fits_below_the_bar(server: Server, page: Page) -> None:
    html = """<div class="whole"><style>.whole { height: 100vh; overflow: auto }
        .over { position: fixed; inset: 0; height: 100vh }</style>
      <p id="inside">in</p><p class="over" id="over">over</p></div>"""
    show(server, page, html)
    expect(page.locator("#inside")).to_be_visible()

    main = page.locator(".shell-main")
    assert main.evaluate("e => e.scrollHeight - e.clientHeight") == 0
    assert page.locator(".whole").evaluate("e => e.offsetHeight") == main.evaluate("e => e.clientHeight")
    assert page.locator("#over").evaluate("e => e.offsetHeight") == page.evaluate("innerHeight")


@pytest.mark.covers("UI-COMPAT-4")
@pytest.mark.parametrize("theme", ["light", "dark", "dusk", "meadow"])
def test_theme_classes_and_variables_have_the_expected_meaning(server: Server, page: Page, theme: str) -> None:
    names = ["accent-bright", "accent-dim", "accent-glow", "success-dim", "warning-dim", "danger-dim", "error"]
    names += ["error-dim", "info"]
    boxes = "".join(f'<i id="{name}" style="background: var(--term-{name})">x</i>' for name in names)
    show(server, page, f'<div><div class="panel-header-left" id="head"><b>Title</b></div>{boxes}</div>')
    page.evaluate("theme => window.uiApp.setTheme(theme)", theme)

    expect(page.locator("#head")).to_have_css("border-left-width", "3px")
    expect(page.locator("#head")).to_have_css("display", "block")
    colour = "name => getComputedStyle(document.getElementById(name)).backgroundColor"
    drawn = {name: page.evaluate(colour, name) for name in names}
    assert [name for name, value in drawn.items() if value == "rgba(0, 0, 0, 0)"] == []


@pytest.mark.covers("UI-COMPAT-5")
def test_icons_that_public_apps_name_are_drawn(server: Server, page: Page) -> None:
    names = ["heart-pulse", "person-rolodex", "rocket-takeoff-fill", "grid-3x3-gap-fill", "braces-asterisk", "file"]
    show(server, page, "".join(f'<sl-icon name="{name}"></sl-icon>' for name in names))

    drawn = "name => document.querySelector(`sl-icon[name=${name}]`)?.shadowRoot?.querySelector('svg path') !== null"
    page.wait_for_function(f"{names}.every({drawn})")


@pytest.mark.covers("UI-COMPAT-6")
def test_scripts_can_highlight_an_element_and_ask_for_its_viewdef(server: Server, page: Page) -> None:
    lua = APP.replace("yes = true", 'yes = true, found = ""')
    bridge = '<span id="viewdef-bridge" class="hidden" ui-value="found?access=rw"></span>'
    html = f'<div><b id="part">x</b><i id="echo" ui-value="found"></i>{bridge}</div>'
    show(server, page, html, lua)
    expect(page.locator("#part")).to_be_visible()

    page.evaluate("window.uiApp.highlight('part')")
    expect(page.locator("#part.ui-highlight")).to_have_count(1)
    assert page.evaluate("window.uiApp.findViewdef('part')") == "Foreign.DEFAULT"
    page.evaluate("window.uiApp.reportViewdef('part')")
    expect(page.locator("#echo")).to_have_text("Foreign.DEFAULT")


BAR = """<div><style>.bar { position: fixed; display: flex; height: 90px } .bar button { flex: 1 }</style>
  <div class="bar" style="left: 0; right: 0; bottom: 0"><button id="low">Low</button></div>
  <div class="bar" style="right: 0; top: 0; width: 60%"><button id="high">High</button></div></div>"""


REFUSED = "io.open('/nowhere/file', 'w')"


@pytest.mark.covers("UI-COMPAT-13")
def test_notices_cover_no_control_of_a_shell(server: Server, page: Page) -> None:
    show(server, page, BAR)
    expect(page.locator("#low")).to_be_visible()

    server.call("ui_run", code=REFUSED)

    notice = page.locator(".ui-notice")
    expect(notice).to_be_visible()
    for control in ("#low", "#high"):
        one, other = notice.bounding_box(), page.locator(control).bounding_box()
        assert one
        assert other
        apart = one["x"] + one["width"] <= other["x"] or one["y"] >= other["y"] + other["height"]
        assert apart or one["y"] + one["height"] <= other["y"], (one, other)


@pytest.mark.covers("UI-COMPAT-13")
def test_notices_give_way_to_a_control_that_appears_below_them(server: Server, page: Page) -> None:
    show(
        server,
        page,
        '<div><button id="new" style="position: fixed; right: 20px; bottom: 20px" hidden>New</button></div>',
    )
    expect(page.locator("#new")).to_be_attached()
    server.call("ui_run", code=REFUSED)
    expect(page.locator(".ui-notices")).to_have_attribute("data-place", "bottom-right")

    page.evaluate("document.getElementById('new').hidden = false")

    expect(page.locator(".ui-notices")).to_have_attribute("data-place", "bottom-left")
    page.locator("#new").click()


@pytest.mark.covers("UI-COMPAT-8")
def test_a_frame_shows_a_file_that_the_app_linked(server: Server, page: Page, console: list[str]) -> None:
    data = server.base / "storage" / "foreign"
    data.mkdir(parents=True)
    (data / "resume.md").write_text("# Ada <script>document.title = 'ran'</script>")
    lua = (
        APP
        + """
    os.execute('ln -sfn "../storage/foreign" "' .. mcp:status().base_dir .. '/html/foreign-files"')
    function Foreign:url() return "http://localhost:" .. mcp:status().mcp_port .. "/foreign-files/resume.md?1" end
    """
    )
    show(server, page, '<div><iframe ui-attr-src="url()"></iframe><a ui-attr-href="url()">Open</a></div>', lua)

    expect(page.frame_locator("iframe").get_by_role("heading", name="Ada")).to_be_visible()
    assert [line for line in console if "Content Security Policy" in line] == []
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open").click(modifiers=["ControlOrMeta"])
    expect(opened.value.get_by_role("heading", name="Ada")).to_be_visible()
    expect(opened.value).to_have_title("resume.md")
