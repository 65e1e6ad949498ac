"""Learns from the audit log which tool each principal called after which search."""

from collections import deque
from collections.abc import Iterable

from ui_mcp.gateway.search.words import stems
from ui_mcp.jsontypes import JsonObject

SEARCH = "nlui__search"
_MAX_PAIRS = 1_000
_CALLS_AFTER = 2
"""How many calls after a search count as its answer."""
_LEAST_OVERLAP = 0.5
_USEFUL = frozenset({"policy_allow", "user_approve", "user_approve_edited"})


class SearchHistory:
    """The latest searches with the calls that followed, by principal; in memory only."""

    def __init__(self) -> None:
        self._pairs: deque[tuple[str, frozenset[str], str]] = deque(maxlen=_MAX_PAIRS)
        self._open: dict[str, tuple[frozenset[str], int]] = {}
        self._is_loaded = False

    def load(self, lines: Iterable[JsonObject]) -> None:
        """Learn once from a log of earlier processes; only its lines with arguments tell what was searched."""
        if self._is_loaded:
            return
        self._is_loaded = True
        earlier = SearchHistory()
        for line in lines:
            arguments = line.get("args")
            earlier.note(line, arguments if isinstance(arguments, dict) else {})
        self._pairs.extendleft(reversed(earlier._pairs))

    def note(self, line: JsonObject, arguments: JsonObject) -> None:
        """Take in one line of the audit log."""
        principal, tool = str(line.get("principal", "")), str(line.get("tool", ""))
        if tool == SEARCH:
            query = arguments.get("query")
            self._open[principal] = (frozenset(stems(query)) if isinstance(query, str) else frozenset(), _CALLS_AFTER)
        elif principal in self._open and line.get("method") != "own" and line.get("outcome") in _USEFUL:
            words, left = self._open.pop(principal)
            if words and not line.get("is_error"):
                self._pairs.append((principal, words, tool))
            if left > 1:
                self._open[principal] = (words, left - 1)

    def learned(self, principal: str, query: str) -> dict[str, float]:
        """Return the tools that were called after similar searches, with the share of common words."""
        words = frozenset(stems(query))
        found: dict[str, float] = {}
        for who, earlier, tool in self._pairs:
            overlap = len(words & earlier) / len(words | earlier) if who == principal and words else 0.0
            if overlap >= _LEAST_OVERLAP:
                found[tool] = max(found.get(tool, 0.0), overlap)
        return found
