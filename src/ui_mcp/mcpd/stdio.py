"""MCP over a pair of pipes: one message per line, both eras on one connection, an answer for all that was read."""

import gc
from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskGroup

from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.log import logger
from ui_mcp.mcpd import rpc
from ui_mcp.mcpd.batch import answer_batch
from ui_mcp.mcpd.conversation import Conversation
from ui_mcp.mcpd.framing import MAX_LINE, Framer, Line, TooLong
from ui_mcp.mcpd.parent import parent_gone
from ui_mcp.mcpd.pipes import Writer, lines
from ui_mcp.mcpd.server import Service

GRACE_SECONDS = 10.0
MAX_IN_FLIGHT = 10_000
_log = logger("mcp.stdio")


async def serve(
    service: Service, stdin: int, stdout: int, *, principal: str = "local", orphan_check: bool = True
) -> None:
    """Serve one client until its end of the pipe closes, or the process that started us is gone."""
    gc.freeze()
    gc.enable()
    conversation = Conversation(service, principal=principal)
    pump = _Pump(conversation, Writer(stdout))
    try:
        async with anyio.create_task_group() as tasks:
            if orphan_check:
                tasks.start_soon(_cancel_after, parent_gone, tasks)
            await pump.run(stdin, tasks)
            tasks.cancel_scope.cancel()
    except* OSError as broken:
        _log.info("The client's pipe broke: %s", broken.exceptions[0])
    finally:
        conversation.close()


class _Pump:
    """Moves messages between two pipes and a conversation."""

    def __init__(self, conversation: Conversation, writer: Writer) -> None:
        self._conversation = conversation
        self._writer = writer
        self._in_flight = 0
        self._idle = anyio.Event()

    async def run(self, stdin: int, tasks: TaskGroup) -> None:
        tasks.start_soon(self._writer.run)
        tasks.start_soon(self._deliver)
        tasks.start_soon(self._watch_backlog)
        async for batch in lines(stdin, Framer()):
            for line in batch:
                await self._take(line, tasks)
            await self._writer.room()
        self._conversation.leaving.begin()
        with anyio.move_on_after(GRACE_SECONDS):
            await self._all_answered()
            await self._writer.flushed()

    async def _take(self, line: Line, tasks: TaskGroup) -> None:
        if isinstance(line, TooLong):
            self._send(rpc.error(None, rpc.INVALID_REQUEST, f"A message may have at most {MAX_LINE} bytes"))
            return
        try:
            message = rpc.decode(line)
        except ValueError:
            self._send(rpc.error(None, rpc.PARSE_ERROR, "Parse error"))
            return
        await self._route(message, tasks)

    async def _route(self, message: Json, tasks: TaskGroup) -> None:
        match rpc.kind_of(message):
            case "request" if message["method"] == "initialize":
                await self._answer(message)  # in line, so that a request sent right behind it finds it done
            case "request":
                self._spawn(tasks, lambda: self._answer(message), message["id"])
            case "notification":
                await self._conversation.notified(message)
            case "response":
                self._conversation.answered(message)
            case _ if isinstance(message, list):
                self._spawn(tasks, lambda: self._answer_batch(message), None)
            case _:
                self._send(rpc.invalid(message))

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
        answer = await self._conversation.answer(message, self._outlet)
        if answer is not None:
            self._send(answer)

    async def _answer_batch(self, messages: list[Json]) -> None:
        answer = await answer_batch(self._conversation, messages, self._outlet)
        if answer is not None:
            self._send(answer)

    async def _deliver(self) -> None:
        while messages := await self._conversation.mailbox.take():
            for message in messages:
                self._send(message)
            await self._writer.room()

    async def _watch_backlog(self) -> None:
        await self._conversation.mailbox.cut_off.wait()
        # A client that does not read must not go on believing that it hears everything.
        raise ConnectionAbortedError("the client does not read its notifications")

    async def _outlet(self, message: JsonObject) -> None:
        self._send(message)
        await self._writer.room()

    def _send(self, message: Json) -> None:
        self._writer.write(rpc.encode(message) + b"\n")


async def _cancel_after(event: Callable[[], Awaitable[None]], tasks: TaskGroup) -> None:
    await event()
    tasks.cancel_scope.cancel()
