"""Errors as tools answer them, and answers of pages that make no sense."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ui_mcp.errors import (
    IntrospectError,
    NotStartedError,
    UiActionFailedError,
    UiArgumentError,
    UiNodeNotFoundError,
    UiNoStagesError,
    UiNotEnabledError,
    UiStaleRefError,
    UiTimeoutError,
    WireError,
)
from ui_mcp.introspection.contract import as_tool_result
from ui_mcp.introspection.tree import uid_prefix, uid_prefixes
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Text, ToolResult
from ui_mcp.ui.sessions.pages import PageQueries

SCHEMA = json.loads((Path(__file__).parents[2] / "contracts" / "ui-error.schema.json").read_text())
KINDS = [
    UiActionFailedError, UiArgumentError, UiNodeNotFoundError, UiNoStagesError, UiNotEnabledError, UiStaleRefError,
    UiTimeoutError, IntrospectError,
]  # fmt: skip


async def raising(error: Exception) -> ToolResult:
    raise error


def text_of(answer: ToolResult) -> str:
    (content,) = answer.content
    assert isinstance(content, Text)
    return content.text


def error_of(answer: ToolResult) -> JsonObject:
    error: JsonObject = (answer.structured or {})["error"]
    return error


@pytest.mark.covers("IN-67", "IN-2")
@pytest.mark.parametrize("kind", KINDS)
async def test_each_error_has_the_shape_and_a_code_of_the_contract(kind: type[IntrospectError]) -> None:
    answer = await as_tool_result(raising(kind("Something\nA way out.", reason="X")))

    Draft202012Validator(SCHEMA).validate(answer.structured)
    assert json.loads(text_of(answer)) == answer.structured
    assert (answer.is_error, error_of(answer)["code"]) == (True, kind.code)


@pytest.mark.covers("IN-67")
async def test_an_unexpected_error_is_internal_and_shows_no_trace() -> None:
    answer = await as_tool_result(raising(ZeroDivisionError("secret detail")))

    assert error_of(answer)["code"] == "MCP_UI_INTERNAL"
    assert "secret" not in text_of(answer)


@pytest.mark.covers("IN-72")
async def test_a_server_that_was_not_started_is_not_enabled() -> None:
    answer = await as_tool_result(raising(NotStartedError()))

    assert error_of(answer)["details"] == {"reason": "NOT_STARTED"}


@given(st.text() | st.text().map(lambda text: '{"type":"looked","data":' + text + "}"))
def test_an_answer_that_makes_no_sense_is_refused_and_breaks_nothing(frame: str) -> None:
    queries = PageQueries(lambda _: None)
    try:
        queries.on_answer(frame)
    except WireError:
        return


@given(st.integers(1, 20_000))
def test_letters_are_counted_without_repeats(number: int) -> None:
    from itertools import islice

    assert next(islice(uid_prefixes(), number - 1, None)) == uid_prefix(number)
