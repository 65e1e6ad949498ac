"""Many people at once while everything is killed in turn; afterwards nothing is lost and nothing has grown.

`make soak MINUTES=20`, or python -m soak.run MINUTES in this folder's parent.
"""

import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2

from soak.people import Crowd, Seen
from soak.product import Product

TABS, WRITERS, SILENT = 12, 3, 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is left after the storm."""

    seen: Seen
    server_kills: int
    child_kills: int
    before: tuple[float, int, int]
    after: tuple[float, int, int]
    missing: list[str]
    doubled: int
    ordered: bool
    exit_code: int

    def problems(self) -> list[str]:
        """Say what went wrong, if anything."""
        megabytes, files, children = (late - early for early, late in zip(self.before, self.after, strict=True))
        found = {
            f"{len(self.missing)} acknowledged messages are lost: {self.missing[:3]}": bool(self.missing),
            f"{self.doubled} messages came twice": self.doubled > 0,
            "messages came out of order": not self.ordered,
            f"the server grew by {megabytes:.0f} MB": megabytes > 40,
            f"{files} files stayed open": files > 4,
            f"{children} children stayed": children > 0,
            f"the server ended with {self.exit_code}": self.exit_code != 0,
            "nobody could click": self.seen.clicks == 0,
            "no tool answered": self.seen.calls == len(self.seen.refused),
        }
        return [problem for problem, there in found.items() if there]


async def soak(folder: Path, seconds: float) -> Outcome:
    """Load and kill for `seconds`, the second half without killing the server itself; then look what is left."""
    product = Product(folder)
    await anyio.to_thread.run_sync(product.start)
    crowd = Crowd(product)
    await displayed(crowd)
    server_kills = await storm(crowd, seconds / 2, product_too=True)
    await calm(crowd)
    before = product.weight()
    child_kills = await storm(crowd, seconds / 2, product_too=False)
    await calm(crowd)
    await everything_read(crowd)
    after = product.weight()
    code = await anyio.to_thread.run_sync(product.stop)
    seen = crowd.seen
    ids = [number for number, _ in seen.followed]
    got = {text for _, text in seen.followed}
    missing = [text for text in seen.acknowledged if text not in got]
    doubled, ordered = len(ids) - len(set(ids)), ids == sorted(ids)
    return Outcome(seen, server_kills, child_kills, before, after, missing, doubled, ordered, code)


async def displayed(crowd: Crowd) -> None:
    """Show the app everybody clicks in."""
    async with httpx2.AsyncClient(timeout=60) as http:
        await crowd.call(http, "ui_display", {"name": "tally"})


async def storm(crowd: Crowd, seconds: float, *, product_too: bool) -> int:
    """Let everybody loose and kill something now and then; return how often."""
    crowd.over = anyio.Event()
    kills = 0
    async with anyio.create_task_group() as tasks:
        for _ in range(TABS):
            tasks.start_soon(crowd.tab)
        for number in range(WRITERS):
            tasks.start_soon(crowd.writes, f"writer {number} {time.monotonic_ns()}")
        for _ in range(SILENT):
            tasks.start_soon(crowd.never_reads)
        tasks.start_soon(crowd.follows)
        tasks.start_soon(crowd.agent)
        tasks.start_soon(crowd.edits)
        end = anyio.current_time() + seconds
        while anyio.current_time() < end:
            await anyio.sleep(random.uniform(3, 7))
            kills += await kill(crowd, product_too=product_too)
        crowd.over.set()
    return kills


async def kill(crowd: Crowd, *, product_too: bool) -> bool:
    """Kill one process of a random kind."""
    product = crowd.product
    kind = random.choice(["lua", "echo", "server"] if product_too else ["lua", "echo"])
    if kind != "server":
        return await anyio.to_thread.run_sync(product.kill_child, "ui_mcp.lua_runtime" if kind == "lua" else "echo.py")
    await anyio.to_thread.run_sync(product.kill)
    await displayed(crowd)
    return True


async def calm(crowd: Crowd) -> None:
    """Let connections and processes of the storm end, and the session and the mounted server come back."""
    await anyio.sleep(8)
    await displayed(crowd)
    async with httpx2.AsyncClient(timeout=60) as http:
        with anyio.move_on_after(60):
            while (await crowd.call(http, "echo__echo", {})).get("isError"):
                await anyio.sleep(0.2)
    await anyio.sleep(2)


async def everything_read(crowd: Crowd) -> None:
    """Read until everything that was acknowledged has come; what does not come within a minute is lost."""
    async with httpx2.AsyncClient(timeout=60) as http:
        with anyio.move_on_after(60):
            while await crowd.catch_up(http) or not crowd.seen.acknowledged.keys() <= {
                text for _, text in crowd.seen.followed
            }:
                await anyio.sleep(0.01)


def main() -> int:
    """Soak for the given minutes, 20 by default, and say how it went."""
    minutes = float(next(iter(sys.argv[1:]), "20"))
    with tempfile.TemporaryDirectory() as folder:
        outcome = anyio.run(soak, Path(folder), minutes * 60)
    seen, before, after = outcome.seen, outcome.before, outcome.after
    print(f"{seen.clicks} clicks, {seen.edits} hot reloads, {seen.calls} tool calls ({len(seen.refused)} refused)")
    print(f"{len(seen.acknowledged)} messages acknowledged, {len(seen.followed)} read, {len(outcome.missing)} missing")
    print(f"{outcome.server_kills} + {outcome.child_kills} kills in the two halves")
    print(f"server before the second half: {before[0]:.0f} MB, {before[1]} files, {before[2]} children")
    print(f"server after it:               {after[0]:.0f} MB, {after[1]} files, {after[2]} children")
    for problem in outcome.problems():
        print(f"PROBLEM {problem}")
    return 1 if outcome.problems() else 0


if __name__ == "__main__":
    sys.exit(main())
