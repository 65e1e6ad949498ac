"""MCP over stdin and stdout: one message per line, both eras on one connection."""

from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskGroup

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsonrpc.pipes import MAX_LINE, Handover, Line, LineReader, OversizedLine, Writer
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_server.connection import Answering, ClientConnection
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.processes import parent_gone

GRACE_SECONDS = 10.0
MAX_IN_FLIGHT = 10_000
MAX_FREE = 8
CONTROL = "ui-mcp/"
"""Prefix of the methods that a relay and its server use between themselves."""
Control = Callable[[JsonObject], Answering]
_log = logger("mcp.stdio")


async def serve(
    service: McpServer, stdin: int, stdout: int, *, principal: str = "local", orphan_check: bool = True
) -> None:
    """Serve one client until stdin closes or, with `orphan_check`, the parent process exits."""
    # A constant name: the pipe has one client, and it is the same one after it restarts this process.
    client = ClientConnection(service, principal=principal, connection="stdio")
    await serve_connection(client, stdin, stdout, orphan_check=orphan_check)


async def serve_connection(
    client: ClientConnection,
    stdin: int,
    stdout: int,
    *,
    orphan_check: bool = False,
    control: Control | None = None,
    received: bytes = b"",
) -> None:
    """Serve one connection until its input ends; `received` is input that was read before.

    `control` answers requests whose method begins with `CONTROL`, which are not part of MCP.
    """
    try:
        async with anyio.create_task_group() as tasks:
            if orphan_check:
                tasks.start_soon(cancel_after, parent_gone, tasks)
            await _Pump(client, stdin, Writer(stdout), tasks, control).run(received)
            tasks.cancel_scope.cancel()
    except* OSError as broken:
        _log.info("The client's pipe broke: %s", broken.exceptions[0])
    finally:
        client.close()


class _Pump:
    """Moves messages between two pipes and a client connection."""

    def __init__(
        self, client: ClientConnection, stdin: int, writer: Writer, tasks: TaskGroup, control: Control | None
    ) -> None:
        self._client = client
        self._control = control
        self._lines = LineReader(stdin, self._take, lambda: writer)
        self._writer = writer
        self._tasks = tasks
        self._free: list[tuple[anyio.CancelScope, Handover[Answering]]] = []
        """The workers that wait for work, each with the scope it runs in."""
        self._in_flight = 0
        self._idle = anyio.Event()

    async def run(self, received: bytes = b"") -> None:
        for task in (self._writer.run, self._deliver, self._watch_backlog):
            self._tasks.start_soon(task)
        await self._lines.run(received)
        self._client.begin_closing()
        with anyio.move_on_after(GRACE_SECONDS):
            await self._all_answered()
            await self._writer.flushed()

    def _take(self, line: Line) -> None:
        if isinstance(line, OversizedLine):
            self._send(rpc.error(None, rpc.INVALID_REQUEST, f"A message may have at most {MAX_LINE} bytes"))
            return
        try:
            message = rpc.decode(line)
        except ValueError:
            self._send(rpc.error(None, rpc.PARSE_ERROR, "Parse error"))
            return
        if self._in_flight >= MAX_IN_FLIGHT and rpc.kind_of(message) == "request":
            self._send(rpc.error(message["id"], rpc.INTERNAL_ERROR, "Too many requests at once"))
            return
        # The scope must be known before the message is handled: the next one may already cancel it.
        free = self._free.pop() if self._free else None
        scope = anyio.CancelScope() if free is None else free[0]
        work = self._work(message, scope)
        if work is None:
            self._free += [free] if free else []
            return
        self._in_flight += 1
        if free is None:
            self._tasks.start_soon(self._worker, scope, work)
        else:
            free[1].give(work)

    def _work(self, message: Json, scope: anyio.CancelScope) -> Answering | None:
        if self._control and rpc.kind_of(message) == "request" and message["method"].startswith(CONTROL):
            return self._control(message)
        return self._client.receive(message, self._send_when_ready, scope)

    async def _worker(self, scope: anyio.CancelScope, work: Answering) -> None:
        """Answer one request after another: to start a task takes as long as to answer a small request."""
        with scope:
            await self._answer(work)
            # A scope that was cancelled stays so: its worker ends, and the next request gets a new one.
            while not scope.cancel_called and len(self._free) < MAX_FREE:
                handover = Handover[Answering]()
                self._free.append((scope, handover))
                await self._answer(await handover.wait())

    async def _answer(self, work: Answering) -> None:
        try:
            answer = await work
            if answer is not None:
                self._send(answer)
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()

    async def _all_answered(self) -> None:
        while self._in_flight:
            self._idle = anyio.Event()
            await self._idle.wait()

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


async def cancel_after(event: Callable[[], Awaitable[None]], tasks: TaskGroup) -> None:
    """Cancel tasks when an event has happened."""
    await event()
    tasks.cancel_scope.cancel()
