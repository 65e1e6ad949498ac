"""Stores questions in SQL, on SQLite or PostgreSQL; an answer is a compare-and-set, so that one wins."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Literal

from ui_mcp.errors import InboxError
from ui_mcp.inbox.model import Question
from ui_mcp.jsontypes import Json, dumps, loads
from ui_mcp.storage.database import Database, open_database
from ui_mcp.storage.schema import Failure, Schema

_COLUMNS = tuple(field.name for field in fields(Question))
_JSON = frozenset({"body", "answer"})
_TIMES = frozenset({"created_at", "expires_at", "decided_at"})
_NAMES = ", ".join(_COLUMNS)
_TYPES = ", ".join(f"{name} {'DOUBLE PRECISION' if name in _TIMES else 'TEXT'}" for name in _COLUMNS)

_SCRIPT = f"""
CREATE TABLE IF NOT EXISTS inbox_questions ({_TYPES}, PRIMARY KEY (id));
CREATE INDEX IF NOT EXISTS inbox_by_status ON inbox_questions (status, created_at);
"""
"""Valid in both SQLite and PostgreSQL."""

_WHERE = {
    "pending": "status = 'pending' ORDER BY created_at",
    "history": "status != 'pending' ORDER BY coalesce(decided_at, created_at) DESC",
}


class QuestionStore:
    """The table of questions in one database, which may hold other tables too."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def close(self) -> None:
        self._database.close()

    async def add(self, question: Question) -> None:
        statement = f"INSERT INTO inbox_questions ({_NAMES}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608
        await self._database.change(statement, _encoded(question))

    async def get(self, question_id: str) -> Question | None:
        found = await self._database.rows(f"SELECT {_NAMES} FROM inbox_questions WHERE id = ?", (question_id,))  # noqa: S608
        return _decoded(found[0]) if found else None

    async def rows(self, where: Literal["pending", "history"], limit: int) -> Sequence[Question]:
        """Return questions: `pending` ones oldest first, those of the `history` newest first."""
        statement = f"SELECT {_NAMES} FROM inbox_questions WHERE {_WHERE[where]} LIMIT ?"  # noqa: S608 - our own names
        return [_decoded(row) for row in await self._database.rows(statement, (limit,))]

    async def settle(self, question: Question) -> bool:
        """Store an outcome unless there is one already; return whether it was stored."""
        changed = await self._database.change(
            "UPDATE inbox_questions SET status = ?, answer = ?, decided_by = ?, decided_at = ? "
            "WHERE id = ? AND status = 'pending'",
            (question.status, dumps(question.answer), question.decided_by, question.decided_at, question.id),
        )
        return changed == 1


def open_questions(place: str) -> QuestionStore:
    """Open the questions at a path, `sqlite:///PATH` or `postgresql://…`; a file is created when missing.

    Raises:
        ConfigError: the URL has an unknown scheme, or its driver is missing.
        InboxError: the store cannot be opened.
    """
    return QuestionStore(open_database(place, _SCHEMA, _SCHEMA))


def _encoded(question: Question) -> tuple[Json, ...]:
    values = ((name, getattr(question, name)) for name in _COLUMNS)
    return tuple(dumps(value) if name in _JSON else value for name, value in values)


def _decoded(values: tuple[Any, ...]) -> Question:
    named = dict(zip(_COLUMNS, values, strict=True))
    return Question(**{name: loads(value) if name in _JSON else value for name, value in named.items()})


def _error(failure: Failure, message: str, **details: object) -> InboxError:
    return InboxError(message, **details)


_SCHEMA = Schema("inbox", _error, [_SCRIPT], lock=7_155_091_642_133)
