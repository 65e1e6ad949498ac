"""MCP over stdin and stdout: one message per line, both eras on one connection."""

from collections import deque
from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskGroup

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsonrpc.pipes import MAX_LINE, Line, LineSplitter, OversizedLine, PipeReader, Writer
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_server.connection import ClientConnection, answer_batch
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.processes import parent_gone

GRACE_SECONDS = 10.0
MAX_IN_FLIGHT = 10_000
_log = logger("mcp.stdio")


async def serve(
    service: McpServer, stdin: int, stdout: int, *, principal: str = "local", orphan_check: bool = True
) -> None:
    """Serve one client until stdin closes or, with `orphan_check`, the parent process exits."""
    # A constant name: the pipe has one client, and it is the same one after it restarts this process.
    client = ClientConnection(service, principal=principal, connection="stdio")
    pump = _Pump(client, Writer(stdout))
    try:
        async with anyio.create_task_group() as tasks:
            if orphan_check:
                tasks.start_soon(_cancel_after, parent_gone, tasks)
            await pump.run(stdin, tasks)
            tasks.cancel_scope.cancel()
    except* OSError as broken:
        _log.info("The client's pipe broke: %s", broken.exceptions[0])
    finally:
        client.close()


class _Pump:
    """Moves messages between two pipes and a client connection."""

    def __init__(self, client: ClientConnection, writer: Writer) -> None:
        self._client = client
        self._writer = writer
        self._in_flight = 0
        self._idle = anyio.Event()
        self._splitter = LineSplitter()
        self._in_turn: deque[Json] = deque()
        """Messages that must be handled one at a time, and everything received after them."""
        self._turn = anyio.Event()
        self._ended = False
        self._busy = False
        self._broken: OSError | None = None

    async def run(self, stdin: int, tasks: TaskGroup) -> None:
        tasks.start_soon(self._writer.run)
        tasks.start_soon(self._deliver)
        tasks.start_soon(self._watch_backlog)
        reader = PipeReader(stdin, lambda chunk: self._on_chunk(chunk, reader, tasks))
        tasks.start_soon(reader.run)
        await self._handle_in_turn(reader, tasks)
        self._client.disconnect.set()
        with anyio.move_on_after(GRACE_SECONDS):
            await self._all_answered()
            await self._writer.flushed()

    def _on_chunk(self, chunk: bytes, reader: PipeReader, tasks: TaskGroup) -> None:
        """Handle a chunk, inside the reader's callback; an empty one is the end of input."""
        try:
            for line in self._splitter.feed(chunk) if chunk else self._splitter.end():
                self._take(line, tasks)
        except OSError as broken:
            self._broken = broken  # `_handle_in_turn` raises it: an exception in a callback would be lost
        self._ended = not chunk
        if not self._writer.has_room or len(self._in_turn) > MAX_IN_FLIGHT:
            reader.pause()
            self._turn.set()
        if self._in_turn or self._ended or self._broken:
            self._turn.set()

    def _take(self, line: Line, tasks: TaskGroup) -> None:
        """Start handling a message now, or queue it behind messages that must be handled first."""
        message = self._decoded(line)
        if message is None:
            return
        if self._busy or self._in_turn or rpc.kind_of(message) != "request" or message["method"] == "initialize":
            self._in_turn.append(message)
        else:
            self._start(message, tasks)

    async def _handle_in_turn(self, reader: PipeReader, tasks: TaskGroup) -> None:
        while self._in_turn or not self._ended:
            await self._turn.wait()
            self._turn = anyio.Event()
            if self._broken is not None:
                raise self._broken
            self._busy = True
            while self._in_turn:
                await self._route(self._in_turn.popleft(), tasks)
            self._busy = False
            await self._writer.room()
            reader.resume()

    def _decoded(self, line: Line) -> Json:
        if isinstance(line, OversizedLine):
            self._send(rpc.error(None, rpc.INVALID_REQUEST, f"A message may have at most {MAX_LINE} bytes"))
            return None
        try:
            message = rpc.decode(line)
        except ValueError:
            self._send(rpc.error(None, rpc.PARSE_ERROR, "Parse error"))
            return None
        if message is None:
            self._send(rpc.invalid(message))
        return message

    async def _route(self, message: Json, tasks: TaskGroup) -> None:
        match rpc.kind_of(message):
            case "request" if message["method"] == "initialize":
                await self._answer(message)  # not in a task: the next request may arrive right behind it
            case "request":
                self._start(message, tasks)
            case "notification":
                await self._client.on_notification(message)
            case "response":
                self._client.on_response(message)
            case _ if isinstance(message, list):
                self._spawn(tasks, lambda: self._answer_batch(message), None)
            case _:
                self._send(rpc.invalid(message))

    def _start(self, message: JsonObject, tasks: TaskGroup) -> None:
        self._spawn(tasks, lambda: self._answer(message), message["id"])

    def _spawn(self, tasks: TaskGroup, work: Callable[[], Awaitable[None]], request_id: rpc.RequestId | None) -> None:
        if self._in_flight >= MAX_IN_FLIGHT:
            self._send(rpc.error(request_id, rpc.INTERNAL_ERROR, "Too many requests at once"))
            return
        self._in_flight += 1
        tasks.start_soon(self._counted, work)

    async def _counted(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()

    async def _all_answered(self) -> None:
        while self._in_flight:
            self._idle = anyio.Event()
            await self._idle.wait()

    async def _answer(self, message: JsonObject) -> None:
        answer = await self._client.answer(message, self._send_when_ready)
        if answer is not None:
            self._send(answer)

    async def _answer_batch(self, messages: list[Json]) -> None:
        answer = await answer_batch(self._client, messages, self._send_when_ready)
        if answer is not None:
            self._send(answer)

    async def _deliver(self) -> None:
        while messages := await self._client.queue.get():
            for message in messages:
                self._send(message)
            await self._writer.room()

    async def _watch_backlog(self) -> None:
        await self._client.queue.cut_off.wait()
        # Disconnect, so that a client which does not read learns that it has missed notifications.
        raise ConnectionAbortedError("the client does not read its notifications")

    async def _send_when_ready(self, message: JsonObject) -> None:
        self._send(message)
        await self._writer.room()

    def _send(self, message: Json) -> None:
        self._writer.write(rpc.encode(message) + b"\n")


async def _cancel_after(event: Callable[[], Awaitable[None]], tasks: TaskGroup) -> None:
    await event()
    tasks.cancel_scope.cancel()
