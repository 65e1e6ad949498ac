"""A raw MCP client over pipes: one JSON line each way, nothing hidden."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ui_mcp.processes import pid_exists
from ui_mcp.ui.instance import joined_server
from ui_mcp.workspace import Workspace, default_dir


def server_pid(base: Path) -> int:
    """Return the pid of the process that serves a directory, 0 if there is none."""
    found = joined_server(Workspace.at(base))
    return found.pid if found else 0


def until_ended(base: Path, *, within: float = 60) -> bool:
    """Wait until no process serves a directory; return whether that is so."""
    deadline = time.monotonic() + within
    while server_pid(base) and time.monotonic() < deadline:
        time.sleep(0.02)  # another process ends: nothing to wait on
    return not server_pid(base)


def until_gone(pid: int, *, within: float = 30) -> bool:
    """Wait until a process has exited, some time after it freed its lock; return whether that is so."""
    deadline = time.monotonic() + within
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.02)  # not our child: nothing to wait on
    return not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return pid_exists(pid)  # elsewhere than on Linux
    return state != "Z"


def kill_server(base: Path) -> int:
    """Kill the process that serves a directory, as a crash would; return its pid."""
    pid = server_pid(base)
    assert pid, "nothing serves the directory"  # 0 would be our own process group
    os.kill(pid, signal.SIGKILL)
    return pid


_open: Counter[Path] = Counter()
"""Clients that are open, by base directory."""


class LineClient:
    """Starts `ui-mcp mcp` and speaks the handshake era to it."""

    def __init__(self, *arguments: str, cwd: Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ui_mcp", "mcp", *arguments],
            cwd=cwd,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._next = 0
        given = arguments[arguments.index("--dir") + 1] if "--dir" in arguments else default_dir(cwd)
        self.base = cwd / given
        _open[self.base] += 1

    def __enter__(self) -> Self:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self.hello = self.request("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr and self.process.stderr.read().decode()
        message: dict[str, Any] = json.loads(line)
        return message

    def request(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Return the result, or the error, of one request."""
        self._next += 1
        self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params or {}})
        while (answer := self.receive()).get("id") != self._next:
            pass
        return answer.get("result", answer.get("error"))

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool; return the text of its first block, parsed if it is JSON."""
        text = self.request("tools/call", {"name": tool, "arguments": arguments})["content"][0]["text"]
        try:
            return json.loads(text)
        except ValueError:
            return text

    def kill(self) -> None:
        """End the client as a crash of its host would."""
        self.process.kill()
        self.process.wait()

    def close(self) -> int:
        """Close our end and return the exit code; the last client of a directory waits until its server has ended."""
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            code = self.process.wait(timeout=60)
            self._leave()
            return code
        finally:
            for stream in (self.process.stdout, self.process.stderr):
                if stream:
                    stream.close()

    def _leave(self) -> None:
        base, self.base = self.base, Path("/")
        _open[base] -= 1
        if not _open[base]:
            until_ended(base, within=5)  # a page that is still open keeps it
