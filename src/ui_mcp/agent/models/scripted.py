"""A model that follows a script, for tests, demos and documentation; needs no API key and no network."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Annotated, Any

import anyio

from ui_mcp import validation
from ui_mcp.agent.model import (
    Message,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    Stop,
    TextDelta,
    ToolMessage,
    ToolUse,
    Usage,
    UserMessage,
    unmarked,
)
from ui_mcp.agent.models import Provider, Service
from ui_mcp.errors import ConfigError, ModelError
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.validation import InvalidDataError

PIECE = 12
"""Characters per streamed text delta."""
_PLACEHOLDER = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")
_NUMBER_PLACEHOLDER = re.compile(r"\{\{\s*([\w.]+)\s*\|\s*number\s*\}\}")


@dataclass(frozen=True, slots=True)
class When:
    """What the newest message must be like; a step without it always fits."""

    user: Annotated[str | None, "Pattern the person's newest message must match."] = None
    tool_result: Annotated[str | None, "Pattern the newest result of a call must match."] = None
    tool: Annotated[str | None, "Pattern the name of the tool that gave that result must match."] = None


@dataclass(frozen=True, slots=True)
class Emit:
    """One thing to do; exactly one of `say`, `think`, `call`, `error`, `delay_ms` and `usage`."""

    say: str | None = None
    think: str | None = None
    call: str | None = None
    args: JsonObject = field(default_factory=dict)
    delay_ms: int = 0
    error: str | None = None
    usage: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """An answer and when to give it."""

    emit: list[Emit]
    when: When = When()
    once: Annotated[bool, "Use this step a single time."] = False


def read_script(steps: Sequence[Json]) -> list[Step]:
    """Validate a script.

    Raises:
        ConfigError: a step is invalid; the message has its number.
    """
    read: list[Step] = []
    for number, step in enumerate(steps, 1):
        try:
            read.append(validation.read(Step, step))
            for pattern in (read[-1].when.user, read[-1].when.tool_result, read[-1].when.tool):
                re.compile(pattern or "")
        except (InvalidDataError, re.error) as error:
            raise ConfigError(f"Step {number} of the script is wrong: {error}") from error
    return read


@dataclass(frozen=True, slots=True)
class _Context:
    """The values that a step matches and that its templates insert."""

    user: str
    result: Json
    newest: Message | None
    match: tuple[str, ...] = ()
    """The match of the step's pattern, then its groups."""


class ScriptedModel:
    """Answers with the first step that matches the newest message."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = list(steps)
        self._used: set[int] = set()
        self._calls = count(1)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        context = _context(request.messages)
        called = False
        step = self._step(context)
        context = replace(context, match=_groups(step.when, context))
        for emit in step.emit:
            if emit.delay_ms:
                await anyio.sleep(emit.delay_ms / 1000)
            if emit.error is not None:
                raise ModelError(emit.error)
            if emit.think is not None:
                for piece in _pieces(_filled(emit.think, context)):
                    yield ReasoningDelta(piece)
            if emit.say is not None:
                for piece in _pieces(_filled(emit.say, context)):
                    yield TextDelta(piece)
            if emit.call is not None:
                called = True
                yield ToolUse(f"call_{next(self._calls)}", emit.call, _filled(emit.args, context))
            if emit.usage is not None:
                yield Usage(*emit.usage)
        yield Stop("tool_calls" if called else "end")

    def _step(self, context: _Context) -> Step:
        for number, step in enumerate(self._steps):
            if number not in self._used and _fits(step.when, context):
                if step.once:
                    self._used.add(number)
                return step
        if not self._steps:
            raise ModelError("No model is configured\nSet llm in nlui.yaml (`nlui init` writes one to start from).")
        raise ModelError(f"The script has no step for: {context.user[:100]!r}")


PROVIDER = Provider(
    services=(Service("Scripted demo", ""),),
    make=lambda settings, _: ScriptedModel(read_script(settings.script)),
)


def _context(messages: Sequence[Message]) -> _Context:
    user = next((message.text for message in reversed(messages) if isinstance(message, UserMessage)), "")
    said = next((message.text for message in reversed(messages) if isinstance(message, ToolMessage)), "")
    return _Context(user, _parsed(unmarked(said)), messages[-1] if messages else None)


def _parsed(text: str) -> Json:
    """Parse a result that is JSON, or whose first line is JSON followed by a note; else return the text."""
    for attempt in (text, text.partition("\n")[0]):
        try:
            return loads(attempt)
        except ValueError:
            continue
    return text


def _fits(when: When, context: _Context) -> bool:
    newest = context.newest
    if when.tool_result is not None or when.tool is not None:
        return (
            isinstance(newest, ToolMessage)
            and re.search(when.tool_result or "", newest.text, re.DOTALL) is not None
            and re.search(when.tool or "", newest.name) is not None
        )
    if when.user is not None:
        return (
            isinstance(newest, UserMessage) and re.search(when.user, newest.text, re.IGNORECASE | re.DOTALL) is not None
        )
    return True


def _groups(when: When, context: _Context) -> tuple[str, ...]:
    found = re.search(when.user, context.user, re.IGNORECASE | re.DOTALL) if when.user else None
    return (found[0], *(group or "" for group in found.groups())) if found else ()


def _filled(value: Any, context: _Context) -> Any:
    match value:
        case str() if whole := _NUMBER_PLACEHOLDER.fullmatch(value):
            return _number(_value(whole[1], context))
        case str():
            return _PLACEHOLDER.sub(lambda match: _quoted(match[1], context), value)
        case Mapping():
            return {key: _filled(inner, context) for key, inner in value.items()}
        case list():
            return [_filled(inner, context) for inner in value]
        case _:
            return value


def _quoted(path: str, context: _Context) -> str:
    value = _value(path, context)
    return value if isinstance(value, str) else dumps(value)


def _number(value: Json) -> Json:
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d{1,15}", value) else value


def _value(path: str, context: _Context) -> Json:
    name, *rest = path.split(".")
    value: Json = {"user": context.user, "result": context.result, "match": list(context.match)}.get(name)
    for part in rest:
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value


def _pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
