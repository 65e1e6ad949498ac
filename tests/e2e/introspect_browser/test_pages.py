"""What only pages have: shadow roots, frames, native dialogs, navigation, uploads, console errors."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import anyio
import pytest

from introspection.demos import PATIENCE, Demo, failure
from ui_mcp.errors import UiStaleRefError
from ui_mcp.introspection.arguments import Include, Selector
from ui_mcp.introspection.backends.chromium.browser import BrowserBackend
from ui_mcp.introspection.contract import Mode, Ref
from ui_mcp.introspection.snapshot import SnapshotRequest, as_json, as_text
from ui_mcp.introspection.target import until
from ui_mcp.jsontypes import JsonObject

pytestmark = [pytest.mark.slow, pytest.mark.anyio]
Seen = TypeVar("Seen")


async def show(browser: Demo, folder: Path, html: str, name: str = "page.html") -> str:
    page = folder / name
    page.write_text(f"<!doctype html><title>Test</title>{html}")
    backend = browser.target.backend
    assert isinstance(backend, BrowserBackend)
    await backend.visit(page.as_uri())
    backend.problems()
    return page.as_uri()


async def eventually(look: Callable[[], Awaitable[list[Seen]]], done: Callable[[list[Seen]], bool]) -> list[Seen]:
    """Look again and again until it is as it should be: what the browser does by itself takes its time."""
    with anyio.fail_after(PATIENCE):
        while not done(seen := await look()):
            await anyio.sleep(0.02)
    return seen


@pytest.mark.covers("IN-78", "IN-104")
@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_a_shadow_root_is_part_of_the_page(browser: Demo, tmp_path: Path, mode: str) -> None:
    await show(
        browser,
        tmp_path,
        f"""<my-panel></my-panel><p id=said></p><script>
        customElements.define("my-panel", class extends HTMLElement {{
          constructor() {{
            super();
            const root = this.attachShadow({{mode: "{mode}"}});
            root.innerHTML = "<section><h2>Inside</h2><button>Press</button><ul><li>a</li></ul></section>";
            root.querySelector("button").onclick = () => {{ said.textContent = "pressed " + this.shadowRoot; }};
          }}
        }});</script>""",
    )

    outcome = await browser.do({"type": "click", "target": (await browser.find(text="Press"))[0].uid})

    assert outcome.error is None
    said = (await browser.one("#said")).record["l"]
    assert said == ("pressed null" if mode == "closed" else "pressed [object ShadowRoot]")


@pytest.mark.covers("IN-78", "IN-10")
async def test_a_frame_of_the_same_origin_is_read_and_operated(browser: Demo, tmp_path: Path) -> None:
    await show(
        browser,
        tmp_path,
        """<div style="height:50px"></div><iframe id=f width=400 height=200 srcdoc='
        <input id=inner placeholder=Deep><button id=go onclick="this.textContent=inner.value">Go</button>'></iframe>""",
    )

    (inner,) = await until(browser.target, Selector(css="#inner"), PATIENCE, bool)  # frames load after their page
    await browser.do({"type": "setText", "target": inner.uid, "text": "from outside"})
    outcome = await browser.click("#go")

    assert outcome.error is None
    go = await browser.one("#go")
    assert go.record["l"] == "from outside"
    assert "iframe[0]/body[0]/button[0]" in go.path
    assert (await browser.target.node(Ref(None, go.path))).uid == go.uid


@pytest.mark.covers("IN-78", "IN-64", "IN-87", "IN-103")
async def test_a_native_dialog_is_seen_and_answered_and_hangs_nothing(browser: Demo, tmp_path: Path) -> None:
    await show(
        browser, tmp_path, """<button id=ask onclick="this.textContent = prompt('Your name?', 'Ann')">Ask</button>"""
    )

    asked = await browser.click("#ask")
    text = await as_text(browser.target, SnapshotRequest(stage="all"))
    blocked = await browser.do({"type": "pressKey", "key": "A"})
    answered = await browser.do({"type": "dialog", "accept": True, "text": "Zoë"})

    # What hangs runs into its time limit, which would be the error here.
    assert (asked.error, answered.error) == (None, None)
    assert 'dialog 1 "prompt" 0x0 focused modal message="Your name?" buttons=OK,Cancel' in text
    assert failure(blocked).details["reason"] == "BEHIND_MODAL"
    assert (await browser.one("#ask")).record["l"] == "Zoë"


@pytest.mark.covers("IN-101", "IN-7")
async def test_after_a_navigation_old_uids_are_stale_and_never_mean_something_else(
    browser: Demo, tmp_path: Path
) -> None:
    await show(browser, tmp_path, "<button id=old>Old</button>")
    old = await browser.uid("#old")

    await show(browser, tmp_path, "<button id=new>New</button>", "other.html")

    with pytest.raises(UiStaleRefError):
        await browser.target.node(Ref(old))
    assert failure(await browser.do({"type": "click", "target": old})).code == "MCP_UI_STALE_REF"
    assert await browser.uid("#new") != old


@pytest.mark.covers("IN-7", "IN-5")
async def test_uids_stay_with_their_element_and_are_never_used_twice(browser: Demo, tmp_path: Path) -> None:
    await show(
        browser,
        tmp_path,
        """<div id=box></div><button id=more onclick="box.replaceChildren(...Array.from({length: 100},
        (_, i) => Object.assign(document.createElement('p'), {textContent: i})))">More</button>""",
    )
    more, seen = await browser.uid("#more"), []
    for _ in range(10):
        await browser.click("#more")
        seen += [node.uid for node in await browser.find(css="#box > p")]

    assert len(seen) == len(set(seen)) == 1000
    assert await browser.uid("#more") == more


async def test_files_are_uploaded_things_dragged_and_options_chosen(browser: Demo, tmp_path: Path) -> None:
    await show(
        browser,
        tmp_path,
        """<input id=file type=file onchange="said.textContent = this.files[0].name"><p id=said></p>
        <select id=town><option>Rome<option>Oslo</select>
        <details id=more><summary>More</summary><p>Hidden text</p></details>
        <div id=a style="width:50px;height:50px;background:red" onmousedown="window.held=1">A</div>
        <div id=b style="width:50px;height:50px;margin:40px"
          onmouseup="if (window.held) this.textContent='dropped'">B</div>""",
    )
    sent = tmp_path / "letter.txt"
    sent.write_text("x")

    outcome = await browser.do(
        {"type": "setFiles", "target": await browser.uid("#file"), "paths": [str(sent)]},
        {"type": "select", "target": await browser.uid("#town"), "value": "Oslo"},
        {"type": "expand", "target": await browser.uid("#more")},
        {"type": "drag", "from": await browser.uid("#a"), "to": await browser.uid("#b")},
    )

    assert outcome.error is None
    assert (await browser.one("#said")).record["l"] == "letter.txt"
    assert (await browser.one("#town")).record["vt"] == "Oslo"
    assert len(await browser.find(text="Hidden text", predicate={"visible": True})) == 1
    assert (await browser.one("#b")).record["l"] == "dropped"


async def test_console_errors_and_failed_requests_are_told_once(browser: Demo, tmp_path: Path) -> None:
    await show(
        browser,
        tmp_path,
        """<button id=go onclick="console.error('broken thing'); fetch('http://127.0.0.1:9/none').catch(() => 0);
        setTimeout(() => { throw new Error('late') })">Go</button>""",
    )

    told: list[str] = []

    async def look() -> list[str]:
        told.extend(
            line for line in (await as_text(browser.target, SnapshotRequest())).splitlines() if line.startswith("! ")
        )
        return told

    await browser.click("#go")
    await eventually(look, lambda lines: len(lines) >= 4)
    await look()

    assert sorted(told) == [
        "! console: Failed to load resource: net::ERR_UNSAFE_PORT",
        "! console: broken thing",
        "! error: late",
        "! request: failed GET http://127.0.0.1:9/none net::ERR_UNSAFE_PORT",
    ]


async def test_a_control_of_a_component_library_is_one_line(browser: Demo, tmp_path: Path) -> None:
    await show(
        browser,
        tmp_path,
        """<x-input label="Name"></x-input><script>
        customElements.define("x-input", class extends HTMLElement {
          constructor() { super(); this.attachShadow({mode: "open"}).innerHTML =
            "<div><label>Name</label><div><input placeholder='Your name'></div></div>"; } });</script>""",
    )
    field = (await browser.find(css="x-input"))[0].uid

    await browser.do({"type": "setText", "target": field, "text": "Ann"}, {"type": "typeText", "text": "a"})
    text = await as_text(browser.target, SnapshotRequest())
    inside = await as_json(browser.target, SnapshotRequest(include=Include(internals=True), mode="compact", depth=20))

    assert "x-input " in text
    assert 'prompt="Your name" value="Anna"' in text
    assert "\n      " not in text
    assert "input" in str(inside)


async def test_lone_surrogates_do_not_break_an_answer(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, "<p id=odd></p><script>odd.textContent = 'x\\ud800y'</script>")

    assert (await browser.one("#odd")).record["l"] == "x\ufffdy"


@pytest.mark.covers("IN-18", "IN-37", "IN-38")
async def test_a_second_page_is_a_second_stage(browser: Demo, tmp_path: Path) -> None:
    await show(
        browser,
        tmp_path,
        """<button id=open onclick="window.open('about:blank').document.title='Another'">Open</button>""",
    )

    async def all_stages() -> list[JsonObject]:
        found: list[JsonObject] = (await as_json(browser.target, SnapshotRequest(stage="all", depth=0)))["stages"]
        return found

    await browser.click("#open")
    stages = await eventually(all_stages, lambda seen: len(seen) == 2)
    primary = (await as_json(browser.target, SnapshotRequest(stage="primary", depth=0)))["stages"]

    assert sorted(stage["title"] for stage in stages) == ["Another", "Test"]
    assert [stage["title"] for stage in primary] == ["Test"]
    assert len((await as_json(browser.target, SnapshotRequest(depth=0)))["stages"]) == 1


async def lines(browser: Demo, folder: Path, html: str, mode: Mode | None = None) -> list[str]:
    """Return the lines of a page's outline, without uids."""
    await show(browser, folder, html)
    text = await as_text(browser.target, SnapshotRequest(mode=mode))
    return [re.sub(r"\b[a-z]+\d+ ?", "", line.strip(), count=1).strip() for line in text.splitlines()[2:]]


@pytest.mark.covers("IN-89")
async def test_drawings_swatches_and_handlers_of_scripts_are_seen(browser: Demo, tmp_path: Path) -> None:
    seen = await lines(
        browser,
        tmp_path,
        """<svg width=200 height=150><circle cx=20 cy=20 r=9 fill=red /><text x=50 y=50>North</text></svg>
        <div style="background-color: rgb(0, 128, 0); width: 20px; height: 20px"></div>
        <p>Read the <span style="cursor: pointer">terms</span> first</p>
        <span class="icon trash" style="cursor: pointer; display: block; width: 16px; height: 16px"></span>
        <svg width=16 height=16><path d="M0 0" fill=blue /></svg>""",
    )

    assert seen == ['circle "red"', 'text "North"', 'div "rgb(0, 128, 0)"', 'p "Read the first"', 'span "terms"',
                    "span .trash"]  # fmt: skip


@pytest.mark.covers("IN-89", "IN-139")
async def test_decoration_and_parts_of_components_cost_no_line(browser: Demo, tmp_path: Path) -> None:
    page = """<x-pick label="Size"><x-item>Small</x-item></x-pick>
        <div role=group><div role=presentation><button><img alt=""><div>Save</div></button></div></div>
        <div aria-hidden=true><p>7</p></div><ul hidden><li>Later</li></ul><ul><li><a href="#">Home</a></li></ul>
        <label><input type=checkbox><span>Gift</span></label><p>Text</p>
        <script>customElements.define("x-pick", class extends HTMLElement { connectedCallback() {
          this.attachShadow({mode: "open"}).innerHTML = `<label id=label><slot name=label>Size</slot></label>
            <input role=combobox value=Medium><input aria-hidden=true tabindex=-1 value=m>
            <div hidden id=list><slot></slot></div>`; } });</script>"""

    assert await lines(browser, tmp_path, page) == [
        'x-pick "Size" value="Medium"', 'button "Save"', 'a "Home"', 'input "Gift" unchecked', 'p "Text"',
    ]  # fmt: skip
    assert (await lines(browser, tmp_path, page, "interactive"))[-1] == 'input "Gift" unchecked'
