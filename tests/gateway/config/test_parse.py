"""JSON and YAML by content: core rules, keys as text, duplicates reported, bombs refused."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config.notes import Notes
from ui_mcp.gateway.config.parse import parse
from ui_mcp.jsontypes import dumps

SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@pytest.mark.covers("GW-LOD-3")
def test_yaml_is_read_by_the_core_rules() -> None:
    text = b"a: 2022-11-15\non: yes\n200: ok\nb: 1.5\nc: 0x1f\nd: 017\ne: ~\nf: 'true'\ng: true\nh: 1e3\ni: !!str 5\n"

    assert parse(text) == {
        "a": "2022-11-15", "on": "yes", "200": "ok", "b": 1.5, "c": 31, "d": "017", "e": None, "f": "true", "g": True,
        "h": 1000.0, "i": "5",
    }  # fmt: skip


@pytest.mark.covers("GW-LOD-3")
def test_the_last_of_a_repeated_key_counts_and_is_reported() -> None:
    notes = Notes()

    assert parse(b"a: 1\nb: 2\na: 3\n", notes) == {"a": 3, "b": 2}
    assert notes.all()[0].message == "Line 3: key 'a' is repeated; the last one counts"


@pytest.mark.covers("GW-LOD-3")
def test_anchors_and_merges_work_and_bombs_do_not() -> None:
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
    )

    assert parse(b"x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\n")["y"] == {"b": 3, "a": 1}
    with pytest.raises(ConfigError, match="too many"):
        parse(bomb.encode())
    with pytest.raises(ConfigError, match="no finished anchor"):
        parse(b"a: &a [*a]\n")


@pytest.mark.covers("GW-LOD-1")
@pytest.mark.parametrize("data", [b'\xef\xbb\xbf{"a": 1}', '{"a": 1}'.encode("utf-16"), b'  {"a": 1}', b"a: 1"])
def test_marks_and_encodings_do_not_matter(data: bytes) -> None:
    assert parse(data) == {"a": 1}


@pytest.mark.covers("GW-LOD-1")
@given(VALUES)
def test_what_json_says_yaml_says_too(value: object) -> None:
    text = dumps({"value": value})

    assert parse(text.encode()) == {"value": value}


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(ConfigError):
        parse(data)
