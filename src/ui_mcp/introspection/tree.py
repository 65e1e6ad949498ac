"""Builds the tree of a capture from the flat records of a backend, and generates uid prefixes."""

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
    """One node; `record` holds the data from the backend (keys: contracts/records.schema.json)."""

    record: JsonObject
    path: str
    parent: "Node | None"
    index: int
    children: list["Node"] = field(default_factory=list)

    @property
    def uid(self) -> str:
        """The id of this node, stable as long as it exists."""
        return str(self.record["u"])

    def walk(self) -> Iterator["Node"]:
        """Yield this node and its descendants, in document order."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))


@dataclass(slots=True, eq=False)
class Stage:
    """One window or page; `facts` are its properties."""

    index: int
    facts: JsonObject
    root: Node | None


@dataclass(frozen=True, slots=True, eq=False)
class Capture:
    """The content of a UI at one time; equal content has an equal `id`."""

    id: str
    captured_at: str
    request: CaptureRequest
    app: JsonObject
    focus: JsonObject
    stages: tuple[Stage, ...]
    warnings: tuple[str, ...] = ()
    consistent: bool = True
    """False if the UI changed during the capture, and again during its repetition."""

    def nodes(self) -> Iterator[Node]:
        for stage in self.stages:
            if stage.root is not None:
                yield from stage.root.walk()


def build(raw: JsonObject, request: CaptureRequest) -> Capture:
    """Build a capture from the reply of a backend to `request`."""
    stages = tuple(_stage(entry) for entry in raw["stages"])
    return Capture(
        id=_content_id(raw, request),
        captured_at=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        request=request,
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
        parent = nodes[at]  # records are in document order, parents first
        node = Node(record, f"{parent.path}/{record['n']}", parent, len(parent.children))
        parent.children.append(node)
        nodes.append(node)
    return nodes[0] if nodes else None


def _content_id(raw: JsonObject, request: CaptureRequest) -> str:
    # Sorted, because backends write fields in any order.
    content = orjson.dumps([raw, request.json()], option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(content, digest_size=5).hexdigest()


def _focus(focus: Json, stages: tuple[Stage, ...]) -> JsonObject:
    given = focus or {}
    window = given.get("stage")
    node = _focused_ref(given.get("uid"), given.get("path"), stages)
    return {
        "focusedNode": node,
        "focusedWindow": None if window is None else {"stageIndex": window},
    }


def _focused_ref(uid: str | None, path: str | None, stages: tuple[Stage, ...]) -> JsonObject | None:
    if uid is None:
        return None
    for stage in stages:
        for node in stage.root.walk() if stage.root else ():
            if node.record["u"] == uid:
                return {"path": node.path, "uid": uid}
    return {"path": path, "uid": uid} if path else None


ALPHABET = "abcdefghijkmnopqstuvwxyz"
"""Letters of uid prefixes; without `l`, which looks like 1, and `r`, which marks rows (`a12:r3`)."""


def uid_prefixes() -> Iterator[str]:
    """Yield the prefixes of documents 1, 2, …: a, b, …, z, aa, ab and so on."""
    combined = chain.from_iterable(product(ALPHABET, repeat=length) for length in range(1, 6))
    return ("".join(letters) for letters in combined)


def uid_prefix(number: int) -> str:
    """Return the uid prefix of document `number`, counted from 1."""
    written = ""
    while number > 0:
        number, digit = divmod(number - 1, len(ALPHABET))
        written = ALPHABET[digit] + written
    return written


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector."""
    # While a large tree is built every object is needed, and collections dominate the run time.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
