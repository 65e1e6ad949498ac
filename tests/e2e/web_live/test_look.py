"""One look for all pages, pages for what goes wrong, and icons that are not on board."""

import re
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from ui_mcp.workspace import BUNDLE

from . import gallery
from .conftest import Server
from .test_pages import accessible

pytestmark = pytest.mark.slow

COLOURS = """() => { const s = getComputedStyle(document.body);
    return [s.backgroundColor, s.color, s.fontFamily.split(',')[0]] }"""
PAGES = ("/", "/variables", "/no-such-page")


@pytest.mark.covers("UI-PAGE-3")
def test_every_page_has_the_look_that_was_chosen_in_the_shell(
    counter: Server, context: BrowserContext, page: Page, console: list[str]
) -> None:
    page.emulate_media(color_scheme="dark")
    looks = {}
    for path in PAGES:
        page.goto(counter.url + path)
        expect(page.locator("html")).to_have_class("theme-dark sl-theme-dark")
        looks[path] = page.evaluate(COLOURS)
    assert len({tuple(look) for look in looks.values()}) == 1, looks

    page.goto(counter.url)
    page.locator(".shell-theme select").select_option("meadow")
    expect(page.locator("html")).to_have_class("theme-meadow")
    chosen = page.evaluate(COLOURS)
    for path in PAGES[1:]:
        page.goto(counter.url + path)
        expect(page.locator("html")).to_have_class("theme-meadow")
        assert page.evaluate(COLOURS) == chosen

    page.goto(f"{counter.url}/variables")
    page.get_by_label("Theme").select_option("dusk")
    expect(page.locator("html")).to_have_class("theme-dusk sl-theme-dark")
    page.goto(counter.url)
    expect(page.locator("html")).to_have_class("theme-dusk sl-theme-dark")
    console.clear()  # the browser tells of the 404 that was asked for


@pytest.mark.covers("UI-THEME-4")
def test_a_chosen_theme_is_kept_for_browsers_that_have_chosen_none(
    counter: Server, chromium: Browser, page: Page
) -> None:
    page.goto(counter.url)
    page.locator(".shell-theme select").select_option("meadow")
    settings = counter.base / "storage" / "settings.json"
    expect(page.locator("html")).to_have_class("theme-meadow")
    counter.call("ui_get_snapshot")  # waits until the server has handled what the page sent
    assert counter.call("ui_run", code="return mcp:readSettings().theme") == "meadow"
    assert "meadow" in settings.read_text()

    with chromium.new_context() as other:
        second = other.new_page()
        second.goto(counter.url)
        expect(second.locator("html")).to_have_class("theme-meadow")
        expect(second.locator(".shell-theme select")).to_have_value("meadow")

    page.locator(".shell-theme select").select_option("auto")
    counter.call("ui_get_snapshot")
    assert counter.call("ui_run", code="return mcp:readSettings().theme") is None


@pytest.mark.covers("UI-PAGE-3")
@pytest.mark.parametrize("theme", ["light", "dark", "dusk", "meadow"])
def test_every_theme_is_readable_on_every_page(
    server: Server, context: BrowserContext, page: Page, theme: str, console: list[str]
) -> None:
    context.add_init_script(f"localStorage.setItem('theme', '{theme}')")
    page.emulate_media(reduced_motion="reduce")
    for path in PAGES:
        page.goto(server.url + path)
        expect(page.locator("html")).to_have_class(
            f"theme-{theme}{' sl-theme-dark' if theme in ('dark', 'dusk') else ''}"
        )
        expect(page.get_by_role("heading").first).to_be_visible()
        page.wait_for_function("document.querySelectorAll(':not(:defined)').length === 0")
        accessible(page)
    console.clear()


@pytest.mark.covers("UI-PAGE-3")
def test_components_do_not_move_for_people_who_want_no_motion(server: Server, page: Page) -> None:
    gallery.add(server, "Still", 'Still = session:prototype("Still", {})\nstill = Still:new()', "<sl-input></sl-input>")
    server.call("ui_display", name="still")
    page.emulate_media(reduced_motion="reduce")
    page.goto(server.url)
    base = page.locator("sl-input [part=base]")

    assert set(base.evaluate("(part) => getComputedStyle(part).transitionDuration").split(", ")) == {"0s"}


@pytest.mark.covers("UI-HTTP-14")
def test_an_unknown_address_leads_people_back_and_tells_programs_in_a_line(
    server: Server, page: Page, console: list[str]
) -> None:
    answer = httpx2.get(f"{server.url}/%3Cb%3Ehi", headers={"accept": "*/*"}, timeout=60)
    assert (answer.status_code, answer.text) == (404, "Not found\n")

    page.goto(f"{server.url}/%3Cb%3Ehi")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    expect(page.locator("main")).to_contain_text("/<b>hi")
    page.get_by_role("link", name="Go to the start page").click()
    expect(page.locator(".shell-landing")).to_be_visible()
    console.clear()


@pytest.mark.covers("UI-INST-8")
def test_a_project_with_older_files_says_so_until_they_are_installed(server: Server, page: Page) -> None:
    (server.base / "README.md").write_text("**Version: 0.0.1**\n")
    assert "call ui_install" in server.call("ui_status")["outdated"]
    page.goto(server.url)
    notice = page.locator("#ui-stale")
    expect(notice).to_contain_text("version 0.0.1")
    expect(notice).to_contain_text("ui-mcp install")
    accessible(page)
    notice.get_by_role("button", name="Dismiss").click()
    expect(notice).to_have_count(0)

    server.call("ui_install")
    assert "outdated" not in server.call("ui_status")
    page.reload()
    expect(page.locator(".shell-bar")).to_be_visible()
    expect(notice).to_have_count(0)


@pytest.mark.covers("UI-PAGE-4")
def test_an_icon_that_is_not_on_board_gets_a_stand_in_and_a_line_in_the_log(server: Server, page: Page) -> None:
    app = server.base / "apps" / "icons"
    (app / "viewdefs").mkdir(parents=True)
    (app / "app.lua").write_text(
        'Icons = session:prototype("Icons", {})\nif not session.reloading then icons = Icons:new() end\n'
    )
    names = ("star-fill", "suit-heart-fill", "no-such-icon", "mine")
    icons = "".join(f'<sl-icon name="{name}" label="{name}"></sl-icon>' for name in names)
    (app / "viewdefs" / "Icons.DEFAULT.html").write_text(f"<template><p>{icons}</p></template>")
    own = server.base / "html" / "icons"
    own.mkdir()
    own.joinpath("mine.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>')
    server.call("ui_display", name="icons")

    page.goto(server.url)
    drawn = "name => document.querySelector(`sl-icon[name=${name}]`)?.shadowRoot?.querySelector('svg')?.innerHTML ?? ''"
    page.wait_for_function(f"{list(names)}.every({drawn})")

    shapes = [page.evaluate(f"({drawn})({name!r})") for name in names]
    assert ["<path" in shapes[0], "<circle" in shapes[2], "<rect" in shapes[3]] == [True, True, True]
    log = (server.base / "log" / "mcp.log").read_text()
    assert "no icon 'no-such-icon'" in log
    assert "'mine'" not in log


def test_the_icons_that_examples_and_guides_use_are_on_board() -> None:
    root = Path(__file__).parents[3]
    known = set((root / "web/src/components/icons.txt").read_text().split())
    packed = (BUNDLE / "web/vendor/shoelace/icons.tsv").read_text()
    assert (len(known) < 500, packed.count("\t")) == (True, 2050)
    texts = [*root.glob("examples/**/*.html"), *root.glob("src/ui_mcp/bundle/**/*.html")]
    texts = [file for file in texts if "bundle/web" not in str(file) and "base/html" not in str(file)]
    pattern = re.compile(r"<sl-icon(?:-button)?\b[^>]*\bname=\"([a-z0-9-]+)\"")
    used = {name for file in texts for name in pattern.findall(file.read_text())}
    assert used - known == set()


def test_each_page_can_be_the_first_one_opened_and_leads_to_the_start(
    server: Server, page: Page, console: list[str]
) -> None:
    page.goto(f"{server.url}/variables")
    expect(page.get_by_role("heading", name="Variables")).to_be_visible()
    page.get_by_role("link", name="Start page").click()
    expect(page.locator(".shell-landing")).to_be_visible()
    assert console == []


def test_the_old_addresses_of_chat_and_approvals_lead_to_the_page_of_the_person(server: Server, page: Page) -> None:
    own = server.call("ui_status")["person_url"]
    for path in ("approvals", "chat"):
        page.goto(f"{server.url}/{path}")
        expect(page.get_by_label("Code")).to_be_visible()
        assert page.url == f"{own}/{path}"
