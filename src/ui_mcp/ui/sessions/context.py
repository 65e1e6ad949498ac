"""What sessions get from their server."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from anyio import sleep
from anyio.abc import TaskGroup

from ui_mcp.jsontypes import JsonObject
from ui_mcp.lua_runtime.interface import OutputSink, Worker
from ui_mcp.ui.sessions.page_history import Show, nowhere
from ui_mcp.ui.state.database import StateDatabase


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What all sessions of a server share."""

    launch: Callable[[str, OutputSink], Awaitable[Worker]]
    """Start a worker for the session with this secret id, with all viewdefs."""
    status: Callable[[], str]
    """Returns the JSON text of `mcp:status()`."""
    announce: Callable[[str], None]
    """Announce that the resource at a URI changed; bursts are coalesced."""
    tasks: TaskGroup
    """Owns the background tasks of the sessions."""
    pages_changed: Callable[[], None] = lambda: None
    """Called when a page connects or disconnects."""
    timing: bool = False
    """Whether the compute times of variables are always measured."""
    unknown_names: Callable[[str], list[JsonObject]] = lambda _key: []
    """Returns the tags, attributes and icons of a viewdef that do not exist; reads its file."""
    will_load: Callable[[str], bool] = lambda _file: False
    """Whether a file below the base directory exists, so that it is loaded as soon as its change is noticed."""
    note: Callable[[str, str], None] = lambda _kind, _text: None
    """Receives a worker's note that concerns the server: `themes`, `subscribed`, `refused`."""
    state: StateDatabase | None = None
    """Where the state of apps is saved; None: nowhere."""
    look: Show = nowhere
    """Shows a past moment of a session."""
    fork: Show = nowhere
    """Starts a session with the state of a past moment of another."""


INTERVAL = 0.1


class ThrottledAnnouncer:
    """Passes URIs to `announce`, coalescing those within an interval."""

    def __init__(self, tasks: TaskGroup, announce: Callable[[str], None], interval: float = INTERVAL) -> None:
        self._tasks = tasks
        self._announce = announce
        self._interval = interval
        self._pending: set[str] = set()
        self._announcing = False

    def __call__(self, uri: str) -> None:
        """Announce that `uri` changed."""
        self._pending.add(uri)
        if not self._announcing:
            self._announcing = True
            self._tasks.start_soon(self._announce_all)

    async def _announce_all(self) -> None:
        while self._pending:
            pending, self._pending = self._pending, set()
            for uri in sorted(pending):
                self._announce(uri)
            await sleep(self._interval)
        self._announcing = False
