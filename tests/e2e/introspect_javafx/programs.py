"""Drives JavaFX programs that are not ours through tasks.

Run by hand: `python -m e2e.introspect_javafx.programs FOLDER [PART OF A NAME]`. FOLDER holds the jars of JavaFX (with
its platform), ControlsFX with its samples, TilesFX (all from Maven Central), and RichTextFX with its demos and
CalendarFX with its app, both compiled from their sources. `JAVA` names another `java`; TilesFX needs Java 21.
"""

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from introspection.demos import PATIENCE, Demo
from introspection.foreign import Program, click, first, proven, run, seen, step, text_of
from ui_mcp.introspection.arguments import Selector
from ui_mcp.introspection.target import until

OPENED = (
    "javafx.base/com.sun.javafx.event",
    "javafx.controls/com.sun.javafx.scene.control.behavior",
    "javafx.controls/com.sun.javafx.scene.control",
    "javafx.graphics/com.sun.javafx.scene.traversal",
    "javafx.graphics/com.sun.javafx.scene",
)


async def spreadsheet(demo: Demo) -> None:
    """Choose a far cell, and write into one."""
    sheet = (await first(demo, "SpreadsheetGridView")).uid
    await step(demo, {"type": "click", "target": f"{sheet}:r900:ccol4"})
    await step(demo, {"type": "doubleClick", "target": f"{sheet}:r8:ccol4"})
    await step(demo, {"type": "typeText", "text": "written"}, {"type": "pressKey", "key": "ENTER"})
    await seen(demo, "written")


async def dialogs(demo: Demo) -> None:
    """Answer an input dialog, and walk through a wizard and back."""
    await step(demo, {"type": "click", "target": {"text": "Initial Value Set"}})
    await step(demo, click("OK"))
    await step(demo, click("Linear Wizard"))
    await step(
        demo,
        {"type": "setText", "target": {"css": "#firstName"}, "text": "Ann"},
        {"type": "setText", "target": {"css": "#lastName"}, "text": "Lee"},
        click("Next"),
    )
    await step(demo, click("Previous"))
    proven("kept", text_of(await demo.one("#lastName")), "Lee")
    await step(demo, click("Cancel"))
    await until(demo.target, Selector(css="#lastName"), PATIENCE, lambda found: not found)


async def check_combo(demo: Demo) -> None:
    """Check an item by its box and another one in the list that pops up, and read which are checked."""
    box = (await first(demo, "CheckBox")).uid
    await step(demo, {"type": "setChecked", "target": box, "checked": True})
    await step(demo, {"type": "click", "target": (await first(demo, "CheckComboBox")).uid})
    await step(demo, {"type": "setChecked", "target": f"{(await first(demo, 'ListView')).uid}:r4", "checked": True})
    await seen(demo, "Item 2, Item 4")


async def check_tree(demo: Demo) -> None:
    """Check two rows."""
    tree = (await first(demo, "CheckTreeView")).uid
    for row in (1, 3):
        await step(demo, {"type": "setChecked", "target": f"{tree}:r{row}", "checked": True})
    await seen(demo, "Jonathan, Henry")


async def lists(demo: Demo) -> None:
    """Move a name from one list to the other, and all of them back."""

    async def rows() -> list[int]:
        return [(await demo.one(css)).record["z"]["itemsCount"] for css in ("#source-list-view", "#target-list-view")]

    begun = await rows()
    await step(demo, {"type": "doubleClick", "target": {"text": "Philip"}})
    proven("rows after one", list(await rows()), [begun[0] - 1, begun[1] + 1])
    await step(demo, {"type": "click", "target": {"css": ".move-to-target-all-button"}})
    proven("rows after all", list(await rows()), [0, sum(begun)])
    await step(demo, {"type": "click", "target": {"css": ".move-to-source-all-button"}})
    proven("rows at the end", list(await rows()), [sum(begun), 0])


async def sheet_of_properties(demo: Demo) -> None:
    """Search for a property, change it and order by category."""
    await step(demo, {"type": "setText", "target": {"css": ".clearable-field"}, "text": "cancelB"})
    await until(demo.target, Selector(text="accessibleHelp"), PATIENCE, lambda found: not found)
    (box,) = await demo.find(predicate={"typeIs": ["CheckBox"]}, css="PropertySheet CheckBox")
    await step(demo, {"type": "setChecked", "target": box.uid, "checked": True}, click("By Category"))
    await step(demo, {"type": "setText", "target": {"css": ".clearable-field"}, "text": ""}, click("By Name"))
    await step(demo, {"type": "setText", "target": {"css": ".clearable-field"}, "text": "cancelB"})
    (box,) = await demo.find(predicate={"typeIs": ["CheckBox"]}, css="PropertySheet CheckBox")
    proven("cancelButton", box.record.get("vc"), True)


async def completion(demo: Demo) -> None:
    """Type the beginning of a word and take the suggestion."""
    field = (await first(demo, "TextField")).uid
    await step(demo, {"type": "typeText", "target": field, "text": "H"})
    await seen(demo, "Hey")
    await step(demo, click("Hey"))
    proven("written", (text_of(await first(demo, "TextField")) or "").strip(), "Hey")


async def switches(demo: Demo) -> None:
    """Turn a switch on."""
    switch = (await first(demo, "ToggleSwitch")).uid
    await step(demo, {"type": "setChecked", "target": switch, "checked": True})
    proven("on", (await first(demo, "ToggleSwitch")).record.get("vc"), True)


async def stars(demo: Demo) -> None:
    """Give five stars."""
    await step(demo, {"type": "setText", "target": (await first(demo, "Rating")).uid, "text": "5"})
    proven("stars", text_of(await first(demo, "Rating")), "5.0")


async def ranges(demo: Demo) -> None:
    """Set both thumbs."""
    await step(demo, {"type": "setText", "target": (await first(demo, "RangeSlider")).uid, "text": "20..30"})
    proven("range", text_of(await first(demo, "RangeSlider")), "20.0..30.0")


async def tiles(demo: Demo) -> None:
    """Use a program that never stops moving: count up twice and down once."""
    await seen(demo, "Gauge Tile")
    for sign, value in (("+", "1.0"), ("+", "2.0"), ("-", "1.0")):
        await step(demo, click(sign))
        await seen(demo, value)


async def rich_text(demo: Demo) -> None:
    """Write, undo, redo, set a style and a size."""
    area = {"css": ".styled-text-area"}
    await step(demo, {"type": "typeText", "target": area, "text": "one\n\ttwo"})
    proven("written", text_of(await demo.one(".styled-text-area")), "one\n\ttwo")
    await step(demo, click("Undo"))
    proven("undone", text_of(await demo.one(".styled-text-area")) or "", "")
    await step(demo, click("Redo"), {"type": "pressKey", "target": area, "key": "A", "modifiers": ["CTRL"]})
    await step(demo, click("Bold"), {"type": "select", "target": (await first(demo, "ComboBox")).uid, "value": "20"})
    proven("size", text_of(await first(demo, "ComboBox")), "20")
    await step(demo, {"type": "setText", "target": area, "text": "all new"})
    proven("set", text_of(await demo.one(".styled-text-area")), "all new")


async def keywords(demo: Demo) -> None:
    """Write Java at the end of an editor with line numbers."""
    area = {"css": ".code-area"}
    await step(demo, {"type": "setText", "target": area, "text": "class A {"})
    await step(demo, {"type": "pressKey", "target": area, "key": "END", "modifiers": ["CTRL"]})
    await step(demo, {"type": "typeText", "target": area, "text": "\n}"})
    proven("written", (text_of(await demo.one(".code-area")) or "").split(), ["class", "A", "{", "}"])


async def calendar(demo: Demo) -> None:
    """Make an entry in the day by a double click, name it in its pop-over, and find it in the agenda and the week."""
    agenda = await first(demo, "ListView")
    begun = int(agenda.record["z"]["itemsCount"])
    await step(demo, {"type": "doubleClick", "target": (await first(demo, "DayView")).uid})
    await seen(demo, "New Entry")
    field = next(node for node in await demo.find(text="New Entry") if node.record["t"].endswith("TextField"))
    await step(demo, {"type": "setText", "target": field.uid, "text": "Bird walk"})
    await step(demo, {"type": "pressKey", "key": "ESCAPE"})
    proven("agenda grew", int((await first(demo, "ListView")).record["z"]["itemsCount"]) > begun, True)
    await seen(demo, "Bird walk")
    for name in ("Week", "Month", "Day"):
        await step(demo, click(name))
        await seen(demo, "Bird walk")


CONTROLS, RICH = "org.controlsfx.samples.", "org.fxmisc.richtext.demo."
TASKS: dict[str, tuple[str, Callable[[Demo], Awaitable[None]]]] = {
    f"{CONTROLS}spreadsheet.HelloSpreadsheetView": ("SpreadsheetGridView", spreadsheet),
    f"{CONTROLS}dialogs.HelloDialogs": ("Button", dialogs),
    f"{CONTROLS}checked.HelloCheckComboBox": ("CheckBox", check_combo),
    f"{CONTROLS}checked.HelloCheckTreeView": ("CheckTreeView", check_tree),
    f"{CONTROLS}HelloListSelectionView": ("ListView", lists),
    f"{CONTROLS}HelloPropertySheet": ("PropertySheet", sheet_of_properties),
    f"{CONTROLS}textfields.HelloAutoComplete": ("TextField", completion),
    f"{CONTROLS}HelloToggleSwitch": ("ToggleSwitch", switches),
    f"{CONTROLS}HelloRating": ("Rating", stars),
    f"{CONTROLS}HelloRangeSlider": ("RangeSlider", ranges),
    f"{RICH}richtext.RichTextDemo": ("Button", rich_text),
    f"{RICH}JavaKeywordsDemo": ("CodeArea", keywords),
    "eu.hansolo.tilesfx.Demo": ("Tile", tiles),
    "com.calendarfx.app.CalendarApp": ("DayView", calendar),
}


def command(folder: Path, main: str) -> list[str]:
    jars = sorted(folder.glob("*.jar"))
    modules = [str(jar) for jar in jars if jar.name.startswith("javafx-")]
    others = [str(jar) for jar in jars if not jar.name.startswith("javafx-")]
    opened = [f"--add-exports={name}=ALL-UNNAMED" for name in OPENED]
    fx = ["-p", ":".join(modules), "--add-modules", "ALL-MODULE-PATH"]
    return [os.environ.get("JAVA", "java"), "-Dprism.order=sw", *opened, *fx, "-cp", ":".join(others), main]


def programs(folder: Path, chosen: str) -> list[Program]:
    return [
        Program(name, command(folder, name), Selector(css=ready), task)
        for name, (ready, task) in TASKS.items()
        if chosen in name
    ]


if __name__ == "__main__":
    sys.exit(anyio.run(run, programs(Path(sys.argv[1]), "".join(sys.argv[2:3])), "javafx"))
