"""What a relay remembers of lines that it passed on before it read them."""

import socket

import pytest

from ui_mcp.app.server_link import MAX_UNREAD, ClientMemory, ServerLink
from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import Json

pytestmark = pytest.mark.covers("UI-JOIN-14")


def line(message: dict[str, Json]) -> bytes:
    return rpc.encode({"jsonrpc": "2.0", **message}) + b"\n"


def link() -> ServerLink:
    ours, theirs = socket.socketpair()
    theirs.close()
    return ServerLink(ours)


async def test_requests_that_were_passed_on_unread_are_pending_until_their_answers_pass() -> None:
    found, memory = link(), ClientMemory()
    hello = {"clientInfo": {"name": "boat", "version": "1"}}

    found.passed(line({"id": 1, "method": "initialize", "params": hello}), memory)
    found.passed(line({"id": 2, "method": "tools/list"}), memory)
    found.passed(b"{broken\n", memory)
    found.passed(line({"id": 2, "result": {}}))
    found.read_passed()

    assert list(found.pending) == [1]
    assert memory.name == "boat"
    found.close()


async def test_passed_lines_are_read_before_they_become_many() -> None:
    found, memory = link(), ClientMemory()

    for number in range(MAX_UNREAD):
        found.passed(line({"id": number, "method": "ping"}), memory)

    assert len(found.pending) == MAX_UNREAD
    found.close()
