"""Golden folders: records in, snapshot and outline out."""

import json

import pytest
from jsonschema import Draft202012Validator

from introspection.forests import GOLDEN, PATH, golden
from ui_mcp.introspection import snapshot_json
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.introspection.outline import outline
from ui_mcp.introspection.tree import build

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
