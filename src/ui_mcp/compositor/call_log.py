"""Writes the line of the audit log that each call leaves, whatever becomes of it."""

import time

from ui_mcp.gateway.audit import Audit, Line, text_bytes
from ui_mcp.gateway.source import Entry
from ui_mcp.ids import secret_id
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, ToolResult


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
        line = Line(
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
