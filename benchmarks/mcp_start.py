"""Claim: our servers list their tools long before @playwright/mcp does, also on a busy machine.

Measured from the start of the process to the answer to tools/list, by the clock and in processor time, idle (as far as
the machine is) and with a busy loop on every core. Counted is the first client of a directory or configuration, and the
processor time of all processes that it starts, also of the server that later clients share. `nlui --mcp` reads an
OpenAPI document from a file. A bare SDK server and FastMCP are measured beside them; clients that join a running server
and other commands have rows without a bar.
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


Programs = dict[str, tuple[Callable[[list[str]], Start], Callable[[Path], list[str]]]]
"""How a program is measured, and its command line in a new folder."""


def measured(programs: Programs) -> dict[str, list[Start]]:
    """Start every program in turn, round by round, so that a busy moment of the machine affects all of them."""
    starts: dict[str, list[Start]] = {name: [] for name in programs}
    for _ in range(ROUNDS):
        for name, (how, arguments) in programs.items():
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                starts[name].append(how(arguments(Path(folder))))
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


OURS = [sys.executable, "-m", "ui_mcp"]


def ui_mcp(folder: Path) -> list[str]:
    return [*OURS, "mcp", "--dir", f"{folder}/ui"]


def nlui(folder: Path) -> list[str]:
    (folder / "boats.json").write_text(json.dumps(DOCUMENT))
    return [*OURS, "nlui", "--mcp", f"{folder}/boats.json"]


def fixed(arguments: list[str]) -> Callable[[Path], list[str]]:
    return lambda _: arguments


def servers() -> Programs:
    """Return the compared servers."""
    return {RIVAL: (listed, fixed(rival())), "ui-mcp mcp": (listed, ui_mcp), "nlui --mcp": (listed, nlui)}


def others(shared: Path) -> Programs:
    """Return what is measured beside them; some join the servers that run in `shared`."""
    ports = ["--port", "0", "--mcp-port", "0", "--person-port", "0"]
    return {
        "ui-mcp mcp, joins": (listed, fixed(ui_mcp(shared))),
        "nlui --mcp, joins": (listed, fixed(nlui(shared))),
        "bare SDK": (listed, fixed(command("bare", "stdio"))),
        "FastMCP": (listed, fixed(command("fastmcp", "stdio"))),
        "core": (listed, fixed(command("ours", "stdio"))),
        "ui-mcp chat": (listed, lambda folder: [*OURS, "chat", "--face", "assistant", "--dir", f"{folder}/chat"]),
        "ui-mcp serve": (announced, lambda folder: [*OURS, "serve", "--dir", f"{folder}/serve", *ports]),
        "ui-mcp --version": (finished, fixed([*OURS, "--version"])),
        "ui-mcp --help": (finished, fixed([*OURS, "--help"])),
    }


@contextmanager
def running(shared: Path) -> Iterator[None]:
    """Keep servers running that others can join."""
    with piped(ui_mcp(shared)) as first, piped(nlui(shared)) as second:
        for pipe in (first, second):
            pipe.shake_hands()
        first.ask("tools/call", {"name": "ui_status", "arguments": {}})  # answered by the server, not by the relay
        second.ask("tools/list", {})
        yield


def main() -> int:
    compile_ours()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, running(Path(name)):
        idle = measured({**servers(), **others(Path(name))})
    with busy():
        loaded = measured(servers())
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
