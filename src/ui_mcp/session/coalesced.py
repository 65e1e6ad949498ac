"""Announces changed resources at most once per URI and 100 ms; the last change is always announced."""

from collections.abc import Callable
from time import monotonic

from anyio import sleep
from anyio.abc import TaskGroup

INTERVAL = 0.1


class Coalesced:
    """Passes URIs on to `announce`, thinning out bursts."""

    def __init__(self, tasks: TaskGroup, announce: Callable[[str], None], interval: float = INTERVAL) -> None:
        self._tasks = tasks
        self._announce = announce
        self._interval = interval
        self._last: dict[str, float] = {}
        self._pending: set[str] = set()

    def __call__(self, uri: str) -> None:
        """Say that `uri` changed."""
        if uri in self._pending:
            return
        self._pending.add(uri)
        self._tasks.start_soon(self._later, uri, self._last.get(uri, 0.0) + self._interval - monotonic())

    async def _later(self, uri: str, delay: float) -> None:
        await sleep(max(delay, 0.0))
        self._pending.discard(uri)
        self._last[uri] = monotonic()
        self._announce(uri)
