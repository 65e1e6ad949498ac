"""Flat records → tree; uid letters."""

import gc
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, product

import orjson

from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.jsontypes import Json, JsonObject


@dataclass(slots=True, eq=False)
class Node:
    """One node; `record` is what the backend said about it (keys: contracts/records.schema.json)."""

    record: JsonObject
    path: str
    parent: "Node | None"
    index: int
    children: list["Node"] = field(default_factory=list)

    @property
    def uid(self) -> str:
        """The stable name of this node."""
        return str(self.record["u"])

    def walk(self) -> Iterator["Node"]:
        """Yield this node and everything below it, in document order."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))


@dataclass(slots=True, eq=False)
class Stage:
    """One window or page with its nodes."""

    index: int
    facts: JsonObject
    root: Node | None


@dataclass(frozen=True, slots=True, eq=False)
class Capture:
    """One look at a UI; equal content has equal `id`."""

    id: str
    captured_at: str
    ask: CaptureRequest
    app: JsonObject
    focus: JsonObject
    stages: tuple[Stage, ...]
    warnings: tuple[str, ...] = ()
    consistent: bool = True
    """False when the UI changed while it was read, twice."""

    def nodes(self) -> Iterator[Node]:
        """Yield every node of every stage, in document order."""
        for stage in self.stages:
            if stage.root is not None:
                yield from stage.root.walk()


def build(raw: JsonObject, ask: CaptureRequest) -> Capture:
    """Read what a backend sent for `ask`."""
    stages = tuple(_stage(entry) for entry in raw["stages"])
    return Capture(
        id=_identity(raw, ask),
        captured_at=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        ask=ask,
        app=raw["app"],
        focus=_focus(raw.get("focus"), stages),
        stages=stages,
        warnings=tuple(raw.get("warnings", ())),
        consistent=raw.get("consistent", True),
    )


def _stage(entry: JsonObject) -> Stage:
    facts = {key: value for key, value in entry.items() if key != "nodes"}
    return Stage(entry["index"], facts, _link(entry.get("nodes", []), entry["index"], entry.get("rootPath")))


def _link(records: list[JsonObject], stage: int, root_path: str | None) -> Node | None:
    nodes: list[Node] = []
    for record in records:
        at = record.get("p", -1)
        if at < 0:
            nodes.append(Node(record, root_path or f"/stages[{stage}]/scene/root", None, 0))
            continue
        parent = nodes[at]
        node = Node(record, f"{parent.path}/{record['n']}", parent, len(parent.children))
        parent.children.append(node)
        nodes.append(node)
    return nodes[0] if nodes else None


def _identity(raw: JsonObject, ask: CaptureRequest) -> str:
    content = orjson.dumps([raw, ask.json()], option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(content, digest_size=5).hexdigest()


def _focus(focus: Json, stages: tuple[Stage, ...]) -> JsonObject:
    given = focus or {}
    window = given.get("stage")
    node = _found(given.get("uid"), given.get("path"), stages)
    return {
        "focusedNode": node,
        "focusedWindow": None if window is None else {"stageIndex": window},
    }


def _found(uid: str | None, path: str | None, stages: tuple[Stage, ...]) -> JsonObject | None:
    if uid is None:
        return None
    for stage in stages:
        for node in stage.root.walk() if stage.root else ():
            if node.record["u"] == uid:
                return {"path": node.path, "uid": uid}
    return {"path": path, "uid": uid} if path else None


ALPHABET = "abcdefghijkmnopqstuvwxyz"


def all_letters() -> Iterator[str]:
    """Yield a, b, …, z, aa, ab and so on."""
    combined = chain.from_iterable(product(ALPHABET, repeat=length) for length in range(1, 6))
    return ("".join(letters) for letters in combined)


def uid_prefix(number: int) -> str:
    """Return the letters of document `number`, counted from 1."""
    written = ""
    while number > 0:
        number, digit = divmod(number - 1, len(ALPHABET))
        written = ALPHABET[digit] + written
    return written


@contextmanager
def gc_paused() -> Iterator[None]:
    """Make many small objects without looking for garbage among them: all are needed, and looking costs most of it."""
    working = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if working:
            gc.enable()
