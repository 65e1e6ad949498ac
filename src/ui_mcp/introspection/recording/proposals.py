"""Proposes expectations: what an action changed, and what is still so when the next one begins."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ui_mcp.introspection.expectation import Expectation
from ui_mcp.introspection.outline import is_hidden
from ui_mcp.introspection.recording.locators import LONG_NAME, found_by, identity, name_of
from ui_mcp.introspection.selectors import parts_of, role_of, texts_of
from ui_mcp.introspection.tree import Capture, Node
from ui_mcp.jsontypes import JsonObject
from ui_mcp.validation import read

MOST = 2
"""Expectations per action."""
_TELLING = ("alert", "alertdialog", "status", "dialog", "heading")
_UNSTEADY = re.compile(
    r"\d:\d\d|\d{4}-\d\d-\d\d|\d\s*(?:ms|s|secs?|seconds?|min|mins|minutes?|hours?|days?)\b|\b(?:ago|just now)\b"
    r"|[0-9a-f]{8}|loading|please wait|…$|\.\.\.$",
    re.IGNORECASE,
)
"""Texts that a clock, a random number or a short wait makes."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a UI showed before an action, when it was done, and when the next one began."""

    before: Capture
    after: Capture
    settled: Capture
    acted: str = ""
    """Uid of the node that was acted on, whose own value needs no expectation."""

    def proposals(self) -> list[JsonObject]:
        """Return the expectations that were false before the action, and true after it and later."""
        found: list[JsonObject] = []
        covered: set[str] = set()
        for expected in self._candidates():
            text = expected.get("text") or expected["selector"]["text"]
            if text not in covered and self._tells(expected):
                found.append(expected)
                covered.add(text)
                if len(found) == MOST:
                    break
        return found

    def _candidates(self) -> Iterator[JsonObject]:
        yield from _identified(self.settled, self.acted)
        texts = [text for text in _texts(self.settled) if text not in set(_texts(self.before))]
        yield from ({"selector": {"text": text}} for text in texts)
        yield from _values(self.settled, self.acted)
        gone = [text for text in _texts(self.before) if text not in set(_texts(self.settled))]
        yield from ({"selector": {"text": text}, "count": 0} for text in gone)

    def _tells(self, expected: JsonObject) -> bool:
        text = expected.get("text") or expected["selector"].get("text", "")
        if not text.strip() or len(text) > LONG_NAME or _UNSTEADY.search(text):
            return False
        return not _holds(self.before, expected) and all(_holds(seen, expected) for seen in (self.after, self.settled))


def _holds(capture: Capture, expected: JsonObject) -> bool:
    return read(Expectation, expected).holds(found_by(capture, expected["selector"]))


def _shown(capture: Capture) -> list[Node]:
    return [node for node in capture.nodes() if not is_hidden(node)]


def _identified(capture: Capture, acted: str) -> Iterator[JsonObject]:
    """Yield what nodes say that the author gave an id, such as a status line."""
    for node in _shown(capture):
        css = identity(node) if node.uid != acted else None
        if css is not None and (said := node.record.get("vt") or node.record.get("l")):
            yield {"selector": {"css": css}, "text": said}


def _values(capture: Capture, acted: str) -> Iterator[JsonObject]:
    """Yield the values of named fields."""
    for node in _shown(capture):
        if node.uid != acted and node.record.get("vt") and name_of(node) in texts_of(node):
            yield {"selector": {"text": name_of(node)}, "text": node.record["vt"]}


def _texts(capture: Capture) -> list[str]:
    """Return the texts of a UI, without values of fields; those that were made to be noticed come first."""
    nodes = sorted(_shown(capture), key=_importance)
    labels = [str(part.record["l"]) for node in nodes for part in (node, *parts_of(node)) if part.record.get("l")]
    messages = [str(stage.facts["message"]) for stage in capture.stages if stage.facts.get("message")]
    return list(dict.fromkeys([*labels, *messages]))


def _importance(node: Node) -> Literal[0, 1]:
    return 0 if role_of(node) in _TELLING else 1
