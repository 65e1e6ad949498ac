"""Drives Swing programs that are not ours through tasks.

Run by hand: `python -m e2e.introspect_swing.programs DEMOS [JARS]`. DEMOS holds the demos of a JDK (Debian's
openjdk-17-demo: `demo/jfc`); JARS the jars of FlatLaf, its demo compiled from its sources, HSQLDB, and Weka.
"""

import sys
from pathlib import Path

import anyio

from introspection.demos import PATIENCE, Demo
from introspection.foreign import Program, click, first, proven, run, seen, step, text_of
from ui_mcp.introspection.arguments import Selector
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text
from ui_mcp.introspection.target import until


async def swing_set(demo: Demo) -> None:
    """Open four demos of SwingSet2 and use each."""
    await step(demo, {"type": "click", "target": {"text": "JTable demo"}})
    await seen(demo, "Last Name")
    table = (await first(demo, "JTable")).uid
    await step(demo, {"type": "click", "target": f"{table}:r20:ccol1"})
    proven("row", list((await first(demo, "JTable")).record["z"]["selectedIndices"]), [20])
    await step(demo, {"type": "click", "target": {"text": "JTree demo"}})
    await seen(demo, "Music")
    await step(
        demo, {"type": "expand", "target": {"text": "Classical"}}, {"type": "expand", "target": {"text": "Beethoven"}}
    )
    await seen(demo, "Symphonies")
    await step(demo, {"type": "click", "target": {"text": "JSlider demo"}})
    await seen(demo, "Horizontal")
    await step(demo, {"type": "setText", "target": (await first(demo, "JSlider")).uid, "text": "15"})
    await seen(demo, "15")
    await step(demo, {"type": "click", "target": {"text": "JOptionPane Demo"}})
    await seen(demo, "Show Input Dialog")
    await step(demo, click("Show Input Dialog"))
    await step(demo, {"type": "typeText", "text": "a good one"}, click("OK"))
    await seen(demo, "a good one")
    await step(demo, click("OK"))


async def notepad(demo: Demo) -> None:
    """Write two lines, and take them back from a menu."""
    area = (await first(demo, "JTextArea")).uid
    await step(demo, {"type": "typeText", "target": area, "text": "one\n\ttwo"})
    proven("written", text_of(await first(demo, "JTextArea")), "one\n\ttwo")
    await step(demo, click("Edit"))
    await step(demo, click("Undo addition"))
    proven("undone", (text_of(await first(demo, "JTextArea")) or "") != "one\n\ttwo", True)


async def sample_tree(demo: Demo) -> None:
    """Expand, select and add in a tree."""

    async def count() -> int:
        return int((await first(demo, "JTree")).record["z"]["itemsCount"])

    tree = (await first(demo, "JTree")).uid
    await step(demo, {"type": "expand", "target": f"{tree}:r1"})
    await as_text(demo.target, SnapshotRequest())  # the rows below r1 are others now
    await step(demo, {"type": "select", "target": f"{tree}:r2"})
    before = await count()
    await step(demo, click("Tree"))
    await step(demo, click("Add"))
    proven("rows more", await count() - before, 1)


async def file_chooser(demo: Demo) -> None:
    """Open the chooser, give it a file and accept it."""
    await step(demo, {"type": "click", "target": {"text": "Show FileChooser"}})
    await seen(demo, "File Name:")
    chooser = {"predicate": {"typeIs": ["JFileChooser"]}}
    await step(demo, {"type": "setFiles", "target": chooser, "paths": [__file__]})
    await seen(demo, "programs.py")


async def metalworks(demo: Demo) -> None:
    """Write a message in an internal window and change the theme by a menu."""
    await step(demo, click("File"))
    await step(demo, {"type": "click", "target": {"text": "New"}})
    await seen(demo, "Untitled Message")
    await step(demo, {"type": "setText", "target": (await first(demo, "JTextField")).uid, "text": "Ann"})
    proven("to", text_of(await first(demo, "JTextField")), "Ann")


async def flat_laf(demo: Demo) -> None:
    """Close the hints, fill the form, go through tabs, expand a tree and answer an option pane."""
    while await demo.find(text="Got it!", match="equals"):
        await step(demo, click("Got it!"))
    await step(demo, {"type": "setText", "target": (await first(demo, "JTextField")).uid, "text": "Ann"})
    proven("field", text_of(await first(demo, "JTextField")), "Ann")
    await step(demo, {"type": "setText", "target": (await first(demo, "JSpinner")).uid, "text": "7"})
    proven("spinner", text_of(await first(demo, "JSpinner")), "7")
    boxes = (await first(demo, "JComboBox", 2)).uid
    await step(demo, {"type": "select", "target": boxes, "index": 1})
    await step(demo, click("Data Components"))
    await seen(demo, "JTree:")
    tables = await first(demo, "JTable")
    await step(demo, {"type": "click", "target": f"{tables.uid}:r3:ccol0"})
    proven("row", list((await first(demo, "JTable")).record["z"]["selectedIndices"]), [3])
    await step(demo, click("View"))
    await step(demo, click("Show Toolbar"))
    await step(demo, click("OK"))  # the demo answers with a dialog
    await step(demo, click("Help"))
    await step(demo, click("About"))
    await seen(demo, "Demonstrates FlatLaf Swing look and feel")
    await step(demo, click("OK"))


async def database(demo: Demo) -> None:
    """Connect to a database in memory, make a table, and read its rows."""
    await step(demo, click("Ok"))
    await until(demo.target, Selector(text="Setting Name:"), PATIENCE, lambda found: not found)
    for sql in ("create table birds (id int, name varchar(20))", "insert into birds values (1, 'robin'), (2, 'wren')"):
        await _execute(demo, sql)
    await _execute(demo, "select name from birds order by id desc")
    await seen(demo, "wren")
    rows = (await first(demo, "JTable")).record["z"]
    proven("rows", rows["itemsCount"], 2)


async def _execute(demo: Demo, sql: str) -> None:
    area = (await first(demo, "JTextArea")).uid
    await step(demo, {"type": "setText", "target": area, "text": sql}, click("Execute SQL"))


async def explorer(demo: Demo) -> None:
    """Open a file of data, look at an attribute, remove it, and train and test a classifier."""
    async with anyio.TemporaryDirectory() as folder:
        data = Path(folder) / "birds.arff"
        rows = "".join(f"{number},{'small' if number < 20 else 'large'}\n" for number in range(40))
        header = "@relation birds\n@attribute weight numeric\n@attribute size {small,large}\n@data\n"
        await anyio.Path(data).write_text(header + rows)
        await step(demo, click("Open file..."))
        chooser = {"predicate": {"typeIs": ["ConverterFileChooser", "JFileChooser"]}}
        await step(demo, {"type": "setFiles", "target": chooser, "paths": [str(data)]})
        await seen(demo, "birds")
    table = await first(demo, "JTable")
    proven("attributes", table.record["z"]["itemsCount"], 2)
    await step(demo, {"type": "click", "target": f"{table.uid}:r1:cName"})
    await seen(demo, "Nominal")
    await step(demo, click("Classify"))
    await step(demo, click("Start"))
    await seen(demo, "Correctly Classified Instances")
    await step(demo, click("Preprocess"))
    await step(demo, {"type": "setChecked", "target": f"{table.uid}:r0", "checked": True}, click("Remove"))
    await until(demo.target, Selector(text="weight", match="equals"), PATIENCE, lambda found: not found)
    proven("left", (await first(demo, "JTable")).record["z"]["itemsCount"], 1)


JDK = {
    "SwingSet2": ("JMenu", swing_set),
    "Notepad": ("JMenu", notepad),
    "SampleTree": ("JMenu", sample_tree),
    "FileChooserDemo": ("JButton", file_chooser),
    "Metalworks": ("JMenu", metalworks),
}
MAVEN = {
    "com.formdev.flatlaf.demo.FlatLafDemo": ("JMenu", flat_laf),
    "org.hsqldb.util.DatabaseManagerSwing": ("JTextField", database),
    "weka.gui.explorer.Explorer": ("JTabbedPane", explorer),
}


def programs(demos: Path, jars: Path | None = None) -> list[Program]:
    ours = [
        Program(name, ["java", "-jar", str(demos / name / f"{name}.jar")], Selector(css=ready), task, demos / name)
        for name, (ready, task) in JDK.items()
    ]
    if jars is None:
        return ours
    path = ":".join(str(jar) for jar in sorted(jars.glob("*.jar")))
    flat = "-Dswing.defaultlaf=com.formdev.flatlaf.FlatLightLaf"
    return ours + [
        Program(name, ["java", flat, "-cp", path, name], Selector(css=ready), task)
        for name, (ready, task) in MAVEN.items()
    ]


if __name__ == "__main__":
    sys.exit(anyio.run(run, programs(*map(Path, sys.argv[1:3])), "swing"))
