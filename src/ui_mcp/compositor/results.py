"""Keeps answers that were too long to show, for an hour, so that the rest can be read by its handle."""

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from ui_mcp.errors import NotFoundError
from ui_mcp.ids import secret_id
from ui_mcp.jsontypes import Json, dumps, loads
from ui_mcp.log import logger

_LIFE = 3600.0
_TOTAL = 500 * 1024 * 1024
_HELD = 50 * 1024 * 1024
_log = logger("compositor.results")
_HANDLE = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored answer."""

    media_type: str
    data: bytes

    def json(self) -> Json:
        """Read it as JSON.

        Raises:
            ValueError: it is something else.
        """
        return loads(self.data)


class ResultStore:
    """Files of mode 0600 in one folder; a handle works only for the principal it was given to."""

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._now = now
        self._owners: dict[str, tuple[str, str, float]] = {}
        self._held: dict[str, bytes] = {}

    async def keep_json(self, value: Json, principal: str) -> str:
        """Store a JSON value and return its handle."""
        return await self.keep(dumps(value).encode(), "application/json", principal)

    async def keep(self, data: bytes, media_type: str, principal: str) -> str:
        """Store bytes and return their handle."""
        handle = secret_id()
        self._owners[handle] = (principal, media_type, self._now())
        try:
            await anyio.to_thread.run_sync(self._write, handle, data)
        except OSError as error:  # the call has been made: its answer must not be lost for want of a disk
            _log.warning("cannot write to %s: %s; the result is held in memory", self._folder, error)
            self._hold(handle, data)
        return handle

    async def read(self, handle: str, principal: str) -> Kept:
        """Return what was stored.

        Raises:
            NotFoundError: there is no such handle for this caller, or its hour is over.
        """
        owner, media_type, born = self._owners.get(handle, ("", "", 0.0))
        if not _HANDLE.fullmatch(handle) or owner != principal or self._now() - born > _LIFE:
            raise NotFoundError(f"No stored result {handle}\nHandles live for an hour; make the call again.")
        held = self._held.get(handle)
        return Kept(media_type, await anyio.Path(self._folder / handle).read_bytes() if held is None else held)

    def _hold(self, handle: str, data: bytes) -> None:
        self._held[handle] = data
        while len(self._held) > 1 and sum(map(len, self._held.values())) > _HELD:
            oldest = next(iter(self._held))
            del self._held[oldest], self._owners[oldest]

    def _write(self, handle: str, data: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._sweep(len(data))
        descriptor = os.open(self._folder / handle, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)

    def _sweep(self, coming: int) -> None:
        """Remove what is old, then the oldest until the rest fits."""
        files = sorted((path for path in self._folder.iterdir() if _HANDLE.fullmatch(path.name)), key=_age)
        total = coming + sum(path.stat().st_size for path in files)
        for path in files:
            size = path.stat().st_size
            if total <= _TOTAL and self._now() - path.stat().st_mtime <= _LIFE:
                break
            path.unlink(missing_ok=True)
            self._owners.pop(path.name, None)
            total -= size


def _age(path: Path) -> float:
    return path.stat().st_mtime
