"""The audit log: one JSON line per call, without secrets."""

import os
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TextIO

from ui_mcp.compositor.approvals.row import canonical
from ui_mcp.compositor.redact import Scrubber
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.log import logger

_ROTATE = 20_000_000
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


_FIELDS = tuple(field.name for field in fields(Line))


class Audit:
    """Appends lines to a file of mode 0600 and starts a new one when it grows large."""

    def __init__(self, file: Path | None, level: str, scrubber: Scrubber) -> None:
        self._file = file if level != "off" else None
        self._level = level
        self._scrubber = scrubber
        self._open: TextIO | None = None

    def write(self, line: Line, arguments: JsonObject) -> None:
        """Append one line; a full disk must not stop the call it is about."""
        if self._file is None:
            return
        told: JsonObject = {"ts": datetime.now(UTC).isoformat().replace("+00:00", "Z")}
        told |= {name: getattr(line, name) for name in _FIELDS}
        told["args_digest"] = sha256(canonical(arguments).encode()).hexdigest()[:16]
        if self._level in {"args", "full"}:
            told["args"] = self._scrubber.json(arguments)
        try:
            self._append(self._file, self._scrubber.text(dumps(told)) + "\n")
        except OSError as error:
            _log.warning("cannot write %s: %s", self._file, error)

    def close(self) -> None:
        """Close the file."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _append(self, file: Path, text: str) -> None:
        if self._open is not None and self._open.tell() > _ROTATE:
            self.close()
            file.replace(file.with_suffix(file.suffix + ".1"))
        if self._open is None:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            self._open = os.fdopen(descriptor, "a", encoding="utf-8")
        self._open.write(text)
        self._open.flush()
