"""Bytes become lines, however they are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.jsonrpc.pipes import Line, LineSplitter, OversizedLine

BOM = b"\xef\xbb\xbf"
PLAIN = st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"").strip()).filter(lambda raw: raw[:3] != BOM)
LINES = st.lists(PLAIN)


def framed(chunks: list[bytes], limit: int = 1000) -> list[Line]:
    framer = LineSplitter(limit)
    return [line for chunk in chunks for line in framer.feed(chunk)] + framer.end()


@pytest.mark.covers("MCP-STDIO-2")
@given(lines=LINES, breaks=st.sampled_from([b"\n", b"\r\n", b"\n\n"]), cuts=st.lists(st.integers(1, 30)))
def test_any_cutting_of_the_stream_gives_the_same_lines(lines: list[bytes], breaks: bytes, cuts: list[int]) -> None:
    stream = b"".join(line + breaks for line in lines)
    chunks, rest = [], stream
    for cut in cuts:
        chunks.append(rest[:cut])
        rest = rest[cut:]

    assert framed([*chunks, rest]) == [line for line in lines if line]


@pytest.mark.covers("MCP-STDIO-2")
def test_a_byte_order_mark_blank_lines_and_a_missing_last_break_do_no_harm() -> None:
    assert framed([b'\xef\xbb\xbf{"a":1}\r\n\r\n  \n', b'{"b"', b":2}"]) == [b'{"a":1}', b'{"b":2}']


@pytest.mark.covers("MCP-STDIO-3")
@given(cuts=st.lists(st.integers(1, 15), max_size=20))
def test_a_line_over_the_limit_is_skipped_once_and_the_next_is_read(cuts: list[int]) -> None:
    chunks, rest = [], b"x" * 50 + b"\nshort\n"
    for cut in cuts:
        chunks.append(rest[:cut])
        rest = rest[cut:]

    assert framed([*chunks, rest], limit=20) == [OversizedLine.LINE, b"short"]


def test_what_waits_for_its_end_never_outgrows_the_limit() -> None:
    framer = LineSplitter(100)
    for _ in range(1000):
        framer.feed(b"y" * 90)

    assert framer.end() == []
