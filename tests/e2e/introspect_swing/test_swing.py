"""What only Swing programs have: rows painted without components, menus, option panes, file choosers."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from introspection.demos import Demo, failure, swing_demo
from ui_mcp.introspection import snapshot_json
from ui_mcp.introspection.backend import ScreenshotRequest
from ui_mcp.introspection.contract import Ref
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text
from ui_mcp.jsontypes import JsonObject

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


@pytest.fixture(scope="module")
async def demo(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demo]:
    async with swing_demo(tmp_path_factory.mktemp("swing")) as made:
        yield made


async def tab(demo: Demo, title: str) -> None:
    outcome = await demo.do({"type": "click", "target": {"text": title, "match": "equals"}})
    assert outcome.error is None


async def rows(demo: Demo, css: str) -> JsonObject:
    return snapshot_json.rows(await demo.target.node(Ref(await demo.uid(css))))


@pytest.mark.covers("IN-131")
async def test_a_table_is_sorted_by_its_header_and_a_far_row_selected(demo: Demo) -> None:
    await tab(demo, "Table")
    table = await demo.uid("#people")

    await demo.do({"type": "click", "target": f"{table}:hName"}, {"type": "click", "target": f"{table}:hName"})
    first = (await rows(demo, "#people"))["visibleCells"][0]["cells"]
    outcome = await demo.do({"type": "click", "target": f"{table}:r900:cTown"})

    await tab(demo, "Form")
    assert [cell["text"] for cell in first] == ["Person 999", "59", "Town 5"]
    assert outcome.error is None
    assert (await rows(demo, "#people"))["selectedIndices"] == [900]


@pytest.mark.covers("IN-131", "IN-122")
async def test_a_tree_is_expanded_by_its_row(demo: Demo) -> None:
    await tab(demo, "Tree")
    tree = await demo.uid("#tree")

    outcome = await demo.do({"type": "expand", "target": f"{tree}:r1"}, observe="diff")

    await tab(demo, "Form")
    assert outcome.error is None
    assert '    r1 "Root 0" expanded\n' in (outcome.observed or "")
    assert '      r2 "Root 0 leaf"' in (outcome.observed or "")


@pytest.mark.covers("IN-131", "IN-126")
async def test_a_row_that_shows_another_item_is_stale(demo: Demo) -> None:
    await as_text(demo.target, SnapshotRequest())
    row = f"{await demo.uid('#list')}:r3"
    await demo.click("#reverse")

    outcome = await demo.do({"type": "click", "target": row}, observe="diff")

    await demo.click("#reverse")
    assert failure(outcome).code == "MCP_UI_STALE_REF"
    assert failure(outcome).details["now"] == "Item 996"


@pytest.mark.covers("IN-131")
async def test_menus_open_and_accelerators_work(demo: Demo) -> None:
    await demo.do({"type": "click", "target": {"text": "File"}}, {"type": "click", "target": {"text": "Open"}})
    by_mouse = await demo.said()
    await demo.click("#okButton")
    await demo.do({"type": "pressKey", "key": "O", "modifiers": ["CTRL"]})

    assert (by_mouse, await demo.said()) == ("opened", "opened")


@pytest.mark.covers("IN-131")
async def test_an_option_pane_is_read_and_answered(demo: Demo) -> None:
    asked = await demo.do({"type": "click", "target": {"css": "#alert"}}, observe="diff")
    answered = await demo.do({"type": "click", "target": {"text": "No", "match": "equals"}})

    assert '"Well done?"' in (asked.observed or "")
    assert answered.error is None
    assert await demo.said() == "answer 1"


@pytest.mark.covers("IN-131", "IN-125")
async def test_a_file_is_chosen(demo: Demo, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    await demo.click("#choose")

    outcome = await demo.do({"type": "setFiles", "target": {"css": "#chooser"}, "paths": [str(tmp_path / "a.txt")]})

    assert outcome.error is None
    assert await demo.said() == "chose a.txt"


@pytest.mark.covers("IN-131", "IN-124", "IN-57")
async def test_values_text_and_coordinates_arrive(demo: Demo) -> None:
    await tab(demo, "More")
    outcome = await demo.do(
        {"type": "setText", "target": {"css": "#slider"}, "text": "7"},
        {"type": "setText", "target": {"css": "#spinner"}, "text": "12"},
        {"type": "typeText", "target": {"css": "#area"}, "text": "a\nb\tc"},
        {"type": "select", "target": {"css": "#towns"}, "value": "Lima"},
        {"type": "click", "target": {"css": "#canvas"}},
    )
    wrong = await demo.do({"type": "setText", "target": {"css": "#slider"}, "text": "fast"})
    values = [(await demo.one(css)).record["vt"] for css in ("#slider", "#spinner", "#area", "#towns")]

    await tab(demo, "Form")
    assert outcome.error is None
    assert values == ["7", "12", "a\nb\tc", "Lima"]
    assert await demo.said() == "50,30"
    assert failure(wrong).details["reason"] == "INVALID_VALUE"


@pytest.mark.covers("IN-66")
@pytest.mark.parametrize("part", ["r5:ccol1", "hcol1"])
async def test_rows_and_headers_are_labelled_in_an_annotated_picture(demo: Demo, part: str) -> None:
    await tab(demo, "Table")
    table = await demo.uid("#people")
    await demo.do({"type": "scroll", "target": table, "toIndex": 0})
    ref = Ref(f"{table}:{part}")

    pictures = [await demo.target.screenshot(ScreenshotRequest(ref=ref, annotate=drawn)) for drawn in (False, True)]

    assert pictures[0] != pictures[1]


@pytest.mark.covers("IN-66")
async def test_tabs_are_labelled_in_an_annotated_picture(demo: Demo) -> None:
    node = (await demo.find(predicate={"typeIs": ["JTabbedPane"]}))[0]
    ref = Ref(f"{node.uid}:r1")

    pictures = [await demo.target.screenshot(ScreenshotRequest(ref=ref, annotate=drawn)) for drawn in (False, True)]

    assert pictures[0] != pictures[1]
