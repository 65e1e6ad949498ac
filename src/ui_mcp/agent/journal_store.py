"""The journal in SQL: in a SQLite file, or in PostgreSQL beside a chat that several hosts share."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anyio import Lock, to_thread

from ui_mcp.agent.journal import (
    AgentRequest,
    AgentSummary,
    Found,
    Label,
    NewEvent,
    RequestKind,
    text_of,
)
from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.errors import AgentError, JournalError, LeaseLostError
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.storage.database import Database, close_database, file_of, open_database
from ui_mcp.storage.leases import POSTGRES_NOW, SQLITE_NOW, Lease, LeaseTable
from ui_mcp.storage.schema import Cursor, Failure, Schema, T, Transaction
from ui_mcp.workspace import JOURNAL_FILE


def _error(failure: Failure, message: str, **details: object) -> AgentError:
    # A JournalError is retried, which does not help against a newer schema.
    return AgentError(message, **details) if failure == "newer" else JournalError(message, **details)


_SQLITE_TABLES = """
CREATE TABLE events (
    agent TEXT NOT NULL, id INTEGER NOT NULL, ts TEXT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL,
    message_id TEXT, PRIMARY KEY (agent, id), UNIQUE (agent, message_id)
) WITHOUT ROWID;
CREATE TABLE watermarks (agent TEXT PRIMARY KEY, last_id TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE leases (
    agent TEXT PRIMARY KEY, holder TEXT NOT NULL, fence INTEGER NOT NULL, until REAL NOT NULL
) WITHOUT ROWID;
"""

_POSTGRES_TABLES = """
CREATE TABLE IF NOT EXISTS agent_events (
    agent text NOT NULL, id bigint NOT NULL, ts text NOT NULL, type text NOT NULL, data text NOT NULL,
    message_id text, PRIMARY KEY (agent, id), UNIQUE (agent, message_id)
);
CREATE TABLE IF NOT EXISTS agent_watermarks (agent text PRIMARY KEY, last_id text NOT NULL);
CREATE TABLE IF NOT EXISTS agent_leases (
    agent text PRIMARY KEY, holder text NOT NULL, fence bigint NOT NULL, until double precision NOT NULL
);
"""

_SQLITE_REQUESTS = "CREATE TABLE requests (agent TEXT PRIMARY KEY, kind TEXT NOT NULL, newest INTEGER NOT NULL);"
_POSTGRES_REQUESTS = (
    "CREATE TABLE IF NOT EXISTS agent_requests (agent text PRIMARY KEY, kind text NOT NULL, newest bigint NOT NULL);"
)

_SQLITE_LABELS = """
CREATE TABLE labels (
    agent TEXT PRIMARY KEY, title TEXT NOT NULL, pinned INTEGER NOT NULL, archived INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE texts (
    agent TEXT NOT NULL, id INTEGER NOT NULL, folded TEXT NOT NULL, PRIMARY KEY (agent, id)
) WITHOUT ROWID;
INSERT INTO texts SELECT agent, id, lower(coalesce(json_extract(data, '$.text'), json_extract(data, '$.md'), ''))
FROM events WHERE type IN ('user_text', 'ui_message');
"""
_POSTGRES_LABELS = """
CREATE TABLE IF NOT EXISTS agent_labels (
    agent text PRIMARY KEY, title text NOT NULL, pinned integer NOT NULL, archived integer NOT NULL
);
CREATE TABLE IF NOT EXISTS agent_texts (
    agent text NOT NULL, id bigint NOT NULL, folded text NOT NULL, PRIMARY KEY (agent, id)
);
INSERT INTO agent_texts SELECT agent, id, lower(coalesce(data::json->>'text', data::json->>'md', ''))
FROM agent_events WHERE type IN ('user_text', 'ui_message') AND NOT EXISTS (SELECT 1 FROM agent_texts);
"""

_SQLITE_LIVE = "CREATE TABLE live (agent TEXT PRIMARY KEY, data TEXT NOT NULL);"
_POSTGRES_LIVE = "CREATE TABLE IF NOT EXISTS agent_live (agent text PRIMARY KEY, data text NOT NULL);"
"""What a model is writing at this moment, for other processes to show."""

_SQLITE_HEADS = "ALTER TABLE requests ADD COLUMN head TEXT NOT NULL DEFAULT '';"
_POSTGRES_HEADS = "ALTER TABLE agent_requests ADD COLUMN IF NOT EXISTS head text NOT NULL DEFAULT '';"

_SQLITE_FOLDERS = "ALTER TABLE labels ADD COLUMN folder TEXT NOT NULL DEFAULT '';"
_POSTGRES_FOLDERS = "ALTER TABLE agent_labels ADD COLUMN IF NOT EXISTS folder text NOT NULL DEFAULT '';"

_SQLITE_SCRIPTS = [_SQLITE_TABLES, _SQLITE_REQUESTS, _SQLITE_LABELS, _SQLITE_LIVE, _SQLITE_HEADS, _SQLITE_FOLDERS]
_POSTGRES_SCRIPTS = [
    _POSTGRES_TABLES,
    _POSTGRES_REQUESTS,
    _POSTGRES_LABELS,
    _POSTGRES_LIVE,
    _POSTGRES_HEADS,
    _POSTGRES_FOLDERS,
]
SQLITE = Schema("journal", _error, _SQLITE_SCRIPTS, "user_version")
POSTGRES = Schema("journal", _error, _POSTGRES_SCRIPTS, lock=7_203_412_009)

# What differs between the databases, to be filled into the statements below.
SQLITE_DIALECT = {"t": "", "now": SQLITE_NOW, "position": "instr"}
_POSTGRES_DIALECT = {"t": "agent_", "now": POSTGRES_NOW, "position": "strpos"}

LIVE = "SELECT data FROM {t}live WHERE agent = ?"
EVENTS = "SELECT id, ts, type, data FROM {t}events WHERE agent = ? AND id > ? ORDER BY id"

_MOVE = "INSERT INTO {t}watermarks VALUES (?, ?) ON CONFLICT (agent) DO UPDATE SET last_id = excluded.last_id"

# Only for an agent that a process serves.
_ASK = """
INSERT INTO {t}requests
SELECT agent, ?, (SELECT coalesce(max(id), 0) FROM {t}events AS found WHERE found.agent = held.agent), ?
FROM {t}leases AS held WHERE agent = ? AND until > {now}
ON CONFLICT (agent) DO UPDATE SET kind = excluded.kind, newest = excluded.newest, head = excluded.head
"""

# By keys alone, one lookup of each kind per agent: every agent with events has had a lease, and ids are consecutive.
# SQLite takes the tables of a CROSS JOIN in this order.
_SUMMARIES = """
SELECT held.agent, first.ts, last.ts, last.id, (
    SELECT data FROM {t}events AS said
    WHERE said.agent = held.agent AND said.type = 'user_text' ORDER BY said.id LIMIT 1
), title, pinned, archived, folder
FROM {t}leases AS held
CROSS JOIN {t}events AS first
CROSS JOIN {t}events AS last
LEFT JOIN {t}labels AS label ON label.agent = held.agent
WHERE first.agent = held.agent AND first.id = 1 AND last.agent = held.agent AND last.id = (
    SELECT max(id) FROM {t}events AS newest WHERE newest.agent = held.agent
)
ORDER BY last.ts DESC
"""

_LABEL = """
INSERT INTO {t}labels (agent, title, pinned, archived, folder) VALUES (?, ?, ?, ?, ?) ON CONFLICT (agent) DO UPDATE SET
    title = excluded.title, pinned = excluded.pinned, archived = excluded.archived, folder = excluded.folder
"""

# The newest matching message of each agent; the search of an agent ends at the first match.
_SEARCH = """
SELECT said.agent, said.id, said.ts, said.type, said.data FROM {t}leases AS held CROSS JOIN {t}events AS said
WHERE said.agent = held.agent AND said.id = (
    SELECT id FROM {t}texts AS text WHERE text.agent = held.agent AND {position}(folded, ?) > 0 ORDER BY id DESC LIMIT 1
)
ORDER BY said.ts DESC LIMIT ?
"""


class JournalStore:
    """A Journal in the database at a path or URL, which is opened at first use."""

    def __init__(self, place: str | Path) -> None:
        self._place = str(place)
        self._dialect = _POSTGRES_DIALECT if file_of(self._place) is None else SQLITE_DIALECT
        postgres = self._dialect is _POSTGRES_DIALECT
        self._leases = LeaseTable(self._sql("{t}leases"), "agent", postgres=postgres)
        self._opening = Lock()
        self._opened: Database | None = None

    async def take_lease(self, agent: str, holder: str, seconds: float) -> Lease | None:
        return await self._transaction(lambda found: self._leases.take(found, agent, holder, seconds))

    async def drop_lease(self, agent: str, lease: Lease) -> None:
        await self._transaction(lambda found: self._leases.drop(found, agent, lease))

    async def append(self, agent: str, lease: Lease, events: Sequence[NewEvent]) -> list[StoredEvent]:
        def work(found: Transaction) -> list[StoredEvent]:
            self._check_lease(found, agent, lease)
            return self._store(found, agent, [(event.type, event.data, None) for event in events])

        return await self._transaction(work)

    async def inject(
        self, agent: str, lease: Lease, messages: Sequence[JsonObject], watermark: str
    ) -> list[StoredEvent]:
        def work(found: Transaction) -> list[StoredEvent]:
            self._check_lease(found, agent, lease)
            known = self._known(found, agent, [message["message_id"] for message in messages])
            new = [message for message in messages if message["message_id"] not in known]
            self._execute(found, _MOVE, agent, watermark)
            return self._store(found, agent, [("user_text", one, one["message_id"]) for one in new])

        return await self._transaction(work)

    async def watermark(self, agent: str) -> str | None:
        rows = await self._rows("SELECT last_id FROM {t}watermarks WHERE agent = ?", agent)
        return rows[0][0] if rows else None

    async def events(self, agent: str, after: int = 0) -> list[StoredEvent]:
        return [decoded(row) for row in await self._rows(EVENTS, agent, after)]

    async def ask(self, agent: str, kind: RequestKind, head: str = "") -> bool:
        return await self._transaction(lambda found: self._execute(found, _ASK, kind, head, agent).rowcount > 0)

    async def take_request(self, agent: str) -> AgentRequest | None:
        rows = await self._rows("SELECT kind, newest, head FROM {t}requests WHERE agent = ?", agent)
        if not rows:  # nearly always: no write
            return None
        await (await self._database()).change(self._sql("DELETE FROM {t}requests WHERE agent = ?"), (agent,))
        return AgentRequest(*rows[0])

    async def set_live(self, agent: str, shown: JsonObject | None) -> None:
        """Store what the model is writing; a crash of the machine may undo it."""

        def work(found: Transaction) -> None:
            self._execute(found, "DELETE FROM {t}live WHERE agent = ?", agent)
            if shown is not None:
                self._execute(found, "INSERT INTO {t}live VALUES (?, ?)", agent, dumps(shown))

        await (await self._database()).transaction(work, durable=False)

    async def live(self, agent: str) -> JsonObject | None:
        rows = await self._rows(LIVE, agent)
        return loads(rows[0][0]) if rows else None

    async def list_agents(self) -> list[AgentSummary]:
        rows = await self._rows(_SUMMARIES)
        return [
            AgentSummary(agent, loads(said)["text"] if said else "", began, ended, count, _label(label))
            for agent, began, ended, count, said, *label in rows
        ]

    async def set_label(self, agent: str, label: Label) -> None:
        values = (agent, label.title, int(label.pinned), int(label.archived), label.folder)
        await (await self._database()).change(self._sql(_LABEL), values)

    async def search(self, words: str, limit: int) -> list[Found]:
        rows = await self._rows(_SEARCH, words.casefold(), limit)
        return [Found(agent, text_of(decoded(tuple(event)))) for agent, *event in rows]

    async def delete_agent(self, agent: str) -> bool:
        def work(found: Transaction) -> bool:
            for table in ("watermarks", "leases", "requests", "labels", "texts", "live"):
                self._execute(found, f"DELETE FROM {{t}}{table} WHERE agent = ?", agent)  # noqa: S608 - our own names
            return self._execute(found, "DELETE FROM {t}events WHERE agent = ?", agent).rowcount > 0

        return await self._transaction(work)

    async def is_served(self, agent: str) -> bool:
        """Return whether a process holds the agent's lease."""
        return bool(await self._rows("SELECT 1 FROM {t}leases WHERE agent = ? AND until > {now}", agent))

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await close_database(opened)

    def _check_lease(self, found: Transaction, agent: str, lease: Lease) -> None:
        if not self._leases.holds(found, agent, lease):
            raise LeaseLostError(f"Another orchestrator runs agent {agent!r} now; this one stops", agent=agent)

    def _known(self, found: Transaction, agent: str, ids: Sequence[str]) -> set[str]:
        if not ids:
            return set()
        marks = ", ".join("?" * len(ids))
        statement = f"SELECT message_id FROM {{t}}events WHERE agent = ? AND message_id IN ({marks})"  # noqa: S608
        return {row[0] for row in self._execute(found, statement, agent, *ids).fetchall()}

    def _store(
        self, found: Transaction, agent: str, events: Sequence[tuple[str, JsonObject, str | None]]
    ) -> list[StoredEvent]:
        newest = self._execute(found, "SELECT coalesce(max(id), 0) FROM {t}events WHERE agent = ?", agent)
        last = newest.fetchall()[0][0]
        ts = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        stored = [StoredEvent(last + number, ts, kind, data) for number, (kind, data, _) in enumerate(events, 1)]
        rows = [
            (agent, event.id, event.ts, event.type, dumps(event.data), message_id)
            for event, (_, _, message_id) in zip(stored, events, strict=True)
        ]
        found.executemany(self._sql("INSERT INTO {t}events VALUES (?, ?, ?, ?, ?, ?)"), rows)
        texts = [(agent, event.id, text.casefold()) for event in stored if (text := text_of(event))]
        if texts:
            found.executemany(self._sql("INSERT INTO {t}texts VALUES (?, ?, ?)"), texts)
        return stored

    def _sql(self, statement: str) -> str:
        return statement.format_map(self._dialect)

    def _execute(self, found: Transaction, statement: str, *values: Json) -> Cursor:
        return found.execute(self._sql(statement), values)

    async def _rows(self, statement: str, *values: Json) -> list[tuple[Any, ...]]:
        return await (await self._database()).rows(self._sql(statement), values)

    async def _transaction(self, work: Callable[[Transaction], T]) -> T:
        return await (await self._database()).transaction(work)

    async def _database(self) -> Database:
        if self._opened is None:
            async with self._opening:
                if self._opened is None:
                    self._opened = await to_thread.run_sync(open_database, self._place, SQLITE, POSTGRES)
        return self._opened


def _label(row: Sequence[Any]) -> Label:
    title, pinned, archived, folder = row
    return Label(title or "", bool(pinned), bool(archived), folder or "")


def decoded(row: tuple[Any, ...]) -> StoredEvent:
    """Return the event in a row of `EVENTS`."""
    number, ts, kind, data = row
    return StoredEvent(number, ts, kind, loads(data))


def journal_place(url: str | None, folder: Path) -> str:
    """Return path or URL of the journal that belongs to a chat at `url`."""
    return url if url is not None and file_of(url) is None else str(folder / JOURNAL_FILE)
