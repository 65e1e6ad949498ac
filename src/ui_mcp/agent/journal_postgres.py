"""The journal in PostgreSQL, beside a chat that several hosts share; leases are taken by compare-and-set."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import anyio
from psycopg import AsyncConnection, Error, OperationalError

from ui_mcp.agent.journal import AgentSummary, Lease, NewEvent, is_gone
from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.errors import JournalError, LeaseLostError
from ui_mcp.jsontypes import JsonObject, dumps, loads

SCHEMA_LOCK = 7_203_412_009

SCHEMA = """
CREATE TABLE IF NOT EXISTS agent_events (
    agent text NOT NULL, id bigint NOT NULL, ts text NOT NULL, type text NOT NULL, data text NOT NULL,
    message_id text, PRIMARY KEY (agent, id), UNIQUE (agent, message_id)
);
CREATE TABLE IF NOT EXISTS agent_watermarks (agent text PRIMARY KEY, last_id text NOT NULL);
CREATE TABLE IF NOT EXISTS agent_leases (
    agent text PRIMARY KEY, holder text NOT NULL, fence bigint NOT NULL, until double precision NOT NULL
);
"""

# Uses the database's clock, because the clocks of the hosts may differ.
TAKE = """
INSERT INTO agent_leases AS held VALUES (%(agent)s, %(holder)s, 1, extract(epoch FROM clock_timestamp()) + %(seconds)s)
ON CONFLICT (agent) DO UPDATE SET
    fence = CASE WHEN held.holder = excluded.holder THEN held.fence ELSE held.fence + 1 END,
    holder = excluded.holder, until = excluded.until
WHERE held.holder = excluded.holder OR held.holder = %(gone)s OR held.until <= extract(epoch FROM clock_timestamp())
RETURNING fence
"""

MOVE = """
INSERT INTO agent_watermarks VALUES (%s, %s) ON CONFLICT (agent) DO UPDATE SET last_id = excluded.last_id
"""

SERVED = "SELECT 1 FROM agent_leases WHERE agent = %s AND until > extract(epoch FROM clock_timestamp())"

SUMMARIES = """
SELECT agent, min(ts), max(ts), count(*), (
    SELECT data FROM agent_events AS said
    WHERE said.agent = events.agent AND said.type = 'user_text' ORDER BY id LIMIT 1
) FROM agent_events AS events GROUP BY agent ORDER BY max(ts) DESC
"""

Rows = list[tuple[Any, ...]]


class PostgresJournal:
    """Uses one connection, one transaction at a time, and reconnects after an error."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._one_at_a_time = anyio.Lock()
        self._opened: AsyncConnection[Any] | None = None

    async def take_lease(self, agent: str, holder: str, seconds: float) -> Lease | None:
        async with self._transaction() as connection:
            held = await _rows(connection, "SELECT holder FROM agent_leases WHERE agent = %s", agent)
            gone = held[0][0] if held and is_gone(held[0][0]) else None
            values = {"agent": agent, "holder": holder, "seconds": seconds, "gone": gone}
            row = await (await connection.execute(TAKE, values)).fetchone()
        return Lease(holder, row[0]) if row else None

    async def drop_lease(self, agent: str, lease: Lease) -> None:
        statement = "UPDATE agent_leases SET until = 0 WHERE agent = %s AND holder = %s AND fence = %s"
        async with self._transaction() as connection:
            await connection.execute(statement, (agent, lease.holder, lease.fence))

    async def append(self, agent: str, lease: Lease, events: Sequence[NewEvent]) -> list[StoredEvent]:
        async with self._transaction() as connection:
            await _check_lease(connection, agent, lease)
            return await _store(connection, agent, [(event.type, event.data, None) for event in events])

    async def inject(
        self, agent: str, lease: Lease, messages: Sequence[JsonObject], watermark: str
    ) -> list[StoredEvent]:
        ids = [message["message_id"] for message in messages]
        async with self._transaction() as connection:
            await _check_lease(connection, agent, lease)
            statement = "SELECT message_id FROM agent_events WHERE agent = %s AND message_id = ANY(%s)"
            known = {row[0] for row in await _rows(connection, statement, agent, ids)}
            new = [message for message in messages if message["message_id"] not in known]
            stored = await _store(connection, agent, [("user_text", one, one["message_id"]) for one in new])
            await connection.execute(MOVE, (agent, watermark))
        return stored

    async def watermark(self, agent: str) -> str | None:
        async with self._transaction() as connection:
            rows = await _rows(connection, "SELECT last_id FROM agent_watermarks WHERE agent = %s", agent)
        return rows[0][0] if rows else None

    async def events(self, agent: str, after: int = 0) -> list[StoredEvent]:
        statement = "SELECT id, ts, type, data FROM agent_events WHERE agent = %s AND id > %s ORDER BY id"
        async with self._transaction() as connection:
            rows = await _rows(connection, statement, agent, after)
        return [StoredEvent(number, ts, kind, loads(data)) for number, ts, kind, data in rows]

    async def list_agents(self) -> list[AgentSummary]:
        async with self._transaction() as connection:
            rows = await _rows(connection, SUMMARIES)
        return [AgentSummary(row[0], loads(row[4])["text"] if row[4] else "", row[1], row[2], row[3]) for row in rows]

    async def delete_agent(self, agent: str) -> bool:
        async with self._transaction() as connection:
            gone = (await connection.execute("DELETE FROM agent_events WHERE agent = %s", (agent,))).rowcount
            await connection.execute("DELETE FROM agent_watermarks WHERE agent = %s", (agent,))
            await connection.execute("DELETE FROM agent_leases WHERE agent = %s", (agent,))
        return gone > 0

    async def is_served(self, agent: str) -> bool:
        """Return whether a process holds the agent's lease."""
        async with self._transaction() as connection:
            return bool(await _rows(connection, SERVED, agent))

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.close()

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[AsyncConnection[Any]]:
        async with self._one_at_a_time:
            try:
                connection = await self._connection()
                async with connection.transaction():
                    yield connection
            except OperationalError as error:
                await self.close()
                raise JournalError(f"The journal's database cannot be reached: {_error_text(error)}") from error
            except Error as error:
                raise JournalError(f"The journal's database failed: {_error_text(error)}") from error

    async def _connection(self) -> AsyncConnection[Any]:
        if self._opened is None or self._opened.closed:
            connection = await AsyncConnection.connect(self._url, autocommit=True, connect_timeout=10)
            async with connection.transaction():
                await connection.execute("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
                await connection.execute(SCHEMA)
            self._opened = connection
        return self._opened


async def _check_lease(connection: AsyncConnection[Any], agent: str, lease: Lease) -> None:
    """Check the lease and lock its row until the end of the transaction, so that no other process takes it meanwhile.

    Raises:
        LeaseLostError: another process has the lease.
    """
    rows = await _rows(connection, "SELECT holder, fence FROM agent_leases WHERE agent = %s FOR UPDATE", agent)
    if rows != [(lease.holder, lease.fence)]:
        raise LeaseLostError(f"Another orchestrator runs agent {agent!r} now; this one stops", agent=agent)


async def _store(
    connection: AsyncConnection[Any], agent: str, events: Sequence[tuple[str, JsonObject, str | None]]
) -> list[StoredEvent]:
    ((last,),) = await _rows(connection, "SELECT coalesce(max(id), 0) FROM agent_events WHERE agent = %s", agent)
    ts = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    stored = [StoredEvent(last + number, ts, kind, data) for number, (kind, data, _) in enumerate(events, 1)]
    rows = [
        (agent, event.id, event.ts, event.type, dumps(event.data), message_id)
        for event, (_, _, message_id) in zip(stored, events, strict=True)
    ]
    async with connection.cursor() as cursor:
        await cursor.executemany("INSERT INTO agent_events VALUES (%s, %s, %s, %s, %s, %s)", rows)
    return stored


async def _rows(connection: AsyncConnection[Any], statement: Any, *values: Any) -> Rows:
    return await (await connection.execute(statement, values)).fetchall()


def _error_text(error: Error) -> str:
    return " ".join(str(error).split())
