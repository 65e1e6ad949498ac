"""Runs one script in a process of its own and passes its requests and answers on."""

import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from ui_mcp.errors import GatewayError
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.lua_runtime.fork_server import command
from ui_mcp.lua_runtime.messages import HEAD, Scalar, encode_request, length

FROZEN_COMMAND = "lua-script"
"""Hidden command with which a self-contained executable starts itself as the process of a script."""
_GRACE = 5.0


class WorkerGoneError(GatewayError):
    """The process of a script ended or did not answer; the script can be replayed in another one."""

    code = "worker_gone"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a script may use between two requests, and in all."""

    megabytes: int = 256
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Request:
    """What a script wants: `op` is call, search, ask or time."""

    key: str
    op: str
    payload: Json


@dataclass(frozen=True, slots=True)
class Progress:
    """New requests of a script, or how it ended."""

    requests: tuple[Request, ...]
    outcome: JsonObject | None = None
    """`{value}` or `{error: {message, …}}`."""
    printed: tuple[str, ...] = ()


class ScriptWorker:
    def __init__(self, process: Process, limits: Limits) -> None:
        if process.stdin is None or process.stdout is None:
            raise WorkerGoneError("The process of the script has no pipes")
        self._input = process.stdin
        self._output = BufferedByteReceiveStream(process.stdout)
        self._seconds = limits.seconds

    async def start(self, code: str, seed: int) -> Progress:
        """Run the script up to its first requests.

        Raises:
            WorkerGoneError: the process has ended.
        """
        return await self._step("start", code, seed)

    async def answer(self, key: str, answer: JsonObject) -> Progress:
        """Answer one request and run the script on.

        Raises:
            WorkerGoneError: the process has ended.
        """
        return await self._step("answer", key, dumps(answer))

    async def send(self, *words: Scalar) -> None:
        await self._input.send(encode_request(words))

    async def _step(self, *words: Scalar) -> Progress:
        try:
            with anyio.fail_after(self._seconds + _GRACE):
                await self.send(*words)
                size = length(await self._output.receive_exactly(HEAD))
                (text,) = loads(await self._output.receive_exactly(size))
        except (TimeoutError, OSError, ValueError, anyio.BrokenResourceError, anyio.IncompleteRead) as error:
            raise WorkerGoneError("The process of the script ended, or ran longer than its limit") from error
        reply = loads(text)
        requests = tuple(Request(one["key"], one["op"], one["payload"]) for one in reply["requests"])
        return Progress(requests, reply.get("outcome"), tuple(reply.get("printed", ())))


@asynccontextmanager
async def script_worker(limits: Limits) -> AsyncIterator[ScriptWorker]:
    """Start a process for one script; it is killed at the end of the block."""
    argv = command("script_worker", FROZEN_COMMAND)
    process = await anyio.open_process(argv, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        worker = ScriptWorker(process, limits)
        try:
            await worker.send(limits.megabytes, limits.seconds)
        except anyio.BrokenResourceError as error:
            raise WorkerGoneError("The process of the script ended at once") from error
        yield worker
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.aclose()
