"""A browser as agents need it: history, tabs, logs, devices, storage, pictures, tools of pages."""

import re
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from struct import unpack

import pytest

from e2e.introspect_browser.test_hands import served, show
from introspection.demos import Demo
from ui_mcp.errors import UiActionFailedError, UiArgumentError
from ui_mcp.introspection.backend import BrowserRequest, ScreenshotRequest
from ui_mcp.introspection.contract import Ref
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text
from ui_mcp.jsontypes import Json

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


async def browse(browser: Demo, op: str, **given: Json) -> str:
    answer = await browser.target.browse(BrowserRequest(op, **given))
    assert isinstance(answer, str)
    return answer


@pytest.fixture
async def site(browser: Demo, tmp_path: Path) -> AsyncIterator[str]:
    """Two pages over HTTP, the first one open."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.html").write_text(f"<title>Page {name}</title><h1>{name}</h1><a href=two.html>on</a>")
    (tmp_path / "data.json").write_text('{"answer": 42}')
    with served(tmp_path) as port:
        await browse(browser, "navigate", url=f"http://127.0.0.1:{port}/one.html")
        yield f"http://127.0.0.1:{port}"
    while len((await browse(browser, "tabs")).splitlines()) > 1:
        await browse(browser, "close_tab")


def tabs(text: str) -> dict[str, int]:
    """Return the numbers of the tabs by title."""
    found = re.findall(r"^tab (\d+) \S+ (.*?)(?: \(focused\))?$", text, re.MULTILINE)
    return {title: int(number) for number, title in found}


@pytest.mark.covers("IN-133")
async def test_back_forward_and_reload_move_through_the_history(browser: Demo, site: str) -> None:
    await browse(browser, "navigate", url=f"{site}/two.html")

    back = await browse(browser, "back")
    forward = await browse(browser, "forward")
    await browser.do({"type": "click", "target": {"text": "on"}})
    again = await browse(browser, "reload")

    assert "one.html Page one" in back
    assert "two.html Page two" in forward
    assert "two.html Page two" in again
    with pytest.raises(UiActionFailedError, match="no such page"):
        await browse(browser, "forward")


@pytest.mark.covers("IN-133")
async def test_tabs_are_opened_selected_and_closed(browser: Demo, site: str) -> None:
    opened = tabs(await browse(browser, "new_tab", url=f"{site}/two.html"))
    in_second = await as_text(browser.target, SnapshotRequest())
    await browse(browser, "select_tab", tab=opened["Page one"])
    in_first = await as_text(browser.target, SnapshotRequest())
    left = await browse(browser, "close_tab", tab=opened["Page two"])

    assert '"two"' in in_second
    assert '"one"' in in_first
    assert tabs(left) == {"Page one": opened["Page one"]}
    with pytest.raises(UiActionFailedError, match="only tab"):
        await browse(browser, "close_tab")
    with pytest.raises(UiArgumentError, match="No tab 99999"):
        await browse(browser, "select_tab", tab=99999)


@pytest.mark.covers("IN-134")
async def test_requests_are_listed_with_status_and_body_and_without_credentials(browser: Demo, site: str) -> None:
    backend = browser.target.backend
    script = """Promise.all([fetch('data.json', {headers: {Authorization: 'Bearer hidden'}}).then((r) => r.text()),
      fetch('missing', {method: 'POST', body: 'sent'})])"""
    await browse(browser, "evaluate", text=f"{script}.then(() => 1)")
    await backend.idle()

    listed = await browse(browser, "network", text="data.json")
    failed = await browse(browser, "network", text="failed")
    number = re.search(r"^(\d+) GET 200 \d+ms \S+ fetch http", listed, re.MULTILINE)
    assert number is not None, listed
    details = await browse(browser, "network", id=number[1])

    assert re.search(r"POST 501 .*/missing$", failed, re.MULTILINE), failed
    assert details.endswith('\n\n{"answer": 42}')
    assert "Authorization: (not shown)" in details
    assert "hidden" not in details


@pytest.mark.covers("IN-134")
async def test_the_console_is_read_in_pages(browser: Demo, site: str) -> None:
    await browse(
        browser, "evaluate", text="for (let i = 0; i < 70; i++) console.log('line', i); console.warn('careful')"
    )

    newest = await browse(browser, "console")
    first = re.search(r'\{"before": (\d+)\}', newest)
    assert first is not None
    older = await browse(browser, "console", options={"before": int(first[1])})

    assert newest.splitlines()[-1].endswith("warning: careful")
    assert "line 69" in newest
    assert "line 0\n" in older
    assert "line 69" not in older
    assert (await browse(browser, "console", text="careful")).startswith("1 messages\n")


@pytest.mark.covers("IN-135")
async def test_a_page_is_shown_as_on_another_device(browser: Demo, tmp_path: Path) -> None:
    facts = """JSON.stringify([innerWidth, matchMedia('(prefers-color-scheme: dark)').matches,
      matchMedia('(prefers-reduced-motion: reduce)').matches])"""
    await show(browser, tmp_path, "<meta name=viewport content='width=device-width'><p>Here</p>")

    await browse(browser, "emulate", options={"device": "phone", "dark": True})
    await browse(browser, "emulate", options={"reducedMotion": True})
    as_phone = await browse(browser, "evaluate", text=facts)
    await browse(browser, "emulate", options={"device": None, "dark": None, "reducedMotion": None})

    assert as_phone == '"[390,true,true]"'
    assert await browse(browser, "evaluate", text=facts) == '"[1280,false,false]"'
    with pytest.raises(UiArgumentError, match="no option colour"):
        await browse(browser, "emulate", options={"colour": "red"})


@pytest.mark.covers("IN-136")
async def test_cookies_and_storage_are_set_up_for_a_test(browser: Demo, site: str) -> None:
    cookies = await browse(browser, "cookies", options={"set": {"session": "s1"}})
    storage = await browse(browser, "storage", options={"set": {"cart": "3"}})
    seen = await browse(browser, "evaluate", text="document.cookie + localStorage.cart")
    cleared = await browse(browser, "cookies", options={"clear": True})
    await browse(browser, "storage", options={"clear": True})

    assert "session=s1" in cookies
    assert storage == 'localStorage {"cart":"3"}'
    assert seen == '"session=s13"'
    assert cleared == "0 cookies"


LONG = """<style>body {margin: 0} #low {position: absolute; top: 2000px; left: 10px; width: 50px; height: 30px;
background: #0f0}</style><button onclick="low.style.background='#f00'">Red</button><div id=low>low</div>"""


def size(png: bytes) -> tuple[int, int]:
    return unpack(">II", png[16:24])


@pytest.mark.covers("IN-66")
async def test_pictures_show_the_whole_page_or_an_element_far_below(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, LONG)

    whole = await browser.target.screenshot(ScreenshotRequest(full_page=True))
    low = await browser.target.screenshot(ScreenshotRequest(ref=Ref(await browser.uid("#low"))))
    window = await browser.target.screenshot(ScreenshotRequest())  # the look at #low has scrolled it

    assert size(whole) == (1280, 2030)
    assert size(low) == (50, 30)
    assert await colour(browser, low, 45, 25) == "0,255,0,255"
    assert await colour(browser, window, 55, 795) == "0,255,0,255"


INNER = """<style>html, body {height: 100%; margin: 0} main {height: 100%; overflow: auto}
#low {margin-top: 2000px; height: 30px; background: #0f0}</style><main><div id=low>low</div></main>"""


@pytest.mark.covers("IN-66")
async def test_a_picture_of_the_whole_page_shows_what_scrolls_inside_it(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, INNER)
    await browse(browser, "evaluate", text="document.querySelector('main').scrollTop = 99")

    whole = await browser.target.screenshot(ScreenshotRequest(full_page=True))

    assert size(whole) == (1280, 2030)
    assert await colour(browser, whole, 600, 2020) == "0,255,0,255"
    facts = "[innerHeight, document.querySelector('main').scrollTop].join()"
    assert await browse(browser, "evaluate", text=facts) == '"800,99"'


LATE = """<style>body {margin: 0}</style><ui-late>…</ui-late><script>setTimeout(() => customElements.define("ui-late",
class extends HTMLElement { connectedCallback() { document.body.style.background = "#0f0"; } }), 400)</script>"""


@pytest.mark.covers("IN-66")
async def test_a_picture_waits_for_elements_that_are_being_loaded(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, LATE)

    assert await colour(browser, await browser.target.screenshot(ScreenshotRequest()), 600, 400) == "0,255,0,255"


@pytest.mark.covers("IN-66")
async def test_a_picture_waits_for_what_is_fading_in(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, "<style>body {margin: 0; background: #0f0}</style>")
    fade = "document.body.animate([{background: '#f00'}, {background: '#00f'}], 400), 1"
    await browse(browser, "evaluate", text=fade)

    assert await colour(browser, await browser.target.screenshot(ScreenshotRequest()), 600, 400) == "0,255,0,255"


async def colour(browser: Demo, png: bytes, x: int, y: int) -> str:
    """Return a pixel of a picture."""
    script = f"""(async () => {{
      const picture = new Image();
      picture.src = "data:image/png;base64,{b64encode(png).decode()}";
      await picture.decode();
      const draw = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
      draw.drawImage(picture, 0, 0);
      return draw.getImageData({x}, {y}, 1, 1).data.join();
    }})()"""
    return (await browse(browser, "evaluate", text=script)).strip('"')


@pytest.mark.covers("IN-135")
async def test_a_picture_shows_what_changed_since_the_last_one(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, "<button id=b onclick=\"this.textContent='Pressed'\">Press</button>")
    await browse(browser, "new_tab")
    with pytest.raises(UiActionFailedError, match="no earlier picture"):
        await browser.target.browse(BrowserRequest("compare"))
    await browse(browser, "close_tab")

    await browser.target.screenshot(ScreenshotRequest())
    await browser.click("#b")
    picture = await browser.target.browse(BrowserRequest("compare"))

    assert isinstance(picture, bytes)
    assert size(picture)[0] > 1280


@pytest.mark.covers("IN-135")
async def test_a_page_is_printed_to_a_file(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, "<h1>Report</h1>")

    saved = (await browse(browser, "pdf")).removeprefix("saved as ")

    assert Path(saved).read_bytes().startswith(b"%PDF-")


OFFERING = """<script>
document.modelContext.registerTool({name: 'add', description: 'Adds two numbers',
  inputSchema: {type: 'object', properties: {a: {type: 'number'}, b: {type: 'number'}}},
  execute: async ({a, b}) => ({content: [{type: 'text', text: String(a + b)}]})});
navigator.modelContext.registerTool({name: 'fail', description: 'Fails', execute: async () => { throw Error('no'); }});
</script>"""


@pytest.mark.covers("IN-137")
async def test_tools_of_a_page_are_listed_and_called(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, OFFERING)

    listed = await browse(browser, "webmcp")
    sum_ = await browse(browser, "webmcp", id="add", options={"a": 2, "b": 40})

    assert "\nadd: Adds two numbers {" in listed
    assert "42" in sum_
    with pytest.raises(UiActionFailedError, match="fail"):
        await browse(browser, "webmcp", id="fail")
    with pytest.raises(UiArgumentError, match="it offers: add, fail"):
        await browse(browser, "webmcp", id="multiply")
    await show(browser, tmp_path, "<p>Nothing</p>")
    assert (await browse(browser, "webmcp")).startswith("0 tools")
