"""Takes the side effects of one Lua world; those of a world that was replaced are nobody's."""

from collections.abc import Callable
from dataclasses import dataclass

from ui_mcp.session.pages import Pages
from ui_mcp.session.timers import Timers
from ui_mcp.ui.sessions.events import EventQueue


@dataclass(slots=True)
class WorldOutputs:
    """Passes frames, events, timers and remarks on while its world is the session's present one."""

    pages: Pages
    events: EventQueue
    timers: Timers
    on_frame: Callable[[], None]
    on_note: Callable[[str, str], None]
    on_end: Callable[[str], None]
    current: bool = True

    def frame(self, connection: int, text: str) -> None:
        """Send a page what changed."""
        if self.current:
            self.pages.deliver(connection, text)
            self.on_frame()

    def event(self, text: str) -> None:
        """Queue an event; the world has counted the room that is left."""
        if self.current:
            self.events.push_system(text)

    def timer(self, handle: int, seconds: float) -> None:
        """Start a timer."""
        if self.current:
            self.timers.start(handle, seconds)

    def cancel(self, handle: int) -> None:
        """Stop a timer."""
        if self.current:
            self.timers.cancel(handle)

    def note(self, kind: str, text: str) -> None:
        """Pass a remark on."""
        if self.current:
            self.on_note(kind, text)

    def ended(self, reason: str) -> None:
        """Say that the world is dead."""
        if self.current:
            self.on_end(reason)
