"""Controls of libraries: values and states that JavaFX's own controls lack, and controls where JavaFX has none."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from introspection.demos import Demo, debian_cell, failure, javafx_demo
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text

pytestmark = [pytest.mark.slow, pytest.mark.anyio]
LIBRARY = Path(__file__).with_name("Library.java")


@pytest.fixture(scope="module")
async def library(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demo]:
    async with javafx_demo(debian_cell(), tmp_path_factory.mktemp("library"), source=LIBRARY) as made:
        yield made


async def line(demo: Demo, css: str) -> str:
    """Return the line of a node in the outline, without its uid."""
    uid = await demo.uid(css)
    text = await as_text(demo.target, SnapshotRequest())
    (found,) = [line.strip() for line in text.splitlines() if f" {uid} " in f"{line} "]
    return found.replace(f" {uid}", "").removesuffix(" focused")


@pytest.mark.covers("IN-160")
async def test_a_switch_says_whether_it_is_on_and_is_set(library: Demo) -> None:
    before = await line(library, "#switch")
    target = await library.uid("#switch")
    outcome = await library.do(*[{"type": "setChecked", "target": target, "checked": True}] * 2)

    assert outcome.error is None
    assert before == 'Switch #switch "Wireless" unchecked'
    assert await line(library, "#switch") == 'Switch #switch "Wireless" checked'


@pytest.mark.covers("IN-160")
@pytest.mark.parametrize(
    ("css", "before", "text", "after"),
    [
        ("#span", 'Span #span value="2.0..8.0"', "9..10", 'Span #span value="9.0..10.0"'),
        ("#stars", 'Stars #stars value="3.0"', "5", 'Stars #stars value="5.0"'),
    ],
)
async def test_a_value_that_only_the_library_knows_is_read_and_set(
    library: Demo, css: str, before: str, text: str, after: str
) -> None:
    shown = await line(library, css)
    wrong = await library.do({"type": "setText", "target": await library.uid(css), "text": "many"})
    outcome = await library.do({"type": "setText", "target": await library.uid(css), "text": text})

    assert shown == before
    assert failure(wrong).details["reason"] == "INVALID_VALUE"
    assert outcome.error is None
    assert await line(library, css) == after


@pytest.mark.covers("IN-160")
async def test_the_parts_that_draw_a_value_are_not_in_the_outline(library: Demo) -> None:
    assert "tick 1" not in await as_text(library.target, SnapshotRequest())


@pytest.mark.covers("IN-160")
async def test_the_grid_of_a_chart_and_blank_labels_are_not_in_the_outline(library: Demo) -> None:
    lines = (await as_text(library.target, SnapshotRequest())).splitlines()

    assert any("LineChart" in line for line in lines)
    assert not [line for line in lines if ".chart-" in line or "-tick-mark" in line]
    assert not [line for line in lines if re.fullmatch(r" *Label \w+( \.\S+)?", line)]


@pytest.mark.covers("IN-160")
@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("#save", 'Button #save "Save as"'),
        ("#find", 'Button #find "Find it"'),
        ("#people", 'ComboBox #people value="Person 7"'),
    ],
)
async def test_a_control_is_called_what_a_person_reads_in_it(library: Demo, css: str, expected: str) -> None:
    assert await line(library, css) == expected


@pytest.mark.covers("IN-160")
@pytest.mark.parametrize("name", ["Remove", "Edit", "Open 1"])
async def test_controls_in_graphics_and_rows_are_in_the_outline_and_operated(library: Demo, name: str) -> None:
    (button,) = await library.find(text=name, match="equals")

    outcome = await library.do({"type": "click", "target": button.uid})

    assert outcome.error is None
    assert await library.said() == button.record["i"]


@pytest.mark.covers("IN-36")
async def test_cells_below_a_common_header_are_told_apart(library: Demo) -> None:
    table = await library.uid("#names")
    text = await as_text(library.target, SnapshotRequest())
    outcome = await library.do({"type": "click", "target": f"{table}:r1:ccol1"})

    assert 'r1 "Bob" "Ray" "Oslo"' in text
    assert outcome.error is None
    assert await library.said() == "Last 1"
