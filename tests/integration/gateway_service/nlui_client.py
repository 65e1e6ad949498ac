"""Starts the real `nlui` command and speaks MCP to it over its pipes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self


class NluiClient:
    """One JSON line each way, handshake era."""

    def __init__(self, *arguments: str, cwd: Path, **environment: str) -> None:
        code = "from ui_mcp.cli.entry import nlui_main; raise SystemExit(nlui_main())"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=cwd,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._next = 0
        self.noticed: list[dict[str, Any]] = []
        self.capabilities: dict[str, Any] = {}
        self.answers: dict[str, Any] = {}
        """What to answer to requests of the server, by method."""

    def __enter__(self) -> Self:
        hello = {
            "protocolVersion": "2025-06-18" if self.capabilities else "2024-11-05",
            "capabilities": self.capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        }
        self.hello = self.request("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(60)
        finally:
            self.process.kill()
            for pipe in (self.process.stdout, self.process.stderr):
                if pipe is not None:
                    pipe.close()

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Return the result, or the error, of one request."""
        self._next += 1
        self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params or {}})
        assert self.process.stdout is not None
        while True:
            line = self.process.stdout.readline()
            assert line, self.process.stderr and self.process.stderr.read().decode()
            answer = json.loads(line)
            if answer.get("id") == self._next:
                return answer.get("result", answer.get("error"))
            self.noticed.append(answer)
            if answer.get("method") in self.answers and "id" in answer:
                self.send({"jsonrpc": "2.0", "id": answer["id"], "result": self.answers[answer["method"]]})

    def call(self, tool: str, arguments: dict[str, Any] | None = None) -> Any:
        """Call a tool and return its whole result."""
        return self.request("tools/call", {"name": tool, "arguments": arguments or {}})

    def tools(self) -> dict[str, dict[str, Any]]:
        """Return the listed tools by name."""
        return {tool["name"]: tool for tool in self.request("tools/list")["tools"]}
