"""A raw client on real pipes to a server in the same loop: messages go out and come in as they are."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from ui_mcp.jsonrpc.pipes import CHUNK, Line, LineSplitter, Writer
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports.stdio import serve

ENVELOPE = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "wire", "version": "1"}}
APPS: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/ui": {}}}

Message = dict[str, Any]


class Wire:
    """The client's ends of the pipes."""

    def __init__(self, out: int, incoming: int) -> None:
        self._out = out
        self._writer = Writer(out)
        self._incoming = incoming
        self._received: list[Message] = []
        self._source = lines(incoming, LineSplitter())
        self._next = 0
        self.ended = anyio.Event()
        """Set when the server has returned."""

    async def line(self, data: bytes | str) -> None:
        """Send raw bytes and a line break."""
        raw = data.encode() if isinstance(data, str) else data
        view = memoryview(raw + b"\n")
        while view:
            await anyio.wait_writable(self._out)
            view = view[os.write(self._out, view[:4096]) :]

    async def send(self, message: Any) -> None:
        await self.line(json.dumps(message))

    async def receive(self) -> Any:
        while not self._received:
            self._received = [json.loads(line) for line in await anext(self._source) if isinstance(line, bytes)]
        return self._received.pop(0)

    async def all(self) -> list[Any]:
        """Return everything up to the end of the stream."""
        rest = [json.loads(line) async for batch in self._source for line in batch if isinstance(line, bytes)]
        return [*self._received, *rest]

    async def ask(self, method: str, params: Message | None = None, *, modern: bool = False) -> Message:
        """Return the whole answer to one request; whatever else arrives first must not."""
        self._next += 1
        given = {**(params or {}), **({"_meta": ENVELOPE} if modern else {})}
        await self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": given})
        answer: Message = await self.receive()
        assert answer.get("id") == self._next, answer
        return answer

    async def call(self, name: str, *, modern: bool = False, **arguments: Any) -> Message:
        return await self.ask("tools/call", {"name": name, "arguments": arguments}, modern=modern)

    async def shake_hands(self, version: str = "2025-11-25", capabilities: Message | None = None) -> Message:
        hello = {**HELLO, "protocolVersion": version, "capabilities": capabilities or {}}
        answer = await self.ask("initialize", hello)
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def hang_up(self) -> None:
        """Close our sending end."""
        if self._out >= 0:
            os.close(self._out)
            self._out = -1

    def stop_reading(self) -> None:
        """Close our receiving end."""
        if self._incoming >= 0:
            os.close(self._incoming)
            self._incoming = -1


@asynccontextmanager
async def wired(definition: ServerDefinition) -> AsyncIterator[Wire]:
    """Serve a definition on pipes for the length of the block."""
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    wire = Wire(our_out, our_in)

    async def run() -> None:
        await serve(McpServer(definition), their_in, their_out, orphan_check=False)
        os.close(their_out)
        wire.ended.set()

    try:
        with anyio.fail_after(120):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run)
                yield wire
                tasks.cancel_scope.cancel()
    finally:
        wire.hang_up()
        wire.stop_reading()
        os.close(their_in)


async def lines(fd: int, framer: LineSplitter) -> AsyncIterator[list[Line]]:
    """Yield the lines that arrive together, until end of file."""
    while True:
        await anyio.wait_readable(fd)
        chunk = os.read(fd, CHUNK)
        if not chunk:
            break
        yield framer.feed(chunk)
    yield framer.end()
