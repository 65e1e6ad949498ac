"""Tells of what app code was refused: each in the error log once, and each setting once to page and agent."""

import json
from collections.abc import Callable

from ui_mcp.lua.logs import Logs
from ui_mcp.lua_runtime.permissions import Refusal

MAX_KNOWN = 1000
MAX_TOLD = 5
"""How many reach page and agent; an app that tries a thousand places says nothing new with each."""


class Refusals:
    """The refusals of one world."""

    def __init__(self, logs: Logs, emit: Callable[[str, str, float], None]) -> None:
        self._logs = logs
        self._emit = emit
        self._known: set[tuple[str, str]] = set()
        self._told: set[str] = set()

    def tell(self, refusal: Refusal) -> None:
        """Note a refusal; what an app tries again and again is noted once."""
        known = (refusal.setting, refusal.path)
        if known not in self._known and len(self._known) < MAX_KNOWN:
            self._known.add(known)
            self._logs.error("permissions", refusal.message)
        key = refusal.line or refusal.setting
        if key not in self._told and len(self._told) < MAX_TOLD:
            self._told.add(key)
            self._emit("refused", json.dumps(refusal._asdict()), 0)
