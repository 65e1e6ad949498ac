"""Acting on JavaFX controls that read coordinates, gestures and values."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from introspection.demos import Demo, debian_cell, failure, javafx_demo
from ui_mcp.introspection import snapshot_json
from ui_mcp.introspection.arguments import Selector
from ui_mcp.introspection.backend import ScreenshotRequest
from ui_mcp.introspection.contract import ALL, CaptureRequest, Ref
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text
from ui_mcp.jsontypes import JsonObject

pytestmark = [pytest.mark.slow, pytest.mark.anyio]
HANDS = Path(__file__).with_name("Hands.java")


@pytest.fixture(scope="module")
async def hands(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demo]:
    async with javafx_demo(debian_cell(), tmp_path_factory.mktemp("hands"), managed=True, source=HANDS) as made:
        yield made


async def value(demo: Demo, css: str) -> str:
    return str((await demo.one(css)).record["vt"])


async def rows(demo: Demo, css: str) -> list[JsonObject]:
    return list(snapshot_json.rows(await demo.target.node(Ref(await demo.uid(css))))["visibleCells"])


@pytest.mark.covers("IN-56")
@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ({"type": "click"}, "50.0,30.0"),
        ({"type": "click", "button": "right"}, "50.0,30.0"),
        ({"type": "scroll", "deltaY": -40}, "scroll 50.0,30.0"),
    ],
)
async def test_events_have_the_coordinates_of_the_node_that_gets_them(
    hands: Demo, action: JsonObject, expected: str
) -> None:
    outcome = await hands.do({**action, "target": await hands.uid("#canvas")})

    assert outcome.error is None
    assert await hands.said() == expected


@pytest.mark.covers("IN-56")
async def test_clicks_of_the_real_pointer_and_of_events_in_turns_arrive_each_at_its_place(hands: Demo) -> None:
    said = []
    for nth in range(8):
        (canvas,) = await hands.target.find(Selector(css="#canvas"), CaptureRequest(sections=ALL, css="#canvas"))
        left, top = canvas.record["sc"][:2]
        by_event = await hands.do({"type": "click", "target": canvas.uid})
        said.append((by_event.error, await hands.said()))
        at = {"x": left + 70 + nth, "y": top + 40}
        by_pointer = await hands.do({"type": "click", "native": True, **at})
        said.append((by_pointer.error, await hands.said()))

    expected = [spot for nth in range(8) for spot in ((None, "50.0,30.0"), (None, f"{70.0 + nth},40.0"))]
    assert said == expected


@pytest.mark.covers("IN-56")
async def test_a_click_on_the_middle_of_a_slider_sets_its_middle(hands: Demo) -> None:
    await hands.click("#slider")

    assert 4 < float(await value(hands, "#slider")) < 6


@pytest.mark.covers("IN-61")
async def test_what_lies_outside_the_window_is_refused(hands: Demo) -> None:
    outcome = await hands.click("#far")

    assert failure(outcome).details["reason"] == "OFFSCREEN"


@pytest.mark.covers("IN-57")
async def test_line_breaks_and_tabs_are_typed(hands: Demo) -> None:
    area = await hands.uid("#area")

    await hands.do(
        {"type": "setText", "target": area, "text": "l1\nl2"}, {"type": "typeText", "target": area, "text": "\nl3\tx"}
    )

    assert await value(hands, "#area") == "l1\nl2\nl3\tx"


@pytest.mark.covers("IN-120")
async def test_something_is_dragged_and_dropped(hands: Demo) -> None:
    outcome = await hands.do({"type": "drag", "from": await hands.uid("#source"), "to": await hands.uid("#goal")})

    assert outcome.error is None
    assert await hands.said() == "dropped carried"


@pytest.mark.covers("IN-121")
async def test_what_slides_away_is_waited_for(hands: Demo) -> None:
    refused = await hands.click("#under")
    outcome = await hands.do(
        {"type": "click", "target": await hands.uid("#open")}, {"type": "click", "target": await hands.uid("#under")}
    )

    assert failure(refused).details["reason"] == "COVERED"
    assert outcome.error is None
    assert await hands.said() == "under"


@pytest.mark.covers("IN-122")
async def test_rows_of_a_tree_say_their_level_and_state_and_take_actions(hands: Demo) -> None:
    tree = await hands.uid("#checks")
    outcome = await hands.do(
        {"type": "expand", "target": f"{tree}:r1"}, {"type": "setChecked", "target": f"{tree}:r2", "checked": True}
    )
    assert outcome.error is None
    await hands.do({"type": "select", "target": f"{tree}:r3"})
    text = await as_text(hands.target, SnapshotRequest())

    assert '  r1 "one" expanded checked\n' in text
    assert '    r2 "one leaf" checked\n' in text
    assert '  r3 "two" selected collapsed unchecked\n' in text


@pytest.mark.covers("IN-122")
async def test_a_row_is_selected_by_its_text(hands: Demo) -> None:
    outcome = await hands.do({"type": "select", "target": await hands.uid("#checks"), "value": "two"})

    assert outcome.error is None
    control = await hands.one("#checks")
    (row,) = await hands.find(text="two", match="equals")
    assert [row.uid] == [f"{control.uid}:r{index}" for index in control.record["z"]["selectedIndices"]]


@pytest.mark.covers("IN-123")
async def test_a_table_is_sorted_by_its_header(hands: Demo) -> None:
    (header,) = await hands.find(text="Fruit")

    outcome = await hands.do({"type": "click", "target": header.uid})

    assert outcome.error is None
    texts = [row["cells"][0]["text"] for row in await rows(hands, "#sorted")]
    assert texts == ["apple", "fig", "pear"]


@pytest.mark.covers("IN-36")
@pytest.mark.parametrize(("row", "column"), [(900, 0), (40, 11), (5, 3)])
async def test_a_cell_under_a_pinned_row_or_in_a_far_column_is_brought_to_where_it_can_be_clicked(
    hands: Demo, row: int, column: int
) -> None:
    outcome = await hands.do({"type": "click", "target": f"{await hands.uid('#sheet')}:r{row}:ccol{column}"})

    assert outcome.error is None
    assert await hands.said() == f"cell {row},{column}"


@pytest.mark.covers("IN-66")
@pytest.mark.parametrize("part", ["r7:ccol1", "hcol3"])
async def test_rows_and_headers_are_labelled_in_an_annotated_picture(hands: Demo, part: str) -> None:
    sheet = await hands.uid("#sheet")
    await hands.do({"type": "scroll", "target": sheet, "toIndex": 0}, {"type": "click", "target": f"{sheet}:r3:ccol2"})
    ref = Ref(f"{sheet}:{part}")

    pictures = [await hands.target.screenshot(ScreenshotRequest(ref=ref, annotate=drawn)) for drawn in (False, True)]

    assert pictures[0] != pictures[1]


@pytest.mark.covers("IN-124")
@pytest.mark.parametrize(
    ("css", "text", "shown"),
    [("#slider", "7.5", "7.5"), ("#date", "2026-03-01", "2026-03-01"), ("#colour", "red", "0xff0000ff")],
)
async def test_values_that_are_no_text_are_set_from_text(hands: Demo, css: str, text: str, shown: str) -> None:
    target = await hands.uid(css)

    wrong = await hands.do({"type": "setText", "target": target, "text": "x!"})
    right = await hands.do({"type": "setText", "target": target, "text": text})

    assert failure(wrong).details["reason"] == "INVALID_VALUE"
    assert right.error is None
    assert await value(hands, css) == shown


@pytest.mark.covers("IN-124")
async def test_an_editor_of_a_library_is_one_line_with_its_text_and_takes_another(hands: Demo) -> None:
    paper = await hands.uid("#paper")
    before = await as_text(hands.target, SnapshotRequest())

    outcome = await hands.do({"type": "setText", "target": paper, "text": "second\nline"})

    assert outcome.error is None
    assert f'Paper {paper} #paper value="first"\n' in before
    assert before.count("first") == 1
    assert await value(hands, "#paper") == "second\nline"


@pytest.mark.covers("IN-67")
async def test_an_error_of_the_program_is_named_without_its_text(hands: Demo) -> None:
    outcome = await hands.click("#failing")

    assert failure(outcome).code == "MCP_UI_INTERNAL"
    assert failure(outcome).message == "The program failed at this: IllegalStateException"


@pytest.mark.covers("IN-46")
@pytest.mark.parametrize("css", ["###", "> >", "Button[", "a > > b"])
async def test_what_is_no_selector_is_refused(hands: Demo, css: str) -> None:
    with pytest.raises(Exception, match="Not a css selector"):
        await hands.find(css=css)


@pytest.mark.covers("IN-125")
async def test_a_file_dialog_of_the_system_is_named_at_once(hands: Demo) -> None:
    """Last of all: the dialog stays open until the program ends."""
    outcome = await hands.click("#choose")

    assert failure(outcome).details["reason"] == "NATIVE_DIALOG"
