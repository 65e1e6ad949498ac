"""Drives JavaFX programs that are not ours through tasks.

Run by hand: `python -m e2e.introspect_javafx.programs FOLDER`. FOLDER holds the jars of JavaFX (with its platform),
ControlsFX, its samples (`org.controlsfx:controlsfx-samples`) and, for Java 21 and later, TilesFX, all from Maven
Central. `JAVA` names another `java`.
"""

import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from introspection.demos import PATIENCE, Demo, display
from ui_mcp.errors import UiNoStagesError, UiNotEnabledError, UiTimeoutError
from ui_mcp.introspection.arguments import Selector
from ui_mcp.introspection.backends.javafx import JavaFxBackend
from ui_mcp.introspection.contract import tokens
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text
from ui_mcp.introspection.target import Target, until
from ui_mcp.jsontypes import JsonObject

SAMPLES = "org.controlsfx.samples."
OPENED = (
    "javafx.base/com.sun.javafx.event",
    "javafx.controls/com.sun.javafx.scene.control.behavior",
    "javafx.controls/com.sun.javafx.scene.control",
    "javafx.graphics/com.sun.javafx.scene.traversal",
    "javafx.graphics/com.sun.javafx.scene",
)


async def spreadsheet(demo: Demo) -> None:
    """Choose a far cell, and write into one."""
    sheet = (await demo.find(predicate={"typeIs": ["SpreadsheetGridView"]}))[0].uid
    await step(demo, {"type": "click", "target": f"{sheet}:r900:ccol4"})
    await step(demo, {"type": "doubleClick", "target": f"{sheet}:r8:ccol4"})
    await step(demo, {"type": "typeText", "text": "written"}, {"type": "pressKey", "key": "ENTER"})
    await seen(demo, "written")


async def dialogs(demo: Demo) -> None:
    """Answer an input dialog and walk through a wizard."""
    await step(demo, {"type": "click", "target": {"text": "Initial Value Set"}})
    await step(demo, {"type": "click", "target": {"text": "OK", "match": "equals"}})
    await step(demo, {"type": "click", "target": {"text": "Linear Wizard", "match": "equals"}})
    await step(
        demo,
        {"type": "setText", "target": {"css": "#firstName"}, "text": "Ann"},
        {"type": "setText", "target": {"css": "#lastName"}, "text": "Lee"},
        {"type": "click", "target": {"text": "Next", "match": "equals"}},
    )
    await step(demo, {"type": "click", "target": {"text": "Previous", "match": "equals"}})
    sys.stdout.write(f"  kept: {(await demo.one('#lastName')).record.get('vt')}\n")
    await step(demo, {"type": "click", "target": {"text": "Cancel", "match": "equals"}})


async def check_combo(demo: Demo) -> None:
    """Check an item by its box and read the list of checked ones."""
    box = (await demo.find(predicate={"typeIs": ["CheckBox"]}))[0].uid
    await step(demo, {"type": "setChecked", "target": box, "checked": True})
    await seen(demo, "Item 2")


async def check_tree(demo: Demo) -> None:
    """Check two rows."""
    tree = (await demo.find(predicate={"typeIs": ["CheckTreeView"]}))[0].uid
    for row in (1, 3):
        await step(demo, {"type": "setChecked", "target": f"{tree}:r{row}", "checked": True})
    await seen(demo, "Jonathan, Henry")


async def lists(demo: Demo) -> None:
    """Move a name from one list to the other, and all of them back."""
    await step(demo, {"type": "doubleClick", "target": {"text": "Philip"}})
    await step(demo, {"type": "click", "target": {"css": ".move-to-target-all-button"}})
    await step(demo, {"type": "click", "target": {"css": ".move-to-source-all-button"}})
    source = (await demo.find(css="#source-list-view"))[0]
    sys.stdout.write(f"  rows at the end: {source.record['z']['itemsCount']}\n")


async def sheet_of_properties(demo: Demo) -> None:
    """Search for a property and change it."""
    await step(demo, {"type": "setText", "target": {"css": ".clearable-field"}, "text": "text"})
    await step(demo, {"type": "click", "target": {"text": "By Category"}})


async def completion(demo: Demo) -> None:
    """Type the beginning of a word and take the suggestion."""
    field = (await demo.find(predicate={"typeIs": ["TextField"]}))[0].uid
    await step(demo, {"type": "typeText", "target": field, "text": "H"})
    await seen(demo, "Hey")
    await step(demo, {"type": "click", "target": {"text": "Hey", "match": "equals"}})
    sys.stdout.write(f"  written: {(await demo.find(predicate={'typeIs': ['TextField']}))[0].record.get('vt')}\n")


async def switches(demo: Demo) -> None:
    """Turn a switch on."""
    switch = (await demo.find(predicate={"typeIs": ["ToggleSwitch"]}))[0].uid
    await step(demo, {"type": "setChecked", "target": switch, "checked": True})


async def stars(demo: Demo) -> None:
    """Give five stars."""
    rating = (await demo.find(predicate={"typeIs": ["Rating"]}))[0].uid
    await step(demo, {"type": "setText", "target": rating, "text": "5"})


async def ranges(demo: Demo) -> None:
    """Set both thumbs."""
    slider = (await demo.find(predicate={"typeIs": ["RangeSlider"]}))[0].uid
    await step(demo, {"type": "setText", "target": slider, "text": "20..30"})


async def tiles(demo: Demo) -> None:
    """Read a program that never stops moving."""
    await seen(demo, "Gauge Tile")


TASKS: dict[str, Callable[[Demo], Awaitable[None]]] = {
    f"{SAMPLES}spreadsheet.HelloSpreadsheetView": spreadsheet,
    f"{SAMPLES}dialogs.HelloDialogs": dialogs,
    f"{SAMPLES}checked.HelloCheckComboBox": check_combo,
    f"{SAMPLES}checked.HelloCheckTreeView": check_tree,
    f"{SAMPLES}HelloListSelectionView": lists,
    f"{SAMPLES}HelloPropertySheet": sheet_of_properties,
    f"{SAMPLES}textfields.HelloAutoComplete": completion,
    f"{SAMPLES}HelloToggleSwitch": switches,
    f"{SAMPLES}HelloRating": stars,
    f"{SAMPLES}HelloRangeSlider": ranges,
    "eu.hansolo.tilesfx.Demo": tiles,
}


def command(folder: Path, main: str) -> list[str]:
    jars = sorted(folder.glob("*.jar"))
    modules = [str(jar) for jar in jars if jar.name.startswith("javafx-")]
    others = [str(jar) for jar in jars if not jar.name.startswith("javafx-")]
    opened = [f"--add-exports={name}=ALL-UNNAMED" for name in OPENED]
    fx = ["-p", ":".join(modules), "--add-modules", "ALL-MODULE-PATH"]
    return [os.environ.get("JAVA", "java"), "-Dprism.order=sw", *opened, *fx, "-cp", ":".join(others), main]


async def drive(folder: Path, name: str) -> None:
    """Start one program, attach to it and do its task."""
    sys.stdout.write(f"{name}\n")
    async with display() as screen:
        process = await anyio.open_process(
            command(folder, name), env={**os.environ, "DISPLAY": screen}, stderr=subprocess.DEVNULL
        )
        try:
            target = Target(name, await _attached(process.pid), seconds=PATIENCE)
            sys.stdout.write(f"  outline: {tokens(await as_text(target, SnapshotRequest(stage='all')))} tokens\n")
            await TASKS[name](Demo("javafx", target, {}))
        finally:
            if process.returncode is None:
                process.kill()
            await process.aclose()


async def _attached(pid: int) -> JavaFxBackend:
    """Attach once the program shows a window."""
    with anyio.fail_after(4 * PATIENCE):
        while True:
            try:
                backend = await JavaFxBackend.attach(pid)
                await backend.describe()
            except (UiNoStagesError, UiNotEnabledError, UiTimeoutError):
                await anyio.sleep(0.5)
            else:
                return backend


async def step(demo: Demo, *actions: JsonObject) -> None:
    outcome = await demo.do(*actions)
    sys.stdout.write(f"  {[action['type'] for action in actions]}: {outcome.error or 'ok'}\n")


async def seen(demo: Demo, text: str) -> None:
    found = await until(demo.target, Selector(text=text), PATIENCE, bool)
    sys.stdout.write(f"  {'seen' if found else 'NOT seen'}: {text}\n")


async def main(folder: Path, chosen: str = "") -> None:
    for name in (name for name in TASKS if chosen in name):
        try:
            await drive(folder, name)
        except Exception as error:
            sys.stdout.write(f"  FAILED: {error!r}\n")


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
