"""Drives Swing programs that are not ours through tasks; run by hand: `python -m e2e.introspect_swing.programs FOLDER`.

FOLDER holds the demos of a JDK (Debian's openjdk-17-demo: `demo/jfc`).
"""

import os
import subprocess
import sys
from pathlib import Path

import anyio

from introspection.demos import PATIENCE, Demo, display
from ui_mcp.errors import UiNoStagesError, UiNotEnabledError, UiTimeoutError
from ui_mcp.introspection.arguments import Selector
from ui_mcp.introspection.backends.javafx import JavaFxBackend
from ui_mcp.introspection.contract import tokens
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text
from ui_mcp.introspection.target import Target, ask_for, until
from ui_mcp.jsontypes import JsonObject


async def swing_set(demo: Demo) -> None:
    """Open four demos of SwingSet2 and use each."""
    await step(demo, {"type": "click", "target": {"text": "JTable demo"}})
    await seen(demo, "Last Name")
    table = (await demo.find(predicate={"typeIs": ["JTable"]}))[0].uid
    await step(demo, {"type": "click", "target": f"{table}:r20:ccol1"})
    await step(demo, {"type": "click", "target": {"text": "JTree demo"}})
    await seen(demo, "Music")
    await step(
        demo, {"type": "expand", "target": {"text": "Classical"}}, {"type": "expand", "target": {"text": "Beethoven"}}
    )
    await seen(demo, "Symphonies")
    await step(demo, {"type": "click", "target": {"text": "JSlider demo"}})
    await seen(demo, "Horizontal")
    slider = next(node for node in await demo.find(predicate={"typeIs": ["JSlider"]}) if "w" not in node.record)
    await step(demo, {"type": "setText", "target": slider.uid, "text": "15"})
    await step(demo, {"type": "click", "target": {"text": "JOptionPane Demo"}})
    await seen(demo, "Show Input Dialog")
    await step(demo, {"type": "click", "target": {"text": "Show Input Dialog"}})
    await step(
        demo, {"type": "typeText", "text": "a good one"}, {"type": "click", "target": {"text": "OK", "match": "equals"}}
    )
    await seen(demo, "a good one")
    await step(demo, {"type": "click", "target": {"text": "OK", "match": "equals"}})


async def notepad(demo: Demo) -> None:
    """Write two lines, and choose from a menu."""
    (text,) = await demo.find(predicate={"typeIs": ["JTextArea"]})
    await step(demo, {"type": "typeText", "target": text.uid, "text": "one\n\ttwo"})
    await seen(demo, "one")
    await step(demo, {"type": "click", "target": {"text": "Edit", "match": "equals"}})
    await step(demo, {"type": "click", "target": {"text": "Undo addition"}})


async def sample_tree(demo: Demo) -> None:
    """Expand, select and rename in a tree."""
    tree = (await demo.find(predicate={"typeIs": ["JTree"]}))[0].uid
    await step(demo, {"type": "expand", "target": f"{tree}:r1"})
    await as_text(demo.target, SnapshotRequest())  # the rows below r1 are others now
    await step(demo, {"type": "select", "target": f"{tree}:r2"})
    await step(demo, {"type": "click", "target": {"text": "Tree", "match": "equals"}})
    await step(demo, {"type": "click", "target": {"text": "Add", "match": "equals"}})


async def file_chooser(demo: Demo) -> None:
    """Open the chooser and close it with a file."""
    await step(demo, {"type": "click", "target": {"text": "Show FileChooser"}})
    await seen(demo, "File Name:")
    chooser = {"predicate": {"typeIs": ["JFileChooser"]}}
    await step(demo, {"type": "setFiles", "target": chooser, "paths": [__file__]})
    await seen(demo, "programs.py")
    await step(demo, {"type": "click", "target": {"text": "Cancel", "match": "equals"}})


TASKS = {"SwingSet2": swing_set, "Notepad": notepad, "SampleTree": sample_tree, "FileChooserDemo": file_chooser}


async def drive(folder: Path, name: str) -> None:
    """Start one program, attach to it and do its task."""
    sys.stdout.write(f"{name}\n")
    jar = folder / name / f"{name}.jar"
    async with display() as screen:
        environment = {**os.environ, "DISPLAY": screen}
        command = ["java", "-jar", str(jar)]
        process = await anyio.open_process(command, env=environment, cwd=jar.parent, stderr=subprocess.DEVNULL)
        try:
            target = Target(name, await _attached(process.pid), seconds=PATIENCE)
            demo = Demo("swing", target, {})
            sys.stdout.write(f"  outline: {tokens(await as_text(target, SnapshotRequest(stage='all')))} tokens\n")
            await TASKS[name](demo)
        finally:
            process.kill()
            await process.aclose()


async def _attached(pid: int) -> JavaFxBackend:
    """Attach once the program shows something to click."""
    with anyio.fail_after(8 * PATIENCE):
        while True:
            try:
                backend = await JavaFxBackend.attach(pid)
                found = await Target("starting", backend).find(Selector(css="JMenu"), ask_for(Selector(css="JMenu")))
                if found or "FileChooser" in await backend.describe():
                    return backend
            except (UiNoStagesError, UiNotEnabledError, UiTimeoutError):
                pass
            await anyio.sleep(0.5)


async def main(folder: Path) -> None:
    for name in TASKS:
        await drive(folder, name)


async def step(demo: Demo, *actions: JsonObject) -> None:
    outcome = await demo.do(*actions)
    sys.stdout.write(f"  {[action['type'] for action in actions]}: {outcome.error or 'ok'}\n")


async def seen(demo: Demo, text: str) -> None:
    await until(demo.target, Selector(text=text), PATIENCE, bool)
    sys.stdout.write(f"  seen: {text}\n")


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
