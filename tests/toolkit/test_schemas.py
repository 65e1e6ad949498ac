"""JSON Schema of argument classes."""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import pytest

from ui_mcp.fields import Before, Length, Limit, Named, OneOf, Pattern, Rules, Schema
from ui_mcp.toolkit.schemas import input_schema


@dataclass(frozen=True, slots=True)
class Row:
    RULES: ClassVar = Rules(unknown="ignore")

    n: Annotated[int, Limit(ge=1)]
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Arguments:
    name: Annotated[str, "How it is called.", Pattern("[a-z]+"), Length(most=9)]
    node: Annotated[Row, Before(lambda given: {"n": given}), Schema({"type": "string"})]
    session_id: Annotated[str, "Where.", Named("sessionId")] = "1"
    limit: Annotated[int | None, "How many.", Limit(ge=1, le=30)] = None
    ratio: Annotated[float, Limit(gt=0)] = 1.5
    kind: Literal["a", "b"] = "a"
    colour: Annotated[str, OneOf(lambda: ["red"])] = ""
    owner: int | str = 0
    rows: Annotated[list[Row], Length(1, 3)] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    anything: Any = None
    force: bool = False


@pytest.mark.covers("MCP-TOOL-3")
def test_a_schema_says_what_is_needed_and_nothing_that_only_costs_tokens() -> None:
    assert input_schema(Arguments) == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 9, "description": "How it is called."},
            "node": {"type": "string"},
            "sessionId": {"type": "string", "description": "Where.", "default": "1"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 30, "description": "How many."},
            "ratio": {"type": "number", "exclusiveMinimum": 0, "default": 1.5},
            "kind": {"type": "string", "enum": ["a", "b"], "default": "a"},
            "colour": {"type": "string", "enum": ["red"]},
            "owner": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "rows": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"n": {"type": "integer", "minimum": 1}, "text": {"type": "string"}},
                    "required": ["n"],
                },
                "minItems": 1,
                "maxItems": 3,
            },
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "anything": {},
            "force": {"type": "boolean"},
        },
        "required": ["name", "node"],
        "additionalProperties": False,
    }
