"""One turn of the agent: sample the model and run its calls until it yields, is stopped, or reaches a limit."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Literal

from anyio.abc import TaskGroup

from ui_mcp.agent.calls import ApprovalLookup, Calls, CallSettings, RequestedCall
from ui_mcp.agent.handlers import Handler, run_handlers
from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.model import UNTRUSTED, Model, ModelRequest, ToolUse, VendorNames
from ui_mcp.agent.outcome import Outcome
from ui_mcp.agent.sampler import Answer, Deltas, Resolve, Sampler, SamplingSettings, as_they_are
from ui_mcp.agent.tools import YIELD, YIELD_SPELLINGS, ControlTools, Legacy, TurnControl
from ui_mcp.agent.transcript import call_as_json, has_yielded
from ui_mcp.errors import UiMcpError
from ui_mcp.isolation import message_of
from ui_mcp.log import logger
from ui_mcp.toolkit.tool import Call
from ui_mcp.toolkit.toolset import Combined, Toolset

EndReason = Literal["yield", "abort", "limit", "error"]
_log = logger("agent")
Partial = Literal["stopped", "broken"]
"""Why an answer is not whole: a person stopped it, or the model's server failed."""
UNSEEN = "The assistant ended its turn without a message to you. It had written: {text}"
REMINDER = "Nothing you write outside a tool call reaches the person. Post with {post}, and end your turn with {end}."


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """Limits and policies of the loop."""

    system: Callable[[], str] = lambda: ""
    """Returns the instructions; asked for every request, because tools come and go."""
    text_policy: Literal["tool_only", "implicit_post"] = "tool_only"
    post_tool: str = "chat_assistant_post"
    posts: frozenset[str] = frozenset(
        {"chat_assistant_post", "chat.assistant.post", "ui.send_message", "ui_send_message"}
    )
    """All names of the tool that posts a message."""
    max_samplings: int = 50
    max_denials: int = 3
    max_text_only: int = 3
    max_seconds: float = 1800.0
    max_context_tokens: int = 0
    max_output_tokens: int = 4096
    max_result_chars: int = 16_000
    principal: str = "agent"
    legacy: Legacy = "compat"
    resolved: Resolve = as_they_are
    tuned: Callable[[ModelRequest], ModelRequest] = lambda request: request
    """Returns a request as the person wants it for this conversation."""
    exhausted: Callable[[], str | None] = lambda: None
    """Returns why no further answer may be asked for: a budget is used up."""
    marks: bool = False
    """Whether results of tools are marked as untrusted for the model."""


class Loop:
    """Runs turns for one agent."""

    def __init__(
        self,
        model: Model,
        tools: Toolset,
        writer: JournalWriter,
        settings: LoopSettings,
        deltas: Deltas = Deltas(),
        *,
        approvals: ApprovalLookup | None = None,
        handlers: Sequence[Handler] = (),
        audited: Callable[[Toolset], Toolset] = lambda tools: tools,
    ) -> None:
        self._writer = writer
        self._settings = settings
        self._control = TurnControl()
        self._handlers = handlers
        call = Call(principal=settings.principal)
        offered = Combined([audited(ControlTools(self._control, settings.legacy)), tools])
        self._sampler = Sampler(model, offered, writer, _sampling(settings), deltas=deltas, call=call)
        silent = settings.posts | {YIELD, *YIELD_SPELLINGS}
        call_settings = CallSettings(settings.posts, silent, settings.max_result_chars, call, settings.marks)
        self._calls = Calls(offered, writer, call_settings, approvals)

    async def turn(self, news: Callable[[], Awaitable[object]], background: TaskGroup) -> EndReason:
        """Run until the turn ends; `news` writes new messages of people to the journal.

        Calls that wait for an approval outlive the turn in `background` if a person writes meanwhile.
        """
        self._control.yielded = False
        self._sampler.seen = len(self._writer.events)
        guards = _Guards(self._settings)
        answered = await self._calls.finish_open(background)
        if answered or has_yielded(self._writer.events, {YIELD, *YIELD_SPELLINGS}):
            return await self._end("yield")
        while True:
            await news()
            if await run_handlers(self._handlers, self._writer):
                return await self._end("yield")
            if why := self._settings.exhausted():
                return await self._end("limit", why)
            try:
                answer, names = await self._sampler.sample()
            except Exception as error:  # noqa: BLE001 - an error of the model ends its turn only, not the agent
                await self._keep_partial("broken", background)
                return await self._end("error", _error_text(error), error)
            outcomes = await self._act(answer, names, background)
            if any(outcome.aborts for outcome in outcomes):
                return await self._end("abort", "The turn was ended by a denial.")
            if await self._is_over(answer, guards):
                return await self._end("yield")
            if stopped := guards.after(answer.uses, outcomes):
                return await self._end("limit", stopped)

    async def resume(self, background: TaskGroup) -> None:
        """Wait again, after a restart, for approvals of calls that the conversation continues without."""
        await self._calls.resume(background)

    async def end_aborted(self, background: TaskGroup) -> None:
        """Record that the turn was stopped by a person, with what it had said, and cancel its pending approvals."""
        await self._keep_partial("stopped", background)
        await self._writer.write(*await self._calls.abort_open(), self._ended("abort"))

    async def _act(self, answer: Answer, names: VendorNames, background: TaskGroup) -> list[Outcome]:
        requested = self._calls.requested(answer.uses, names)
        said = {
            "text": answer.text,
            "calls": [call_as_json(one.call_id, one.use) for one in requested],
            "provider_data": answer.stop.provider_data,
            "seen": self._sampler.seen,
            **answer.details(),
        }
        if not requested and self._settings.text_policy == "implicit_post" and answer.text.strip():
            requested = [self._calls.implicit_post(self._settings.post_tool, answer.text)]
        # One write for the answer and its calls: no call is made before it is durable.
        await self._writer.write(NewEvent("assistant_text", said), *(self._calls.call_event(one) for one in requested))
        return await self._calls.run_all(requested, background) if requested else []

    async def _keep_partial(self, partial: Partial, background: TaskGroup) -> None:
        """Keep the text of an interrupted answer: for the model, and for the person who has read it already.

        Calls in it are dropped: they may not be whole.
        """
        answer = self._sampler.take_partial()
        if answer is None or not answer.text.strip():
            return
        said = {
            "text": answer.text,
            "calls": [],
            "provider_data": {},
            "seen": self._sampler.seen,
            "partial": partial,
            **answer.details(),
        }
        posts: list[RequestedCall] = []
        if self._settings.text_policy == "implicit_post":
            posts = [self._calls.implicit_post(self._settings.post_tool, answer.text, partial)]
        await self._writer.write(NewEvent("assistant_text", said), *(self._calls.call_event(one) for one in posts))
        if posts:
            await self._calls.run_all(posts, background)

    async def _is_over(self, answer: Answer, guards: "_Guards") -> bool:
        """Return whether an answer ends the turn; one whose text would not be shown is asked for again."""
        if self._settings.text_policy == "implicit_post":
            return self._control.yielded or not answer.uses
        unseen = bool(answer.text.strip()) and not self._has_posted()
        if answer.uses and not (self._control.yielded and unseen):
            return self._control.yielded
        if self._control.yielded and guards.reminded:
            await self._writer.write(NewEvent("notice", {"level": "warning", "text": UNSEEN.format(text=answer.text)}))
            return True
        self._control.yielded, guards.reminded = False, True
        reminder = REMINDER.format(post=self._settings.post_tool, end=YIELD)
        await self._writer.write(NewEvent("injected", {"text": reminder}))
        return False

    def _has_posted(self) -> bool:
        """Return whether a message was posted in this turn."""
        opened = self._writer.progress.turn
        return any(event.type == "ui_message" and event.id > opened for event in reversed(self._writer.events))

    async def _end(self, reason: EndReason, notice: str | None = None, cause: Exception | None = None) -> EndReason:
        if notice:
            unexpected = None if isinstance(cause, UiMcpError) else cause
            _log.warning("agent %s: %s", self._writer.agent, notice, exc_info=unexpected)
        level = "error" if reason == "error" else "warning"
        notices = [NewEvent("notice", {"level": level, "text": notice})] if notice else []
        await self._writer.write(*notices, self._ended(reason))
        return reason

    def _ended(self, reason: EndReason) -> NewEvent:
        return NewEvent("ui_end_turn", {"reason": reason, "seen": self._sampler.seen})


def _sampling(settings: LoopSettings) -> SamplingSettings:
    return SamplingSettings(
        system=(lambda: f"{settings.system()}\n{UNTRUSTED}") if settings.marks else settings.system,
        tool_choice="required" if settings.text_policy == "tool_only" else "auto",
        max_context_tokens=settings.max_context_tokens,
        max_output_tokens=settings.max_output_tokens,
        resolved=settings.resolved,
        tuned=settings.tuned,
    )


def _error_text(error: Exception) -> str:
    return error.message if isinstance(error, UiMcpError) else f"The model {message_of(error)}"


class _Guards:
    """Counts the rounds of a turn and checks its limits."""

    def __init__(self, settings: LoopSettings) -> None:
        self._settings = settings
        self._began = monotonic()
        self._samplings = 0
        self._denials = 0
        self._text_only = 0
        self.reminded = False
        """Whether the model was reminded in this turn that text outside its messages is not seen."""

    def after(self, uses: Sequence[ToolUse], outcomes: Sequence[Outcome]) -> str | None:
        """Count one round; return the reason to end the turn, or None."""
        self._samplings += 1
        denied = bool(outcomes) and all(outcome.status == "denied" for outcome in outcomes)
        self._denials = self._denials + 1 if denied else 0
        self._text_only = 0 if uses else self._text_only + 1
        limits = self._settings
        if self._denials >= limits.max_denials:
            return f"Stopped after {self._denials} denied calls in a row."
        if self._text_only >= limits.max_text_only:
            return f"Stopped: {self._text_only} answers in a row used no tool."
        if self._samplings >= limits.max_samplings:
            return f"Stopped after {self._samplings} answers in one turn."
        if monotonic() - self._began > limits.max_seconds:
            return "Stopped: the turn took too long."
        return None
