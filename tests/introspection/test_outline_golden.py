"""Golden folders: records in, snapshot and outline out."""

import json

import pytest
from jsonschema import Draft202012Validator

from introspection.forests import GOLDEN, PATH, golden, page_of
from ui_mcp.introspection import snapshot_json
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.introspection.outline import entries, lines, outline
from ui_mcp.introspection.tree import build
from ui_mcp.jsontypes import JsonObject

CONTRACTS = GOLDEN.parents[1]
FOLDERS = sorted(folder.name for folder in GOLDEN.iterdir())


def schema(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((CONTRACTS / f"{name}.schema.json").read_text()))


@pytest.mark.covers("IN-14", "IN-17", "IN-19", "IN-71")
@pytest.mark.parametrize("name", FOLDERS)
def test_records_become_the_golden_snapshot(name: str) -> None:
    snapshot = snapshot_json.snapshot(golden(name)) | {"capturedAt": "2026-01-05T12:34:56.789Z"}

    schema("ui-snapshot").validate(snapshot)
    assert snapshot == json.loads((GOLDEN / name / "snapshot.json").read_text())


def test_a_ui_that_changed_while_it_was_read_is_told_as_such() -> None:
    raw = json.loads((GOLDEN / "form" / "records.json").read_text())

    assert snapshot_json.header(build(raw | {"consistent": False}, CaptureRequest()))["consistent"] is False
    assert "consistent" not in snapshot_json.header(build(raw, CaptureRequest()))


@pytest.mark.covers("IN-89")
@pytest.mark.parametrize("name", FOLDERS)
def test_records_become_the_golden_outline(name: str) -> None:
    assert outline(golden(name)) + "\n" == (GOLDEN / name / "outline.txt").read_text()


@pytest.mark.covers("IN-82")
@pytest.mark.parametrize("name", FOLDERS)
def test_golden_records_follow_the_schema_backends_keep(name: str) -> None:
    schema("records").validate(json.loads((GOLDEN / name / "records.json").read_text()))


@pytest.mark.covers("IN-4", "IN-8", "IN-10")
@pytest.mark.parametrize("name", FOLDERS)
def test_every_path_follows_the_grammar_and_none_appears_twice(name: str) -> None:
    paths = [node.path for node in golden(name).nodes()]

    assert all(PATH.fullmatch(path) for path in paths)
    assert len(set(paths)) == len(paths)


@pytest.mark.covers("IN-71")
def test_the_example_of_the_contract_is_valid() -> None:
    node = {
        "ref": {"path": "/stages[0]/scene/root/VBox[0]/Button[0]", "uid": "u1"},
        "type": "Button", "module": "javafx.controls", "id": "okButton", "styleClass": ["button"],
        "pseudoClass": ["hover"], "visible": True, "managed": True, "disabled": False, "opacity": 1.0,
        "layout": {
            "boundsInParent": {"minX": 0, "minY": 0, "width": 80, "height": 32},
            "boundsInScene": {"minX": 450, "minY": 700, "width": 80, "height": 32},
            "localToScreen": {"x": 900, "y": 900, "width": 80, "height": 32},
        },
        "text": {"label": "OK", "prompt": None}, "value": {"text": None, "selected": None, "checked": None},
        "accessibility": {"role": "BUTTON", "help": None},
        "fx": {"properties": {"tooltip": "Confirm", "userData": None}}, "children": [],
    }  # fmt: skip
    snapshot = {
        "schema": "mcp-javafx-ui/1.0",
        "capturedAt": "2026-01-05T12:34:56.789Z",
        "app": {"pid": 1, "javaVersion": "21", "javafxVersion": "21", "mainClass": "a.B", "debugFlags": ["mcpEnabled"]},
        "focus": {"focusedNode": node["ref"], "focusedWindow": {"stageIndex": 0}},
        "stages": [
            {
                "stageIndex": 0, "title": "Main", "showing": True, "focused": True, "x": 100.0, "y": 50.0,
                "width": 1200.0, "height": 800.0, "scene": {"stylesheets": ["app.css"], "root": node},
            }
        ],
    }  # fmt: skip
    schema("ui-snapshot").validate(snapshot)


def shown(*records: JsonObject, interactive: bool = False) -> list[str]:
    """Return the lines that the outline has for a page with these records below its body."""
    found = entries(page_of(*records), interactive=interactive)
    return [line.strip() for entry in found for line in lines(entry)][1:]


@pytest.mark.covers("IN-89")
def test_a_hidden_part_has_a_line_only_if_its_author_named_it() -> None:
    assert shown(
        {"t": "div", "i": "details", "v": False},
        {"t": "sl-menu", "i": "sl-menu-4", "ig": 1, "v": False},
        {"t": "p", "l": "Later", "v": False},
    ) == ["div a2 #details hidden"]


@pytest.mark.covers("IN-89")
def test_a_class_is_written_only_where_nothing_else_tells_a_node_from_its_like() -> None:
    assert shown(
        {"t": "Button", "c": ["button", "cut"]},
        {"t": "CheckBox", "c": ["check-box"]},
        {"t": "FancyMenuBar", "c": ["menu-bar"]},
        {"t": "Button", "c": ["button", "cut"], "l": "Cut"},
        {"t": "Slider", "c": ["slider", "volume"], "i": "loud"},
        {"t": "i", "c": ["icon", "icon-save"]},
    ) == ["Button a2 .cut", "CheckBox a3", "FancyMenuBar a4", 'Button a5 "Cut"', "Slider a6 #loud", "i a7 .icon-save"]


GRID_RECORDS: list[JsonObject] = [
    {
        "t": "div", "er": "grid",
        "z": {
            "kind": "grid", "itemsCount": 2, "visibleRange": {"from": 0, "to": 1}, "selectedIndices": [1],
            "columns": [{"id": "n", "text": "Name"}, {"id": "s", "text": "State"}],
            "visibleCells": [
                {"index": at, "uid": f"a{at * 3 + 3}", "cells": [
                    {"columnId": "n", "text": f"Ann {at}"}, {"columnId": "s", "text": "open"}]}
                for at in (0, 1)
            ],
        },
    },
    {"t": "div", "er": "row", "p": 1}, {"t": "div", "er": "gridcell", "l": "Ann 0", "p": 2},
    {"t": "button", "l": "Delete", "a": 1, "p": 2},
    {"t": "div", "er": "row", "p": 1}, {"t": "div", "er": "gridcell", "l": "Ann 1", "p": 5},
    {"t": "button", "l": "Delete", "a": 1, "p": 5},
]  # fmt: skip


@pytest.mark.covers("IN-138")
def test_a_row_of_a_grid_is_one_line_with_what_can_be_operated_in_it() -> None:
    assert shown(*GRID_RECORDS) == [
        "grid a2 rows=2 visible=0-1 selected=1 cols=Name,State",
        'r0 "Ann 0" "open" [button a5 "Delete"]',
        'r1 "Ann 1" "open" selected [button a8]',
    ]


@pytest.mark.covers("IN-139")
def test_the_interactive_outline_has_only_what_can_be_operated() -> None:
    page: list[JsonObject] = [
        {"t": "h1", "l": "Title"},
        {"t": "form"},
        {"t": "input", "l": "Name", "a": 1, "p": 2},
        {"t": "p", "l": "Help", "p": 2},
        {"t": "Button", "l": "OK"},
    ]

    assert shown(*page, interactive=True) == ['input a4 "Name"', 'Button a6 "OK"']
    assert len(shown(*page)) == 5


@pytest.mark.covers("IN-89")
def test_an_element_that_only_wraps_or_holds_nothing_has_no_line() -> None:
    assert shown(
        {"t": "li"},
        {"t": "button", "l": "Wrapped", "a": 1, "p": 1},
        {"t": "nav", "c": ["breadcrumb"]},
        {"t": "sl-tree-item", "er": "treeitem", "l": "Fruit"},
        {"t": "li", "er": "tab", "l": "First"},
    ) == ['button a3 "Wrapped"', 'sl-tree-item a5 "Fruit"', 'li[tab] a6 "First"']
