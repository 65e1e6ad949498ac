"""Truncates long results and stores them in full under a handle."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex

import anyio.to_thread

from ui_mcp.errors import NotFoundError
from ui_mcp.jsontypes import Json, dumps, loads
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger

_MAX_ROUNDS = 12
_LONG_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Size limits of one result."""

    max_bytes: int = 60_000
    max_rows: int = 200


@dataclass(frozen=True, slots=True)
class Cut:
    """One array or text that was shortened."""

    path: str
    shown: int
    total: int


@dataclass(frozen=True, slots=True)
class Trimmed:
    """A value that fits the limits, and what was cut from it."""

    value: Json
    cuts: tuple[Cut, ...] = ()


def trim(value: Json, max_bytes: int, max_rows: int) -> Trimmed:
    """Cut the largest arrays by rows, then the longest texts, until the JSON has at most `max_bytes`."""
    cuts: dict[str, Cut] = {}
    for _ in range(_MAX_ROUNDS):
        size = len(dumps(value).encode())
        found = _largest(value, "")
        if found is None or (size <= max_bytes and len(found[1]) <= max_rows):
            break
        path, rows, weight = found
        keep = min(_fitting(rows, weight - (size - max_bytes)), max_rows) if size > max_bytes else max_rows
        total = cuts[path].total if path in cuts else len(rows)
        cuts[path] = Cut(path, keep, total)
        value = _replaced(value, path, rows[:keep])
    if len(dumps(value).encode()) > max_bytes:
        value = _shortened(value, max(max_bytes // 20, 200), "", cuts)
    return Trimmed(value, tuple(cuts.values()))


def pick(value: Json, paths: list[str]) -> Json:
    """Keep only the given paths, such as `items[].id` or `total`."""
    wanted: dict[str, list[str]] = {}
    for path in paths:
        head, _, rest = path.strip().removeprefix("[].").partition(".")
        wanted.setdefault(head.removesuffix("[]"), []).append(rest)
    return _picked(value, wanted)


def _picked(value: Json, wanted: dict[str, list[str]]) -> Json:
    if isinstance(value, list):
        return [_picked(item, wanted) for item in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, rests in wanted.items():
        if key in value:
            inner = [rest for rest in rests if rest]
            out[key] = pick(value[key], inner) if inner and len(inner) == len(rests) else value[key]
    return out


def rows_of(value: Json) -> tuple[str, list[Json]] | None:
    """Return key and rows of a page of results: the value itself (key ""), or the likeliest array in it."""
    if isinstance(value, list):
        return "", value
    if not isinstance(value, dict):
        return None
    arrays = {key: member for key, member in value.items() if isinstance(member, list)}
    for key in ("data", "items", "results", "records", "values", "entries", "content", "value"):
        if key in arrays:
            return key, arrays[key]
    return max(arrays.items(), key=lambda pair: len(pair[1]), default=None)


def _largest(value: Json, path: str) -> tuple[str, list[Json], int] | None:
    best: tuple[str, list[Json], int] | None = None
    if isinstance(value, list) and len(value) > 1:
        best = (path, value, len(dumps(value).encode()))
    children = value.items() if isinstance(value, dict) else ()
    for key, child in children:
        found = _largest(child, f"{path}.{key}" if path else str(key))
        if found and (best is None or found[2] > best[2]):
            best = found
    if best is None and isinstance(value, list) and value:
        # A single row cannot be cut, but arrays inside it can.
        inner = _largest(value[0], f"{path}.0" if path else "0")
        best = inner
    return best


def _fitting(rows: list[Json], budget: int) -> int:
    used = 2
    for index, row in enumerate(rows):
        used += len(dumps(row).encode()) + 1
        if used > budget:
            return max(index, 1)  # one row at least, to show its shape
    return len(rows)


def _replaced(value: Json, path: str, rows: list[Json]) -> Json:
    if not path:
        return rows
    head, _, rest = path.partition(".")
    if isinstance(value, list):
        index = int(head)
        return [*value[:index], _replaced(value[index], rest, rows), *value[index + 1 :]]
    # Keys may contain dots: take the longest key that matches.
    key = max((key for key in value if path == key or path.startswith(f"{key}.")), key=len, default=head)
    return {**value, key: _replaced(value[key], path[len(key) + 1 :], rows)}


def _shortened(value: Json, limit: int, path: str, cuts: dict[str, Cut]) -> Json:
    match value:
        case str() if len(value) > limit:
            cuts[path] = Cut(path, limit, len(value))
            return value[:limit] + "…"
        case dict():
            return {k: _shortened(v, limit, f"{path}.{k}" if path else k, cuts) for k, v in value.items()}
        case list():
            return [_shortened(v, limit, f"{path}.{i}" if path else str(i), cuts) for i, v in enumerate(value)]
        case _:
            return value


_LIFETIME_SECONDS = 3600.0
_MAX_TOTAL_BYTES = 500 * 1024 * 1024
_MAX_HELD_BYTES = 50 * 1024 * 1024
_log = logger("gateway.results")
_HANDLE = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class StoredResult:
    media_type: str
    data: bytes

    def json(self) -> Json:
        """Parse the data.

        Raises:
            ValueError: it is not JSON.
        """
        return loads(self.data)


class ResultStore:
    """Files of mode 0600 in one folder, kept for an hour; a handle is valid only for its principal."""

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._now = now
        self._owners: dict[str, tuple[str, str, float]] = {}
        self._held: dict[str, bytes] = {}

    async def store_json(self, value: Json, principal: str) -> str:
        """Store a JSON value and return its handle."""
        return await self.store(dumps(value).encode(), "application/json", principal)

    async def store(self, data: bytes, media_type: str, principal: str) -> str:
        """Store bytes and return their handle."""
        handle = token_hex(16)
        self._owners[handle] = (principal, media_type, self._now())
        try:
            await anyio.to_thread.run_sync(self._write, handle, data)
        except OSError as error:  # the call has been made; a full disk must not lose its result
            _log.warning("cannot write to %s: %s; the result is held in memory", self._folder, error)
            self._hold(handle, data)
        return handle

    async def read(self, handle: str, principal: str) -> StoredResult:
        """Return a stored result.

        Raises:
            NotFoundError: there is no such handle for this principal, or it has expired.
        """
        owner, media_type, created = self._owners.get(handle, ("", "", 0.0))
        # The pattern also keeps a handle from naming another file.
        if not _HANDLE.fullmatch(handle) or owner != principal or self._now() - created > _LIFETIME_SECONDS:
            raise NotFoundError(f"No stored result {handle}\nHandles live for an hour; make the call again.")
        held = self._held.get(handle)
        return StoredResult(media_type, await anyio.Path(self._folder / handle).read_bytes() if held is None else held)

    def _hold(self, handle: str, data: bytes) -> None:
        self._held[handle] = data
        while len(self._held) > 1 and sum(map(len, self._held.values())) > _MAX_HELD_BYTES:
            oldest = next(iter(self._held))
            del self._held[oldest], self._owners[oldest]

    def _write(self, handle: str, data: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._sweep(len(data))
        descriptor = os.open(self._folder / handle, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)

    def _sweep(self, incoming: int) -> None:
        """Remove expired files, then the oldest ones until the new one fits."""
        files = sorted((path for path in self._folder.iterdir() if _HANDLE.fullmatch(path.name)), key=_modified)
        total = incoming + sum(path.stat().st_size for path in files)
        for path in files:
            size = path.stat().st_size
            if total <= _MAX_TOTAL_BYTES and self._now() - path.stat().st_mtime <= _LIFETIME_SECONDS:
                break
            path.unlink(missing_ok=True)
            self._owners.pop(path.name, None)
            total -= size


def _modified(path: Path) -> float:
    return path.stat().st_mtime
