"""Every tool as vendors of models take it, by their documented rules: OpenAI's strict mode, Gemini, Anthropic."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from ui_mcp.toolkit.tool import Tool
from ui_mcp.ui.toolset import recorded_tools

Schema = dict[str, Any]
OPENAI_KEYS = {
    "type", "description", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "pattern",
    "minimum", "maximum", "exclusiveMinimum", "minItems", "maxItems", "minLength", "maxLength",
}  # fmt: skip
GEMINI_KEYS = {
    "type", "description", "properties", "required", "items", "enum", "anyOf", "nullable", "format", "minimum",
    "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern", "default",
}  # fmt: skip
TYPES = {"object", "array", "string", "integer", "number", "boolean"}


def parts(schema: Schema, depth: int = 1) -> Iterator[tuple[Schema, int]]:
    yield schema, depth
    for inner in (*schema.get("properties", {}).values(), *schema.get("anyOf", ()), schema.get("items")):
        if inner is not None:
            yield from parts(inner, depth + 1)


def strict(schema: Schema) -> Schema:
    """Convert as OpenAI's libraries do: nothing further is allowed, everything is required, optional is nullable."""
    written = {key: value for key, value in schema.items() if key != "default"}
    if schema.get("type") == "object":
        required = schema.get("required", [])
        inner = {name: strict(one) for name, one in schema["properties"].items()}
        nullable = {
            name: one if name in required else {"anyOf": [one, {"type": "null"}]} for name, one in inner.items()
        }
        written |= {"properties": nullable, "required": list(inner), "additionalProperties": False}
    if "items" in schema:
        written["items"] = strict(schema["items"])
    return written


def openai_problems(tool: Tool) -> list[str]:
    """Check the rules of strict function schemas."""
    found = []
    converted = list(parts(strict(tool.input_schema)))
    for part, depth in converted:
        kinds = {part.get("type")} if "type" in part else {one.get("type") for one in part.get("anyOf", ())}
        if not kinds or not kinds <= {*TYPES, "null"}:
            found.append(f"no type: {part}")
        if unknown := part.keys() - OPENAI_KEYS:
            found.append(f"keywords {unknown}")
        if part.get("type") == "object":
            if part.get("additionalProperties") is not False or set(part["required"]) != set(part["properties"]):
                found.append(f"an open object: {part}")
            if not part["properties"] and depth > 1:
                found.append("an object of any fields")
        if depth > 20:
            found.append("too deep")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", tool.name) or len(tool.description) > 1024:
        found.append("name or description")
    return found


def gemini_problems(tool: Tool) -> list[str]:
    """Check the subset of OpenAPI schemas that function declarations have."""
    found = []
    for part, _ in parts(tool.input_schema):
        if part.get("type") not in TYPES:
            found.append(f"one type each: {part}")
        if unknown := part.keys() - GEMINI_KEYS - {"additionalProperties"}:
            found.append(f"keywords {unknown}")
        if part.get("additionalProperties") not in (None, False):
            found.append("maps are not known")
        if part.get("type") == "array" and "items" not in part:
            found.append("an array without items")
        if "enum" in part and (
            part["type"] != "string" or not all(isinstance(one, str) and one for one in part["enum"])
        ):
            found.append("an enum of other than strings")
        if set(part.get("required", ())) - part.get("properties", {}).keys():
            found.append("required but not described")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}", tool.name):
        found.append("name")
    return found


def anthropic_problems(tool: Tool) -> list[str]:
    """Check the rules of input schemas."""
    schema = tool.input_schema
    names = [name for part, _ in parts(schema) for name in part.get("properties", {})]
    found = [f"key {name}" for name in names if not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name)]
    if schema.get("type") != "object" or schema.keys() & {"anyOf", "oneOf", "allOf"}:
        found.append("not one object")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", tool.name):
        found.append("name")
    return found


def tools() -> list[Tool]:
    """Return what models are shown; a tool for pages only reaches none."""
    recorded = recorded_tools()
    assert recorded is not None, "run scripts/tool_list.py"
    return [tool for tool in recorded if not tool.app_only]


@pytest.mark.covers("MCP-TOOL-6")
@pytest.mark.parametrize("tool", tools(), ids=lambda tool: tool.name)
def test_every_vendor_takes_the_schema(tool: Tool) -> None:
    assert (openai_problems(tool), gemini_problems(tool), anthropic_problems(tool)) == ([], [], [])


@pytest.mark.covers("MCP-TOOL-6")
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"any": {"type": "object"}}},
        {"type": "object", "properties": {"list": {"type": "array"}}},
        {"type": "object", "properties": {"both": {"type": ["string", "null"]}}},
        {"type": "object", "properties": {"untyped": {"description": "x"}}},
        {"type": "object", "properties": {"number": {"type": "integer", "enum": [1, 2]}}},
        {"type": "object", "properties": {"map": {"type": "object", "additionalProperties": {"type": "string"}}}},
        {"type": "object", "properties": {"const": {"const": "x"}}},
        {"type": "object", "anyOf": [], "properties": {}},
    ],
)
def test_what_a_vendor_refuses_is_found(schema: Schema) -> None:
    tool = Tool("x", "x", "x", schema)

    def problems() -> list[str]:
        try:
            return [*openai_problems(tool), *gemini_problems(tool), *anthropic_problems(tool)]
        except (KeyError, TypeError, AttributeError) as error:
            return [repr(error)]

    assert problems() != []


@pytest.mark.covers("MCP-TOOL-6")
def test_buttons_have_the_names_that_models_know() -> None:
    perform = next(tool for tool in tools() if tool.name == "ui_perform")
    action = perform.input_schema["properties"]["actions"]["items"]["properties"]

    assert action["button"]["enum"] == ["left", "right", "middle"]
