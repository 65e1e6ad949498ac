"""Tasks (`io.modelcontextprotocol/tasks`): a call that takes long becomes a handle that outlives the connection.

A client that declares the extension gets the result of a quick call as ever. Otherwise it gets a task, which is stored
before its id is sent, and which another process continues from its last checkpoint after a crash.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from secrets import token_urlsafe

import anyio

from ui_mcp.errors import UiMcpError
from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_server.definition import Answer, TaskExtension
from ui_mcp.mcp_server.notifications import NotificationQueue
from ui_mcp.mcp_server.request import Request
from ui_mcp.mcp_server.results import failure, refusal
from ui_mcp.mcp_server.versions import Client
from ui_mcp.mcp_tasks.store import Status, TaskRecord, TaskStore, new_owner, owner_runs
from ui_mcp.toolkit.tool import Call, InputGiven, Progress

EXTENSION = "io.modelcontextprotocol/tasks"
MISSING_CAPABILITY = -32021
TASK_AFTER_SECONDS = 2.0
MAX_OPEN_TASKS = 200
_log = logger("mcp")
_INTERRUPTED = (
    "The server was restarted while {tool} ran, so its result is lost\n"
    "Whether it took effect is not known: look before you call it again."
)


def takes_tasks(client: Client) -> bool:
    """Return whether a client declared that it takes tasks; in the handshake era they were another protocol."""
    return client.era == "modern" and EXTENSION in (client.capabilities.get("extensions") or {})


def require_extension(request: Request) -> None:
    """Raise the error that names the capability a client has to declare before it asks about tasks."""
    if not takes_tasks(request.client):
        data: JsonObject = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
        raise rpc.RpcError(MISSING_CAPABILITY, "Missing required client capability", data)


class _Run:
    """One call that is, or may become, a task; it is the `TaskHandle` of its call."""

    def __init__(self, record: TaskRecord, tasks: "Tasks", *, stored: bool) -> None:
        self.record = record
        self.stored = stored
        """Whether the client was, or is being, given the task instead of a result."""
        self.resumed: JsonObject | None = record.checkpoint if stored else None
        self.is_cancelled = False
        self.due = anyio.Event()
        """Set when the client needs an answer now: the call has ended, or it asks something."""
        self.ended: JsonObject | None = None
        """`{"result": …}` or `{"error": …}` once the call has ended."""
        self._tasks = tasks
        self._answers: dict[str, asyncio.Future[JsonObject]] = {}
        self._saving = anyio.Lock()
        self._work: asyncio.Task[None] | None = None

    def start(self, answer: Answer, arguments: JsonObject, call: Call) -> None:
        # Not in a task group: the call outlives the request, and `Tasks.paused` ends it with the server.
        self._work = asyncio.create_task(self._run(answer, arguments, self._own_call(call)))

    def cancel(self, *, by_client: bool) -> None:
        self.is_cancelled = by_client
        if self._work is not None:
            self._work.cancel()

    async def over(self) -> None:
        """Wait until the call has ended and what became of it is stored."""
        if self._work is not None:
            await asyncio.wait([self._work])

    async def checkpoint(self, state: JsonObject) -> None:
        self.record = replace(self.record, checkpoint=state)
        await self.save()

    async def save(self) -> None:
        """Store the task as it is now, if it is one, and notify those who watch it."""
        self.record = replace(self.record, updated_at=time.time())
        async with self._saving:
            if self.stored and not await self._tasks.store.save(self.record, self._tasks.owner):
                _log.info("task %s was ended or continued by another process", self.record.id)
        self._tasks.notify(self.record)

    def give(self, answers: JsonObject) -> None:
        """Pass answers of the client to the questions they belong to; others are ignored."""
        for key, answer in answers.items():
            asked = self._answers.get(key)
            if asked is not None and not asked.done():
                asked.set_result(answer)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Ask the client something through the task, and wait for `tasks/update`."""
        number = self.record.asked + 1
        key = f"input-{number}"
        answered = self._answers[key] = asyncio.get_running_loop().create_future()
        self.record = replace(self.record, asked=number)
        try:
            await self._show_questions({key: {"method": method, "params": params}})
            self.due.set()
            given: JsonObject = await answered
            return given
        finally:
            del self._answers[key]
            with anyio.CancelScope(shield=True):
                await self._show_questions({}, without=key)

    async def _show_questions(self, more: JsonObject, without: str = "") -> None:
        shown = {**(self.record.outcome or {}).get("inputRequests", {}), **more}
        shown.pop(without, None)
        if self.ended is None:
            status: Status = "input_required" if shown else "working"
            outcome = {"inputRequests": shown} if shown else None
            self.record = replace(self.record, status=status, outcome=outcome)
            await self.save()

    async def _run(self, answer: Answer, arguments: JsonObject, call: Call) -> None:
        try:
            result = await answer(self.record.tool, arguments, call)
            # Before there is a task, a question is the result; later it is asked through the task.
            while self.stored and result.get("resultType") == "input_required":
                given = [(key, await self.ask(one["method"], one["params"])) for key, one in _questions(result)]
                again = replace(call, given=InputGiven(dict(given), result["requestState"]))
                result = await answer(self.record.tool, arguments, again)
            await self._end("completed", {"result": _complete(result)})
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True), suppress(UiMcpError):
                await (self._end("cancelled", {}) if self.is_cancelled else self._release())
        except Exception as error:  # noqa: BLE001 - the boundary where every failure becomes an answer
            problem = failure(0, error)["error"]
            self.record = replace(self.record, message=problem["message"])
            await self._end("failed", {"error": problem})
        finally:
            self._tasks.forget(self)

    async def _end(self, status: Status, outcome: JsonObject) -> None:
        self.ended = outcome
        self.record = replace(self.record, status=status, outcome=outcome)
        self.due.set()
        try:
            await self.save()
        except UiMcpError as error:
            _log.error("the end of task %s could not be stored: %s", self.record.id, error.message)

    async def _release(self) -> None:
        """Leave the task to the next process, which needs not find out that this one has ended."""
        if self.stored:
            await self._tasks.store.save(replace(self.record, owner=""), self._tasks.owner)

    def _own_call(self, call: Call) -> Call:
        """Return the call with what a task can do: ask through it, and go on when the client disconnects."""
        forms = call.takes_forms()
        return replace(
            call,
            task=self,
            progress=self._progress_by(call),
            closing=self._closing_by(call),
            ask_client=self.ask,
            ask_user=self._ask_user if forms else None,
        )

    async def _ask_user(self, message: str, form: JsonObject) -> JsonObject:
        return await self.ask("elicitation/create", {"mode": "form", "message": message, "requestedSchema": form})

    def _progress_by(self, call: Call) -> Progress:
        async def progress(done: float, total: float | None = None, message: str | None = None) -> None:
            changed = bool(message) and message != self.record.message
            if message:
                self.record = replace(self.record, message=message)
            if not self.stored:
                await call.progress(done, total, message)
            elif changed:  # a task has no progress, but words about its state
                await self.save()

        return progress

    def _closing_by(self, call: Call) -> Callable[[], Awaitable[None]]:
        async def closing() -> None:
            await call.closing()
            if self.stored:
                await anyio.sleep_forever()

        return closing


@asynccontextmanager
async def pausing(tasks: TaskExtension | None) -> AsyncIterator[None]:
    """End the calls of tasks after the block, before what they use ends."""
    if tasks is None:
        yield
        return
    async with tasks.paused():
        yield


def _complete(result: JsonObject) -> JsonObject:
    """Return a result as the modern era has it, where a result says what it is, also inside a task."""
    return {"resultType": "complete", **result}


def _questions(result: JsonObject) -> Sequence[tuple[str, JsonObject]]:
    return tuple((result.get("inputRequests") or {}).items())


class Tasks:
    """The tasks of one server definition."""

    def __init__(self, store: TaskStore, after: float = TASK_AFTER_SECONDS) -> None:
        self.store = store
        self.owner = new_owner()
        self.name = EXTENSION
        self._after = after
        self._runs: dict[str, _Run] = {}
        self._watched: dict[str, set[NotificationQueue]] = {}

    def methods(self, answer: Answer) -> Mapping[str, Callable[[Request], Awaitable[JsonObject]]]:
        handlers = {"tasks/get": self.get, "tasks/update": self.update, "tasks/cancel": self.cancel}
        return {method: partial(handle, answer=answer) for method, handle in handlers.items()}

    def is_declared_by(self, client: Client) -> bool:
        return takes_tasks(client)

    @property
    def busy(self) -> bool:
        """Whether a task runs that only this process can finish; a question may stay open for ever without it."""
        return any(run.stored and not run.record.is_resumable for run in self._runs.values())

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """End all calls after the block; what has a checkpoint is continued by the next process."""
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                for run in tuple(self._runs.values()):
                    run.cancel(by_client=False)
                    await run.over()
                await self.store.close()

    async def call(self, request: Request, answer: Answer, repeatable: Callable[[], Awaitable[bool]]) -> JsonObject:
        """Call a tool, and return its result or, if that takes longer, a task.

        `repeatable` says whether the tool may be called again if this process ends before it has answered.

        Raises:
            RpcError: the call failed before it became a task.
        """
        name, arguments = request.params["name"], request.params.get("arguments") or {}
        call, now = request.call(), time.time()
        client: JsonObject = {"name": call.client_name, "capabilities": call.capabilities}
        who = (call.principal, call.connection, client)
        record = TaskRecord(token_urlsafe(24), *who, name, None, now, now, owner=self.owner)
        run = self._runs[record.id] = _Run(record, self, stored=False)
        run.start(answer, arguments, call)
        try:
            with anyio.move_on_after(self._after):
                await run.due.wait()
            if run.ended is None and await self._is_stored(run, arguments, repeatable):
                return {"resultType": "task", **run.record.brief()}
            await run.due.wait()
            if run.ended is None:
                raise rpc.RpcError(rpc.INTERNAL_ERROR, f"{name} asks something, but no task can be stored for it")
        except BaseException:
            run.cancel(by_client=True)
            raise
        return _result(run.ended)

    async def _is_stored(self, run: _Run, arguments: JsonObject, repeatable: Callable[[], Awaitable[bool]]) -> bool:
        """Make a task of a call that still runs; return False if that is not possible."""
        kept = arguments if await repeatable() else None
        try:
            if await self.store.open_tasks(run.record.principal) >= MAX_OPEN_TASKS or run.ended is not None:
                return False
            run.record = replace(run.record, arguments=kept)
            run.stored = True
            await self.store.add(run.record)
        except UiMcpError as error:
            # Without a store the client waits, as one without tasks does.
            _log.warning("no task for %s: %s", run.record.tool, error.message)
            run.stored = False
            return False
        await run.save()  # it may have ended, or asked something, while it was stored
        return True

    async def get(self, request: Request, answer: Answer) -> JsonObject:
        return (await self._current(request, answer)).detailed()

    async def update(self, request: Request, answer: Answer) -> JsonObject:
        record = await self._current(request, answer)
        run = self._runs.get(record.id)
        if run is not None:
            run.give(request.params["inputResponses"])
        elif not record.is_over:  # only the process that runs it has the questions
            raise rpc.RpcError(rpc.INTERNAL_ERROR, "Another process runs this task: ask it, or ask again later")
        return {}

    async def cancel(self, request: Request, answer: Answer) -> JsonObject:
        record = await self._current(request, answer)
        run = self._runs.get(record.id)
        if run is not None:
            run.cancel(by_client=True)
        elif not record.is_over:  # another process runs it, and finds out when it stores what became of it
            await self.store.save(replace(record, status="cancelled", outcome={}, updated_at=time.time()), record.owner)
        return {}

    async def watch(self, queue: NotificationQueue, request: Request, ids: Sequence[str], answer: Answer) -> list[str]:
        """Notify a stream of changes of those tasks that the client may see, and return their ids."""
        require_extension(request)
        known = []
        for task_id in ids:
            with suppress(rpc.RpcError):
                record = await self._record(task_id, request.origin.principal, answer)
                self._watched.setdefault(task_id, set()).add(queue)
                known.append(task_id)
                if record.is_over:
                    self.notify(record)
        return known

    def unwatch(self, queue: NotificationQueue) -> None:
        for task_id, queues in tuple(self._watched.items()):
            queues.discard(queue)
            if not queues:
                del self._watched[task_id]

    def notify(self, record: TaskRecord) -> None:
        for queue in self._watched.get(record.id, ()):
            queue.put(rpc.notification("notifications/tasks", record.detailed()))

    def forget(self, run: _Run) -> None:
        self._runs.pop(run.record.id, None)

    async def _current(self, request: Request, answer: Answer) -> TaskRecord:
        require_extension(request)
        return await self._record(request.params["taskId"], request.origin.principal, answer)

    async def _record(self, task_id: str, principal: str, answer: Answer) -> TaskRecord:
        """Return a task of this principal; one whose process has ended is continued first.

        Raises:
            RpcError: there is none, or another principal's.
        """
        run = self._runs.get(task_id)
        record = run.record if run is not None and run.stored else await self.store.get(task_id)
        if record is None or record.principal != principal:
            raise rpc.RpcError(rpc.INVALID_PARAMS, "Task not found: tasks are kept for a day after they have ended")
        if run is None and not record.is_over and not owner_runs(record.owner, self.owner):
            return await self._continued(record, answer)
        return record

    async def _continued(self, record: TaskRecord, answer: Answer) -> TaskRecord:
        """Take over a task of a process that has ended."""
        ours = replace(record, owner=self.owner, status="working", outcome=None)
        # Compared with the former owner: of two processes that are asked at once, one continues it.
        if not await self.store.save(ours, record.owner):
            return await self.store.get(record.id) or record
        run = _Run(ours, self, stored=True)
        if not ours.is_resumable:
            lost = refusal(UiMcpError(_INTERRUPTED.format(tool=ours.tool)))
            await run._end("completed", {"result": _complete(lost)})
            return run.record
        _log.info("going on with task %s (%s)", ours.id, ours.tool)
        self._runs[ours.id] = run
        run.start(answer, ours.arguments or {}, _call_of(ours))
        return run.record


def _call_of(record: TaskRecord) -> Call:
    """Return a call by the client of a stored task, on the connection that it had then."""
    client = record.client
    return Call(
        record.principal,
        record.connection,
        era="modern",
        client_name=client.get("name", ""),
        capabilities=client.get("capabilities", {}),
    )


def _result(ended: JsonObject) -> JsonObject:
    problem = ended.get("error")
    if problem is not None:
        raise rpc.RpcError(problem["code"], problem["message"], problem.get("data"))
    result: JsonObject = ended["result"]
    return result
