"""Starts the compared servers as processes and drives them over stdio or HTTP."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from statistics import median
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "scripts"))

from clients import python_of  # noqa: E402

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
MARK = "UI_MCP_BENCHMARK"
"""Environment variable by which a program and all that it starts are found."""
Message = dict[str, Any]


def command(kind: str, transport: str) -> list[str]:
    python = str(python_of("fastmcp")) if kind == "fastmcp" else sys.executable
    return [python, str(HERE / "mcp_echo.py"), kind, transport]


class Pipe:
    """A server over stdio."""

    def __init__(self, arguments: list[str]) -> None:
        self._mark = f"{MARK}={token_hex(8)}"
        name, _, value = self._mark.partition("=")
        self.process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, name: value},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in, self._out = self.process.stdin, self.process.stdout

    def send(self, *messages: Message) -> None:
        self._in.write(b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages))
        self._in.flush()

    def receive(self) -> Message:
        answer: Message = {"method": ""}
        while "method" in answer:  # a notification: the list may change while it is being read
            answer = json.loads(self._out.readline())
        assert "result" in answer, answer
        return answer

    def ask(self, method: str, params: Message) -> Message:
        self.send({"id": 1, "method": method, "params": params})
        return self.receive()

    def shake_hands(self) -> None:
        self.ask("initialize", CLIENT)
        self.send({"method": "notifications/initialized"})

    def family(self) -> list[int]:
        """Return the process and all that were started from it, also those that outlive it."""
        return [int(folder.name) for folder in Path("/proc").glob("[0-9]*") if self._mark in _environment(folder)]

    def processor_seconds(self) -> float:
        """Return the CPU time that the server and all that it started have used so far."""
        return sum(_processor_seconds(pid) for pid in self.family())

    def kill(self) -> None:
        """End the server and all that it started."""
        for pid in self.family():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def memory(self) -> int:
        """Return the resident memory in kilobytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def _environment(folder: Path) -> str:
    try:
        return (folder / "environ").read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has ended, or belongs to another account
        return ""


def _processor_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def piped(arguments: list[str]) -> Iterator[Pipe]:
    pipe = Pipe(arguments)
    try:
        yield pipe
    finally:
        pipe.kill()
        pipe.process.communicate()


class Http:
    """A server on a port, used over one connection."""

    def __init__(self, port: int, *, modern: bool) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        self._modern = modern
        if modern:
            self._headers |= {
                "MCP-Protocol-Version": "2026-07-28",
                "Mcp-Method": "tools/call",
                "Mcp-Name": "echo",
            }
        else:
            self._post({"id": 0, "method": "initialize", "params": CLIENT})
            self._headers["MCP-Protocol-Version"] = "2025-11-25"
            self._post({"method": "notifications/initialized"})

    def call(self) -> None:
        answer = json.loads(self._post({"id": 1, "method": "tools/call", "params": echo(modern=self._modern)}))
        assert "result" in answer, answer

    def _post(self, message: Message) -> bytes:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._connection.request("POST", "/mcp", body, self._headers)
        answer = self._connection.getresponse()
        session = answer.getheader("mcp-session-id")
        if session:
            self._headers["Mcp-Session-Id"] = session
        return answer.read()


@contextmanager
def on_port(arguments: list[str]) -> Iterator[int]:
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def echo(*, modern: bool) -> Message:
    params: Message = {"name": "echo", "arguments": {"text": "hello"}}
    return {**params, "_meta": ENVELOPE} if modern else params


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best_median(windows: list[list[float]]) -> float:
    """Return the best of the medians, from the window that other programs disturbed least."""
    return min(median(window) for window in windows)


def report(title: str, figures: dict[str, float], unit: str, scale: float) -> None:
    reference = figures["bare"]
    print(f"\n{title}")
    for name, figure in figures.items():
        print(f"  {name:<10} {figure * scale:10.3f} {unit}   {figure / reference:6.2f} x bare SDK")
