"""The pipe's format: what is packed comes back, what is not a message is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.lua.flat import HEAD, length, pack, unpack

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**61), 2**61),
    st.floats(allow_nan=False),
    st.binary(max_size=50),
    st.text(max_size=50),
)


@given(st.lists(VALUES, max_size=8))
def test_flat_values_survive_the_pipe(values: list[object]) -> None:
    data = pack(values)  # type: ignore[arg-type]

    assert length(data[:HEAD]) == len(data) - HEAD
    assert unpack(data[HEAD:]) == values


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        values = unpack(data)
    except ValueError:
        return
    assert len(values) <= len(data)


def test_a_message_longer_than_any_is_refused() -> None:
    with pytest.raises(ValueError, match="bytes"):
        length(b"\xff\xff\xff\xff")
