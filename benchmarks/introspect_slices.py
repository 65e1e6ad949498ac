"""How long one slice of ours holds the JavaFX thread or the event dispatch thread of a program of 5,000 nodes.

Bar: no slice does more than 16 ms of work, whatever the scene is like (rows of controls, thousands of siblings, nodes
nested deeply, a tool bar) and whatever is asked: attaching and the first look of ten fresh programs, then snapshot,
query, diff, click, text by selector. Work is the processor time of the thread, so that a busy machine does not count.
Needs javac, JavaFX and Xvfb.
"""

import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from claims import claim

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from introspection.demos import (
    FX_TYPES,
    PATIENCE,
    SWING_TYPES,
    Demo,
    class_path_command,
    debian_cell,
    display,
    running,
)
from ui_mcp.introspection.arguments import Selector
from ui_mcp.introspection.backends.javafx import JavaFxBackend
from ui_mcp.introspection.contract import FULL, CaptureRequest
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text
from ui_mcp.introspection.target import Target, ask_for

NODES = 5_000
WARMING = 20
ROUNDS = 10
BAR_MS = 16
FRESH = 10
SHAPES = ("rows", "flat", "deep", "bar")
HERE = Path(__file__).parent


async def main() -> int:
    held = True
    for toolkit in ("javafx", "swing"):
        with tempfile.TemporaryDirectory() as folder:
            await anyio.to_thread.run_sync(compiled, toolkit, Path(folder))
            held &= await first_looks(toolkit, Path(folder))
            for shape in sys.argv[1:] or SHAPES:
                held &= await measured(toolkit, shape, Path(folder))
    return 0 if held else 1


async def first_looks(toolkit: str, classes: Path) -> bool:
    """Attach to programs that have just started and look at each once."""
    worst: list[float] = []
    for start in range(FRESH):
        async with started(toolkit, SHAPES[start % len(SHAPES)], classes) as demo:
            backend = demo.target.backend
            assert isinstance(backend, JavaFxBackend)
            await demo.target.capture(CaptureRequest(stage="all", sections=FULL))
            worst.append(max(work for _, work in await backend.slices()))
    print(f"{toolkit}: worst slices of first looks: " + ", ".join(f"{ms:.1f}" for ms in worst))
    return claim(f"{toolkit}, attaching and first look, worst slice, ms", max(worst), at_most=BAR_MS)


async def measured(toolkit: str, shape: str, classes: Path) -> bool:
    """Do everything to one program that was looked at before."""
    async with started(toolkit, shape, classes) as demo:
        backend = demo.target.backend
        assert isinstance(backend, JavaFxBackend)
        worst: dict[str, float] = {}
        for name, work in operations(demo).items():
            for _ in range(WARMING):
                await work()
            await backend.slices()
            for _ in range(ROUNDS):
                await work()
            worst[name] = max(ms for _, ms in await backend.slices())
    print(f"{toolkit} {shape}: " + ", ".join(f"{name} {ms:.1f}" for name, ms in worst.items()))
    return claim(f"{toolkit} {shape}, worst slice, ms", max(worst.values()), at_most=BAR_MS)


def operations(demo: Demo) -> dict[str, Callable[[], Awaitable[object]]]:
    """Return what agents ask of a program, by name."""
    whole = CaptureRequest(stage="all", sections=FULL)
    by_css, by_text = Selector(css="#status"), Selector(text="Leaf 4999")
    click = {"type": "click", "target": {"css": "#count"}}
    return {
        "snapshot": lambda: demo.target.capture(whole),
        "outline": lambda: as_text(demo.target, SnapshotRequest(stage="all", max_tokens=0)),
        "css": lambda: demo.target.find(by_css, ask_for(by_css)),
        "text": lambda: demo.target.find(by_text, ask_for(by_text)),
        "diff": lambda: demo.do(click, observe="diff"),
        "click": lambda: demo.do(click),
    }


def compiled(toolkit: str, folder: Path) -> None:
    source = str(HERE / toolkit / "Large.java")
    modules = ["--module-path", str(debian_cell().modules), "--add-modules", "javafx.controls"]
    subprocess.run(["javac", "-d", str(folder), *(modules if toolkit == "javafx" else ()), source], check=True)


@asynccontextmanager
async def started(toolkit: str, shape: str, classes: Path) -> AsyncIterator[Demo]:
    plain = ["java", "-cp", str(classes), "Large"]
    command = class_path_command(debian_cell(), classes, main="Large") if toolkit == "javafx" else plain
    async with display() as screen, running([*command, shape, str(NODES)], screen) as pid:
        backend = await JavaFxBackend.attach(pid)
        try:
            types = FX_TYPES if toolkit == "javafx" else SWING_TYPES
            yield Demo(toolkit, Target(toolkit, backend, seconds=PATIENCE), types)
        finally:
            await backend.close()


if __name__ == "__main__":
    sys.exit(anyio.run(main))
