"""Starts programs that are not ours, attaches to them and does tasks in them, each proven by what the program shows."""

import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import anyio

from introspection.demos import PATIENCE, Demo, display
from ui_mcp.errors import UiNoStagesError, UiNotEnabledError, UiTimeoutError
from ui_mcp.introspection.arguments import Selector
from ui_mcp.introspection.backends.javafx import JavaFxBackend
from ui_mcp.introspection.contract import tokens
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text
from ui_mcp.introspection.target import Target, ask_for, until
from ui_mcp.introspection.tree import Node
from ui_mcp.jsontypes import Json, JsonObject


@dataclass(frozen=True)
class Program:
    """How to start a program, what it shows once it is ready, and what to do in it."""

    name: str
    command: list[str]
    ready: Selector
    task: Callable[[Demo], Awaitable[None]]
    cwd: Path | None = None


async def run(programs: list[Program], toolkit: str) -> int:
    """Do every task; return how many were not done."""
    failed = 0
    for program in programs:
        sys.stdout.write(f"{program.name}\n")
        try:
            await _drive(program, toolkit)
        except Exception as error:
            failed += 1
            sys.stdout.write(f"  FAILED: {error!r}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(programs) - failed} of {len(programs)} tasks done\n")
    return failed


async def _drive(program: Program, toolkit: str) -> None:
    async with display() as screen, anyio.TemporaryDirectory() as home:
        # Programs keep settings; each run begins with none.
        fresh = [f"-Duser.home={home}", f"-Djava.util.prefs.userRoot={home}"]
        process = await anyio.open_process(
            [program.command[0], *fresh, *program.command[1:]],
            env={**os.environ, "DISPLAY": screen, "HOME": home},
            cwd=program.cwd,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            target = Target(program.name, await _attached(process.pid, program.ready), seconds=PATIENCE)
            sys.stdout.write(f"  outline: {tokens(await as_text(target, SnapshotRequest(stage='all')))} tokens\n")
            await program.task(Demo(toolkit, target, {}))
        finally:
            if process.returncode is None:
                process.kill()
            await process.aclose()


async def _attached(pid: int, ready: Selector) -> JavaFxBackend:
    with anyio.fail_after(4 * PATIENCE):
        while True:
            try:
                backend = await JavaFxBackend.attach(pid)
                if await Target("starting", backend).find(ready, ask_for(ready)):
                    return backend
            except (UiNoStagesError, UiNotEnabledError, UiTimeoutError):
                pass
            await anyio.sleep(0.5)


async def step(demo: Demo, *actions: JsonObject) -> None:
    """Do actions, which must go well."""
    outcome = await demo.do(*actions)
    said = " ".join(str(action["type"]) for action in actions)
    if outcome.error is not None:
        raise AssertionError(f"{said}: {outcome.error}")
    sys.stdout.write(f"  {said}: ok\n")


async def seen(demo: Demo, text: str) -> None:
    """Wait until the program shows a text."""
    if not await until(demo.target, Selector(text=text), PATIENCE, bool):
        raise AssertionError(f"not seen: {text}")
    sys.stdout.write(f"  seen: {text}\n")


async def first(demo: Demo, kind: str, at: int = 0) -> Node:
    """Return one of the nodes of a class that a person sees."""
    found = [node for node in await demo.find(predicate={"typeIs": [kind]}) if "w" not in node.record]
    return found[at]


def proven(what: str, found: Json, expected: Json) -> None:
    """Compare what the program shows with what the task should have made of it."""
    if found != expected:
        raise AssertionError(f"{what}: {found!r} instead of {expected!r}")
    sys.stdout.write(f"  {what}: {found!r}\n")


def click(text: str) -> JsonObject:
    return {"type": "click", "target": {"text": text, "match": "equals"}}


def text_of(node: Node) -> str | None:
    """Return the value a node shows as text."""
    value = node.record.get("vt")
    return None if value is None else str(value)
