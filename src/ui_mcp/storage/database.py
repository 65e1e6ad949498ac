"""The databases approvals can be kept in; `open_store` picks one by path or URL."""

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import unquote

import anyio.to_thread
from platformdirs import user_data_path

from ui_mcp.account_seal import is_sealed, seal
from ui_mcp.errors import CompositorError, way_out
from ui_mcp.gateway.approvals.store import ADDED, SCHEMA
from ui_mcp.jsontypes import Json
from ui_mcp.log import logger
from ui_mcp.storage.wakeup import Bell

_log = logger("compositor.approvals")

NET_SECONDS, POLL_SECONDS = 10.0, 0.25

"""How long a gateway goes without looking where it is told of changes, and where it is not."""


def file_of(place: str) -> Path:
    """Return the file a path or an `sqlite:` URL means."""
    return Path(unquote(place.removeprefix("sqlite:///")) if place.startswith("sqlite:") else place).expanduser()


def _sealed(name: str) -> str:
    """Return the seal of a store, nothing where the account can keep no key; its rules ask again after each start."""
    try:
        return seal("approvals", name)
    except OSError as error:
        _log.warning("There is no key to seal approvals with: %s", error)
        return ""


class SqliteBase:
    """One SQLite file in WAL mode, mode 0600; work happens in a worker thread."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.touch(mode=0o600, exist_ok=True)
            self._base = sqlite3.connect(file, timeout=10, isolation_level=None, check_same_thread=False)
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = FULL")
            for statement in SCHEMA:
                self._base.execute(statement)
            known = {row[1] for row in self._base.execute("PRAGMA table_info(approvals)")}
            for name, value in ADDED.items():
                if name not in known:
                    self._base.execute(f"ALTER TABLE approvals ADD COLUMN {name} TEXT DEFAULT {value}")
            if not file.absolute().is_relative_to(user_data_path("nlui")):
                self._require_own()
        except (OSError, sqlite3.Error) as error:
            raise CompositorError(f"The approvals store {file} cannot be opened: {error}{way_out(error)}") from error
        self._lock = threading.Lock()
        real = file.resolve()
        self._bell = Bell(real.with_name(f"{real.name}-bells"))

    def _require_own(self) -> None:
        """Take from a store that this account did not make what would run calls without a question.

        A repository can bring a store in its data directory. Its rules are kept but no longer count, calls that were
        approved in it expire, and its seal is replaced.
        """
        with self._base:
            self._base.execute("BEGIN IMMEDIATE")  # so that of two processes one seals it and the other finds that
            found = self._base.execute("SELECT value FROM approval_keys WHERE name = 'store'").fetchone()
            name, _, given = found[0].partition(":") if found else ("", "", "")
            if found and is_sealed(given, "approvals", name):
                return
            rules = self._base.execute("SELECT coalesce(max(id), 0) FROM standing_rules").fetchone()[0]
            approved = self._base.execute(
                "UPDATE approvals SET status = 'expired' WHERE status = 'approved' AND execution = 'none'"
            ).rowcount
            name = token_hex(16)
            made = (("store", f"{name}:{_sealed(name)}"), ("foreign_rules", str(rules)))
            self._base.execute("DELETE FROM approval_keys")
            self._base.executemany("INSERT INTO approval_keys VALUES (?, ?)", made)
        if rules or approved:
            _log.warning("%s was not made by this account: its rules do not count, and calls ask again", self._file)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()
        self._bell.close()

    def listen(self) -> float:
        """Hang up a bell for others to ring; where there is none, looking often is all that is left."""
        return NET_SECONDS if self._bell.hang() else POLL_SECONDS

    async def told(self) -> None:
        """Return when another process has rung."""
        await self._bell.rung()

    async def change(self, statement: str, values: Sequence[Json]) -> int:
        """Carry out a statement, count the rows it touched, and tell the other processes."""
        touched = (await self._do(statement, values))[0]
        self._bell.ring()
        return touched

    async def rows(self, statement: str, values: Sequence[Json]) -> list[tuple[Any, ...]]:
        """Return what a statement finds."""
        return (await self._do(statement, values))[1]

    async def _do(self, statement: str, values: Sequence[Json]) -> tuple[int, list[tuple[Any, ...]]]:
        def work() -> tuple[int, list[tuple[Any, ...]]]:
            with self._lock:
                cursor = self._base.execute(statement, values)
                return cursor.rowcount, cursor.fetchall()

        try:
            return await anyio.to_thread.run_sync(work)
        except sqlite3.Error as error:
            raise CompositorError(f"The approvals store {self._file} failed: {error}{way_out(error)}") from error
