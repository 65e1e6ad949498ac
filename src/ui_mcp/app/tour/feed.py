"""What the person's page shows of the tour: the steps, and each word, call and file of the agent."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import anyio

from ui_mcp.jsontypes import JsonObject

State = Literal["ready", "running", "done", "skipped", "failed"]
Turn = Literal["agent", "app", "point", "approval"]
"""Whose turn it is: the agent's, or the person's, who clicks in the app, points at it, or answers in the inbox."""


@dataclass(slots=True)
class Entry:
    """One line of the feed; a call is completed when its answer comes."""

    kind: Literal["say", "call", "file"]
    text: str
    """What was said, the tool's name, or the path of the file."""
    step: int
    body: str = ""
    """The arguments of a call, or what was written into the file."""
    result: str = ""
    state: Literal["running", "done", "failed"] = "done"


@dataclass(slots=True)
class Feed:
    """One run of the tour; every change wakes the pages that wait for one."""

    titles: Sequence[str]
    state: State = "ready"
    step: int = 0
    turn: Turn = "agent"
    error: str = ""
    run: int = 0
    """Which run this is; pages clear their list when it changes."""
    entries: list[Entry] = field(default_factory=list)
    version: int = 0
    _changed: anyio.Event = field(default_factory=anyio.Event)
    _passed: anyio.Event = field(default_factory=anyio.Event)
    _closed: bool = False

    def begin(self) -> None:
        self.state, self.step, self.turn, self.error = "running", 0, "agent", ""
        self.run += 1
        self.entries = []
        self.changed()

    def add(self, entry: Entry) -> Entry:
        self.entries.append(entry)
        self.changed()
        return entry

    def reach(self, step: int) -> None:
        self.step = step
        self.changed()

    def wait_for(self, turn: Turn) -> None:
        if turn != self.turn:
            self.turn, self._passed = turn, anyio.Event()
        self.changed()

    def pass_turn(self) -> None:
        """Go on without what the person could do now."""
        self._passed.set()

    async def passed(self) -> None:
        """Wait until the person goes on without doing it."""
        await self._passed.wait()

    def end(self, state: State, error: str = "") -> None:
        self.state, self.turn, self.error = state, "agent", error
        self.changed()

    def changed(self) -> None:
        """Wake the pages that wait for a change."""
        self.version += 1
        self._changed.set()
        self._changed = anyio.Event()

    def close(self) -> None:
        """Answer the pages that wait, because the server ends."""
        self._closed = True
        self.changed()

    async def after(self, version: int, seconds: float) -> JsonObject:
        """Return the feed as soon as it is newer than `version`, at the latest after `seconds`."""
        if self.version <= version and not self._closed:
            with anyio.move_on_after(seconds):
                await self._changed.wait()
        return self.to_json()

    def to_json(self) -> JsonObject:
        return {
            "version": self.version,
            "run": self.run,
            "state": self.state,
            "step": self.step,
            "steps": list(self.titles),
            "turn": self.turn,
            "error": self.error,
            "entries": [
                {
                    "kind": entry.kind,
                    "text": entry.text,
                    "step": entry.step,
                    "body": entry.body,
                    "result": entry.result,
                    "state": entry.state,
                }
                for entry in self.entries
            ],
        }
