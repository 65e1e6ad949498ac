"""Names: safe, short, stable, and never two for one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.toolkit.names import Unnamed, closest, source_name, tool_names

TEXTS = st.text(max_size=100)


@pytest.mark.covers("GW-NAM-1", "GW-NAM-2")
def test_a_tool_is_listed_under_its_source() -> None:
    assert tool_names("filesystem", [Unnamed("read_file", "read_file")]) == ["filesystem__read_file"]
    assert tool_names("p", [Unnamed("getPetById", "x"), Unnamed("issues/create", "y")]) == [
        "p__getPetById",
        "p__issues_create",
    ]


@pytest.mark.covers("GW-NAM-2")
@pytest.mark.parametrize(
    ("given", "name"),
    [("My API!", "My_API"), ("a__b", "a_b"), ("9lives", "s_9lives"), ("_x_", "x"), ("api.x.io", "api_x_io")],
)
def test_a_source_name_has_no_double_underscore(given: str, name: str) -> None:
    assert source_name(given) == name


@pytest.mark.covers("GW-NAM-2", "GW-NAM-4", "GW-NAM-5")
@given(TEXTS, st.lists(TEXTS, unique=True, max_size=20))
def test_names_are_legal_distinct_and_independent_of_order(source: str, wanted: list[str]) -> None:
    prefix = source_name(source)
    tools = [Unnamed(text, f"{number}|{text}") for number, text in enumerate(wanted)]

    names = tool_names(prefix, tools)
    turned = tool_names(prefix, tools[::-1])[::-1]

    assert names == turned
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", name) for name in names if len(prefix) < 55)


@pytest.mark.covers("GW-NAM-6")
def test_a_wrong_name_is_answered_with_the_closest() -> None:
    assert closest("petstore__getPet", ["petstore__getPetById", "files__read"])[0] == "petstore__getPetById"
