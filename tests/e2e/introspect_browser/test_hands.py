"""Acting on pages as component libraries make them: grids, frames, tabs with dialogs, animations, downloads."""

import functools
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from introspection.demos import PATIENCE, Demo, failure, page_demo
from ui_mcp.introspection import snapshot_json
from ui_mcp.introspection.arguments import Selector
from ui_mcp.introspection.backend import ScreenshotRequest
from ui_mcp.introspection.backends.chromium.browser import BrowserBackend
from ui_mcp.introspection.contract import CaptureRequest, Ref
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text
from ui_mcp.introspection.target import until

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

GRID = """<p id=out></p><div role=grid aria-rowcount=2 id=g onclick="out.textContent=event.target.textContent">
<div role=row aria-rowindex=1><b role=gridcell>A</b></div>
<div role=row aria-rowindex=2><b role=gridcell>B</b></div></div>
<button id=rev onclick="const all=[...document.querySelectorAll('b')],texts=all.map(x=>x.textContent).reverse();
all.forEach((b,i)=>b.textContent=texts[i])">Rev</button>"""

LONG_LIST = """<p id=out></p>
<div role=grid aria-rowcount=10000 id=g style="height:200px;overflow:auto"><div id=inner></div></div><script>
const inner = document.getElementById("inner"), g = document.getElementById("g");
inner.style.cssText = "height:200000px;position:relative";
function draw() {
  const first = Math.floor(g.scrollTop / 20);
  inner.replaceChildren(...Array.from({length: 12}, (_, i) => {
    const row = document.createElement("div");
    row.setAttribute("role", "row");
    row.setAttribute("aria-rowindex", first + i + 1);
    row.style.cssText = `position:absolute;top:${(first + i) * 20}px;height:20px`;
    row.innerHTML = `<span role=gridcell>Row ${first + i}</span>`;
    row.onclick = () => { out.textContent = `row ${first + i}`; };
    return row;
  }));
}
g.onscroll = draw; draw();</script>"""


async def show(browser: Demo, folder: Path, html: str) -> None:
    page = folder / "page.html"
    page.write_text(f"<!doctype html><title>Test</title>{html}")
    backend = browser.target.backend
    assert isinstance(backend, BrowserBackend)
    await backend.visit(page.as_uri())
    backend.problems()


@contextmanager
def served(folder: Path) -> Iterator[int]:
    """Serve a folder over HTTP."""
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(folder))
    handler.log_message = lambda *_: None  # type: ignore[attr-defined]
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture
async def canvas(tmp_path: Path) -> AsyncIterator[Demo]:
    """A canvas in a page that a person has open, which gets synthetic events."""
    page = tmp_path / "canvas.html"
    page.write_text(
        """<p id=status></p><div style="height:40px"></div>
        <canvas id=c width=100 height=60 style="margin-left:30px"></canvas>
        <script>c.onclick = (e) => {
          document.getElementById("status").textContent = [e.offsetX, e.offsetY].map(Math.round).join();
        }</script>"""
    )
    async with page_demo(page) as made:
        yield made


@pytest.mark.covers("IN-56")
async def test_a_synthetic_click_is_where_it_says(canvas: Demo) -> None:
    await canvas.click("#c")

    assert await canvas.said() == "50,30"


@pytest.mark.covers("IN-123", "IN-36")
async def test_a_text_in_a_grid_names_its_cell_and_not_the_grid(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, GRID)

    found = await browser.find(text="B", match="equals")
    grid = await browser.uid("#g")
    await browser.do({"type": "click", "target": f"{grid}:r1:ccol0"})

    assert [node.record["er"] for node in found] == ["gridcell"]
    assert (await browser.one("#out")).record["l"] == "B"


@pytest.mark.covers("IN-126", "IN-36")
async def test_a_row_that_shows_another_item_is_stale_unless_the_answer_showed_it(
    browser: Demo, tmp_path: Path
) -> None:
    await show(browser, tmp_path, GRID)
    await as_text(browser.target, SnapshotRequest())
    grid = await browser.uid("#g")

    await browser.click("#rev")
    stale = await browser.do({"type": "click", "target": f"{grid}:r0"}, observe="diff")
    await as_text(browser.target, SnapshotRequest())
    fresh = await browser.do({"type": "click", "target": f"{grid}:r0"})

    assert failure(stale).code == "MCP_UI_STALE_REF"
    assert failure(stale).details["now"] == "B"
    assert fresh.error is None


@pytest.mark.covers("IN-36")
async def test_a_row_of_a_page_is_found_by_the_path_that_an_answer_gave(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, LONG_LIST)
    grid = await browser.uid("#g")
    await browser.do({"type": "scroll", "target": grid, "toIndex": 500})
    row = snapshot_json.rows(await browser.target.node(Ref(grid)))["visibleCells"][3]
    number = row["index"]

    refs = [Ref(path=row["rowRef"]["path"]), Ref(row["rowRef"]["uid"])]
    found = [await browser.target.node(ref, CaptureRequest(stage="all", depth=1, root=ref)) for ref in refs]

    assert number > 400
    assert found[1].uid == f"{grid}:r{number}"
    assert [[node.record.get("l") for node in one.walk()][-1] for one in found] == [f"Row {number}"] * 2


@pytest.mark.covers("IN-122")
async def test_a_row_that_is_not_rendered_is_scrolled_to(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, LONG_LIST)
    grid = await browser.uid("#g")

    scrolled = await browser.do({"type": "scroll", "target": grid, "toIndex": 5000})
    clicked = await browser.do({"type": "click", "target": f"{grid}:r9000"})

    assert (scrolled.error, clicked.error) == (None, None)
    assert (await browser.one("#out")).record["l"] == "row 9000"


@pytest.mark.covers("IN-127", "IN-78")
async def test_a_frame_of_the_same_origin_is_in_the_outline_and_found_by_text(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, "<iframe id=a srcdoc='<button>Doc</button>'></iframe>")

    (found,) = await until(browser.target, Selector(text="Doc"), PATIENCE, bool)

    assert f'button {found.uid} "Doc"' in await as_text(browser.target, SnapshotRequest())


@pytest.mark.covers("IN-127")
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
async def test_a_frame_of_another_origin_is_read_and_operated(browser: Demo, tmp_path: Path, host: str) -> None:
    (tmp_path / "outer").mkdir()
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "inner.html").write_text(
        """<input id=name placeholder=Deep>
        <button id=go onclick="this.textContent = document.getElementById('name').value">Go</button>"""
    )
    with served(tmp_path / "inner") as inner, served(tmp_path / "outer") as outer:
        (tmp_path / "outer" / "page.html").write_text(
            f'<div style="height:70px"></div><iframe width=400 height=200 src="http://{host}:{inner}/inner.html"></iframe>'
        )
        backend = browser.target.backend
        assert isinstance(backend, BrowserBackend)
        await backend.visit(f"http://127.0.0.1:{outer}/page.html")
        (go,) = await until(browser.target, Selector(text="Go"), PATIENCE, bool)

        outcome = await browser.do(
            {"type": "typeText", "target": {"css": "#name"}, "text": "across"}, {"type": "click", "target": go.uid}
        )

        assert outcome.error is None
        text = await as_text(browser.target, SnapshotRequest())
        assert f'button {go.uid} #go "across"' in text
        assert go.record["bs"][1] > 70


@pytest.mark.covers("IN-128", "IN-103")
async def test_a_dialog_on_another_tab_is_answered_and_told_in_the_diff(browser: Demo, tmp_path: Path) -> None:
    await show(
        browser,
        tmp_path,
        """<a id=new href="about:blank" target=_blank>new</a>
        <button id=ask onclick="this.textContent = confirm('Sure?')">Ask</button>""",
    )
    ask = await browser.uid("#ask")
    await browser.click("#new")

    opened = await browser.do({"type": "click", "target": ask}, observe="diff")
    answered = await browser.do({"type": "dialog", "accept": True}, observe="diff")

    backend = browser.target.backend
    assert isinstance(backend, BrowserBackend)
    await backend._open_pages()[-1].tab.close()
    assert (opened.error, answered.error) == (None, None)
    assert re.search(r'\+ dialog \d "confirm" .* message="Sure\?"', opened.observed or "")
    assert f'~ button {ask} #ask "true"' in (answered.observed or "")
    assert "a#new" not in (answered.observed or "")


@pytest.mark.covers("IN-121")
async def test_a_popup_that_is_closing_is_waited_for_and_one_that_stays_is_not(browser: Demo, tmp_path: Path) -> None:
    await show(
        browser,
        tmp_path,
        """<style>#pop { position:fixed; inset:0; background:#ccc; transition: transform .3s }
        .shut { transform: translateX(110%) }</style>
        <button id=under onclick="this.textContent='reached'">Under</button>
        <div id=pop><button id=close onclick="pop.classList.add('shut')">Close</button></div>""",
    )
    under = await browser.uid("#under")

    refused = await browser.do({"type": "click", "target": under})
    outcome = await browser.do(
        {"type": "click", "target": await browser.uid("#close")}, {"type": "click", "target": under}, await_idle=False
    )

    assert failure(refused).details["reason"] == "COVERED"
    assert outcome.error is None
    assert (await browser.one("#under")).record["l"] == "reached"


@pytest.mark.covers("IN-129")
async def test_targets_are_css_and_text_and_an_exact_text_comes_first(browser: Demo, tmp_path: Path) -> None:
    await show(
        browser,
        tmp_path,
        """<button onclick="out.textContent='other'">Look up</button>
        <button onclick="out.textContent='ok'">Look</button>
        <input id=name><p id=out></p>""",
    )

    outcome = await browser.do(
        {"type": "setText", "target": {"css": "#name"}, "text": "Ann"}, {"type": "click", "target": {"text": "Look"}}
    )
    absent = await browser.do({"type": "click", "target": {"css": "#absent"}})

    assert outcome.error is None
    assert ((await browser.one("#name")).record["vt"], (await browser.one("#out")).record["l"]) == ("Ann", "ok")
    assert failure(absent).code == "MCP_UI_NODE_NOT_FOUND"


@pytest.mark.covers("IN-23")
async def test_closed_details_empty_fields_and_links_in_cells_are_what_a_person_sees(
    browser: Demo, tmp_path: Path
) -> None:
    await show(
        browser,
        tmp_path,
        """<details><summary>More</summary><button id=inner>Inner</button></details><input id=empty>
        <table><tr><td><a id="">Delete</a></td></tr></table><p id=out></p>
        <script>document.querySelector("td a").onclick = () => { out.textContent = "deleted"; }</script>""",
    )

    (link,) = await browser.find(text="Delete", match="equals", predicate={"typeIs": ["a"]})
    await browser.do({"type": "click", "target": link.uid})

    assert (await browser.one("#inner")).record["w"] is False
    assert (await browser.one("#empty")).record["vt"] == ""
    assert (await browser.one("#out")).record["l"] == "deleted"


@pytest.mark.covers("IN-56")
async def test_a_drag_goes_from_point_to_point(browser: Demo, tmp_path: Path) -> None:
    await show(
        browser,
        tmp_path,
        """<canvas id=c width=300 height=200 style="position:fixed;left:0;top:0"></canvas><p id=out></p><script>
        let from; c.onmousedown = (e) => { from = [e.offsetX, e.offsetY]; };
        c.onmouseup = (e) => {
          document.getElementById("out").textContent = `${from} ${[e.offsetX, e.offsetY]}`;
        };</script>""",
    )

    outcome = await browser.do({"type": "drag", "from": {"x": 20, "y": 30}, "to": {"x": 200, "y": 100}})

    assert outcome.error is None
    assert (await browser.one("#out")).record["l"] == "20,30 200,100"


@pytest.mark.covers("IN-130")
async def test_a_finished_download_is_reported_with_its_place(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, '<a id=d href="data:text/plain,hi" download=a.txt>D</a>')

    await browser.click("#d")
    problems: list[str] = []
    while not problems:  # the test's time limit ends this
        await browser.target.backend.idle()
        problems = browser.target.backend.problems()

    saved = re.fullmatch(r"download: a\.txt saved as (.*)", problems[0])
    assert saved is not None
    assert Path(saved[1]).read_text() == "hi"


@pytest.mark.covers("IN-66")
@pytest.mark.parametrize("css", ["[role=columnheader]", "[role=gridcell]", "[role=treeitem]"])
async def test_headers_cells_and_tree_items_are_labelled_in_an_annotated_picture(
    browser: Demo, tmp_path: Path, css: str
) -> None:
    await show(
        browser,
        tmp_path,
        """<div role=grid><div role=row><b role=columnheader>Name</b></div>
        <div role=row><b role=gridcell>Ann</b></div></div><div role=tree><p role=treeitem>Leaf</p></div>""",
    )
    ref = Ref(await browser.uid(css))

    plain, drawn = [await browser.target.screenshot(ScreenshotRequest(ref=ref, annotate=on)) for on in (False, True)]

    assert plain != drawn


@pytest.mark.parametrize("button", ["right", "secondary"])
async def test_the_right_button_has_two_names(browser: Demo, tmp_path: Path, button: str) -> None:
    await show(
        browser,
        tmp_path,
        """<p id=out></p><button id=b oncontextmenu="out.textContent = 'menu'; return false">B</button>""",
    )

    outcome = await browser.do({"type": "click", "target": await browser.uid("#b"), "button": button})

    assert outcome.error is None
    assert (await browser.one("#out")).record["l"] == "menu"
