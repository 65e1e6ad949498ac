"""What only JavaFX programs have: rows that are used again, popups, dialogs, tabs, trees."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from introspect.demos import Demo, debian_cell, javafx_demo
from ui_mcp.introspect import view
from ui_mcp.introspect.contract import ALL, PATH, Ref
from ui_mcp.introspect.looking import Look, as_json, as_text

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


async def rows(demo: Demo, css: str) -> dict:
    return view.rows(await demo.target.node(Ref(await demo.uid(css))))


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

    await demo.click("#reverse")
    assert outcome.error.code == "MCP_UI_STALE_REF"
    assert outcome.error.details["now"] == "Item 998"


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
    stages = (await as_json(demo.target, Look()))["stages"]
    (entry,) = await demo.find(text="Open")
    await demo.do({"type": "click", "target": entry.uid})

    assert [stage["kind"] for stage in stages] == ["stage", "popup"]
    assert stages[1]["owner"] == stages[0]["stageUid"]
    assert await demo.said() == "opened"
    assert len((await as_json(demo.target, Look()))["stages"]) == 1


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
    text = await as_text(demo.target, Look())
    (ok,) = [node for node in await demo.find(text="OK", match="equals") if node.record.get("i") is None]

    outcome = await demo.do({"type": "click", "target": ok.uid})

    assert text.splitlines()[1].endswith(" modal")
    assert "Well done" in text
    assert outcome.error is None
    assert (await demo.click("#okButton")).error is None


@pytest.mark.covers("IN-6", "IN-8", "IN-20", "IN-15")
async def test_names_given_by_the_program_and_classes_without_a_name(demo: Demo) -> None:
    snapshot = await as_json(demo.target, Look(mode="full"))
    (anonymous,) = await demo.find(text="Anonymous")

    assert (await demo.one("#canvas")).uid == "the-canvas"
    assert (anonymous.record["t"], bool(PATH.fullmatch(anonymous.path))) == ("Button", True)
    assert snapshot["app"]["mainClass"] == "Demo"
    ok = view.alone(await demo.target.node(Ref(await demo.uid("#okButton"))), ALL)
    assert (ok["module"], ok["accessibility"]["role"]) == ("javafx.controls", "BUTTON")
    assert ok["fx"]["properties"] == {"tooltip": "Confirm", "userData": None}


async def test_what_a_tab_hides_is_one_line(demo: Demo) -> None:
    text = await as_text(demo.target, Look())

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


async def test_the_real_pointer_clicks_once_where_a_window_manager_runs(tmp_path: Path) -> None:
    async with javafx_demo(debian_cell(), tmp_path, managed=True) as demo:
        outcome = await demo.click("#okButton", native=True)

        assert outcome.error is None
        assert await demo.said() == "clicked 1"
