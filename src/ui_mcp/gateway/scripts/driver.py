"""Drives one script in one process: replays what is journalled, then answers new requests and journals them."""

from contextlib import AsyncExitStack
from functools import partial

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectSendStream

from ui_mcp.errors import GatewayError
from ui_mcp.gateway.approvals.service import with_retry
from ui_mcp.gateway.scripts.requests import Requests, ScriptDeniedError
from ui_mcp.gateway.scripts.store import Run, ScriptStore, Step, StepState
from ui_mcp.gateway.scripts.worker import Limits, Progress, Request, ScriptWorker, WorkerGoneError, script_worker
from ui_mcp.jsontypes import JsonObject, digest
from ui_mcp.log import logger

_log = logger("gateway.scripts")
MAX_STEPS = 5_000
_MAX_LOST_WORKERS = 5
_Answered = tuple[Request, JsonObject | GatewayError]
_CHANGED = "The script makes other requests than before it was interrupted, so it cannot go on"


class LeaseLostError(GatewayError):
    """Another process has taken over the script."""

    code = "lease_lost"


class ScriptEndedError(GatewayError):
    """The script cannot go on."""

    code = "script_ended"


class Driver:
    """Runs one script to its end; a process of the script that dies is replaced while calls go on."""

    def __init__(
        self,
        run: Run,
        store: ScriptStore,
        lease: str,
        requests: Requests,
        *,
        slots: anyio.CapacityLimiter,
        limits: Limits,
    ) -> None:
        self._run = run
        self._store = store
        self._lease = lease
        self._requests = requests
        self._slots = slots
        self._limits = limits
        self._steps: dict[str, Step] = {}
        self._open: dict[str, Request] = {}
        self._position = 0
        self._lost = 0

    @property
    def answers(self) -> list[JsonObject]:
        """The answers that the script has got so far."""
        return [step.answer for step in self._steps.values() if step.answer is not None]

    async def run(self) -> Progress:
        """Go on with the script where its journal ends, and return how it ended.

        Raises:
            LeaseLostError: another process has taken over the script.
            ScriptEndedError: it cannot go on.
        """
        steps = await with_retry(partial(self._store.steps, self._run.id))
        self._steps = {step.key: step for step in steps}
        self._position = max((step.position for step in steps), default=0)
        problem: GatewayError | None = None
        async with AsyncExitStack() as stack, anyio.create_task_group() as tasks:
            try:
                progress = await self._go_on(stack, tasks)
            except GatewayError as error:  # caught here: a task group would wrap it
                problem = error
            tasks.cancel_scope.cancel()
        if problem is not None:
            raise problem
        return progress

    async def _go_on(self, stack: AsyncExitStack, tasks: TaskGroup) -> Progress:
        send, receive = anyio.create_memory_object_stream[_Answered](MAX_STEPS)
        stack.enter_context(send)
        stack.enter_context(receive)
        worker, progress = await self._replayed(stack)
        asked: set[str] = set()
        while progress.outcome is None:
            for request in [one for key, one in self._open.items() if key not in asked]:
                asked.add(request.key)
                tasks.start_soon(self._answer, request, send)
            request, answer = await receive.receive()
            if isinstance(answer, GatewayError):
                raise answer
            # Journalled before the script sees it: an answer that was acted on is never asked for again.
            await self._write(request, "done", answer)
            self._lost = 0
            try:
                progress = self._opened(request.key, await worker.answer(request.key, answer))
            except WorkerGoneError as error:
                worker, progress = await self._replaced(stack, error)
        return progress

    async def _replaced(self, stack: AsyncExitStack, error: WorkerGoneError) -> tuple[ScriptWorker, Progress]:
        while True:
            self._lost += 1
            if self._lost > _MAX_LOST_WORKERS:
                raise ScriptEndedError(f"{error.message}\nIt may use too much memory or time between two requests.")
            _log.info("the script %s goes on in a new process: %s", self._run.id, error.message)
            try:
                return await self._replayed(stack)
            except WorkerGoneError as again:
                error = again

    async def _replayed(self, stack: AsyncExitStack) -> tuple[ScriptWorker, Progress]:
        """Start a process and give the script all answers of its journal, in their order."""
        worker = await stack.enter_async_context(script_worker(self._limits))
        self._open = {}
        try:
            progress = self._opened("", await worker.start(self._run.code, self._run.seed))
            for step in sorted(self._steps.values(), key=lambda step: step.position):
                if step.answer is not None:
                    request = self._open.get(step.key)
                    if request is None or _digest(request) != step.request:
                        raise ScriptEndedError(_CHANGED)
                    progress = self._opened(step.key, await worker.answer(step.key, step.answer))
        except WorkerGoneError as error:
            return await self._replaced(stack, error)
        return worker, progress

    def _opened(self, answered: str, progress: Progress) -> Progress:
        self._open.pop(answered, None)
        self._open |= {request.key: request for request in progress.requests}
        return progress

    async def _answer(self, request: Request, send: MemoryObjectSendStream[_Answered]) -> None:
        begun = self._steps.get(request.key)
        try:
            if begun is not None and begun.request != _digest(request):
                raise ScriptEndedError(_CHANGED)
            if len(self._steps) >= MAX_STEPS:
                raise ScriptEndedError(f"The script has made {MAX_STEPS} requests, more than a script may")
            async with self._slots:
                begin = partial(self._write, request)
                answer: JsonObject | GatewayError = await self._requests.answer(
                    request, begun.state if begun else None, begin
                )
        except ScriptDeniedError as error:
            answer = ScriptEndedError(error.message)
        except (LeaseLostError, ScriptEndedError) as error:
            answer = error
        await send.send((request, answer))

    async def _write(self, request: Request, state: StepState, answer: JsonObject | None = None) -> None:
        if answer is not None:
            self._position += 1
        step = Step(request.key, _digest(request), state, answer, self._position if answer is not None else 0)
        if not await with_retry(partial(self._store.write, self._run.id, self._lease, step)):
            raise LeaseLostError(f"Another process runs the script {self._run.id}")
        self._steps[request.key] = step


def _digest(request: Request) -> str:
    return digest([request.op, request.payload])
