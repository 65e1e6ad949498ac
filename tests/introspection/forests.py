"""Captures made up for tests of the pure parts."""

import json
import re
from pathlib import Path

from ui_mcp.introspection.contract import FULL, CaptureRequest, Section
from ui_mcp.introspection.tree import Capture, build
from ui_mcp.jsontypes import JsonObject

GOLDEN = Path(__file__).parents[2] / "contracts" / "golden" / "introspect"
PATH = re.compile(r"/stages\[\d+\]/scene/root(/[A-Za-z_$][\w$-]*\[\d+\])*")
"""A path from the contract's schema."""


def golden(name: str, sections: frozenset[Section] = FULL) -> Capture:
    return build(json.loads((GOLDEN / name / "records.json").read_text()), CaptureRequest(sections=sections))


def forest(
    parents: list[int], texts: list[str] | None = None, uids: list[str] | None = None, ask: CaptureRequest | None = None
) -> Capture:
    """Build a tree whose i-th node (0 = root) hangs under `parents[i - 1]`."""
    counts: dict[int, int] = {}
    records: list[JsonObject] = [{"u": "n0", "t": "root"}]
    for at, parent in enumerate(parents, 1):
        nth = counts[parent] = counts.get(parent, -1) + 1
        uid = uids[at - 1] if uids else f"n{at}"
        text = texts[at - 1] if texts else f"text {at}"
        records.append({"u": uid, "t": "item", "p": parent, "n": f"item[{nth}]", "l": text})
    raw = {
        "app": {"pid": 1},
        "focus": None,
        "stages": [{"index": 0, "uid": "s", "title": "T", "width": 1.0, "height": 1.0, "nodes": records}],
    }
    return build(raw, ask or CaptureRequest())


def page_of(*records: JsonObject) -> Capture:
    """Build a page with these records below its body, a2 onwards."""
    nodes: list[JsonObject] = [{"u": "a1", "t": "body"}]
    for number, record in enumerate(records, 2):
        nodes.append({"u": f"a{number}", "p": 0, "n": f"{record['t']}[{number}]", **record})
    return build({"app": {}, "stages": [{"index": 0, "uid": "page", "nodes": nodes}]}, CaptureRequest())
