"""The listed schemas of our own tools are short, and say what every host understands."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

RECORD = Path(__file__).parents[2] / "contracts" / "surface.json"
NOISE = {"$schema", "$defs", "$ref", "title", "oneOf", "allOf"}


def schemas(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if "inputSchema" in node:
            yield node["inputSchema"]
        for member in node.values():
            yield from schemas(member)
    elif isinstance(node, list):
        for member in node:
            yield from schemas(member)


def parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for inner in (*schema.get("properties", {}).values(), *schema.get("anyOf", ()), schema.get("items")):
        if inner is not None:
            yield from parts(inner)


@pytest.fixture(scope="module")
def listed() -> list[dict[str, Any]]:
    found = list(schemas(json.loads(RECORD.read_text())))
    assert len(found) > 25
    return found


@pytest.mark.covers("MCP-TOOL-5")
def test_no_schema_has_references_titles_or_null(listed: list[dict[str, Any]]) -> None:
    every = [part for schema in listed for part in parts(schema)]

    assert {key for part in every for key in part} & NOISE == set()
    assert [part for part in every if part.get("type") == "null" or part.get("default", "") is None] == []


@pytest.mark.covers("MCP-TOOL-5")
def test_nodes_are_named_by_plain_strings(listed: list[dict[str, Any]]) -> None:
    node = next(schema for schema in listed if "includeChildren" in schema["properties"])
    perform = next(schema for schema in listed if "awaitUiIdle" in schema["properties"])
    action = perform["properties"]["actions"]["items"]["properties"]

    assert node["properties"]["ref"]["type"] == "string"
    assert [action[part]["type"] for part in ("target", "from", "to")] == ["string"] * 3
