"""Runs the tool calls of one model answer, including those that wait for an approval."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from secrets import token_hex
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.model import ToolUse, VendorNames, new_mark
from ui_mcp.agent.outcome import Outcome, aborted, answered, denied, failed
from ui_mcp.agent.timeline import Delta
from ui_mcp.agent.transcript import OpenCall
from ui_mcp.errors import DeniedError, LeaseLostError, UiMcpError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.toolkit.tool import Call, ToolResult
from ui_mcp.toolkit.toolset import Toolset

Fetch = Callable[[], Awaitable[ToolResult]]
"""Waits for the decision and, once approved, for the call's result; raises `DeniedError` if it is denied."""


class ApprovalLookup(Protocol):
    """Finds approvals by the call they are for."""

    async def find(self, agent: str, call_id: str) -> Fetch | None:
        """Return a function that waits for the result of a call; None if the call has no approval."""
        ...

    async def cancel(self, agent: str, call_id: str) -> None:
        """Cancel the approval of a call if it is still pending."""
        ...


class NoApprovals:
    """ApprovalLookup for agents whose calls need no approval."""

    async def find(self, agent: str, call_id: str) -> Fetch | None:
        return None

    async def cancel(self, agent: str, call_id: str) -> None:
        pass


_log = logger("agent")
WAITS = "A person has been asked whether this may be done and has not answered yet. You will be told what became of it."


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A call of the current answer, with our own id and the tool's real name."""

    call_id: str
    name: str
    use: ToolUse
    client_id: str = ""
    implicit: bool = False
    """Whether the loop makes this call for a model that only wrote text."""
    partial: str = ""
    """Why the text that it posts is not whole, if it is not."""


@dataclass(frozen=True, slots=True)
class CallSettings:
    """How calls are made and displayed."""

    posts: frozenset[str]
    """All names of the tool that posts a message."""
    silent: frozenset[str]
    """Tools whose calls are displayed as something else: a message, or the end of a turn."""
    max_chars: int
    call: Call
    marks: bool = False
    """Whether results are marked as untrusted for the model."""


@dataclass(slots=True)
class _Running:
    one: RequestedCall
    work: Callable[[], Awaitable[Outcome]]
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    outcome: Outcome | None = None
    detached: bool = False
    """Whether the conversation continues without it; its outcome is written when it arrives."""


class Calls:
    """Calls the tools of a toolset and records calls and outcomes in the journal."""

    def __init__(
        self, tools: Toolset, writer: JournalWriter, settings: CallSettings, approvals: ApprovalLookup | None = None
    ) -> None:
        self._tools = tools
        self._writer = writer
        self._settings = settings
        self._approvals = approvals or NoApprovals()
        self._running: dict[str, _Running] = {}
        self._changed = anyio.Event()

    def requested(self, uses: Sequence[ToolUse], names: VendorNames) -> list[RequestedCall]:
        """Return the calls of an answer, each with an id that is unique for this agent."""
        # The number of events only grows, so ids made from it are unique, also after a restart.
        first = len(self._writer.events) + 1
        named = [(f"{first}-{number}", names.back(use.name), use) for number, use in enumerate(uses, 1)]
        return [
            RequestedCall(call_id, name, use, token_hex(16) if name in self._settings.posts else "")
            for call_id, name, use in named
        ]

    def implicit_post(self, tool: str, text: str, partial: str = "") -> RequestedCall:
        """Return the call that posts a text which the model wrote without a tool."""
        use = ToolUse("", tool, {"mime": "text/markdown", "content": text})
        (post,) = self.requested([use], VendorNames(()))
        return replace(post, implicit=True, partial=partial)

    def call_event(self, one: RequestedCall) -> NewEvent:
        """Return the event to write before a call is made."""
        data: JsonObject = {"call_id": one.call_id, "name": one.name, "args": one.use.arguments or {}}
        if one.client_id:
            data["client_id"] = one.client_id
        if one.implicit:
            data["implicit"] = True
        if one.partial:
            data["partial"] = one.partial
        return NewEvent("tool_call", {**data, "silent": True} if one.name in self._settings.silent else data)

    async def run_all(self, requested: Sequence[RequestedCall], background: TaskGroup) -> list[Outcome]:
        """Make calls concurrently; outcomes are written in call order, even if the turn is cancelled meanwhile."""
        return await self._run([_Running(one, self._work_of(one)) for one in requested], background)

    async def finish_open(self, background: TaskGroup) -> bool:
        """Write an outcome for every call that a crash left open; only calls that are safe to repeat run again.

        Return whether one of them was an implicit post, which ends the turn.
        """
        unfinished = self._writer.transcript.open_calls()
        if unfinished:
            await self._run([await self._reopened(call) for call in unfinished], background)
        return any(call.implicit for call in unfinished)

    async def resume(self, background: TaskGroup) -> None:
        """Wait again, after a restart, for the approvals of calls that the conversation continues without."""
        for call in self._writer.transcript.deferred_calls():
            running = await self._reopened(call)
            running.detached = True
            background.start_soon(self._work, running)

    async def abort_open(self) -> list[NewEvent]:
        """Cancel pending approvals; return the events that mark all unfinished calls as aborted."""
        unfinished = self._writer.transcript.open_calls()
        for call in unfinished:
            await self._approvals.cancel(self._writer.agent, call.call_id)
        return [event for call in unfinished for event in self._outcome_events(_requested(call), aborted())]

    async def _run(self, calls: Sequence[_Running], background: TaskGroup) -> list[Outcome]:
        self._running = {running.one.call_id: running for running in calls}
        unfollow = self._writer.follow(self._wake)
        try:
            for running in calls:
                background.start_soon(self._work, running)
            while not self._can_continue():
                self._changed = anyio.Event()
                await self._changed.wait()
        except BaseException:  # the turn was cancelled: outcomes must reach the journal nevertheless
            for running in calls:
                running.scope.cancel()
            with anyio.CancelScope(shield=True):
                # Approvals stay pending: the turn may be resumed, and `abort_open` cancels them if it is not.
                await self._write_outcomes([running for running in calls if not self._awaits_approval(running)])
            raise
        finally:
            unfollow()
            self._running = {}
        return await self._write_outcomes(calls)

    async def _work(self, running: _Running) -> None:
        with running.scope:
            running.outcome = await running.work()
        self._wake()
        if running.detached and running.outcome is not None:
            await self._writer.write(*self._outcome_events(running.one, running.outcome))

    def _wake(self, _: Delta | None = None) -> None:
        self._changed.set()

    def _can_continue(self) -> bool:
        """Return whether to sample again: all calls have outcomes, or only approvals are missing and a person wrote."""
        unfinished = [running for running in self._running.values() if running.outcome is None]
        only_approvals = all(self._awaits_approval(running) for running in unfinished)
        return not unfinished or (bool(self._writer.progress.unseen) and only_approvals)

    def _awaits_approval(self, running: _Running) -> bool:
        if running.outcome is not None:
            return False
        item = self._writer.timeline.item(f"t:{running.one.call_id}")
        return item is not None and item["status"] == "pending"

    async def _write_outcomes(self, calls: Sequence[_Running]) -> list[Outcome]:
        events: list[NewEvent] = []
        for running in calls:
            running.detached = self._awaits_approval(running) and not running.scope.cancel_called
            if running.detached:
                events.append(NewEvent("call_deferred", {"call_id": running.one.call_id, "text": WAITS}))
            else:
                running.outcome = running.outcome or aborted()
                events += self._outcome_events(running.one, running.outcome)
        if events:
            await self._writer.write(*events)
        return [running.outcome for running in calls if running.outcome is not None]

    async def _reopened(self, call: OpenCall) -> _Running:
        one = _requested(call)
        if one.client_id or one.name in self._settings.silent:  # idempotent: may be repeated
            return _Running(one, self._work_of(one))
        fetch = await self._approvals.find(self._writer.agent, call.call_id)

        async def unknown() -> Outcome:
            return aborted()

        return _Running(one, unknown if fetch is None else lambda: self._outcome(fetch))

    def _work_of(self, one: RequestedCall) -> Callable[[], Awaitable[Outcome]]:
        async def make() -> Outcome:
            if one.use.arguments is None:
                return failed(f"The arguments of {one.name} could not be read ({one.use.problem}); send a JSON object.")
            # The client_id makes posting idempotent, so that a repeat after a crash posts nothing twice.
            own = {"client_id": one.client_id} if one.client_id else {}
            arguments = {**own, **one.use.arguments}
            call = replace(self._settings.call, agent=self._writer.agent, call_id=one.call_id)
            return await self._outcome(lambda: self._tools.call(one.name, arguments, call))

        return make

    async def _outcome(self, work: Callable[[], Awaitable[ToolResult]]) -> Outcome:
        try:
            return answered(await work(), self._settings.max_chars)
        except DeniedError as error:
            return denied(error)
        except LeaseLostError:
            raise
        except UiMcpError as error:
            return failed(error.message)
        except Exception as error:  # noqa: BLE001 - a tool that breaks must not end the agent
            _log.error("A tool failed unexpectedly", exc_info=error)
            return failed(f"The tool failed unexpectedly ({type(error).__name__}); the log says more.")

    def _outcome_events(self, one: RequestedCall, outcome: Outcome) -> list[NewEvent]:
        output: JsonObject = {
            "call_id": one.call_id,
            "text": outcome.text,
            "status": outcome.status,
            "content": outcome.content,
        }
        if self._settings.marks and one.name not in self._settings.silent:
            output["mark"] = new_mark()
        events = [NewEvent("function_call_output", output)]
        if one.client_id and outcome.status == "done" and outcome.result and outcome.result.structured:
            posted, arguments = outcome.result.structured, one.use.arguments or {}
            said = {
                "message_id": posted["id"],
                "mime": arguments.get("mime", "text/markdown"),
                "md": arguments.get("content", ""),
            }
            if one.partial:
                said["partial"] = one.partial
            # First, because the transcript assigns the next output to this message.
            events.insert(0, NewEvent("ui_message", said))
        return events


def _requested(call: OpenCall) -> RequestedCall:
    return RequestedCall(call.call_id, call.name, call.use, call.client_id, call.implicit, call.partial)
