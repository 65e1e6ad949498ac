"""Claim: `ui-mcp mcp` answers its first request as soon as a bare SDK server does, and needs little more memory.

Wall-clock time is printed, the bars apply to CPU time: a start is work, not waiting, and other programs on the
machine disturb wall-clock times.
"""

import sys
import tempfile
from dataclasses import dataclass

from claims import claim
from compiled import compile_ours
from mcp_peers import CLIENT, command, piped, report, seconds

ROUNDS = 7


@dataclass(frozen=True, slots=True)
class Start:
    """One start of one server."""

    wall: float
    processor: float
    kilobytes: int


def start(arguments: list[str]) -> Start:
    with piped(arguments) as pipe:
        wall = seconds(lambda: pipe.ask("initialize", CLIENT))
        processor = pipe.processor_seconds()
        pipe.send({"method": "notifications/initialized"})
        pipe.ask("tools/list", {})
        return Start(wall, processor, pipe.memory())


def main() -> int:
    compile_ours()
    with tempfile.TemporaryDirectory() as folder:
        servers = {
            "bare": command("bare", "stdio"),
            "ui-mcp mcp": [sys.executable, "-m", "ui_mcp", "mcp", "--dir", f"{folder}/ui"],
            "core": command("ours", "stdio"),
            "fastmcp": command("fastmcp", "stdio"),
        }
        starts: dict[str, list[Start]] = {name: [] for name in servers}
        for _ in range(ROUNDS):
            for name, arguments in servers.items():
                starts[name].append(start(arguments))
    clock = {name: min(one.wall for one in runs) for name, runs in starts.items()}
    work = {name: min(one.processor for one in runs) for name, runs in starts.items()}
    memory = {name: min(one.kilobytes for one in runs) for name, runs in starts.items()}
    report("spawn to first answer, by the clock (best of runs)", clock, "ms", 1000)
    report("spawn to first answer, processor time (best of runs)", work, "ms", 1000)
    report("memory after the tool list", dict(memory), "MB", 1 / 1024)
    good = [
        claim("first answer / bare SDK", work["ui-mcp mcp"] / work["bare"], at_most=1.1),
        claim("first answer / FastMCP", work["ui-mcp mcp"] / work["fastmcp"], at_most=1.0),
        claim("memory / bare SDK", memory["ui-mcp mcp"] / memory["bare"], at_most=1.3),
    ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
