"""Claim: a tool call over streamable HTTP takes at most half as long as with the bare SDK's transport."""

import sys
from contextlib import ExitStack

from claims import claim
from mcp_peers import Http, best_median, command, on_port, report, seconds

ROUNDS, CALLS = 8, 150
KINDS = ("bare", "ours", "fastmcp")


def measure(*, modern: bool) -> dict[str, float]:
    with ExitStack() as stack:
        ports = {kind: stack.enter_context(on_port(command(kind, "http"))) for kind in KINDS}
        peers = {kind: Http(port, modern=modern) for kind, port in ports.items()}
        calls: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
        for _ in range(ROUNDS):
            for kind, peer in peers.items():
                calls[kind].append([seconds(peer.call) for _ in range(CALLS)])
    return {kind: best_median(calls[kind]) for kind in KINDS}


def main() -> int:
    good = []
    for era in ("handshake", "modern"):
        calls = measure(modern=era == "modern")
        report(f"tools/call over /mcp, {era}", calls, "ms", 1000)
        good.append(claim(f"{era} call / bare SDK", calls["ours"] / calls["bare"], at_most=0.5))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
