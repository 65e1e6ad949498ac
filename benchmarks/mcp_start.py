"""Claim: our servers list their tools long before @playwright/mcp does, also on a busy machine.

Measured from the start of the process to the answer to tools/list, by the clock and in processor time, idle (as far as
the machine is) and with a busy loop on every core. `nlui --mcp` reads an OpenAPI document from a file. A bare SDK
server and FastMCP are measured beside them; other commands have rows without a bar.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from claims import claim
from compiled import compile_ours
from mcp_peers import command, piped

ROUNDS = 7
PEERS = Path(__file__).parents[1] / "build" / "peers-start"
RIVAL = "@playwright/mcp"
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Boats", "version": "1"},
    "servers": [{"url": "http://127.0.0.1:9"}],
    "paths": {
        f"/boats/{number}": {"get": {"operationId": f"boat{number}", "responses": {"200": {"description": "A boat"}}}}
        for number in range(20)
    },
}


@dataclass(frozen=True, slots=True)
class Start:
    """One start of one program, in seconds."""

    wall: float
    processor: float
    kilobytes: int = 0


def listed(arguments: list[str]) -> Start:
    """Start a server and have it list its tools."""
    start = time.perf_counter()
    with piped(arguments) as pipe:
        pipe.shake_hands()
        tools = pipe.ask("tools/list", {})["result"]["tools"]
        wall = time.perf_counter() - start
        assert tools, arguments
        return Start(wall, pipe.processor_seconds(), pipe.memory())


def finished(arguments: list[str]) -> Start:
    """Run a program to its end."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Start(time.perf_counter() - start, used)


def announced(arguments: list[str]) -> Start:
    """Start a server on ports and wait until it says where it listens."""
    start = time.perf_counter()
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        wall = time.perf_counter() - start
        process.kill()
    return Start(wall, 0.0)


@contextmanager
def busy() -> Iterator[None]:
    """Keep every core busy for the length of the block."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def rival() -> list[str]:
    """Install the rival from npm and return its command."""
    if not (PEERS / "node_modules").is_dir():
        PEERS.mkdir(parents=True, exist_ok=True)
        (PEERS / "package.json").write_text("{}")
        install = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", RIVAL]
        subprocess.run(install, cwd=PEERS, check=True, stdout=subprocess.DEVNULL)
    return ["node", str(PEERS / "node_modules" / "@playwright" / "mcp" / "cli.js")]


Programs = dict[str, tuple[Callable[[list[str]], Start], list[str]]]


def measured(programs: Programs) -> dict[str, list[Start]]:
    """Start every program in turn, round by round, so that a busy moment of the machine affects all of them."""
    starts: dict[str, list[Start]] = {name: [] for name in programs}
    for _ in range(ROUNDS):
        for name, (how, arguments) in programs.items():
            starts[name].append(how(arguments))
    return starts


def report(title: str, starts: dict[str, list[Start]]) -> None:
    reference = _wall(starts[RIVAL])
    print(f"\n{title} (median of {ROUNDS}; processor time: the least)")
    for name, runs in starts.items():
        wall = _wall(runs)
        print(
            f"  {name:<18} {wall * 1000:8.0f} ms  {wall / reference:5.2f} x {RIVAL}  {_work(runs) * 1000:6.0f} ms CPU"
        )


def _wall(runs: list[Start]) -> float:
    return median(run.wall for run in runs)


def _work(runs: list[Start]) -> float:
    return min(run.processor for run in runs)


def servers(folder: Path) -> Programs:
    """Return the compared servers, which share one folder."""
    (folder / "boats.json").write_text(json.dumps(DOCUMENT))
    ours = [sys.executable, "-m", "ui_mcp"]
    return {
        RIVAL: (listed, rival()),
        "ui-mcp mcp": (listed, [*ours, "mcp", "--dir", f"{folder}/ui"]),
        "nlui --mcp": (listed, [*ours, "nlui", "--mcp", f"{folder}/boats.json"]),
    }


def others(folder: Path) -> Programs:
    ours = [sys.executable, "-m", "ui_mcp"]
    ports = ["--port", "0", "--mcp-port", "0", "--person-port", "0"]
    return {
        "bare SDK": (listed, command("bare", "stdio")),
        "FastMCP": (listed, command("fastmcp", "stdio")),
        "core": (listed, command("ours", "stdio")),
        "ui-mcp chat": (listed, [*ours, "chat", "--face", "assistant", "--dir", f"{folder}/chat"]),
        "ui-mcp serve": (announced, [*ours, "serve", "--dir", f"{folder}/serve", *ports]),
        "ui-mcp --version": (finished, [*ours, "--version"]),
        "ui-mcp --help": (finished, [*ours, "--help"]),
    }


def main() -> int:
    compile_ours()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        idle = measured({**servers(folder), **others(folder)})
        with busy():
            loaded = measured(servers(folder))
    report("start to tools/list", idle)
    report(f"start to tools/list, {os.cpu_count()} cores busy", loaded)
    wall = {name: _wall(runs) for name, runs in idle.items()}
    work = {name: _work(runs) for name, runs in idle.items()}
    memory = {name: min(run.kilobytes for run in runs) for name, runs in idle.items()}
    strained = {name: _wall(runs) for name, runs in loaded.items()}
    good = [
        claim(f"ui-mcp mcp / {RIVAL}", wall["ui-mcp mcp"] / wall[RIVAL], at_most=0.6),
        claim(f"nlui --mcp / {RIVAL}", wall["nlui --mcp"] / wall[RIVAL], at_most=0.6),
        claim(f"ui-mcp mcp / {RIVAL}, cores busy", strained["ui-mcp mcp"] / strained[RIVAL], at_most=0.6),
        claim(f"nlui --mcp / {RIVAL}, cores busy", strained["nlui --mcp"] / strained[RIVAL], at_most=0.6),
        claim("ui-mcp mcp, seconds of processor time", work["ui-mcp mcp"], at_most=0.25),
        claim("nlui --mcp, seconds of processor time", work["nlui --mcp"], at_most=0.25),
        claim("ui-mcp mcp / bare SDK, processor time", work["ui-mcp mcp"] / work["bare SDK"], at_most=1.0),
        claim("ui-mcp mcp / bare SDK, memory", memory["ui-mcp mcp"] / memory["bare SDK"], at_most=1.3),
    ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
