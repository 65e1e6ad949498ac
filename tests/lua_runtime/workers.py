"""Workers for tests: a host, a place on disk, and outputs that remember."""

from dataclasses import dataclass, field
from typing import Any

from anyio import Event

from ui_mcp.lua_runtime.interface import WorkerConfig


@dataclass
class Recorded:
    """Outputs kept in lists."""

    frames: list[tuple[int, str]] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    timers: list[tuple[int, float]] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    endings: list[str] = field(default_factory=list)
    over: Event = field(default_factory=Event)

    def frame(self, connection: int, text: str) -> None:
        self.frames.append((connection, text))

    def event(self, text: str) -> None:
        self.events.append(text)

    def timer(self, handle: int, seconds: float) -> None:
        self.timers.append((handle, seconds))

    def cancel(self, handle: int) -> None:
        self.cancelled.append(handle)

    def note(self, kind: str, text: str) -> None:
        self.notes.append((kind, text))

    def ended(self, reason: str) -> None:
        self.endings.append(reason)
        self.over.set()


def launch_at(folder: object, **changes: Any) -> WorkerConfig:
    """A launch whose project is `folder` and whose base directory is `folder/ui`."""
    return WorkerConfig(base_dir=f"{folder}/ui", project=str(folder), **changes)
