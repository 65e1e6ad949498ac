"""Claim: a call through the gateway to a mounted stdio server takes at most twice what the direct call takes.

The server is the bare SDK's; FastMCP's proxy in front of the same server is measured for comparison.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from claims import claim
from clients import python_of
from mcp_peers import Message, Pipe, best_median, command, seconds

ROUNDS, CALLS, WARM = 6, 150, 20
PROXY = """
import sys
from fastmcp.server import create_proxy
config = {"mcpServers": {"echo": {"command": sys.argv[1], "args": sys.argv[2:]}}}
create_proxy(config, name="proxy").run(transport="stdio", show_banner=False)
"""
NLUI = "from ui_mcp.cli.entry import nlui_main; raise SystemExit(nlui_main())"


class Patient(Pipe):
    """A pipe whose server may also send notifications."""

    def receive(self) -> Message:
        while "method" in (answer := json.loads(self._out.readline())):
            pass
        assert "result" in answer, answer
        return dict(answer)


@contextmanager
def patient(arguments: list[str]) -> Iterator[Patient]:
    pipe = Patient(arguments)
    try:
        yield pipe
    finally:
        pipe.process.kill()
        pipe.process.communicate()


def gateway(folder: Path, server: list[str]) -> list[str]:
    """Write a configuration with one mounted server; return the command that serves it."""
    file = folder / "nlui.yaml"
    mount = {"name": "peer", "command": server[0], "args": server[1:]}
    file.write_text(json.dumps({"data_dir": str(folder / "data"), "mcp": {"servers": [mount]}}))
    return [sys.executable, "-c", NLUI, "--mcp", str(file)]


def proxy(folder: Path, server: list[str]) -> list[str]:
    """Write FastMCP's proxy in front of the same server."""
    file = folder / "proxy.py"
    file.write_text(PROXY)
    return [str(python_of("fastmcp")), str(file), *server]


def latency(pipe: Pipe, tool: str) -> list[float]:
    params = {"name": tool, "arguments": {"text": "hello"}}
    return [seconds(lambda: pipe.ask("tools/call", params)) for _ in range(CALLS)]


def main() -> int:
    server = command("bare", "stdio")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        commands = {
            "direct": server,
            "gateway": gateway(Path(folder), server),
            "fastmcp proxy": proxy(Path(folder), server),
        }
        pipes = {kind: stack.enter_context(patient(words)) for kind, words in commands.items()}
        names = {}
        for kind, pipe in pipes.items():
            pipe.shake_hands()
            listed = pipe.ask("tools/list", {})["result"]["tools"]
            names[kind] = next(tool["name"] for tool in listed if tool["name"].endswith("echo"))
            for _ in range(WARM):
                pipe.ask("tools/call", {"name": names[kind], "arguments": {"text": "hello"}})
        rounds: dict[str, list[list[float]]] = {kind: [] for kind in pipes}
        for _ in range(ROUNDS):
            for kind, pipe in pipes.items():
                rounds[kind].append(latency(pipe, names[kind]))
    figures = {kind: best_median(windows) for kind, windows in rounds.items()}
    for kind, figure in figures.items():
        print(f"  {kind:<14} {figure * 1000:8.3f} ms   {figure / figures['direct']:5.2f} x direct")
    return 0 if claim("gateway / direct", figures["gateway"] / figures["direct"], at_most=2.0) else 1


if __name__ == "__main__":
    sys.exit(main())
