"""Announces changed resources at most once per URI and 100 ms; the last change is always announced."""

from collections.abc import Callable

from anyio import sleep
from anyio.abc import TaskGroup

INTERVAL = 0.1


class Coalesced:
    """Passes URIs on to `announce`, thinning out bursts."""

    def __init__(self, tasks: TaskGroup, announce: Callable[[str], None], interval: float = INTERVAL) -> None:
        self._tasks = tasks
        self._announce = announce
        self._interval = interval
        self._pending: set[str] = set()
        self._announcing = False

    def __call__(self, uri: str) -> None:
        """Say that `uri` changed."""
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
