"""The audit log: one JSON line per call, without secrets; it is also the history that proposed rules are tried on."""

import asyncio
import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TextIO

from ui_mcp.compositor.approvals.row import canonical
from ui_mcp.compositor.redact import Scrubber
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.log import logger

_ROTATE = 20_000_000
_REMEMBERED = 1_000
_LARGE = 4_000
_GATHER_SECONDS = 0.01
_log = logger("compositor.audit")


@dataclass(frozen=True, slots=True)
class Line:
    """What happened to one call."""

    id: str
    principal: str
    client: str
    source: str
    tool: str
    method: str
    outcome: str
    """`policy_allow`, `policy_deny_continue`, `policy_deny_abort`, `user_approve`, `user_approve_edited`,
    `user_deny_continue`, `user_deny_abort` or `expired`."""
    approval_id: str | None
    status: int | None
    is_error: bool
    ms: int
    bytes_out: int
    url: str = ""
    """Where the request went, without secrets."""


@dataclass(frozen=True, slots=True)
class Called:
    """A call of the past; its arguments only where they are known."""

    id: str
    principal: str
    tool: str
    outcome: str
    arguments: JsonObject | None


_FIELDS = tuple(field.name for field in fields(Line))


class Audit:
    """Appends lines to a file of mode 0600 and starts a new one when it grows large."""

    def __init__(self, file: Path | None, level: str, scrubber: Scrubber) -> None:
        self._file = file if level != "off" else None
        self._level = level
        self._scrubber = scrubber
        self._open: TextIO | None = None
        self._recent: deque[Called] = deque(maxlen=_REMEMBERED)
        self._waiting: deque[tuple[datetime, Line, JsonObject]] = deque()
        self._due = False

    def write(self, line: Line, arguments: JsonObject) -> None:
        """Append one line a moment after the answer it is about has gone out: nobody waits for the log."""
        if self._file is None:
            return
        self._waiting.append((datetime.now(UTC), line, arguments))
        if self._due:
            return
        try:
            asyncio.get_running_loop().call_later(_GATHER_SECONDS, self._write_waiting)
            self._due = True
        except RuntimeError:
            self._write_waiting()

    def _write_waiting(self) -> None:
        """Append what was gathered; a full disk must not stop the calls it is about."""
        self._due = False
        texts: list[str] = []
        with suppress(IndexError):  # history reads in a thread of its own
            while True:
                texts.append(self._text(*self._waiting.popleft()))
        if not texts or self._file is None:
            return
        try:
            self._append(self._file, "".join(texts))
        except OSError as error:
            _log.warning("cannot write %s: %s", self._file, error)

    def _text(self, when: datetime, line: Line, arguments: JsonObject) -> str:
        told: JsonObject = {"ts": when.isoformat().replace("+00:00", "Z")}
        told |= {name: getattr(line, name) for name in _FIELDS}
        exact = canonical(arguments)
        told["bytes_in"] = len(exact)
        told["args_digest"] = sha256(exact.encode()).hexdigest()[:16]
        if self._level in {"args", "full"}:
            told["args"] = self._scrubber.json(arguments)
        self._recent.append(
            Called(line.id, line.principal, line.tool, line.outcome, arguments if len(exact) <= _LARGE else None)
        )
        return self._scrubber.text(dumps(told)) + "\n"

    def history(self, limit: int) -> Sequence[Called]:
        """Return the latest calls, oldest first: this process's with their arguments, older ones from the file."""
        self._write_waiting()
        recent = list(self._recent)[-limit:]
        known = {call.id for call in recent}
        missing = limit - len(recent)
        if self._file is None or missing <= 0:
            return recent
        older = [_called(line) for line in lines(self._file) if line.get("id") not in known]
        return [*older[-missing:], *recent]

    def close(self) -> None:
        """Write what waits and close the file."""
        self._write_waiting()
        self._close_file()

    def _close_file(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _append(self, file: Path, text: str) -> None:
        if self._open is not None and self._open.tell() > _ROTATE:
            self._close_file()
            file.replace(rotated(file))
        if self._open is None:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            self._open = os.fdopen(descriptor, "a", encoding="utf-8")
        self._open.write(text)
        self._open.flush()


def rotated(file: Path) -> Path:
    """Return where the file before this one is."""
    return file.with_suffix(file.suffix + ".1")


def lines(file: Path) -> Iterator[JsonObject]:
    """Read what was written, oldest first; a line cut by a crash is passed over."""
    for place in (rotated(file), file):
        if place.is_file():
            with place.open(encoding="utf-8", errors="replace") as text:
                for line in text:
                    try:
                        found = loads(line)
                    except ValueError:
                        continue
                    if isinstance(found, dict):
                        yield found


def _called(line: JsonObject) -> Called:
    call_id, principal, tool, outcome = (str(line.get(name, "")) for name in ("id", "principal", "tool", "outcome"))
    arguments = line.get("args")
    return Called(call_id, principal, tool, outcome, arguments if isinstance(arguments, dict) else None)
