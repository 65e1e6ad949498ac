"""The HTTP answer to one posted request: JSON, unless something must be told before the answer is there."""

from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskGroup
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS

from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.mcp_server.transports import http


class Reply:
    """Answers one POST; becomes an event stream with the first message, the first beat or on demand."""

    def __init__(
        self, send: http.Send, *, streams: bool, wants_stream: bool = False, headers: http.Headers = ()
    ) -> None:
        self._send = send
        self._streams = streams
        self._wants_stream = wants_stream
        self._headers = headers
        self._stream = http.EventStream(send, headers)

    async def outlet(self, message: JsonObject) -> None:
        """Send a message that belongs to the request; lost on clients that take JSON only."""
        if self._streams:
            await self._stream.message(message)

    async def beat(self) -> None:
        """Keep the connection alive while the answer takes its time."""
        if self._streams:
            await self._stream.beat()

    async def finish(self, answer: Json | None, *, statuses: bool = False) -> None:
        """Send the answer; `statuses` maps errors to HTTP statuses, as the modern era wants."""
        if self._stream.started or (self._streams and self._wants_stream and _succeeded(answer)):
            if answer is not None:
                await self._stream.message(answer)
            await self._stream.end()
        elif answer is None:
            await http.respond(self._send, 202, headers=self._headers)
        else:
            status = _status(answer) if statuses else 200
            await http.respond_json(self._send, status, answer, self._headers)


async def while_connected(
    receive: http.Receive, reply: Reply, work: Callable[[], Awaitable[Json | None]], *, statuses: bool = False
) -> None:
    """Do the work and send its answer; a client that leaves cancels it."""
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_attend, receive, reply, tasks)
            await reply.finish(await work(), statuses=statuses)
            tasks.cancel_scope.cancel()
    except* (http.ClientLeftError, OSError):
        pass  # nobody is left to be told


async def until_left(receive: http.Receive, work: Callable[[], Awaitable[None]]) -> None:
    """Do the work for as long as the client stays."""

    async def watch(tasks: TaskGroup) -> None:
        await http.left(receive)
        tasks.cancel_scope.cancel()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch, tasks)
            await work()
            tasks.cancel_scope.cancel()
    except* (http.ClientLeftError, OSError):
        pass  # nobody is left to be told


async def _attend(receive: http.Receive, reply: Reply, tasks: TaskGroup) -> None:
    while True:
        with anyio.move_on_after(http.BEAT_SECONDS):
            await http.left(receive)
            tasks.cancel_scope.cancel()
            return
        await reply.beat()


def _succeeded(answer: Json | None) -> bool:
    return not isinstance(answer, dict) or "result" in answer


def _status(answer: Json) -> int:
    problem = answer.get("error") if isinstance(answer, dict) else None
    return ERROR_CODE_HTTP_STATUS.get(problem["code"], 200) if problem else 200


def refusal(status: int, code: int, text: str, request_id: messages.RequestId | None = None) -> tuple[int, JsonObject]:
    """Make an HTTP refusal that JSON-RPC clients can read."""
    return status, messages.error(request_id, code, text)
