"""What only JavaFX programs have: rows that are used again, popups, dialogs, tabs, trees."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from introspection.demos import PATIENCE, Demo, debian_cell, failure, javafx_demo
from introspection.forests import PATH
from ui_mcp.errors import UiNoStagesError, UiNotEnabledError, UiStaleRefError, UiTimeoutError
from ui_mcp.introspection import snapshot_json
from ui_mcp.introspection.arguments import Selector
from ui_mcp.introspection.backend import ScreenshotRequest
from ui_mcp.introspection.backends.javafx import JavaFxBackend
from ui_mcp.introspection.contract import ALL, CaptureRequest, Ref
from ui_mcp.introspection.snapshot import SnapshotRequest, as_json, as_text
from ui_mcp.introspection.target import Target, ask_for, until
from ui_mcp.jsontypes import JsonObject

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


@pytest.fixture(scope="module")
async def demo(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demo]:
    async with javafx_demo(debian_cell(), tmp_path_factory.mktemp("javafx")) as made:
        yield made


async def tab(demo: Demo, title: str) -> None:
    """Show a tab."""
    (label,) = await demo.find(text=title, match="equals", predicate={"styleClassHas": "tab-label"})
    outcome = await demo.do({"type": "click", "target": label.uid})
    assert outcome.error is None


async def rows(demo: Demo, css: str) -> JsonObject:
    return snapshot_json.rows(await demo.target.node(Ref(await demo.uid(css))))


@pytest.mark.covers("IN-36")
async def test_a_row_scrolled_away_is_brought_back_and_its_own_item_is_meant(demo: Demo) -> None:
    row = (await rows(demo, "#list"))["visibleCells"][0]["rowRef"]["uid"]
    control = await demo.uid("#list")
    await demo.do({"type": "scroll", "target": control, "toIndex": 500})
    assert (await rows(demo, "#list"))["visibleRange"]["from"] > 400

    outcome = await demo.do({"type": "click", "target": row})

    assert outcome.error is None
    assert (await rows(demo, "#list"))["selectedIndices"] == [0]


@pytest.mark.covers("IN-36")
async def test_a_row_that_shows_another_item_now_is_stale(demo: Demo) -> None:
    row = (await rows(demo, "#list"))["visibleCells"][1]["rowRef"]["uid"]
    await demo.click("#reverse")

    outcome = await demo.do({"type": "click", "target": row})
    careful = Target("careful", demo.target.backend, seconds=PATIENCE, redact=("#list",))
    with pytest.raises(UiStaleRefError) as caught:
        await careful.act({"type": "click", "target": {"uid": row}})

    await demo.click("#reverse")
    assert "now" not in caught.value.details
    assert failure(outcome).code == "MCP_UI_STALE_REF"
    assert failure(outcome).details["now"] == "Item 998"


@pytest.mark.covers("IN-66")
async def test_tabs_are_labelled_in_an_annotated_picture(demo: Demo) -> None:
    (label,) = await demo.find(text="Table", match="equals", predicate={"styleClassHas": "tab-label"})

    pictures = [
        await demo.target.screenshot(ScreenshotRequest(ref=Ref(label.uid), annotate=drawn)) for drawn in (False, True)
    ]

    assert pictures[0] != pictures[1]


@pytest.mark.covers("IN-36", "IN-12")
async def test_a_row_is_found_by_the_path_that_an_answer_gave(demo: Demo) -> None:
    row = (await rows(demo, "#list"))["visibleCells"][2]["rowRef"]

    found = await demo.target.node(Ref(path=row["path"]))

    assert (found.uid, found.record["l"]) == (row["uid"], "Item 2")


@pytest.mark.covers("IN-30", "IN-31", "IN-34", "IN-35")
async def test_tables_and_trees_show_their_rows_and_columns(demo: Demo) -> None:
    await tab(demo, "Table")
    table = await rows(demo, "#people")
    await tab(demo, "Trees")
    tree, both = await rows(demo, "#tree"), await rows(demo, "#treeTable")
    await demo.do({"type": "expand", "target": await demo.uid("#tree"), "index": 1})

    assert (table["kind"], table["itemsCount"]) == ("TableView", 1000)
    assert table["columns"] == [
        {"id": "nameCol", "text": "Name"}, {"id": "col1", "text": "Age"}, {"id": "col2", "text": "Town"}
    ]  # fmt: skip
    assert [cell["text"] for cell in table["visibleCells"][3]["cells"]] == ["Person 3", "23", "Town 3"]
    assert (tree["itemsCount"], both["columns"][0]["text"]) == (6, "Title")
    assert (await rows(demo, "#tree"))["itemsCount"] == 7
    await tab(demo, "Form")


@pytest.mark.covers("IN-36")
async def test_a_cell_of_a_table_can_be_clicked_far_away(demo: Demo) -> None:
    await tab(demo, "Table")
    table = await demo.uid("#people")

    outcome = await demo.do({"type": "click", "target": f"{table}:r700:cnameCol"})

    assert outcome.error is None
    assert (await rows(demo, "#people"))["selectedIndices"] == [700]
    await tab(demo, "Form")


@pytest.mark.covers("IN-18")
async def test_menus_and_lists_that_pop_up_are_stages_after_the_others(demo: Demo) -> None:
    (file,) = await demo.find(text="File")
    await demo.do({"type": "click", "target": file.uid})
    stages = (await as_json(demo.target, SnapshotRequest()))["stages"]
    (entry,) = await demo.find(text="Open")
    await demo.do({"type": "click", "target": entry.uid})

    assert [stage["kind"] for stage in stages] == ["stage", "popup"]
    assert stages[1]["owner"] == stages[0]["stageUid"]
    assert await demo.said() == "opened"
    assert len((await as_json(demo.target, SnapshotRequest()))["stages"]) == 1


async def test_a_choice_is_made_by_value_and_a_context_menu_opens(demo: Demo) -> None:
    await tab(demo, "More")
    await demo.do({"type": "select", "target": await demo.uid("#towns"), "value": "Oslo"})
    await demo.click("#spot", button="secondary")
    (inspect,) = await demo.find(text="Inspect")
    await demo.do({"type": "click", "target": inspect.uid})

    assert (await demo.one("#towns")).record["vt"] == "Oslo"
    await tab(demo, "Form")
    assert await demo.said() == "inspected"


@pytest.mark.covers("IN-64")
async def test_an_alert_is_a_dialog_that_can_be_answered(demo: Demo) -> None:
    await demo.click("#alert")
    text = await as_text(demo.target, SnapshotRequest())
    (ok,) = [node for node in await demo.find(text="OK", match="equals") if node.record.get("i") is None]

    outcome = await demo.do({"type": "click", "target": ok.uid})

    assert text.splitlines()[1].endswith(" modal")
    assert "Well done" in text
    assert outcome.error is None
    assert (await demo.click("#okButton")).error is None


@pytest.mark.covers("IN-6", "IN-8", "IN-20", "IN-15")
async def test_names_given_by_the_program_and_classes_without_a_name(demo: Demo) -> None:
    snapshot = await as_json(demo.target, SnapshotRequest(mode="full"))
    (anonymous,) = await demo.find(text="Anonymous")

    assert (await demo.one("#canvas")).uid == "the-canvas"
    assert (anonymous.record["t"], bool(PATH.fullmatch(anonymous.path))) == ("Button", True)
    assert snapshot["app"]["mainClass"] == "Demo"
    ok = snapshot_json.alone(await demo.target.node(Ref(await demo.uid("#okButton"))), ALL)
    assert (ok["module"], ok["accessibility"]["role"]) == ("javafx.controls", "BUTTON")
    assert ok["fx"]["properties"] == {"tooltip": "Confirm", "userData": None}


async def test_what_a_tab_hides_is_one_line(demo: Demo) -> None:
    text = await as_text(demo.target, SnapshotRequest())

    assert "Label" in text
    assert '"Table"' in text
    assert "#people" in text
    assert "Person 3" not in text
    assert "#towns" not in text


@pytest.mark.covers("IN-7")
async def test_nodes_come_and_go_without_a_uid_used_twice(demo: Demo) -> None:
    add, remove = await demo.uid("#add"), await demo.uid("#remove")
    seen: list[str] = []
    for _ in range(10):
        await demo.do(*[{"type": "click", "target": add}] * 5, await_idle=False)
        seen += [node.uid for node in await demo.find(text="Grown")]
        await demo.do(*[{"type": "click", "target": remove}] * 5, await_idle=False)

    assert len(seen) == len(set(seen)) == 50


@pytest.mark.covers("IN-11", "IN-16", "IN-37", "IN-45")
async def test_windows_are_numbered_by_title_and_told_apart_by_uid(demo: Demo) -> None:
    alone = (await as_json(demo.target, SnapshotRequest(depth=0)))["stages"][0]
    await demo.click("#window")
    counts = {
        stage: [
            entry["title"] for entry in (await as_json(demo.target, SnapshotRequest(stage=stage, depth=0)))["stages"]
        ]
        for stage in ("focused", "primary", "all")
    }
    both = await as_json(demo.target, SnapshotRequest(stage="all", depth=0))
    label = Selector(text="Another window")
    found = [
        len(await demo.target.find(label, ask_for(label, stage, everywhere=everywhere)))
        for stage, everywhere in ((0, False), (1, False), (None, True))
    ]
    await demo.click("#close-aside")

    assert counts["all"] == ["Aside", "Demo"]
    assert counts["primary"] == ["Demo"]
    assert len(counts["focused"]) == 1
    assert both["stages"][1]["stageUid"] == alone["stageUid"]
    assert both["focus"]["focusedWindow"]["stageIndex"] in {0, 1}
    assert found == [1, 0, 1]


@pytest.mark.covers("IN-16")
async def test_a_stage_keeps_the_focus_while_its_menu_is_open(demo: Demo) -> None:
    await demo.do({"type": "focus", "target": await demo.uid("#okButton")})
    before = await as_json(demo.target, SnapshotRequest(depth=0))
    (file,) = await demo.find(text="File")
    await demo.do({"type": "click", "target": file.uid})
    during = await as_json(demo.target, SnapshotRequest(depth=0))
    await demo.do({"type": "pressKey", "key": "ESCAPE"})
    await demo.do({"type": "click", "target": file.uid})

    assert before["focus"]["focusedNode"]["uid"] == await demo.uid("#okButton")
    assert [stage["kind"] for stage in during["stages"]] == ["stage", "popup"]
    assert during["focus"]["focusedWindow"] == {"stageIndex": 0}


@pytest.mark.covers("IN-27", "IN-85")
async def test_data_without_an_end_and_half_a_character_break_nothing(demo: Demo) -> None:
    await tab(demo, "More")

    async def data(css: str) -> object:
        return snapshot_json.alone(await demo.target.node(Ref(await demo.uid(css))), ALL)["fx"]["properties"][
            "userData"
        ]

    given = [await data("#towns"), await data("#spot")]
    broken = (await demo.one("#broken")).record["l"]
    await tab(demo, "Form")

    assert given == [42, "java.util.ArrayList"]
    assert broken == "half \ufffd"


@pytest.mark.covers("IN-33")
async def test_chosen_rows_come_in_order(demo: Demo) -> None:
    await tab(demo, "Table")
    table = await demo.uid("#people")
    empty = await rows(demo, "#people")
    for row in (5, 2):
        await demo.do({"type": "click", "target": f"{table}:r{row}", "modifiers": ["CTRL"]})
    chosen = await rows(demo, "#people")
    await tab(demo, "Form")

    assert empty["selectedIndices"] in ([], [700])
    assert [row for row in chosen["selectedIndices"] if row < 700] == [2, 5]
    assert chosen["focusedIndex"] == 2


@pytest.mark.covers("IN-68")
async def test_everything_happens_on_the_javafx_thread(demo: Demo) -> None:
    await demo.do({"type": "setText", "target": await demo.uid("#name"), "text": "who"})
    await as_json(demo.target, SnapshotRequest(mode="full"))

    await demo.click("#threads")

    assert await demo.said() == "JavaFX Application Thread"


@pytest.mark.covers("IN-84")
async def test_what_is_inside_a_control_shows_only_when_asked_for(demo: Demo) -> None:
    ok = Ref(await demo.uid("#okButton"))
    usual = await demo.target.node(ok, CaptureRequest(stage="all", root=ok))
    inside = await demo.target.node(ok, CaptureRequest(stage="all", root=ok, internals=True))

    assert usual.children == []
    assert [child.record["t"] for child in inside.children] == ["LabeledText"]


@pytest.mark.covers("IN-43")
async def test_without_a_window_there_are_no_stages_and_later_there_are(demo: Demo) -> None:
    await demo.click("#hide")
    with pytest.raises(UiNoStagesError):
        await demo.target.capture(CaptureRequest())

    found = await until(demo.target, Selector(css="#okButton"), PATIENCE, bool)

    assert [node.record["l"] for node in found] == ["OK"]


@pytest.mark.covers("IN-43", "IN-69")
async def test_a_hung_program_times_out_and_one_killed_during_a_call_is_gone(tmp_path: Path) -> None:
    async with javafx_demo(debian_cell(), tmp_path) as demo:
        assert isinstance(demo.target.backend, JavaFxBackend)
        pid = demo.target.backend.address.pid
        os.kill(pid, signal.SIGSTOP)
        hasty = Target("hasty", demo.target.backend, seconds=0.3)
        with pytest.raises(UiTimeoutError):
            await hasty.capture(CaptureRequest())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(killed, pid)
            with pytest.raises(UiNotEnabledError) as caught:
                await demo.target.capture(CaptureRequest(stage="all"))

    assert caught.value.details["reason"] == "GONE"


async def killed(pid: int) -> None:
    await anyio.sleep(0.2)
    os.kill(pid, signal.SIGKILL)


async def test_the_real_pointer_clicks_once_where_a_window_manager_runs(tmp_path: Path) -> None:
    async with javafx_demo(debian_cell(), tmp_path, managed=True) as demo:
        outcome = await demo.click("#okButton", native=True)

        typed = await demo.do({"type": "typeText", "target": await demo.uid("#name"), "text": "Ann", "native": True})

        assert (outcome.error, typed.error) == (None, None)
        assert await demo.said() == "clicked 1"
        assert (await demo.one("#name")).record["vt"] == "Ann"
