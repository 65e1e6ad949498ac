"""Recordings of our example apps; each ends where it began, so that it can be played again."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agreeing import agree
from integration.lineclient import LineClient
from recordings.recording import Played, Steps, played_by

EXAMPLES = Path(__file__).parents[2] / "examples"
Action = dict[str, Any]


def click(text: str, **more: Any) -> Action:
    return {"type": "click", "target": {"text": text, **more}}


def fill(label: str, text: str) -> Action:
    return {"type": "setText", "target": {"text": label}, "text": text}


SHOWN: dict[str, list[Action]] = {
    "wizard": [
        click("Gravel, for everything else: € 1,190"), click("Next"),
        {"type": "setChecked", "target": {"text": "Lights: € 49"}, "checked": True}, click("Next"),
        fill("Name", "Ada"), fill("Email", "ada@example.org"), fill("Street", "Main Street 1"),
        fill("Postcode", "10115"), fill("Town", "Berlin"), click("Next"), click("Order"), click("Order another"),
    ],
    "contacts": [click("Add"), fill("First name", "Zoë"), fill("Last name", "Zimmer"), click("Remove")],
    "planner": [click("Next month"), click("Next month"), click("Previous month"), click("Previous month")],
    "expenses": [
        fill("What", "Zebra crossing"), fill("Amount", "12.50"), click("Add", role="button"),
        click("Remove", row="Zebra crossing"),
    ],
    "board": [
        fill("New card", "Feed the cat"), click("Add"), click("Feed the cat"),
        click("Remove", row="Feed the cat"),
    ],
}  # fmt: skip


CHANGED = {"<button": "<i", "</button": "</i", "sl-button": "sl-card", "ui-calendar": "ui-list"}
"""What can be clicked in the views → what cannot."""


class App:
    """One example; `changed` plays it against a view in which nothing can be clicked any more."""

    def __init__(self, client: LineClient, folder: Path, name: str) -> None:
        self.name = f"example {name}"
        self._client, self._folder, self._app = client, folder / name, name

    def record(self) -> Steps:
        self._display()
        self._client.call("ui_test", record="start", target="browser")
        for action in SHOWN[self._app]:
            given = {"actions": [action], "target": "browser", "timeoutMs": 60_000}
            answer = self._client.request("tools/call", {"name": "ui_perform", "arguments": given})
            assert not answer.get("isError"), (self.name, action, json.loads(answer["content"][0]["text"]))
        return list(self._client.call("ui_test", record="stop")["steps"])

    def play(self, steps: Steps, *, changed: bool = False) -> Played:
        self._display()
        if not changed:
            return played_by(self._client, steps)
        views = {file: file.read_text() for file in (self._folder / "viewdefs").glob("*.html")}
        for file, view in views.items():
            text = view
            for name, other in CHANGED.items():
                text = text.replace(name, other)
            file.write_text(text)
        try:
            return played_by(self._client, steps)
        finally:
            for file, text in views.items():
                file.write_text(text)

    def _display(self) -> None:
        self._client.call("ui_display", name=self._app)


@contextmanager
def apps(names: tuple[str, ...] = tuple(SHOWN)) -> Iterator[list[App]]:
    with TemporaryDirectory() as place, TemporaryDirectory() as account:
        base = Path(place) / ".claude/ui"
        (base / "config").mkdir(parents=True)
        (base / "config" / "config.toml").write_text("[introspection]\ntimeout_ms = 30_000\n")
        agree(base)
        for name in names:
            shutil.copytree(EXAMPLES / name, base / "apps" / name)
        with LineClient(cwd=Path(place), XDG_STATE_HOME=account) as client:
            client.call("ui_start")
            yield [App(client, base / "apps", name) for name in names]
