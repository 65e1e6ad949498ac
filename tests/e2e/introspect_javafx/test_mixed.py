"""JavaFX inside Swing and Swing inside JavaFX: one tree, each part operated on the thread of its own toolkit."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from introspection.demos import Demo, debian_cell, failure, javafx_demo
from ui_mcp.introspection import snapshot_json
from ui_mcp.introspection.contract import ALL, CaptureRequest, Ref
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text

pytestmark = [pytest.mark.slow, pytest.mark.anyio]
MIXED = Path(__file__).with_name("Mixed.java")


@pytest.fixture(scope="module")
async def mixed(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demo]:
    folder = tmp_path_factory.mktemp("mixed")
    async with javafx_demo(debian_cell(), folder, "--add-modules=javafx.swing", source=MIXED) as made:
        yield made


async def text(demo: Demo, css: str) -> str:
    record = (await demo.one(css)).record
    return str(record.get("vt", record.get("l")))


@pytest.mark.covers("IN-144")
async def test_what_a_panel_or_node_shows_of_the_other_toolkit_is_below_it(mixed: Demo) -> None:
    button, in_swing = await mixed.one("#fxButton"), await mixed.one("#swingButton")
    lines = (await as_text(mixed.target, SnapshotRequest(stage="all"))).splitlines()

    assert [line.split(' "')[0] for line in lines if line.startswith(("stage", "popup"))] == ["stage 0", "stage 1"]
    assert [part for part in button.path.split("/") if part.startswith("JFXPanel")] == ["JFXPanel[0]"]
    assert [part for part in in_swing.path.split("/") if part.startswith("SwingNode")] == ["SwingNode[0]"]
    assert (await mixed.target.node(Ref(path=button.path))).uid == button.uid
    assert (await mixed.target.node(Ref(path=in_swing.path))).uid == in_swing.uid


@pytest.mark.covers("IN-144")
@pytest.mark.parametrize(
    ("button", "label", "said"),
    [
        ("#fxButton", "#fxSaid", "JavaFX Application Thread"),
        ("#swingButton", "#swingSaid", "dispatch thread true"),
        ("#fxLow", "#fxSaid", "low"),
    ],
)
async def test_a_click_runs_on_the_thread_of_its_toolkit(mixed: Demo, button: str, label: str, said: str) -> None:
    outcome = await mixed.click(button)

    assert outcome.error is None
    assert await text(mixed, label) == said


@pytest.mark.covers("IN-144")
@pytest.mark.parametrize("css", ["#fxField", "#swingField"])
async def test_text_is_set_and_typed_in_either_toolkit(mixed: Demo, css: str) -> None:
    field = await mixed.uid(css)
    outcome = await mixed.do(
        {"type": "setText", "target": field, "text": "one"},
        {"type": "typeText", "target": field, "text": " two"},
        {"type": "pressKey", "target": field, "key": "BACK_SPACE"},
    )

    assert outcome.error is None
    assert await text(mixed, css) == "one tw"


@pytest.mark.covers("IN-144")
@pytest.mark.parametrize(("css", "row"), [("#fxList", 2), ("#swingList", 1)])
async def test_rows_of_either_toolkit_are_selected(mixed: Demo, css: str, row: int) -> None:
    control = await mixed.uid(css)

    outcome = await mixed.do({"type": "click", "target": f"{control}:r{row}"})

    assert outcome.error is None
    assert snapshot_json.rows(await mixed.target.node(Ref(control)))["selectedIndices"] == [row]


@pytest.mark.covers("IN-144")
@pytest.mark.parametrize(("inner", "host"), [("#swingButton", "#node"), ("#fxButton", "#panel")])
async def test_places_are_those_of_the_window_and_of_the_screen(mixed: Demo, inner: str, host: str) -> None:
    async def on_screen(uid: str) -> list[float]:
        return list((await mixed.target.node(Ref(uid), CaptureRequest(sections=ALL, root=Ref(uid)))).record["sc"])

    await mixed.click(inner)  # scrolls to it
    part, whole = await mixed.one(inner), await mixed.one(host)
    (left, top, *_), (host_left, host_top, *_) = await on_screen(part.uid), await on_screen(whole.uid)

    x, y = (part.record["bs"][at] - whole.record["bs"][at] for at in (0, 1))
    assert 0 <= x < whole.record["bs"][2]
    assert 0 <= y < whole.record["bs"][3]
    assert [left - host_left, top - host_top] == pytest.approx([x, y], abs=2)
    chain = await mixed.target.backend.at(left + 8, top + 8)
    assert {part.uid, whole.uid} <= {entry["uid"] for entry in chain}


@pytest.mark.covers("IN-144")
@pytest.mark.parametrize("css", ["#fxField", "#swingField"])
async def test_keys_without_a_target_go_to_what_has_the_focus_inside(mixed: Demo, css: str) -> None:
    outcome = await mixed.do(
        {"type": "setText", "target": await mixed.uid(css), "text": ""},
        {"type": "click", "target": await mixed.uid(css)},
    )
    assert outcome.error is None
    typed = await mixed.do({"type": "typeText", "text": "x"})

    assert typed.error is None
    assert await text(mixed, css) == "x"


@pytest.mark.covers("IN-144", "IN-64")
async def test_behind_a_modal_dialog_of_swing_the_scene_inside_cannot_be_operated(mixed: Demo) -> None:
    await mixed.click("#ask")
    refused = await mixed.click("#fxButton")
    answered = await mixed.do({"type": "click", "target": {"text": "OK", "match": "equals"}})
    outcome = await mixed.click("#fxButton")

    assert failure(refused).details["reason"] == "BEHIND_MODAL"
    assert (answered.error, outcome.error) == (None, None)


@pytest.mark.covers("IN-144")
async def test_a_list_that_pops_up_from_the_scene_inside_is_a_stage_of_its_own(mixed: Demo) -> None:
    opened = await mixed.click("#fxBox")
    chosen = await mixed.do({"type": "click", "target": {"text": "green", "match": "equals"}})

    assert (opened.error, chosen.error) == (None, None)
    assert await text(mixed, "#fxBox") == "green"
