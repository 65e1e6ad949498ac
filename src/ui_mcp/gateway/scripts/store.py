"""Stores scripts and the journal of their steps in SQL, on SQLite or PostgreSQL."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.storage.database import Database

State = Literal["running", "done", "failed"]
StepState = Literal["asking", "sending", "done"]

_TABLES = (
    """CREATE TABLE IF NOT EXISTS script_runs (
      id TEXT PRIMARY KEY, created_at DOUBLE PRECISION, principal TEXT, code TEXT, seed INTEGER, seal TEXT,
      state TEXT, outcome TEXT, lease TEXT, lease_until DOUBLE PRECISION)""",
    """CREATE TABLE IF NOT EXISTS script_steps (
      run TEXT, step TEXT, request TEXT, state TEXT, answer TEXT, position INTEGER, PRIMARY KEY (run, step))""",
    "CREATE INDEX IF NOT EXISTS script_runs_state ON script_runs (state, created_at)",
)
"""Valid in both SQLite and PostgreSQL."""

LEASE_SECONDS = 15.0
_KEPT_SECONDS = 7 * 86_400.0
_RUN = "id, created_at, principal, code, seed, seal, state, outcome, lease, lease_until"


@dataclass(frozen=True, slots=True)
class Run:
    """A script; times are seconds since the epoch."""

    id: str
    created_at: float
    principal: str
    code: str
    seed: int
    seal: str
    """Shows that this account started it; one that came with a repository is never resumed."""
    state: State = "running"
    outcome: JsonObject | None = None
    lease: str = ""
    lease_until: float = 0.0


@dataclass(frozen=True, slots=True)
class Step:
    """A request of a script: begun, or answered."""

    key: str
    request: str
    """Digest of the request; a replay must make the same one."""
    state: StepState
    answer: JsonObject | None = None
    position: int = 0
    """The answers of a run are numbered; a replay gives them in this order."""


class ScriptStore:
    """Shares the database of the approvals, since SQLite drops locks when a process opens a file a second time.

    Every write about a step needs the run's lease, so that only one process drives a script.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def prepare(self) -> None:
        """Create the tables if they are missing."""
        for statement in _TABLES:
            await self._database.change(statement)

    async def add(self, run: Run) -> None:
        old = (run.created_at - _KEPT_SECONDS,)
        ended = "state != 'running' AND created_at < ?"
        await self._database.change(
            f"DELETE FROM script_steps WHERE run IN (SELECT id FROM script_runs WHERE {ended})",  # noqa: S608
            old,
        )
        await self._database.change(f"DELETE FROM script_runs WHERE {ended}", old)  # noqa: S608
        values = (run.id, run.created_at, run.principal, run.code, run.seed, run.seal, run.state)
        statement = f"INSERT INTO script_runs ({_RUN}) VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)"  # noqa: S608
        await self._database.change(statement, (*values, run.lease, run.lease_until))

    async def get(self, run_id: str) -> Run | None:
        return next(iter(await self._runs("id = ?", run_id)), None)

    async def running(self) -> Sequence[Run]:
        """Return the scripts that have not ended, oldest first."""
        return await self._runs("state = ? ORDER BY created_at", "running")

    async def take(self, run: Run, lease: str, until: float) -> bool:
        """Take over a script that no process has taken since `run` was read; return whether that succeeded."""
        statement = (
            "UPDATE script_runs SET lease = ?, lease_until = ? "
            "WHERE id = ? AND state = 'running' AND lease = ? AND lease_until = ?"
        )
        return await self._database.change(statement, (lease, until, run.id, run.lease, run.lease_until)) == 1

    async def renew(self, run_id: str, lease: str, until: float) -> bool:
        """Keep a lease; return False if the script has ended or another process has taken it."""
        statement = "UPDATE script_runs SET lease_until = ? WHERE id = ? AND lease = ? AND state = 'running'"
        return await self._database.change(statement, (until, run_id, lease)) == 1

    async def steps(self, run_id: str) -> Sequence[Step]:
        """Return all steps, the answered ones in the order of their answers."""
        rows = await self._database.rows(
            "SELECT step, request, state, answer, position FROM script_steps WHERE run = ? ORDER BY position, step",
            (run_id,),
        )
        return [Step(key, request, state, answer and loads(answer), at) for key, request, state, answer, at in rows]

    async def write(self, run_id: str, lease: str, step: Step) -> bool:
        """Write a step down, or what has become of it; return False if another process drives the script."""
        answer = None if step.answer is None else dumps(step.answer)
        changed = await self._database.change(
            "INSERT INTO script_steps (run, step, request, state, answer, position) "
            "SELECT id, ?, ?, ?, ?, ? FROM script_runs WHERE id = ? AND lease = ? AND state = 'running' "
            "ON CONFLICT (run, step) DO UPDATE SET state = excluded.state, answer = excluded.answer, "
            "position = excluded.position",
            (step.key, step.request, step.state, answer, step.position, run_id, lease),
        )
        return changed == 1

    async def finish(self, run_id: str, lease: str, state: State, outcome: JsonObject) -> bool:
        """Record the end of a script; return False if another process drives it."""
        statement = "UPDATE script_runs SET state = ?, outcome = ? WHERE id = ? AND lease = ? AND state = 'running'"
        return await self._database.change(statement, (state, dumps(outcome), run_id, lease)) == 1

    async def stop(self, run_id: str, principal: str, outcome: JsonObject) -> None:
        """End a script of a principal from outside, whichever process drives it."""
        statement = (
            "UPDATE script_runs SET state = 'failed', outcome = ? WHERE id = ? AND principal = ? AND state = 'running'"
        )
        await self._database.change(statement, (dumps(outcome), run_id, principal))

    async def _runs(self, where: str, value: str) -> list[Run]:
        rows = await self._database.rows(f"SELECT {_RUN} FROM script_runs WHERE {where}", (value,))  # noqa: S608 - our own columns
        return [replace(Run(*row), outcome=row[7] and loads(row[7])) for row in rows]
