"""Runs the tool calls of one answer; approval lookups."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.model import ToolUse, VendorNames
from ui_mcp.agent.outcome import Outcome, aborted, answered, denied, failed
from ui_mcp.agent.timeline import Delta
from ui_mcp.agent.transcript import OpenCall
from ui_mcp.errors import DeniedError, LeaseLostError, UiMcpError
from ui_mcp.ids import secret_id
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.toolkit.tool import Call, ToolResult
from ui_mcp.toolkit.toolset import Toolset

Fetch = Callable[[], Awaitable[ToolResult]]
"""Waits for the answer and, after a yes, for the call; raises `DeniedError` after a no."""


class ApprovalLookup(Protocol):
    """Questions by the call they are about."""

    async def find(self, agent: str, call_id: str) -> Fetch | None:
        """Return how to learn what became of a call that a person was asked about; None if nobody was."""
        ...

    async def cancel(self, agent: str, call_id: str) -> None:
        """Take a question back that nobody answered."""
        ...


class NoApprovals:
    """Nobody is ever asked."""

    async def find(self, agent: str, call_id: str) -> Fetch | None:
        """Know of no question."""
        return None

    async def cancel(self, agent: str, call_id: str) -> None:
        """Have nothing to take back."""


_log = logger("agent")
WAITS = "A person has been asked whether this may be done and has not answered yet. You will be told what became of it."


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A call of the present answer, under the id we gave it and its real name."""

    call_id: str
    name: str
    use: ToolUse
    client_id: str = ""
    implicit: bool = False
    """Made on behalf of a model that only wrote text."""


@dataclass(frozen=True, slots=True)
class CallSettings:
    """How calls are made and shown."""

    posts: frozenset[str]
    """Every spelling under which a message can be posted."""
    silent: frozenset[str]
    """Calls that show as something else: a message, the end of a turn."""
    max_chars: int
    call: Call


@dataclass(slots=True)
class _Running:
    one: RequestedCall
    work: Callable[[], Awaitable[Outcome]]
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    outcome: Outcome | None = None
    left: bool = False
    """The conversation goes on without it; its outcome is written when it comes."""


class Calls:
    """Makes calls on a toolset and writes them down."""

    def __init__(
        self, tools: Toolset, scribe: JournalWriter, habits: CallSettings, questions: ApprovalLookup | None = None
    ) -> None:
        self._tools = tools
        self._scribe = scribe
        self._habits = habits
        self._questions = questions or NoApprovals()
        self._running: dict[str, _Running] = {}
        self._changed = anyio.Event()

    @property
    def asking(self) -> bool:
        """Say whether nothing but the answer of a person is missing."""
        left = [running for running in self._running.values() if running.outcome is None]
        return bool(left) and all(self._is_asked(running) for running in left)

    def wanted(self, uses: Sequence[ToolUse], names: VendorNames) -> list[RequestedCall]:
        """Give each call of an answer an id that no other call of this agent has."""
        first = len(self._scribe.events) + 1
        named = [(f"{first}-{number}", names.back(use.name), use) for number, use in enumerate(uses, 1)]
        return [
            RequestedCall(call_id, name, use, secret_id() if name in self._habits.posts else "")
            for call_id, name, use in named
        ]

    def implied(self, tool: str, text: str) -> RequestedCall:
        """Return the post of a text that the model wrote without a tool."""
        use = ToolUse("", tool, {"mime": "text/markdown", "content": text})
        (post,) = self.wanted([use], VendorNames(()))
        return replace(post, implicit=True)

    def begun(self, one: RequestedCall) -> NewEvent:
        """Return what is written before a call is made."""
        data: JsonObject = {"call_id": one.call_id, "name": one.name, "args": one.use.arguments or {}}
        if one.client_id:
            data["client_id"] = one.client_id
        if one.implicit:
            data["implicit"] = True
        return NewEvent("tool_call", {**data, "silent": True} if one.name in self._habits.silent else data)

    async def run_all(self, wanted: Sequence[RequestedCall], background: TaskGroup) -> list[Outcome]:
        """Make calls side by side; outcomes are written in call order, also when the turn is cancelled meanwhile."""
        return await self._run([_Running(one, self._making(one)) for one in wanted], background)

    async def finish_open(self, background: TaskGroup) -> bool:
        """Give every call that a crash left open an outcome, none is made a second time; say if that was the answer."""
        left = self._scribe.transcript.open_calls()
        if left:
            await self._run([await self._again(call) for call in left], background)
        return any(call.implicit for call in left)

    async def resume(self, background: TaskGroup) -> None:
        """Wait again for the answers that the conversation went on without."""
        for call in self._scribe.transcript.deferred_calls():
            running = await self._again(call)
            running.left = True
            background.start_soon(self._work, running)

    async def abort_open(self) -> list[NewEvent]:
        """Take back open questions; return outcomes for every call that has none."""
        left = self._scribe.transcript.open_calls()
        for call in left:
            await self._questions.cancel(self._scribe.agent, call.call_id)
        return [event for call in left for event in self._ended(_wanted(call), aborted())]

    async def _run(self, calls: Sequence[_Running], background: TaskGroup) -> list[Outcome]:
        self._running = {running.one.call_id: running for running in calls}
        unfollow = self._scribe.follow(self._wake)
        try:
            for running in calls:
                background.start_soon(self._work, running)
            while not self._may_go_on():
                self._changed = anyio.Event()
                await self._changed.wait()
        except BaseException:
            for running in calls:
                running.scope.cancel()
            with anyio.CancelScope(shield=True):
                # A question stays open: whoever stops the turn for good takes it back.
                await self._write_down([running for running in calls if not self._is_asked(running)])
            raise
        finally:
            unfollow()
            self._running = {}
        return await self._write_down(calls)

    async def _work(self, running: _Running) -> None:
        with running.scope:
            running.outcome = await running.work()
        self._wake()
        if running.left and running.outcome is not None:
            await self._scribe.write(*self._ended(running.one, running.outcome))

    def _wake(self, _: Delta | None = None) -> None:
        self._changed.set()

    def _may_go_on(self) -> bool:
        """Say whether the model can be asked: all is known, or a person wrote while another was being asked."""
        left = [running for running in self._running.values() if running.outcome is None]
        return not left or (bool(self._scribe.progress.fresh) and all(self._is_asked(running) for running in left))

    def _is_asked(self, running: _Running) -> bool:
        if running.outcome is not None:
            return False
        item = self._scribe.timeline.item(f"t:{running.one.call_id}")
        return item is not None and item["status"] == "pending"

    async def _write_down(self, calls: Sequence[_Running]) -> list[Outcome]:
        events: list[NewEvent] = []
        for running in calls:
            running.left = self._is_asked(running) and not running.scope.cancel_called
            if running.left:
                events.append(NewEvent("call_deferred", {"call_id": running.one.call_id, "text": WAITS}))
            else:
                running.outcome = running.outcome or aborted()
                events += self._ended(running.one, running.outcome)
        if events:
            await self._scribe.write(*events)
        return [running.outcome for running in calls if running.outcome is not None]

    async def _again(self, call: OpenCall) -> _Running:
        one = _wanted(call)
        if one.client_id or one.name in self._habits.silent:  # harmless to repeat
            return _Running(one, self._making(one))
        fetch = await self._questions.find(self._scribe.agent, call.call_id)

        async def unknown() -> Outcome:
            return aborted()

        return _Running(one, unknown if fetch is None else lambda: self._outcome(fetch))

    def _making(self, one: RequestedCall) -> Callable[[], Awaitable[Outcome]]:
        async def make() -> Outcome:
            if one.use.arguments is None:
                return failed(f"The arguments of {one.name} could not be read ({one.use.problem}); send a JSON object.")
            # Posting again after a crash must not double the message.
            own = {"client_id": one.client_id} if one.client_id else {}
            arguments = {**own, **one.use.arguments}
            # Whoever asks a person about this call can tell from its name which call it is.
            call = replace(self._habits.call, client_name=f"{self._scribe.agent}/{one.call_id}")
            return await self._outcome(lambda: self._tools.call(one.name, arguments, call))

        return make

    async def _outcome(self, work: Callable[[], Awaitable[ToolResult]]) -> Outcome:
        try:
            return answered(await work(), self._habits.max_chars)
        except DeniedError as error:
            return denied(error)
        except LeaseLostError:
            raise
        except UiMcpError as error:
            return failed(error.message)
        except Exception as error:  # noqa: BLE001 - a tool that breaks must not end the agent
            _log.error("A tool failed unexpectedly", exc_info=error)
            return failed(f"The tool failed unexpectedly ({type(error).__name__}); the log says more.")

    def _ended(self, one: RequestedCall, outcome: Outcome) -> list[NewEvent]:
        output = {"call_id": one.call_id, "text": outcome.text, "status": outcome.status, "content": outcome.content}
        events = [NewEvent("function_call_output", output)]
        if one.client_id and outcome.status == "done" and outcome.result and outcome.result.structured:
            posted, arguments = outcome.result.structured, one.use.arguments or {}
            said = {
                "message_id": posted["id"],
                "mime": arguments.get("mime", "text/markdown"),
                "md": arguments.get("content", ""),
            }
            events.insert(0, NewEvent("ui_message", said))
        return events


def _wanted(call: OpenCall) -> RequestedCall:
    return RequestedCall(call.call_id, call.name, call.use, call.client_id, call.implicit)
