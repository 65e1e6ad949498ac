"""The pipe's two formats: what is written comes back, what is not an answer is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.lua_runtime.interface import Scalar, decode_reply
from ui_mcp.lua_runtime.messages import HEAD, decode_request, encode_reply, encode_request, length

NUMBERS = st.one_of(st.none(), st.booleans(), st.integers(-(2**61), 2**61), st.floats(allow_nan=False))
ASKED = st.one_of(NUMBERS, st.binary(max_size=50), st.text(st.characters(), max_size=50))
SAID = st.one_of(NUMBERS.filter(lambda value: abs(value or 0) != float("inf")), st.text(max_size=50))


@given(st.lists(ASKED, max_size=8))
def test_requests_survive_the_pipe(values: list[Scalar]) -> None:
    data = encode_request(values)

    assert length(data[:HEAD]) == len(data) - HEAD
    assert decode_request(data[HEAD:]) == values


@given(st.lists(SAID, min_size=1, max_size=8))
def test_replies_survive_the_pipe(values: list[Scalar]) -> None:
    data = encode_reply(values)

    assert length(data[:HEAD]) == len(data) - HEAD
    assert decode_reply(data[HEAD:]) == values


@given(st.one_of(st.binary(max_size=200), st.text('[]{}",:019eENa', max_size=50).map(str.encode)))
def test_any_bytes_of_a_child_are_read_or_refused(data: bytes) -> None:
    try:
        values = decode_reply(data)
    except ValueError:
        return
    assert len(values) <= len(data)


def test_a_message_longer_than_any_is_refused() -> None:
    with pytest.raises(ValueError, match="bytes"):
        length(b"\xff\xff\xff\xff")
