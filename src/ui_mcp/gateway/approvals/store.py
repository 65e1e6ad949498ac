"""Stores approvals, standing rules and proposals in SQL, on SQLite or PostgreSQL."""

import secrets
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from secrets import token_hex
from typing import Any

from platformdirs import user_data_path

from ui_mcp.account_seal import is_sealed, seal
from ui_mcp.errors import GatewayError
from ui_mcp.gateway.approvals.model import Approval
from ui_mcp.gateway.config.settings import Rule
from ui_mcp.jsontypes import Json, dumps, loads
from ui_mcp.log import logger
from ui_mcp.storage.database import Database, open_database
from ui_mcp.storage.schema import Failure, Schema, Transaction
from ui_mcp.validation import read, to_json

_log = logger("gateway.approvals")
_COLUMNS = tuple(field.name for field in fields(Approval))
_JSON = frozenset({"arguments", "preview", "result", "pattern"})
_WHOLE = frozenset({"args_version", "delivered"})
_TIMES = frozenset({"created_at", "expires_at", "decided_at", "started_at", "finished_at"})
_KINDS = {name: "INTEGER" if name in _WHOLE else "DOUBLE PRECISION" if name in _TIMES else "TEXT" for name in _COLUMNS}

_PROPOSAL = {
    "id": "TEXT",
    "created_at": "DOUBLE PRECISION",
    **dict.fromkeys(("principal", "rule", "rationale", "status", "decided_by"), "TEXT"),
}

_TABLES = {
    "approvals": f"{', '.join(f'{name} {_KINDS[name]}' for name in _COLUMNS)}, PRIMARY KEY (id)",
    "approval_versions": "id TEXT, args_version INTEGER, arguments TEXT, digest TEXT, PRIMARY KEY (id, args_version)",
    "standing_rules": "id INTEGER PRIMARY KEY, rule TEXT, created_by TEXT, approval TEXT",
    "proposals": f"{', '.join(f'{name} {kind}' for name, kind in _PROPOSAL.items())}, PRIMARY KEY (id)",
    "approval_keys": "name TEXT PRIMARY KEY, value TEXT",
}

_ADDED = {"pattern": "'null'", "connection": "''", "operation": "''", "request": "''", "successor": "NULL"}
"""Columns of `approvals` that older stores lack, with their value in existing rows."""

_SCRIPT = "\n".join(
    (
        *(f"CREATE TABLE IF NOT EXISTS {name} ({columns});" for name, columns in _TABLES.items()),
        "CREATE INDEX IF NOT EXISTS approvals_open ON approvals (status, execution);",
    )
)
"""Valid in both SQLite and PostgreSQL."""

_WHERE = {
    "open": "status = 'pending' ORDER BY created_at",
    "history": "status != 'pending' ORDER BY coalesce(decided_at, created_at) DESC",
    "runnable": "status = 'approved' AND execution = 'none' ORDER BY decided_at",
    "executing": "execution = 'executing' ORDER BY started_at",
    "undelivered": "delivered = 0 ORDER BY created_at",
}

_IN_FORCE = "id > coalesce((SELECT CAST(value AS INTEGER) FROM approval_keys WHERE name = 'foreign_rules'), 0)"
"""Excludes the rules of a store that another account created; see `_require_own`."""


class ApprovalStore:
    """Every change of an approval is a compare-and-set on its status, execution and digest."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def database(self) -> Database:
        """For other tables in the same database."""
        return self._database

    def close(self) -> None:
        self._database.close()

    def listen(self) -> float:
        """Start listening for changes by other processes; return for how many seconds one wait may rely on it."""
        return self._database.listen()

    async def wait_notified(self) -> None:
        """Return when another process has changed the store."""
        await self._database.wait_notified()

    async def add(self, row: Approval) -> None:
        columns, marks = ", ".join(_COLUMNS), ", ".join("?" * len(_COLUMNS))
        statement = f"INSERT INTO approvals ({columns}) VALUES ({marks})"  # noqa: S608 - our own columns
        await self._database.change(statement, _encoded(row))
        await self._remember_version(row)

    async def get(self, approval_id: str) -> Approval | None:
        found = await self._database.rows(f"SELECT {', '.join(_COLUMNS)} FROM approvals WHERE id = ?", (approval_id,))  # noqa: S608
        return _decoded(found[0]) if found else None

    async def rows(self, where: str, limit: int = 100) -> Sequence[Approval]:
        """Return `open`, `history`, `runnable`, `executing` or `undelivered` rows, oldest first except `history`."""
        statement = f"SELECT {', '.join(_COLUMNS)} FROM approvals WHERE {_WHERE[where]} LIMIT ?"  # noqa: S608
        return [_decoded(row) for row in await self._database.rows(statement, (limit,))]

    async def digests(self, approval_id: str) -> Sequence[str]:
        """Return the digests of all versions of an approval, edited ones included."""
        found = await self._database.rows("SELECT digest FROM approval_versions WHERE id = ?", (approval_id,))
        return [row[0] for row in found]

    async def find_by_agent(self, agent: str) -> Approval | None:
        """Return the newest approval of an agent's call; clients, which have a connection, may choose any name."""
        condition = "agent = ? AND connection = '' ORDER BY created_at DESC LIMIT 1"
        statement = f"SELECT {', '.join(_COLUMNS)} FROM approvals WHERE {condition}"  # noqa: S608 - our own names
        found = await self._database.rows(statement, (agent,))
        return _decoded(found[0]) if found else None

    async def swap(self, before: Approval, after: Approval) -> bool:
        """Replace `before` by `after` unless the row has changed meanwhile; return whether it was replaced."""
        sets = ", ".join(f"{name} = ?" for name in _COLUMNS)
        changed = await self._database.change(
            f"UPDATE approvals SET {sets} WHERE id = ? AND status = ? AND execution = ? AND digest = ?",  # noqa: S608
            (*_encoded(after), before.id, before.status, before.execution, before.digest),
        )
        if changed and after.args_version != before.args_version:
            await self._remember_version(after)
        return changed == 1

    async def rules(self) -> Sequence[tuple[int, Rule]]:
        """Return the numbered rules made by answers with scope `always` or by accepted proposals."""
        found = await self._database.rows(f"SELECT id, rule FROM standing_rules WHERE {_IN_FORCE} ORDER BY id", ())  # noqa: S608
        return [(row[0], read(Rule, loads(row[1]))) for row in found]

    async def add_rule(self, rule: Rule, by: str, approval_id: str) -> None:
        text = dumps(to_json(rule))
        await self._database.change(
            "INSERT INTO standing_rules (id, rule, created_by, approval) "
            "SELECT coalesce(max(id), 0) + 1, ?, ?, ? FROM standing_rules",
            (text, by, approval_id),
        )

    async def remove_rule(self, number: int) -> bool:
        """Delete a rule; return whether it existed."""
        return await self._database.change("DELETE FROM standing_rules WHERE id = ?", (number,)) == 1

    async def rules_version(self) -> str:
        """Return a text that differs after any process has changed the rules."""
        found = await self._database.rows(
            f"SELECT count(*), coalesce(max(id), 0), coalesce(sum(id), 0) FROM standing_rules WHERE {_IN_FORCE}",  # noqa: S608
            (),
        )
        return ":".join(map(str, found[0]))

    async def save_proposal(self, values: tuple[Json, ...]) -> None:
        await self._database.change(
            "INSERT INTO proposals VALUES (?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (id) DO UPDATE SET status = excluded.status, decided_by = excluded.decided_by",
            values,
        )

    async def settle_proposal(self, proposal_id: str, status: str, by: str) -> bool:
        """Settle a proposal; return whether it was still pending."""
        statement = "UPDATE proposals SET status = ?, decided_by = ? WHERE id = ? AND status = 'pending'"
        return await self._database.change(statement, (status, by, proposal_id)) == 1

    async def proposals(self) -> Sequence[tuple[Any, ...]]:
        """Return the rows of all proposals, oldest first."""
        return await self._database.rows(
            "SELECT id, created_at, principal, rule, rationale, status, decided_by FROM proposals ORDER BY created_at",
            (),
        )

    async def key(self) -> bytes:
        """Return the key that signs continuation tokens; all processes on this store share it."""
        # Insert, then read: of several processes the first one's key counts.
        fresh = secrets.token_hex(32)
        await self._database.change(
            "INSERT INTO approval_keys VALUES ('seal', ?) ON CONFLICT (name) DO NOTHING", (fresh,)
        )
        found = await self._database.rows("SELECT value FROM approval_keys WHERE name = 'seal'", ())
        return bytes.fromhex(found[0][0])

    async def _remember_version(self, row: Approval) -> None:
        await self._database.change(
            "INSERT INTO approval_versions VALUES (?, ?, ?, ?) ON CONFLICT (id, args_version) DO NOTHING",
            (row.id, row.args_version, dumps(row.arguments), row.digest),
        )


def _encoded(row: Approval) -> tuple[Json, ...]:
    def one(name: str) -> Json:
        value = getattr(row, name)
        return dumps(value) if name in _JSON else int(value) if name in _WHOLE else value

    return tuple(one(name) for name in _COLUMNS)


def _decoded(values: tuple[Any, ...]) -> Approval:
    named = dict(zip(_COLUMNS, values, strict=True))
    for name in _JSON:
        named[name] = loads(named[name])
    named["delivered"] = bool(named["delivered"])
    return Approval(**named)


def open_store(place: str) -> ApprovalStore:
    """Open the store at a path, `sqlite:///PATH` or `postgresql://…`; a file is created when missing.

    Raises:
        ConfigError: the URL has an unknown scheme, or its driver is missing.
        GatewayError: the store cannot be opened.
    """
    return ApprovalStore(open_database(place, _SCHEMA, _SCHEMA))


def _require_own(found: Transaction, file: Path) -> None:
    """Disarm a store that this account did not create, so that no call runs without a question.

    A repository can bring a store in its data directory. Its rules stay in the table but are ignored, its approved
    calls expire, and its keys are replaced.
    """
    # The account's own data directory cannot come with a repository.
    if file.absolute().is_relative_to(user_data_path("nlui")):
        return
    kept = found.execute("SELECT value FROM approval_keys WHERE name = 'store'").fetchall()
    name, _, given = kept[0][0].partition(":") if kept else ("", "", "")
    if kept and is_sealed(given, "approvals", name):
        return
    ((rules,),) = found.execute("SELECT coalesce(max(id), 0) FROM standing_rules").fetchall()
    approved = found.execute(
        "UPDATE approvals SET status = 'expired' WHERE status = 'approved' AND execution = 'none'"
    ).rowcount
    name = token_hex(16)
    found.execute("DELETE FROM approval_keys")
    made = (("store", f"{name}:{_sealed(name)}"), ("foreign_rules", str(rules)))
    found.executemany("INSERT INTO approval_keys VALUES (?, ?)", made)
    if rules or approved:
        _log.warning("%s was not made by this account: its rules do not count, and calls ask again", file)


def _sealed(name: str) -> str:
    """Return the seal of a store, "" when the account cannot keep a key; rules are then ignored after each start."""
    try:
        return seal("approvals", name)
    except OSError as error:
        _log.warning("cannot read or create the key that seals approvals: %s", error)
        return ""


def _error(failure: Failure, message: str, **details: object) -> GatewayError:
    return GatewayError(message, **details)


_SCHEMA = Schema(
    "approvals",
    _error,
    [_SCRIPT],
    added=[("approvals", name, f"TEXT DEFAULT {value}") for name, value in _ADDED.items()],
    lock=7_155_091_642_119,
    opened=_require_own,
)
