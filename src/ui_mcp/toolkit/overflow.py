"""Overflow files: where results go that are too long for a client."""

import os
from collections import deque
from collections.abc import Callable
from pathlib import Path

from anyio import to_thread

from ui_mcp.files import open_inside

KEPT_RESULTS = 20


class OverflowFiles:
    """Stores the last `KEPT_RESULTS` texts that were too long for a result, as `result-N.json` in a folder."""

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder
        self._written: deque[Path] = deque()
        self._next = 0

    async def __call__(self, text: str) -> str:
        """Write `text` and return its path."""
        self._next += 1  # not in `_write`: two threads could get the same number
        return str(await to_thread.run_sync(self._write, self._next, text))

    def _write(self, number: int, text: str) -> Path:
        folder = self._folder()
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"result-{number}.json"
        # Unlink and O_EXCL: never write through a link that was placed there.
        path.unlink(missing_ok=True)
        descriptor = open_inside(folder.parent, path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        self._written.append(path)
        while len(self._written) > KEPT_RESULTS:
            self._written.popleft().unlink(missing_ok=True)
        return path
