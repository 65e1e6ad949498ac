"""The audit log: one JSON line per call, and a toolset that writes them."""

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import UTC, datetime
from hashlib import sha256
from io import FileIO
from pathlib import Path
from secrets import token_hex

from ui_mcp.errors import InvalidArgumentsError, UiMcpError, UnknownToolError
from ui_mcp.gateway.config.settings import GatewaySettings
from ui_mcp.gateway.sanitize import SecretMasker, require_json
from ui_mcp.gateway.source import Entry
from ui_mcp.jsontypes import JsonObject, canonical, dumps, loads
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger
from ui_mcp.toolkit.tool import Call, Text, Tool, ToolResult
from ui_mcp.toolkit.toolset import Toolset
from ui_mcp.workspace import AUDIT_FILE

_ROTATE_BYTES = 20_000_000
_RECENT_CALLS = 1_000
_MAX_KEPT_ARGUMENTS = 4_000
_MAX_UNWRITTEN = 10_000_000
_RETRY_SECONDS = 1.0

UNDECIDED = frozenset({"asked", "changed", "dry_run", "invalid"})
"""Outcomes that the replay of proposed rules skips: there is no decision, or another line records it."""

OWN = "own"
"""The method of calls to the gateway's own tools, to which no rule applies."""

_log = logger("gateway.audit")


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One line of the log."""

    id: str
    principal: str
    client: str
    source: str
    tool: str
    method: str
    outcome: str
    """`policy_allow`, `policy_deny_continue`, `policy_deny_abort`, `user_approve`, `user_approve_edited`,
    `user_deny_continue`, `user_deny_abort` or `expired`; for calls that have not run or never will: `asked`,
    `changed` (needs another approval), `dry_run` or `invalid`."""
    approval_id: str | None = None
    status: int | None = None
    is_error: bool = False
    ms: int = 0
    bytes_out: int = 0
    url: str = ""
    """The address of the request, with secrets masked."""


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call from the log; `arguments` is None when they were not recorded."""

    id: str
    principal: str
    tool: str
    outcome: str
    arguments: JsonObject | None


_FIELDS = tuple(field.name for field in fields(AuditRecord))


class Audit:
    """Appends lines to a file of mode 0600 and rotates it when it grows too large."""

    def __init__(
        self,
        file: Path | None,
        level: str,
        masker: SecretMasker,
        observer: Callable[[JsonObject, JsonObject], None] = lambda *_: None,
    ) -> None:
        """Write to a file; `observer` gets each line and the arguments of its call."""
        self._file = file if level != "off" else None
        self._level = level
        self._masker = masker
        self._observer = observer
        self._open: FileIO | None = None
        self._unwritten = b""
        self._failing = False
        self._retry_scheduled = False
        self._recent: deque[PastCall] = deque(maxlen=_RECENT_CALLS)

    def write(self, line: AuditRecord, arguments: JsonObject) -> None:
        """Append one line before the caller gets its answer.

        A full disk does not fail the call: the line is kept in memory and written later.
        """
        if self._file is None:
            return
        self._unwritten += self._text(line, arguments).encode()
        self._flush(self._file)

    def _flush(self, file: Path) -> None:
        try:
            self._append(file)
            self._failing = False
        except OSError as error:
            self._retry_later(file, error)

    def _retry_later(self, file: Path, error: OSError) -> None:
        if not self._failing:
            _log.warning("cannot write %s: %s; its lines are kept in memory until it can be written", file, error)
        self._failing = True
        self._unwritten = self._unwritten[-_MAX_UNWRITTEN:]  # the oldest lines are lost first
        with suppress(RuntimeError):  # no event loop: the next line retries
            if not self._retry_scheduled:
                asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._retry, file)
                self._retry_scheduled = True

    def _retry(self, file: Path) -> None:
        self._retry_scheduled = False
        if self._unwritten:
            self._flush(file)

    def _text(self, line: AuditRecord, arguments: JsonObject) -> str:
        record: JsonObject = {"ts": datetime.now(UTC).isoformat().replace("+00:00", "Z")}
        record |= {name: getattr(line, name) for name in _FIELDS}
        self._observer(record, arguments)
        exact = canonical(arguments)
        record["bytes_in"] = len(exact)
        # Tells equal calls from different ones without recording the arguments.
        record["args_digest"] = sha256(exact.encode()).hexdigest()[:16]
        if self._level in {"args", "full"}:
            record["args"] = self._masker.json(arguments)
        if line.method != OWN and line.outcome not in UNDECIDED:
            kept = arguments if len(exact) <= _MAX_KEPT_ARGUMENTS else None
            self._recent.append(PastCall(line.id, line.principal, line.tool, line.outcome, kept))
        # Masked as text as well: a secret may be part of a longer value, such as a URL.
        return self._masker.text(dumps(record)) + "\n"

    def history(self, limit: int) -> Sequence[PastCall]:
        """Return the latest calls that rules apply to, oldest first; older ones with arguments if the file has them."""
        recent = list(self._recent)[-limit:]
        known = {call.id for call in recent}
        missing = limit - len(recent)
        if self._file is None or missing <= 0:
            return recent
        older = [_past_call(line) for line in lines(self._file) if _is_decided(line) and line.get("id") not in known]
        return [*older[-missing:], *recent]

    def lines(self) -> Iterator[JsonObject]:
        """Return the lines of the file, oldest first; it is read as they are taken."""
        return lines(self._file) if self._file is not None else iter(())

    def close(self) -> None:
        self._unwritten = b""
        self._close_file()

    def _close_file(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _append(self, file: Path) -> None:
        if self._open is not None and self._open.tell() > _ROTATE_BYTES:
            self._close_file()
            file.replace(rotated(file))
        if self._open is None:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            self._open = FileIO(descriptor, "a")
        while self._unwritten:  # an almost full disk takes a part
            self._unwritten = self._unwritten[self._open.write(self._unwritten) :]


def text_bytes(result: ToolResult) -> int:
    """Return the number of characters of text in a result."""
    return sum(len(part.text) for part in result.content if isinstance(part, Text))


def rotated(file: Path) -> Path:
    """Return the path of the previous log file."""
    return file.with_suffix(file.suffix + ".1")


def lines(file: Path) -> Iterator[JsonObject]:
    """Yield the records, oldest first, rotated file included; a line truncated by a crash is skipped."""
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


def _past_call(line: JsonObject) -> PastCall:
    call_id, principal, tool, outcome = (str(line.get(name, "")) for name in ("id", "principal", "tool", "outcome"))
    arguments = line.get("args")
    return PastCall(call_id, principal, tool, outcome, arguments if isinstance(arguments, dict) else None)


class AuditedToolset:
    """Wraps a toolset and records its calls."""

    def __init__(self, tools: Toolset, source: str, audit: Audit) -> None:
        self._tools = tools
        self._source = source
        self._audit = audit

    async def tools(self, call: Call) -> Sequence[Tool]:
        return await self._tools.tools(call)

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call a tool and record it under its listed name, even if it was called by an alias."""
        started = time.perf_counter()
        try:
            require_json(arguments)
        except InvalidArgumentsError:
            # Recorded without its arguments, which cannot be encoded.
            await self._note(name, {}, call, started, None)
            raise
        try:
            result = await self._tools.call(name, arguments, call)
        except UnknownToolError:
            raise  # nothing was called
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
            id=token_hex(16),
            principal=call.principal,
            client=call.caller_name,
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
    """Records calls to the tools of sources."""

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
        """Write one line; `started` is a value of `time.perf_counter()`."""
        # Trusted only for our own HTTP requests: a mounted server could put anything there.
        ours = result is not None and entry is not None and entry.kind == "target"
        http = (result.meta or {}).get("ui-mcp/http", {}) if ours and result else {}
        line = AuditRecord(
            id=token_hex(16),
            principal=call.principal,
            client=call.caller_name,
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
    return Path(settings.audit.file).expanduser() if settings.audit.file else data / AUDIT_FILE
