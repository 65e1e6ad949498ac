"""Looking at a JavaFX program of 5,000 nodes: the whole snapshot, and how long we hold its thread at a time.

Bars: no slice of the JavaFX thread over 16 ms warm and 60 ms cold, a whole full snapshot within 250 ms warm.
Needs javac, JavaFX and Xvfb.
"""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import anyio

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from introspect.demos import debian_cell, javafx_demo
from ui_mcp.errors import UiTimeoutError
from ui_mcp.introspect.contract import FULL, Ask
from ui_mcp.introspect.looking import Look, as_text

ROUNDS = 9
LONG = 5_000


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with javafx_demo(debian_cell(), Path(folder), f"-Ddemo.nodes={LONG}") as demo:
            backend = demo.target.backend
            await settled(backend)
            cold = await capture(demo)
            clock, worked = await backend.longest_slice_ms()
            print(f"first look: {cold:.0f} ms, longest slice {worked:.1f} ms of work ({clock:.1f} by the clock)")
            warm = [await capture(demo) for _ in range(ROUNDS)][ROUNDS // 3 :]
            slices = []
            for _ in range(ROUNDS):
                await backend.longest_slice_ms()
                await capture(demo)
                slices.append(await backend.longest_slice_ms())
            nodes = sum(1 for _ in (await demo.target.capture(Ask(stage="all", sections=FULL))).nodes())
            text = await as_text(demo.target, Look(stage="all", max_tokens=0))
            print(f"{nodes} nodes, outline {len(text) // 4} tokens")
            print(f"warm: full snapshot {median(warm):.0f} ms (best {min(warm):.0f})")
            clocks, works = [entry[0] for entry in slices], [entry[1] for entry in slices]
            print(f"warm: longest slice {median(works):.1f} ms of work (worst {max(works):.1f})")
            print(f"warm: longest slice {median(clocks):.1f} ms by the clock (worst {max(clocks):.1f})")
            await demo.do({"type": "select", "target": await demo.uid("#tabs"), "index": 0})
            uid = await demo.uid("#okButton")
            clicks = []
            for _ in range(ROUNDS):
                begun = time.perf_counter()
                await demo.do({"type": "click", "target": uid})
                clicks.append((time.perf_counter() - begun) * 1000)
            print(f"click with idle: {median(clicks):.0f} ms (best {min(clicks):.0f})")


async def settled(backend: object) -> None:
    """Wait until the program has laid out its 5,000 nodes for the first time."""
    for _ in range(10):
        try:
            await backend.idle()
        except UiTimeoutError:
            continue
        return


async def capture(demo: object) -> float:
    begun = time.perf_counter()
    await demo.target.capture(Ask(stage="all", sections=FULL))
    return (time.perf_counter() - begun) * 1000


if __name__ == "__main__":
    anyio.run(main)
