"""Files of `session:store`: one SQLite file per app and store, `storage/APP/NAME.db`."""

import csv
import io
import json
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection, Error
from typing import Any

from ui_mcp.errors import RefusedError, UiMcpError, hint
from ui_mcp.files import require_inside
from ui_mcp.storage.schema import Failure, Schema
from ui_mcp.storage.sqlite import prepare

_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")


def _error(failure: Failure, message: str, **details: object) -> UiMcpError:
    return UiMcpError(message, failure=failure, **details)


SCHEMA = Schema(
    name="app's",
    error=_error,
    version="user_version",
    migrations=(
        """
        CREATE TABLE entries (key TEXT PRIMARY KEY, position INTEGER NOT NULL, data TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE types (name TEXT PRIMARY KEY, fields TEXT NOT NULL) WITHOUT ROWID;
        CREATE VIEW rows AS SELECT position, data FROM entries WHERE position >= 0 ORDER BY position;
        """,
    ),
)

Answer = str | bool | tuple[None, str]
"""What Lua gets: a value, or (None, reason)."""


class AppStores:
    """The open stores of one session."""

    def __init__(self, base: str) -> None:
        self._storage = Path(base) / "storage"
        self._open: dict[tuple[str, str], Connection] = {}

    def call(self, op: str, *args: str) -> Answer:
        """Run one operation: `open`, `save`, `id`, `rows` or `text`."""
        operations: dict[str, Callable[..., Answer]] = {
            "open": self.open,
            "save": self.save,
            "id": lambda: secrets.token_hex(8),
            "rows": rows_from,
            "text": text_from,
        }
        try:
            return operations[op](*args)
        except UiMcpError as error:
            return None, error.message
        except (OSError, Error, ValueError, csv.Error) as error:
            return None, f"{error}{hint(error)}"

    def open(self, app: str, name: str) -> str:
        """Return JSON of a store: its entries as [key, position, data], and the fields of the types that were saved."""
        connection = self._connection(app, name)
        entries = connection.execute("SELECT key, position, data FROM entries").fetchall()
        # Each value was saved as a list with one element.
        rows = ",".join(f"[{json.dumps(key)},{position},{data[1:-1]}]" for key, position, data in entries)
        types = dict(connection.execute("SELECT name, fields FROM types").fetchall())
        return f'{{"rows":[{rows}],"types":{json.dumps(types)}}}'

    def save(self, app: str, name: str, changes: str) -> bool:
        """Save changes in one transaction, which is on the disk when this returns."""
        connection, found = self._connection(app, name), json.loads(changes)
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.executemany("DELETE FROM entries WHERE key = ?", [(key,) for key in found["gone"]])
            connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", found["put"])
            moved = [(position, key) for key, position in found["moved"]]
            connection.executemany("UPDATE entries SET position = ? WHERE key = ?", moved)
            connection.executemany("INSERT OR REPLACE INTO types VALUES (?, ?)", found["types"].items())
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # after a disk error SQLite has rolled back already
                connection.execute("ROLLBACK")
            raise
        return True

    def _connection(self, app: str, name: str) -> Connection:
        known = self._open.get((app, name))
        if known is not None:
            return known
        if not (_NAME.fullmatch(app) and _NAME.fullmatch(name)):
            raise RefusedError(f"Not the name of an app and a store: {app}/{name}")
        path = self._storage / app / f"{name}.db"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        require_inside(self._storage.parent, path.parent)
        if path.is_symlink():
            raise RefusedError(f"storage/{app}/{name}.db is a link\nRemove it: stores are files of their own.")
        connection = self._open[app, name] = prepare(path, SCHEMA)
        connection.execute("PRAGMA synchronous=FULL")
        return connection


def rows_from(form: str, text: str) -> str:
    """Return JSON of the rows in a text of JSON or CSV.

    Raises:
        ValueError: the text is neither.
    """
    return json.dumps(_csv_rows(text) if form == "csv" else _json_rows(text))


def text_from(form: str, given: str, fields: str) -> str:
    """Return rows as text; columns of CSV are `fields` first, then others in the order in which they occur."""
    rows = json.loads(given)[0] or []
    if form == "json":
        return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"
    plain = [row if isinstance(row, dict) else {"value": row} for row in rows]
    named = [name for row in plain for name in row if not name.startswith("_")]
    columns = list(dict.fromkeys([*fields.split(), *named]))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in plain)
    return out.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _json_rows(text: str) -> list[Any]:
    match json.loads(text):
        case list() as found:
            return found
    raise ValueError("JSON to import must be a list of rows")


def _csv_rows(text: str) -> list[dict[str, str]]:
    sample = text.lstrip("\ufeff")
    delimiter = max(",;\t", key=sample.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(sample, newline=""), delimiter=delimiter, strict=True)
    if not reader.fieldnames:
        raise ValueError("CSV to import must begin with a line of column names")
    rows = []
    for row in reader:
        if None in row or None in row.values():
            raise ValueError(f"Line {reader.line_num} of the CSV has another number of values than the first line")
        rows.append({name.strip(): value for name, value in row.items() if name})
    return rows
