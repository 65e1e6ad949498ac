"""Our tools as an oracle uses them, over MCP; counts the calls and the characters that go through a model."""

import json
import os
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from integration.lineclient import LineClient
from miniwob_tasks.outline import Line, Page

Action = dict[str, Any]
EPISODE_SECONDS = 120.0
"""How long an oracle may try."""


def click(line: Line, **more: Any) -> Action:
    return {"type": "click", "target": line.uid, **more}


def fill(line: Line, text: str) -> Action:
    return {"type": "setText", "target": line.uid, "text": text}


def type_text(line: Line, text: str) -> Action:
    return {"type": "typeText", "target": line.uid, "text": text}


def press(key: str, *modifiers: str) -> Action:
    return {"type": "pressKey", "key": key, "modifiers": list(modifiers)}


def click_at(x: float, y: float) -> Action:
    return {"type": "click", "x": round(x, 1), "y": round(y, 1)}


def move_to(x: float, y: float) -> Action:
    return {"type": "hover", "x": round(x, 1), "y": round(y, 1)}


def drag(start: Line | tuple[float, float], end: Line | tuple[float, float]) -> Action:
    return {"type": "drag", "from": _place(start), "to": _place(end)}


def _place(given: Line | tuple[float, float]) -> Any:
    return given.uid if isinstance(given, Line) else {"x": round(given[0], 1), "y": round(given[1], 1)}


class ActionFailedError(Exception):
    """An action was refused; the text is the answer."""


@dataclass(slots=True)
class Ui:
    """One browser; every method is one call of a tool."""

    client: LineClient
    calls: int = 0
    characters: int = 0
    log: list[str] = field(default_factory=list)
    deadline: float = 0

    def look(self, **options: Any) -> Page:
        return Page.read(self._call("ui_get_snapshot", **options))

    def bounds(self, **options: Any) -> Page:
        """Look, with the place of every node."""
        return self.look(include={"bounds": True, **options})

    def do(self, *actions: Action, see: str | None = None) -> Page:
        """Perform actions; return what they changed (`diff`), everything (`outline`), or nothing."""
        given: dict[str, Any] = {"actions": list(actions), "timeoutMs": 60_000}
        answer = json.loads(self._call("ui_perform", **given, **({"observe": see} if see else {})))
        if "error" in answer:
            raise ActionFailedError(json.dumps(answer["error"]))
        return Page.read(answer.get("observed", ""))

    def find(self, css: str) -> list[str]:
        """Return the ids, or else the uids, of what a selector means."""
        matches = json.loads(self._call("ui_query", selector={"css": css}))["matches"]
        return [match["id"] or match["ref"]["uid"] for match in matches]

    def wait(self, **given: Any) -> None:
        self._call("ui_wait_for", **given)

    def node(self, line: Line) -> Any:
        return json.loads(self._call("ui_get_node", ref=line.uid))

    def picture(self, line: Line) -> bytes:
        """Return the picture of a node as PNG."""
        given = {"name": "ui_screenshot", "arguments": {"target": "url", "ref": line.uid}}
        self.calls += 1
        blocks = self.client.request("tools/call", given)["content"]
        return b64decode(next(block["data"] for block in blocks if block["type"] == "image"))

    def begin(self, url: str) -> None:
        """Open a task and start it; this is not counted."""
        self.client.call("ui_browser", op="navigate", url=url, target="url")
        start = {"type": "click", "target": {"css": "#sync-task-cover"}}
        self.client.call("ui_perform", actions=[start], target="url", timeoutMs=60_000)
        self.calls = self.characters = 0
        self.deadline = time.monotonic() + EPISODE_SECONDS
        self.log.clear()

    def _call(self, tool: str, **arguments: Any) -> str:
        assert time.monotonic() < self.deadline, "the oracle does not come to an end"
        given = {"name": tool, "arguments": {"target": "url", **arguments}}
        answer = self.client.request("tools/call", given)
        said = "\n".join(block.get("text", "") for block in answer["content"])
        self.calls += 1
        self.characters += len(json.dumps(given["arguments"])) + len(said)
        self.log += [f"> {tool} {json.dumps(arguments)}", said]
        return said


@contextmanager
def browser(url: str) -> Iterator[Ui]:
    """Attach a browser as a person would, and drive it over MCP."""
    with TemporaryDirectory() as folder, TemporaryDirectory() as account:
        command = [sys.executable, "-m", "ui_mcp", "attach", "--url", url]
        # Of its own, so that servers which others start meanwhile on this machine are none of this account's.
        state = {"XDG_STATE_HOME": account}
        subprocess.run(command, cwd=folder, env={**os.environ, **state}, check=True, capture_output=True)
        with LineClient(cwd=Path(folder), **state) as client:
            yield Ui(client)
