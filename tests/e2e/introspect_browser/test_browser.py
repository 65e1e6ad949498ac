"""Our own browser: started, driven and ended without any other program."""

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import gettempdir

import anyio
import pytest
from playwright.async_api import async_playwright

import needs
from chromium import FLAGS
from e2e.introspect_browser.test_hands import served, show
from introspection.demos import PATIENCE, Demo
from ui_mcp.errors import UiNotEnabledError
from ui_mcp.introspection.arguments import Selector
from ui_mcp.introspection.backends.chromium.browser import BrowserBackend
from ui_mcp.introspection.backends.chromium.devtools import Connection, DevToolsError
from ui_mcp.introspection.backends.chromium.keyboard import Keyboard
from ui_mcp.introspection.backends.chromium.transports import BrowserProcess
from ui_mcp.introspection.target import until
from ui_mcp.jsontypes import Json

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

LISTENING = """<textarea id=t autofocus></textarea><script>window.seen = [];
for (const name of ["keydown", "keypress", "keyup", "input"]) document.addEventListener(name, (e) => seen.push([name,
  e.key ?? e.data, e.code, e.keyCode, e.location, e.shiftKey, e.ctrlKey, e.altKey, e.metaKey, e.inputType]));
</script>"""
STROKES: list[tuple[str, tuple[str, ...], str]] = [
    ("ENTER", (), "Enter"), ("TAB", ("SHIFT",), "Shift+Tab"), ("A", (), "a"), ("A", ("SHIFT",), "Shift+A"),
    ("A", ("CONTROL",), "Control+a"), ("7", (), "7"), ("COMMA", (), "Comma"), ("F5", ("SHIFT",), "Shift+F5"),
    ("BACK_SPACE", (), "Backspace"), ("LEFT", ("CONTROL", "SHIFT"), "Control+Shift+ArrowLeft"), ("SPACE", (), "Space"),
    ("BACK_SLASH", (), "Backslash"), ("7", ("SHIFT",), "Shift+Digit7"), ("X", ("ALT",), "Alt+x"),
]  # fmt: skip
TYPED = "Hello, World! 42% ~ {a}\nZoë 😀"


async def playwright_strokes(page: Path) -> Json:
    """Return what a page hears when Playwright presses the same keys."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=needs.browser(), args=FLAGS)
        opened = await browser.new_page()
        await opened.goto(page.as_uri())
        await opened.focus("#t")
        for _, _, name in STROKES:
            await opened.keyboard.press(name)
        await opened.focus("#t")
        await opened.keyboard.type(TYPED)
        heard = await opened.evaluate("seen")
        await browser.close()
        return heard


@pytest.mark.covers("IN-132")
async def test_a_page_hears_the_same_keys_as_from_playwright(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, LISTENING)
    backend = browser.target.backend
    assert isinstance(backend, BrowserBackend)
    tab = backend._open_pages()[-1].tab
    keyboard = Keyboard(tab.session)

    await tab.evaluate("t.focus()")
    for name, modifiers, _ in STROKES:
        await keyboard.press(name, modifiers)
    await tab.evaluate("t.focus()")
    await keyboard.type(TYPED)

    assert await tab.evaluate("seen") == await playwright_strokes(tmp_path / "page.html")
    assert TYPED.replace("\n", "") in (await tab.evaluate("t.value")).replace("\n", "")


DRAGGED = """<ul id=from><li id=item draggable=true style="width:120px">Item</li></ul>
<div id=to style="width:200px;height:100px;background:#ddd">Here</div><p id=out></p><script>const heard = [];
item.ondragstart = (e) => { e.dataTransfer.setData("text/plain", "the item"); };
to.ondragover = (e) => e.preventDefault();
to.ondrop = (e) => { to.append(item); out.textContent = e.dataTransfer.getData("text/plain") + heard.join(); };
document.addEventListener("mouseup", () => heard.push(" mouseup"));</script>"""


@pytest.mark.covers("IN-56", "IN-132")
async def test_what_a_page_drags_natively_is_dropped_with_its_data(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, DRAGGED)

    outcome = await browser.do({"type": "drag", "from": {"css": "#item"}, "to": {"css": "#to"}})

    assert outcome.error is None
    (out,) = await until(browser.target, Selector(css="#out"), PATIENCE, lambda found: bool(found[0].record.get("l")))
    assert out.record["l"] == "the item"
    assert "#to" in (await browser.one("#item")).path or (await browser.find(css="#to > #item"))


@pytest.mark.covers("IN-127")
async def test_a_frame_of_another_origin_is_read_again_after_it_has_navigated(browser: Demo, tmp_path: Path) -> None:
    for name, text in (("first", "First"), ("second", "Second")):
        (tmp_path / f"{name}.html").write_text(f"<a href=second.html>{text}</a>")
    with served(tmp_path) as inner:
        await show(browser, tmp_path, f'<iframe src="http://127.0.0.1:{inner}/first.html"></iframe>')
        (link,) = await until(browser.target, Selector(text="First"), PATIENCE, bool)

        await browser.do({"type": "click", "target": link.uid})

        assert await until(browser.target, Selector(text="Second"), PATIENCE, bool)


@asynccontextmanager
async def started(*, pipes: bool) -> AsyncIterator[Connection]:
    connection = Connection()
    process = await BrowserProcess.start(needs.browser(), [], connection, pipes=pipes)
    try:
        yield connection
    finally:
        await process.end()


@pytest.mark.covers("IN-132")
@pytest.mark.parametrize("pipes", [True, False])
async def test_a_browser_is_reached_by_pipes_or_where_there_are_none_by_a_websocket(pipes: bool) -> None:
    async with started(pipes=pipes) as connection:
        version = await connection.browser.send("Browser.getVersion")
        with pytest.raises(DevToolsError, match="wasn't found"):
            await connection.browser.send("Browser.noSuchCommand")

    assert "Chrome/" in version["product"]
    with pytest.raises(DevToolsError, match="closed"):
        await connection.browser.send("Browser.getVersion")


@pytest.mark.covers("IN-132")
async def test_texts_with_lone_surrogates_arrive() -> None:
    connection = Connection()
    heard: list[Json] = []
    connection.browser.on("Log.entryAdded", heard.append)

    connection.received(b'{"method": "Log.entryAdded", "params": {"text": "x\\ud800y \\ud83d\\ude00"}}')

    assert heard == [{"text": "x?y \U0001f600"}]


@pytest.mark.covers("IN-132")
async def test_a_browser_that_does_not_start_is_told_in_its_own_words(tmp_path: Path) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\necho 'error while loading shared libraries: libnss3.so' >&2\nexit 127\n")
    broken.chmod(0o755)

    with pytest.raises(UiNotEnabledError, match=r"libnss3\.so") as caught:
        await BrowserBackend.launch("about:blank", path=str(broken))

    assert caught.value.details["reason"] == "NO_BROWSER"


def left_over(profile: str) -> list[str]:
    listed = subprocess.run(["ps", "-eww", "-o", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if profile in line]


@pytest.mark.covers("IN-132")
async def test_a_closed_browser_leaves_neither_processes_nor_files() -> None:
    backend = await BrowserBackend.launch("about:blank")
    assert backend._process is not None
    profile = backend._process._profile.name

    await backend.close()

    assert (left_over(profile), Path(profile).exists()) == ([], False)
    assert Path(profile).parent == Path(gettempdir())


RUNNING = """
import anyio, sys
from ui_mcp.introspection.backends.chromium.browser import BrowserBackend
async def main():
    backend = await BrowserBackend.launch("about:blank")
    print(backend._process._profile.name, flush=True)
    await anyio.sleep_forever()
anyio.run(main)
"""


@pytest.mark.covers("IN-132")
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes to a browser on Windows")
async def test_a_browser_ends_with_the_program_that_was_killed() -> None:
    needs.browser()
    with subprocess.Popen([sys.executable, "-c", RUNNING], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        profile = (await anyio.to_thread.run_sync(program.stdout.readline)).strip()
        before = left_over(profile)

        program.kill()

        assert before
        with anyio.fail_after(PATIENCE):
            while left_over(profile):
                await anyio.sleep(0.05)
