"""Where approvals last: a protocol, and its SQLite implementation."""

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

import anyio.to_thread

from ui_mcp.compositor.approvals.row import Approval
from ui_mcp.compositor.settings import Rule
from ui_mcp.errors import CompositorError
from ui_mcp.jsontypes import Json, dumps, loads

_COLUMNS = tuple(field.name for field in fields(Approval))
_JSON = frozenset({"arguments", "preview", "result"})
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS approvals ({", ".join(_COLUMNS)}, PRIMARY KEY (id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS approvals_open ON approvals (status, execution);
CREATE TABLE IF NOT EXISTS approval_versions (id, args_version, arguments, digest, PRIMARY KEY (id, args_version));
CREATE TABLE IF NOT EXISTS standing_rules (id INTEGER PRIMARY KEY, rule, created_by, approval);
CREATE TABLE IF NOT EXISTS proposals (id TEXT PRIMARY KEY, created_at, principal, rule, rationale, status, decided_by);
"""


class ApprovalStore(Protocol):
    """Keeps rows; every change is compare-and-set on status and execution."""

    async def add(self, row: Approval) -> None:
        """Store a new row."""
        ...

    async def get(self, approval_id: str) -> Approval | None:
        """Return one row."""
        ...

    async def rows(self, where: str, limit: int = 100) -> Sequence[Approval]:
        """Return rows: `open`, `history`, `runnable` or `executing`, oldest first but for history."""
        ...

    async def about(self, agent: str) -> Approval | None:
        """Return the newest row that a caller of this name opened."""
        ...

    async def swap(self, before: Approval, after: Approval) -> bool:
        """Replace `before` by `after` if nobody changed it meanwhile; say whether that worked."""
        ...

    async def rules(self) -> Sequence[tuple[int, Rule]]:
        """Return the rules people made with an answer for always."""
        ...

    async def add_rule(self, rule: Rule, by: str, approval_id: str) -> None:
        """Keep a rule."""
        ...

    async def remove_rule(self, number: int) -> bool:
        """Forget a rule."""
        ...

    async def version(self) -> int:
        """Return a number that changes when another process wrote."""
        ...


_WHERE = {
    "open": "status = 'pending' ORDER BY created_at",
    "history": "status != 'pending' ORDER BY coalesce(decided_at, created_at) DESC",
    "runnable": "status = 'approved' AND execution = 'none' ORDER BY decided_at",
    "executing": "execution = 'executing' ORDER BY started_at",
    "undelivered": "delivered = 0 ORDER BY created_at",
    "all": "1 ORDER BY created_at DESC",
}


class SqliteApprovals:
    """One SQLite file in WAL mode, mode 0600; work happens in a worker thread."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.touch(mode=0o600, exist_ok=True)
        self._lock = threading.Lock()
        self._base = sqlite3.connect(file, timeout=10, isolation_level=None, check_same_thread=False)
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = FULL")
        self._base.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()

    async def add(self, row: Approval) -> None:
        """Store a new row."""
        marks = ", ".join("?" * len(_COLUMNS))
        await self._do(f"INSERT INTO approvals VALUES ({marks})", _packed(row))  # noqa: S608 - only our own column names
        await self._remember_version(row)

    async def get(self, approval_id: str) -> Approval | None:
        """Return one row."""
        found = await self._all("SELECT * FROM approvals WHERE id = ?", (approval_id,))
        return _unpacked(found[0]) if found else None

    async def rows(self, where: str, limit: int = 100) -> Sequence[Approval]:
        """Return rows of one kind."""
        found = await self._all(f"SELECT * FROM approvals WHERE {_WHERE[where]} LIMIT ?", (limit,))  # noqa: S608
        return [_unpacked(row) for row in found]

    async def about(self, agent: str) -> Approval | None:
        """Return the newest row of a caller."""
        found = await self._all("SELECT * FROM approvals WHERE agent = ? ORDER BY created_at DESC LIMIT 1", (agent,))
        return _unpacked(found[0]) if found else None

    async def swap(self, before: Approval, after: Approval) -> bool:
        """Replace a row that is still as it was seen."""
        sets = ", ".join(f"{name} = ?" for name in _COLUMNS)
        changed = await self._do(
            f"UPDATE approvals SET {sets} WHERE id = ? AND status = ? AND execution = ? AND digest = ?",  # noqa: S608
            (*_packed(after), before.id, before.status, before.execution, before.digest),
        )
        if changed and after.args_version != before.args_version:
            await self._remember_version(after)
        return changed == 1

    async def rules(self) -> Sequence[tuple[int, Rule]]:
        """Return the standing rules with their numbers."""
        found = await self._all("SELECT id, rule FROM standing_rules ORDER BY id", ())
        return [(row[0], Rule.model_validate(loads(row[1]))) for row in found]

    async def add_rule(self, rule: Rule, by: str, approval_id: str) -> None:
        """Keep a rule."""
        text = dumps(rule.model_dump(exclude_defaults=True))
        await self._do(
            "INSERT INTO standing_rules (rule, created_by, approval) VALUES (?, ?, ?)", (text, by, approval_id)
        )

    async def remove_rule(self, number: int) -> bool:
        """Forget a rule."""
        return await self._do("DELETE FROM standing_rules WHERE id = ?", (number,)) == 1

    async def version(self) -> int:
        """Return SQLite's count of foreign commits."""
        found = await self._all("PRAGMA data_version", ())
        return int(found[0][0])

    async def save_proposal(self, values: tuple[Json, ...]) -> None:
        """Insert or replace a proposal row."""
        await self._do("INSERT OR REPLACE INTO proposals VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    async def proposals(self) -> Sequence[tuple[Any, ...]]:
        """Return all proposals, oldest first."""
        return await self._all("SELECT * FROM proposals ORDER BY created_at", ())

    async def _remember_version(self, row: Approval) -> None:
        await self._do(
            "INSERT OR REPLACE INTO approval_versions VALUES (?, ?, ?, ?)",
            (row.id, row.args_version, dumps(row.arguments), row.digest),
        )

    async def _do(self, statement: str, values: Sequence[Json]) -> int:
        def work() -> int:
            with self._lock:
                return self._base.execute(statement, values).rowcount

        try:
            return await anyio.to_thread.run_sync(work)
        except sqlite3.Error as error:
            raise CompositorError(f"The approvals store failed: {error}") from error

    async def _all(self, statement: str, values: Sequence[Json]) -> list[tuple[Any, ...]]:
        def work() -> list[tuple[Any, ...]]:
            with self._lock:
                return self._base.execute(statement, values).fetchall()

        try:
            return await anyio.to_thread.run_sync(work)
        except sqlite3.Error as error:
            raise CompositorError(f"The approvals store failed: {error}") from error


def _packed(row: Approval) -> tuple[Json, ...]:
    return tuple(dumps(getattr(row, name)) if name in _JSON else getattr(row, name) for name in _COLUMNS)


def _unpacked(values: tuple[Any, ...]) -> Approval:
    named = dict(zip(_COLUMNS, values, strict=True))
    for name in _JSON:
        named[name] = loads(named[name])
    named["delivered"] = bool(named["delivered"])
    return Approval(**named)
