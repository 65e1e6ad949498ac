"""A running `ui-mcp serve` on a project of its own, and a Chromium that reaches nothing but this machine."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from chromium import launched

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
COUNTER = """
Counter = session:prototype("Counter", { count = 0, name = "", limit = 3 })
Row = session:prototype("Counter.Row", { label = "" })
function Counter:new() return session:create(Counter, { rows = {} }) end
function Counter:up() self.count = self.count + 1 end
function Counter:fail() error("it broke") end
function Counter:half() return self.count / 2 end
if not session.reloading then
    counter = Counter:new()
    for at = 1, 3 do counter.rows[at] = session:create(Row, { label = "row " .. at }) end
end
"""
COUNTER_VIEW = """<template>
  <section>
    <h1>Counter</h1>
    <button id="up" ui-action="up()">up</button>
    <output id="count" ui-value="count"></output>
    <output id="half" ui-value="half()"></output>
    <input id="name" ui-value="name">
    <p id="echo" ui-value="name"></p>
    <button id="bad" ui-action="fail()">fail</button>
    <ul ui-viewlist="rows"></ul>
  </section>
</template>
"""


class Server:
    """One server process that can be stopped and started again on the same ports."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base = folder / ".claude" / "ui"
        app = self.base / "apps" / "counter"
        (app / "viewdefs").mkdir(parents=True)
        (app / "app.lua").write_text(COUNTER)
        (app / "README.md").write_text("# Counter\n\nCounts.\n")
        (app / "viewdefs" / "Counter.DEFAULT.html").write_text(COUNTER_VIEW)
        (app / "viewdefs" / "Counter.Row.DEFAULT.html").write_text('<template><li ui-value="label"></li></template>')
        self.app = app
        self.url, self.mcp = "", ""
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Serve; a second start takes the ports of the first."""
        ports = [part.rsplit(":", 1)[1] for part in (self.url, self.mcp) if part] or ["0", "0"]
        command = [sys.executable, "-m", "ui_mcp", "serve", "--port", ports[0], "--mcp-port", ports[1]]
        self._process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        lines = [self._process.stdout.readline() for _ in range(3)]
        self.url, self.mcp = lines[1].split()[1], lines[2].split()[1].removesuffix("/mcp")

    def stop(self) -> None:
        """End the process as a person would."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End the process without warning."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            os.kill(self._process.pid, how)
            self._process.wait(60)
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None

    def children(self) -> list[int]:
        """Return the processes of the sessions, children of the fork server."""
        assert self._process is not None
        return [worker for fork_server in _children(self._process.pid) for worker in _children(fork_server)]

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call an MCP tool; answer its first text, parsed if it is JSON."""
        text = self.request("tools/call", {"name": tool, "arguments": arguments})["content"][0]["text"]
        try:
            return json.loads(text)
        except ValueError:
            return text

    def request(self, method: str, params: dict[str, Any]) -> Any:
        """Send one MCP request."""
        headers = {"accept": "application/json, text/event-stream"}
        with httpx2.Client(base_url=self.mcp, headers=headers, timeout=60) as http:
            opened = http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO})
            http.headers["mcp-session-id"] = opened.headers["mcp-session-id"]
            http.headers["mcp-protocol-version"] = "2025-06-18"
            request = {"jsonrpc": "2.0", "id": 2, "method": method, "params": params}
            return _message(http.post("/mcp", json=request))["result"]


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for several tests, each of which shows an app of its own."""
    server = Server(tmp_path_factory.mktemp("shelf"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def counter(server: Server) -> Server:
    """The server with the counter displayed."""
    assert server.call("ui_display", name="counter").startswith("Displayed app: counter")
    return server


@pytest.fixture
def foreign() -> list[str]:
    """Requests to other machines; there must be none."""
    return []


@pytest.fixture
def context(chromium: Browser, foreign: list[str]) -> Iterator[BrowserContext]:
    context = chromium.new_context(permissions=["notifications"])

    def refuse(route: Any) -> None:
        foreign.append(route.request.url)
        route.abort()

    context.route(lambda url: not url.startswith(("http://127.0.0.1:", "data:", "blob:")), refuse)
    yield context
    context.close()
    assert foreign == []


@pytest.fixture
def console() -> list[str]:
    return []


@pytest.fixture
def page(context: BrowserContext, console: list[str]) -> Iterator[Page]:
    """A page on nothing yet, whose console must stay clean."""
    page = context.new_page()
    page.on("console", lambda message: console.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: console.append(str(error)))
    yield page
    assert console == []


def _message(response: httpx2.Response) -> Any:
    """Return the answer to a request; one that takes long comes as the last event of a stream."""
    if not response.headers["content-type"].startswith("text/event-stream"):
        return response.json()
    return json.loads([line for line in response.text.splitlines() if line.startswith("data:")][-1][5:])


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError):  # a thread may end while we look
            found += map(int, file.read_text().split())
    return found
