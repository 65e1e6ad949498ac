"""Asks the model for one answer: builds the request, fits it into the context, collects what is streamed."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import assert_never

from ui_mcp.agent.context_window import COMPACTED, ContextWindow, hopeless
from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.model import (
    ArgumentDelta,
    Message,
    Model,
    ModelRequest,
    ReasoningDelta,
    Retrying,
    Stop,
    TextDelta,
    ToolChoice,
    ToolOffer,
    ToolUse,
    Usage,
    VendorNames,
)
from ui_mcp.errors import ContextOverflowError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call
from ui_mcp.toolkit.toolset import Toolset

MAX_REASONING = 200_000
"""Characters of the reasoning that are kept with an answer."""


@dataclass(frozen=True, slots=True)
class Deltas:
    """Callbacks for the parts of a streaming answer; for display only, the journal gets the whole answer."""

    text: Callable[[str], None] = lambda _: None
    usage: Callable[[Usage], None] = lambda _: None
    """Called once an answer, with all that it took."""
    retrying: Callable[[Retrying], None] = lambda _: None
    argument: Callable[[str, str], None] = lambda *_: None
    """Takes the name of a called tool and a part of its arguments, as JSON text."""
    reasoning: Callable[[str], None] = lambda _: None
    sampled: Callable[[], None] = lambda: None
    """Called when no more parts of the answer will come."""


@dataclass(slots=True)
class Answer:
    """An answer of the model, or what has arrived of it."""

    text: str = ""
    uses: tuple[ToolUse, ...] = ()
    stop: Stop = Stop("end")
    reasoning: str = ""
    usage: Usage | None = None

    def details(self) -> JsonObject:
        """Return reasoning and usage as the journal keeps them, those that there are."""
        thought = self.reasoning.strip()[:MAX_REASONING]
        usage = asdict(self.usage) if self.usage is not None else {}
        counted = {key: value for key, value in usage.items() if value}
        return {**({"reasoning": thought} if thought else {}), **({"usage": counted} if counted else {})}


Resolve = Callable[[Sequence[Message]], Awaitable[Sequence[Message]]]


async def as_they_are(messages: Sequence[Message]) -> Sequence[Message]:
    return messages


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    system: Callable[[], str]
    tool_choice: ToolChoice
    max_context_tokens: int
    max_output_tokens: int
    resolved: Resolve = as_they_are
    """Returns messages with the contents of the files that they refer to."""
    tuned: Callable[[ModelRequest], ModelRequest] = lambda request: request
    """Returns a request as the person wants it for this conversation."""


class Sampler:
    """Samples the model for one agent."""

    def __init__(
        self,
        model: Model,
        tools: Toolset,
        writer: JournalWriter,
        settings: SamplingSettings,
        *,
        deltas: Deltas,
        call: Call,
    ) -> None:
        self._model = model
        self._tools = tools
        self._writer = writer
        self._settings = settings
        self._deltas = deltas
        self._call = call
        self._window = ContextWindow(settings.max_context_tokens, settings.max_output_tokens)
        self._partial: Answer | None = None
        self.seen = 0
        """Number of the last event that the newest request includes."""

    def take_partial(self) -> Answer | None:
        """Return what has arrived of an answer that was interrupted, once."""
        partial, self._partial = self._partial, None
        return partial

    async def sample(self) -> tuple[Answer, VendorNames]:
        """Return the answer to the conversation so far; a conversation that is too long is compacted.

        Raises:
            ModelError: the vendor refused, or could not be reached after all attempts.
        """
        listed = await self._tools.tools(self._call)
        names = VendorNames(tool.name for tool in listed)
        offers = [ToolOffer(names.out(tool.name), tool.description, tool.input_schema) for tool in listed]
        request = await self._request(offers)
        if self._window.is_exceeded(request):
            await self._compact()
            request = await self._request(offers)
        try:
            return await self._stream(self._window.fitted(request), names), names
        except ContextOverflowError as error:
            self._window.learn(request, error)
        await self._compact()
        request = self._window.fitted(await self._request(offers))
        try:
            return await self._stream(request, names), names
        except ContextOverflowError as error:
            raise hopeless(request, error) from error

    async def _request(self, offers: Sequence[ToolOffer]) -> ModelRequest:
        self.seen = len(self._writer.events)  # later messages are not in this request
        request = ModelRequest(
            messages=await self._settings.resolved(self._writer.transcript.messages()),
            system=self._settings.system(),
            tools=offers,
            tool_choice=self._settings.tool_choice,
            max_output_tokens=self._settings.max_output_tokens,
        )
        return self._settings.tuned(request)

    async def _compact(self) -> None:
        """Replace the conversation before the newest question by a summary, and tell people so."""
        earlier = self._writer.transcript.before_question()
        if len(earlier) > 1:  # one message may be the summary of the last time
            summary = await self._window.summary(self._model, earlier)
            notice = {"level": "info", "text": COMPACTED}
            await self._writer.write(NewEvent("compacted", {"text": summary}), NewEvent("notice", notice))

    async def _stream(self, request: ModelRequest, names: VendorNames) -> Answer:
        answer = self._partial = Answer()
        try:
            await self._collect(request, names, answer)
        finally:
            if answer.usage is not None:
                self._deltas.usage(answer.usage)
            self._deltas.sampled()
        self._partial = None
        return answer

    async def _collect(self, request: ModelRequest, names: VendorNames, answer: Answer) -> None:
        async for event in self._model.stream(request):
            match event:
                case TextDelta(text):
                    answer.text += text
                    self._deltas.text(text)
                case ToolUse():
                    answer.uses = (*answer.uses, event)
                case Usage():
                    answer.usage = event  # some vendors count up with every piece
                case Stop():
                    answer.stop = event
                case Retrying():
                    self._deltas.retrying(event)
                case ArgumentDelta(tool, text):
                    self._deltas.argument(names.back(tool), text)
                case ReasoningDelta(text):
                    answer.reasoning += text
                    self._deltas.reasoning(text)
                case _:
                    assert_never(event)
