"""Claim: a tool call over stdio takes at most 150 µs, three times what an echo server written by hand takes.

The bare SDK and FastMCP are measured beside it in the same run. `joined` is what a client of `ui-mcp mcp` gets: its
calls go through a relay to the server of the directory.

Servers take turns after a few calls, and a ratio is the median of those of all turns: an echo takes 20 or 75 µs,
depending on the cores that the system has chosen for both ends, and often stays where it is for a second.
"""

import sys
from contextlib import ExitStack
from statistics import median

from claims import claim
from mcp_peers import ENVELOPE, Pipe, best_median, command, echo, piped, report, seconds

ROUNDS, TURNS, CALLS, PIPELINE = 8, 10, 20, 400
KINDS = ("bare", "hand", "ours", "joined", "fastmcp")


def latency(pipe: Pipe, *, modern: bool) -> list[float]:
    params = echo(modern=modern)
    return [seconds(lambda: pipe.ask("tools/call", params)) for _ in range(CALLS)]


def pipelined(pipe: Pipe, *, modern: bool) -> float:
    """Return the seconds per call when all are sent before the first answer is read."""
    params = echo(modern=modern)

    def burst() -> None:
        pipe.send(*({"id": n, "method": "tools/call", "params": params} for n in range(PIPELINE)))
        for _ in range(PIPELINE):
            pipe.receive()

    return seconds(burst) / PIPELINE


Turns = dict[str, list[list[float]]]


def measure(*, modern: bool) -> tuple[Turns, dict[str, float]]:
    with ExitStack() as stack:
        pipes = {kind: stack.enter_context(piped(command(kind, "stdio"))) for kind in KINDS}
        for pipe in pipes.values():
            if modern:
                pipe.ask("server/discover", {"_meta": ENVELOPE})
            else:
                pipe.shake_hands()
        calls: Turns = {kind: [] for kind in KINDS}
        bursts: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for _ in range(ROUNDS):
            for _ in range(TURNS):
                for kind, pipe in pipes.items():
                    calls[kind].append(latency(pipe, modern=modern))
            for kind, pipe in pipes.items():
                bursts[kind].append(pipelined(pipe, modern=modern))
    return calls, {kind: min(bursts[kind]) for kind in KINDS}


def ratio(turns: Turns, kind: str, other: str) -> float:
    return median(median(one) / median(two) for one, two in zip(turns[kind], turns[other], strict=True))


def main() -> int:
    good = []
    for era in ("handshake", "modern"):
        turns, bursts = measure(modern=era == "modern")
        calls = {kind: best_median(turns[kind]) for kind in KINDS}
        report(f"tools/call over stdio, {era}", calls, "ms", 1000)
        report(f"pipelined calls over stdio, {era}", bursts, "ms per call", 1000)
        good += [
            claim(f"{era} call, p50 µs", calls["ours"] * 1e6, at_most=150),
            claim(f"{era} call / echo by hand", ratio(turns, "ours", "hand"), at_most=3.0),
            claim(f"{era} call through the relay, p50 µs", calls["joined"] * 1e6, at_most=150),
            claim(f"{era} call through the relay / echo by hand", ratio(turns, "joined", "hand"), at_most=3.0),
            claim(f"{era} call / bare SDK", ratio(turns, "ours", "bare"), at_most=0.4),
            claim(f"{era} pipelined throughput / bare SDK", bursts["bare"] / bursts["ours"], at_least=5.0),
        ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
