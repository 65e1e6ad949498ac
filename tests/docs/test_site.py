"""The documentation as a site, opened as files in a browser, as a reader without a network does."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from chromium import SETTLED, Scheme, launched
from docs.blocks import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.covers("DOC-SITE-1")]

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
LOADED = re.compile(r"""<(?:script|img|link)[^>]+(?:src|href)=["']?(?:https?:)?//""")
PHONE, WIDE = 390, 1280
KINDS = "index hosts gallery benchmarks components tools build-an-app"
"""One page of each kind."""
LEFT = "net::ERR_ABORTED"
"""How a request ends whose page was left meanwhile."""
FINDINGS = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
    .flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target} ${node.html.slice(0, 120)}`))"""
WIDER = """() => document.documentElement.scrollWidth - document.documentElement.clientWidth"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; in its strict mode a link or an anchor that leads nowhere is an error."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> list[Path]:
    found = [file for file in sorted(site.rglob("*.html")) if file.name != "404.html"]
    assert len(found) > 40
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


def opened(browser: Browser, width: int, scheme: Scheme) -> Page:
    return browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)


def named(found: dict[Path, list[str]]) -> list[str]:
    return [f"{file.name}: {one}" for file, several in found.items() for one in several]


def test_no_page_names_something_to_load_from_another_machine(pages: list[Path]) -> None:
    assert [page.name for page in pages if LOADED.search(page.read_text("utf-8"))] == []


def test_every_page_opens_without_an_error_and_asks_no_other_machine(pages: list[Path], browser: Browser) -> None:
    page = opened(browser, WIDE, "light")
    said: list[str] = []
    page.on("console", lambda one: said.append(one.text) if one.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("requestfailed", lambda request: said.append(request.url) if request.failure != LEFT else None)
    page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
    wrong: dict[Path, list[str]] = {}
    for file in pages:
        said.clear()
        page.goto(file.as_uri(), wait_until="load")
        wrong[file] = list(said)
    page.close()

    assert named(wrong) == []


def test_no_page_is_wider_than_a_phone(pages: list[Path], browser: Browser) -> None:
    page = opened(browser, PHONE, "light")
    wider: dict[Path, list[str]] = {}
    for file in pages:
        page.goto(file.as_uri(), wait_until="load")
        wider[file] = [f"{over} px too wide"] if (over := page.evaluate(WIDER)) else []
    page.close()

    assert named(wider) == []


@pytest.mark.parametrize(
    ("width", "scheme", "names"), [(WIDE, "light", ""), (WIDE, "dark", KINDS), (PHONE, "light", KINDS)]
)
def test_axe_has_nothing_against_any_page(
    pages: list[Path], browser: Browser, width: int, scheme: Scheme, names: str
) -> None:
    page = opened(browser, width, scheme)
    found: dict[Path, list[str]] = {}
    for file in (one for one in pages if not names or one.stem in names.split()):
        page.goto(file.as_uri(), wait_until="load")
        page.evaluate(SETTLED)
        page.add_script_tag(path=AXE)
        found[file] = page.evaluate(FINDINGS)
    page.close()

    assert named(found) == []


def test_the_search_finds_a_page_although_no_server_is_there(site: Path, browser: Browser) -> None:
    page = opened(browser, WIDE, "light")
    page.goto((site / "howto" / "form.html").as_uri())
    page.get_by_placeholder("Search").click()
    page.keyboard.type("troubleshooting")

    found = page.locator(".md-search-result__link").first
    expect(found).to_contain_text("Troubleshooting")
    found.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Troubleshooting")
    page.close()


def test_hosts_are_tabs_and_a_link_to_one_opens_it(site: Path, browser: Browser) -> None:
    page = opened(browser, WIDE, "light")
    page.goto((site / "hosts.html").as_uri() + "#codex")

    expect(page.get_by_text("codex mcp add ui -- ui-mcp mcp")).to_be_visible()
    expect(page.get_by_text("claude mcp add ui -- ui-mcp mcp")).to_be_hidden()
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_film_plays_in_the_theme_of_the_reader(site: Path, browser: Browser, scheme: Scheme) -> None:
    page = opened(browser, WIDE, scheme)
    page.goto((site / "index.html").as_uri())

    expect(page.locator("video.film")).to_have_attribute("src", f"images/tour-{scheme}.webm")
    page.wait_for_function("() => document.querySelector('video.film').currentTime > 0")
    page.close()


def test_a_film_stands_still_for_readers_who_want_no_motion(site: Path, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": PHONE, "height": 844}, reduced_motion="reduce")
    page.goto((site / "index.html").as_uri())

    film = page.locator("video.film")
    expect(film).to_have_attribute("src", "images/tour-phone.webm")
    expect(film).to_have_js_property("paused", True)
    page.close()
