"""Writes captures as UiSnapshot and UiNode JSON of the contract."""

from ui_mcp.introspection.contract import SCHEMA, Section
from ui_mcp.introspection.tree import Capture, Node, Stage
from ui_mcp.jsontypes import Json, JsonObject

_STAGE_FACTS = ("title", "showing", "focused", "x", "y", "width", "height")
_STAGE_EXTRAS = ("kind", "owner", "modal", "message", "buttons", "defaultValue")


def snapshot(capture: Capture) -> JsonObject:
    return header(capture) | {"stages": [stage(entry, _root_json(entry, capture)) for entry in capture.stages]}


def header(capture: Capture) -> JsonObject:
    """Return the fields of a UiSnapshot other than `stages`."""
    warnings: JsonObject = {"warnings": list(capture.warnings)} if capture.warnings else {}
    if not capture.consistent:
        warnings["consistent"] = False
    return {
        "schema": SCHEMA,
        "capturedAt": capture.captured_at,
        "snapshotId": capture.id,
        "app": capture.app,
        "focus": capture.focus,
        **warnings,
    }


def stage(entry: Stage, root: JsonObject | None) -> JsonObject:
    """Return one stage with the JSON of its root."""
    facts = entry.facts
    return {
        "stageIndex": entry.index,
        "stageUid": facts["uid"],
        **{key: facts.get(key) for key in _STAGE_FACTS},
        **{key: facts[key] for key in _STAGE_EXTRAS if facts.get(key) is not None},
        "scene": {"stylesheets": facts.get("stylesheets", []), "root": root},
    }


def tree(node: Node, sections: frozenset[Section]) -> JsonObject:
    """Return a node with its descendants."""
    written = alone(node, sections)
    # Without recursion: trees may be deeper than Python's limit.
    pending = [(node, written)]
    while pending:
        at, target = pending.pop()
        for child in at.children:
            made = alone(child, sections)
            target["children"].append(made)
            pending.append((child, made))
    return written


def alone(node: Node, sections: frozenset[Section]) -> JsonObject:
    """Return a node with an empty list of children."""
    record = node.record
    get = record.get
    written: JsonObject = {
        "ref": {"path": node.path, "uid": record["u"]},
        "type": record["t"],
        "module": get("m"),
        "id": get("i"),
        "styleClass": get("c", []),
        "pseudoClass": get("s", []),
        "visible": get("v", True),
        "managed": get("g", True),
        "disabled": get("x", False),
        "opacity": get("o", 1.0),
        "text": {"label": get("l"), "prompt": get("lp")},
        "value": _value(record),
        "children": [],
    }
    if sections:
        _add_sections(written, node, sections)
    if get("w") is False:
        written["shown"] = False
    if get("ct"):
        written["childrenTruncated"] = record["ct"]
    if get("e"):  # extra fields of the backend
        written |= record["e"]
    return written


def rows(node: Node) -> JsonObject:
    """Return the virtualization section of a node, with a reference per row."""
    given = node.record["z"]
    row_type = given.get("rowType", "row")
    cells = [
        {
            "index": row["index"],
            "rowRef": {"path": f"{node.path}/{row_type}[{row['index']}]", "uid": f"{node.uid}:r{row['index']}"},
            "cells": row["cells"],
        }
        for row in given["visibleCells"]
    ]
    return {**{key: value for key, value in given.items() if key != "rowType"}, "visibleCells": cells}


def _root_json(entry: Stage, capture: Capture) -> JsonObject | None:
    return tree(entry.root, capture.request.sections) if entry.root else None


def _value(record: JsonObject) -> JsonObject:
    get = record.get
    value = {"text": get("vt"), "selected": get("vs"), "checked": get("vc")}
    return value | {"masked": True} if get("k") else value


def _add_sections(written: JsonObject, node: Node, sections: frozenset[Section]) -> None:
    record = node.record
    layout: JsonObject = {}
    if "bounds" in sections:
        layout["boundsInParent"] = box(record.get("bp"))
        layout["boundsInScene"] = box(record.get("bs"))
    if "localToScreen" in sections:
        layout["localToScreen"] = _screen_box(record.get("sc") or record.get("bs"))
    if layout:
        written["layout"] = layout
    if "accessibility" in sections:
        written["accessibility"] = {"role": record.get("ro"), "help": record.get("he")}
    if "properties" in sections:
        written["fx"] = {"properties": {"tooltip": record.get("tt"), "userData": record.get("ud")}}
    if "reach" in sections:
        written["reach"] = record.get("re")
    if "virtualization" in sections and "z" in record:
        written["virtualization"] = rows(node)


def box(numbers: Json) -> JsonObject | None:
    """Return `[x, y, width, height]` as bounds; None stays None."""
    if not numbers:
        return None
    x, y, width, height = numbers
    return {"minX": x, "minY": y, "width": width, "height": height}


def _screen_box(numbers: Json) -> JsonObject | None:
    if not numbers:
        return None
    x, y, width, height = numbers
    return {"x": x, "y": y, "width": width, "height": height}
