"""Whatever the values, what is written can be read back: no separator of ours ever comes from a value."""

from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.gateway.openapi.payload import EncodingOptions, form
from ui_mcp.gateway.openapi.request import in_path, in_query

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@pytest.mark.covers("GW-REQ-1")
@given(st.lists(TEXTS, min_size=1))
def test_joined_lists_come_apart_again(values: list[str]) -> None:
    simple = in_path("p", values, "simple", explode=False)
    label = in_path("p", values, "label", explode=False)
    (joined,) = in_query("p", values, "form", explode=False, reserved=False, arrays="index")
    (piped,) = in_query("p", values, "pipeDelimited", explode=False, reserved=False, arrays="index")

    assert [unquote(part) for part in simple.split(",")] == values
    assert [unquote(part) for part in label[1:].split(",")] == values
    assert [unquote(part) for part in joined[2:].split(",")] == values
    assert [unquote(part) for part in piped[2:].split("%7C")] == values or "|" in "".join(values)
    assert "/" not in simple


@pytest.mark.covers("GW-REQ-1")
@given(st.dictionaries(TEXTS, TEXTS, min_size=1))
def test_exploded_objects_come_apart_again(value: dict[str, str]) -> None:
    pairs = in_query("p", value, "form", explode=True, reserved=False, arrays="index")

    assert parse_qsl("&".join(pairs), keep_blank_values=True) == list(value.items())


@pytest.mark.covers("GW-REQ-6")
@given(st.dictionaries(TEXTS, TEXTS | st.lists(TEXTS, min_size=1), min_size=1))
def test_forms_come_apart_again(fields: dict[str, str | list[str]]) -> None:
    expected = [
        (key, item) for key, value in fields.items() for item in (value if isinstance(value, list) else [value])
    ]

    assert parse_qsl(form(fields, {}, EncodingOptions()), keep_blank_values=True) == expected
