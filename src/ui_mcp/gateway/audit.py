"""Audit log; AuditedToolset."""

import asyncio
import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from hashlib import sha256
from io import FileIO
from pathlib import Path

from ui_mcp.errors import InvalidArgumentsError, UiMcpError, UnknownToolError
from ui_mcp.gateway.config.settings import GatewaySettings
from ui_mcp.gateway.sanitize import SecretMasker, require_json
from ui_mcp.gateway.source import Entry
from ui_mcp.ids import secret_id
from ui_mcp.jsontypes import JsonObject, canonical, dumps, loads
from ui_mcp.log import logger
from ui_mcp.toolkit.tool import Call, Text, Tool, ToolResult
from ui_mcp.toolkit.toolset import Toolset

_ROTATE = 20_000_000
_REMEMBERED = 1_000
_LARGE = 4_000
_KEPT = 10_000_000
_RETRY_SECONDS = 1.0

UNDECIDED = frozenset({"asked", "changed", "dry_run", "invalid"})
"""Outcomes of calls that proposed rules are not tried on: there is no decision, or another line tells of it."""

OWN = "own"
"""The method of calls to tools of our own, which no rule is about."""

_log = logger("compositor.audit")


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """What happened to one call."""

    id: str
    principal: str
    client: str
    source: str
    tool: str
    method: str
    outcome: str
    """`policy_allow`, `policy_deny_continue`, `policy_deny_abort`, `user_approve`, `user_approve_edited`,
    `user_deny_continue`, `user_deny_abort` or `expired`; of calls that did nothing yet, or nothing at all: `asked`,
    `changed` (asked about once more), `dry_run` or `invalid`."""
    approval_id: str | None = None
    status: int | None = None
    is_error: bool = False
    ms: int = 0
    bytes_out: int = 0
    url: str = ""
    """Where the request went, without secrets."""


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call of the past; its arguments only where they are known."""

    id: str
    principal: str
    tool: str
    outcome: str
    arguments: JsonObject | None


_FIELDS = tuple(field.name for field in fields(AuditRecord))


class Audit:
    """Appends lines to a file of mode 0600 and starts a new one when it grows large."""

    def __init__(self, file: Path | None, level: str, scrubber: SecretMasker) -> None:
        self._file = file if level != "off" else None
        self._level = level
        self._scrubber = scrubber
        self._open: FileIO | None = None
        self._unwritten = b""
        self._failing = False
        self._due = False
        self._recent: deque[PastCall] = deque(maxlen=_REMEMBERED)

    def write(self, line: AuditRecord, arguments: JsonObject) -> None:
        """Append one line, so that it is there before the answer it is about.

        A disk that is full does not stop the call; its line is kept until it can be written.
        """
        if self._file is None:
            return
        self._unwritten += self._text(line, arguments).encode()
        self._write_down(self._file)

    def _write_down(self, file: Path) -> None:
        try:
            self._append(file)
            self._failing = False
        except OSError as error:
            self._keep(file, error)

    def _keep(self, file: Path, error: OSError) -> None:
        if not self._failing:
            _log.warning("cannot write %s: %s; its lines are kept until it can be written", file, error)
        self._failing = True
        self._unwritten = self._unwritten[-_KEPT:]
        with suppress(RuntimeError):  # there is no loop: the next line tries again
            if not self._due:
                asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._retry, file)
                self._due = True

    def _retry(self, file: Path) -> None:
        self._due = False
        if self._unwritten:
            self._write_down(file)

    def _text(self, line: AuditRecord, arguments: JsonObject) -> str:
        told: JsonObject = {"ts": datetime.now(UTC).isoformat().replace("+00:00", "Z")}
        told |= {name: getattr(line, name) for name in _FIELDS}
        exact = canonical(arguments)
        told["bytes_in"] = len(exact)
        told["args_digest"] = sha256(exact.encode()).hexdigest()[:16]
        if self._level in {"args", "full"}:
            told["args"] = self._scrubber.json(arguments)
        if line.method != OWN and line.outcome not in UNDECIDED:
            kept = arguments if len(exact) <= _LARGE else None
            self._recent.append(PastCall(line.id, line.principal, line.tool, line.outcome, kept))
        return self._scrubber.text(dumps(told)) + "\n"

    def history(self, limit: int) -> Sequence[PastCall]:
        """Return the latest calls that rules are about, oldest first: arguments of older ones as the file has them."""
        recent = list(self._recent)[-limit:]
        known = {call.id for call in recent}
        missing = limit - len(recent)
        if self._file is None or missing <= 0:
            return recent
        older = [_called(line) for line in lines(self._file) if _is_decided(line) and line.get("id") not in known]
        return [*older[-missing:], *recent]

    def close(self) -> None:
        """Close the file."""
        self._unwritten = b""
        self._close_file()

    def _close_file(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _append(self, file: Path) -> None:
        if self._open is not None and self._open.tell() > _ROTATE:
            self._close_file()
            file.replace(rotated(file))
        if self._open is None:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            self._open = FileIO(descriptor, "a")
        while self._unwritten:  # a disk that fills up takes a part
            self._unwritten = self._unwritten[self._open.write(self._unwritten) :]


def text_bytes(result: ToolResult) -> int:
    """Return how much text an answer holds."""
    return sum(len(part.text) for part in result.content if isinstance(part, Text))


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


def _is_decided(line: JsonObject) -> bool:
    return line.get("method") != OWN and line.get("outcome") not in UNDECIDED


def _called(line: JsonObject) -> PastCall:
    call_id, principal, tool, outcome = (str(line.get(name, "")) for name in ("id", "principal", "tool", "outcome"))
    arguments = line.get("args")
    return PastCall(call_id, principal, tool, outcome, arguments if isinstance(arguments, dict) else None)


class AuditedToolset:
    """A toolset that writes down what is called."""

    def __init__(self, tools: Toolset, source: str, audit: Audit) -> None:
        self._tools = tools
        self._source = source
        self._audit = audit

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the tools as they are."""
        return await self._tools.tools(call)

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Run one tool and note it under its listed name."""
        started = time.perf_counter()
        try:
            require_json(arguments)
        except InvalidArgumentsError:
            await self._note(name, {}, call, started, None)
            raise
        try:
            result = await self._tools.call(name, arguments, call)
        except UnknownToolError:
            raise
        except UiMcpError:
            await self._note(name, arguments, call, started, None)
            raise
        await self._note(name, arguments, call, started, result)
        return result

    async def _note(
        self, name: str, arguments: JsonObject, call: Call, started: float, result: ToolResult | None
    ) -> None:
        listed = [tool.name for tool in await self._tools.tools(call) if name in (tool.name, *tool.aliases)]
        line = AuditRecord(
            id=secret_id(),
            principal=call.principal,
            client=call.client_name,
            source=self._source,
            tool=listed[0] if listed else name,
            method=OWN,
            outcome="policy_allow",
            is_error=result is None or result.is_error,
            ms=int((time.perf_counter() - started) * 1000),
            bytes_out=text_bytes(result) if result else 0,
        )
        self._audit.write(line, arguments)


class CallLog:
    """Notes calls of tools of any source."""

    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    def note(
        self,
        entry: Entry | None,
        arguments: JsonObject,
        call: Call,
        outcome: str,
        approval_id: str | None = None,
        *,
        started: float | None = None,
        result: ToolResult | None = None,
        is_error: bool = False,
    ) -> None:
        """Write one line."""
        # Only our own requests tell of themselves; a mounted server could write anything there.
        ours = result is not None and entry is not None and entry.kind == "target"
        http = (result.meta or {}).get("ui-mcp/http", {}) if ours and result else {}
        line = AuditRecord(
            id=secret_id(),
            principal=call.principal,
            client=call.client_name,
            source=entry.source if entry else "",
            tool=entry.name if entry else "",
            method=entry.method if entry else "",
            outcome=outcome,
            approval_id=approval_id,
            status=http.get("status"),
            is_error=is_error or bool(result and result.is_error),
            ms=int((time.perf_counter() - started) * 1000) if started else 0,
            url=str(http.get("url", "")),
            bytes_out=text_bytes(result) if result else 0,
        )
        self._audit.write(line, arguments)


def audit_file(settings: GatewaySettings, data: Path) -> Path:
    """Return where calls are written down."""
    return Path(settings.audit.file).expanduser() if settings.audit.file else data / "audit.jsonl"
