"""Notes what an agent or a person does to one UI, and makes a scenario of it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ui_mcp.errors import UiActionFailedError
from ui_mcp.introspection.arguments import Action, ActionNode, key_name
from ui_mcp.introspection.contract import RECORDED
from ui_mcp.introspection.outline import is_hidden
from ui_mcp.introspection.recording.locators import LONG_NAME, found_by, identity, locator, name_of, node_of
from ui_mcp.introspection.selectors import Expectation, parts_of, role_of, texts_of
from ui_mcp.introspection.tree import Capture, Node, build
from ui_mcp.jsontypes import JsonObject
from ui_mcp.validation import read, to_json

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
    acted: frozenset[str] = frozenset()
    """Uids of the nodes that this action and the next one are about: what people change is seen a moment later."""

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


def _identified(capture: Capture, acted: frozenset[str]) -> Iterator[JsonObject]:
    """Yield what nodes say that the author gave an id, such as a status line."""
    for node in _shown(capture):
        css = identity(node) if node.uid not in acted else None
        if css is not None and (said := node.record.get("vt") or node.record.get("l")):
            yield {"selector": {"css": css}, "text": said}


def _values(capture: Capture, acted: frozenset[str]) -> Iterator[JsonObject]:
    """Yield the values of named fields."""
    for node in _shown(capture):
        if node.uid not in acted and node.record.get("vt") and name_of(node) in texts_of(node):
            yield {"selector": {"text": name_of(node)}, "text": node.record["vt"]}


def _texts(capture: Capture) -> list[str]:
    """Return the texts of a UI, without values of fields; those that were made to be noticed come first."""
    nodes = sorted(_shown(capture), key=_importance)
    labels = [str(part.record["l"]) for node in nodes for part in (node, *parts_of(node)) if part.record.get("l")]
    messages = [str(stage.facts["message"]) for stage in capture.stages if stage.facts.get("message")]
    return list(dict.fromkeys([*labels, *messages]))


def _importance(node: Node) -> Literal[0, 1]:
    return 0 if role_of(node) in _TELLING else 1


MOST_STEPS = 200
_TYPING = frozenset({"typeText", "setText"})
VARIABLE = "UI_TEST_"
"""Beginning of the names of environment variables that stand for what was typed into password fields."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A finished recording."""

    steps: tuple[JsonObject, ...]
    notes: tuple[str, ...] = ()
    """What could not be recorded, or will not work again by itself."""
    url: str = ""

    def json(self) -> JsonObject:
        return {"steps": list(self.steps), **({"notes": list(self.notes)} if self.notes else {})}


@dataclass(slots=True)
class _Open:
    """The last step: what it changed is not known before the next one begins."""

    before: Capture
    acted: str = ""
    after: Capture | None = None


@dataclass(slots=True)
class Recorder:
    """A recording that goes on; captures are read by the caller, as `RECORDED` says."""

    url: str = ""
    _steps: list[JsonObject] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)
    _open: _Open | None = None

    def begin(self, action: Action, aimed: Action, capture: Capture) -> None:
        """Note an action of the agent that is about to be done; `aimed` has uids in place of selectors."""
        self._close(capture)
        node = _aim(capture, aimed.target)
        step = to_json(action, outside=True)
        for part, given, found in (
            ("target", action.target, aimed.target),
            ("from", action.from_, aimed.from_),
            ("to", action.to, aimed.to),
        ):
            if given is not None and found is not None:
                step[part] = self._target(capture, given, found)
        if action.target is None and action.x is not None:
            self._note(f"{action.type} at {action.x:g}, {action.y:g} means a place, not a node")
        typed_into = node if action.target is not None else _focused(capture)
        self._add(self._masked(step, typed_into), _Open(capture, node.uid if node is not None else ""))

    def end(self, capture: Capture) -> None:
        """Note what the UI shows after the agent's action."""
        if self._open is not None:
            self._open.after = capture

    def drop(self) -> None:
        """Forget the agent's last action, which failed."""
        if self._open is not None:
            self._steps.pop()
            self._open = None

    def noticed(self, event: JsonObject) -> None:
        """Note what a person did, as a page script or the agent in a JVM tells it."""
        capture = _captured(event)
        if event["type"] == "after":
            if self._open is not None:
                self._open.after = capture
            return
        if capture is None:
            self._again(event)
            return
        whole = event.get("top") is not False  # a frame sees itself alone
        node = _meant(capture, event)
        if whole:
            self._close(capture, node.uid if node else "")
        step = self._step(event, capture, node)
        if step is not None:
            self._add(step, _Open(capture, node.uid if node else "") if whole else None)

    def interrupt(self, why: str) -> None:
        """Note that the UI is used without being recorded now."""
        self._open = None
        self._note(why)

    def finish(self, capture: Capture | None) -> Recording:
        """Return the scenario; `capture` is what the UI shows now."""
        if capture is not None:
            self._close(capture)
        return Recording(tuple(self._steps), tuple(self._notes), self.url)

    def _step(self, event: JsonObject, capture: Capture, node: Node | None) -> JsonObject | None:
        """Return the step of a person's event; None if it cannot be one."""
        step = {key: event[key] for key in _FIELDS if event.get(key) is not None}
        if event["type"] == "setFiles":
            self._note(f"Files were chosen; give setFiles their whole paths: {', '.join(event['paths'])}")
        if event["type"] == "pressKey":
            try:
                step["key"] = key_name(event["key"])
            except UiActionFailedError:
                return None
            return step
        ends = {"from": node, "to": _meant(capture, {"chain": event["to"]})} if "to" in event else {"target": node}
        for part, found in ends.items():
            given = locator(capture, found) if found is not None else None
            if given is None:
                self._note(f"A {event['type']} of the person could not be recorded: its node has no stable selector")
                return None
            step[part] = given
        if event["type"] == "doubleClick":
            self._forget_clicks(step["target"])
        return self._masked(step, node, masked=event.get("masked") is True)

    def _again(self, event: JsonObject) -> None:
        """Take another value of the field that the last step has set."""
        if self._steps and self._steps[-1]["type"] == "setText" and "text" in event and "masked" not in event:
            self._steps[-1]["text"] = event["text"]

    def _forget_clicks(self, target: JsonObject) -> None:
        while self._steps and (self._steps[-1].get("target") == target or "expect" in self._steps[-1]):
            self._steps.pop()

    def _add(self, step: JsonObject, begun: _Open | None) -> None:
        if len(self._steps) >= MOST_STEPS:
            self._note(f"Only the first {MOST_STEPS} steps were recorded")
            return
        self._steps.append(step)
        self._open = begun

    def _close(self, settled: Capture, following: str = "") -> None:
        if self._open is not None:
            acted = frozenset({self._open.acted, following})
            step = Step(self._open.before, self._open.after or settled, settled, acted)
            room = max(0, MOST_STEPS - len(self._steps))
            self._steps += [{"expect": expected} for expected in step.proposals()[:room]]
            self._open = None

    def _target(self, capture: Capture, given: ActionNode, aimed: ActionNode) -> JsonObject:
        node = _aim(capture, aimed)
        found = locator(capture, node) if node is not None else None
        if found is not None:
            return found
        if aimed.uid is None and aimed.path is None:
            self._note(f"The point {aimed.x:g}, {aimed.y:g} means a place, not a node")
            return aimed.wire()
        selector = given.selector()
        if selector is None:
            self._note(f"Node {aimed.uid or aimed.path} has no stable selector; its path may change")
            return {"path": aimed.path or (node.path if node is not None else aimed.uid)}
        return to_json(selector, outside=True)

    def _masked(self, step: JsonObject, node: Node | None, *, masked: bool = False) -> JsonObject:
        """Return the step with a variable in place of what is typed into a password field."""
        if not (masked or (node is not None and node.record.get("k") and step["type"] in _TYPING)):
            return step
        name = re.sub(r"\W+", "_", name_of(node).upper()).strip("_") if node is not None else ""
        variable = f"{VARIABLE}{name or 'PASSWORD'}"
        self._note(f"Set the environment variable {variable} of the server, or replace it in the steps")
        return {**step, "text": f"${{{variable}}}"}

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)


_FIELDS = ("type", "text", "value", "checked", "button", "modifiers", "paths")


def _aim(capture: Capture, aimed: ActionNode | None) -> Node | None:
    return node_of(capture, aimed.uid, aimed.path) if aimed is not None and (aimed.uid or aimed.path) else None


def _focused(capture: Capture) -> Node | None:
    ref = capture.focus.get("focusedNode") or {}
    return node_of(capture, ref.get("uid")) if ref.get("uid") else None


def _captured(event: JsonObject) -> Capture | None:
    raw = event.get("capture")
    if raw is None:
        return None
    if "stages" in raw:
        return build(raw, RECORDED)
    stage = {**raw["stage"], "index": 0, "uid": "page"}
    return build({"app": {}, "focus": raw.get("focus"), "stages": [stage]}, RECORDED)


def _meant(capture: Capture, event: JsonObject) -> Node | None:
    """Return what a person meant by a place: what can be operated there, else what says something, else anything."""
    chain: Sequence[str] = event.get("chain", ())
    by_uid = {node.uid: node for node in capture.nodes()}
    known = (node_of(capture, uid) if ":" in uid else by_uid.get(uid) for uid in chain)
    found = [node for node in known if node is not None]
    nearest = [node for node in found if not node.record.get("y")] or found
    operable = [node for node in nearest[:_LEVELS] if node.record.get("a")]
    return next(iter([*operable, *nearest]), None)


_LEVELS = 4
"""How far above the innermost element a control may begin that was meant."""
