"""Turns an agent's events back into the conversation its model is shown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ui_mcp.agent.model import AssistantSays, Message, ToolSays, ToolUse, UserSays
from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.jsontypes import JsonObject

ABORTED = "This call was interrupted before it answered. It may or may not have had an effect; it was not repeated."


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call whose outcome is not known: it was running when the process ended, or had not begun."""

    call_id: str
    use: ToolUse
    begun: bool


@dataclass(slots=True)
class _Reading:
    messages: list[Message] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    """The timeline item each message belongs to, or ""; rewinding cuts there."""
    open: dict[str, OpenCall] = field(default_factory=dict)


def messages_of(events: Iterable[StoredEvent]) -> list[Message]:
    """Return the conversation so far; calls without an outcome are shown as interrupted."""
    reading = _read(events)
    missing = [ToolSays(call.use.id, call.use.name, ABORTED, is_error=True) for call in reading.open.values()]
    return [*reading.messages, *missing]


def open_calls(events: Iterable[StoredEvent]) -> list[OpenCall]:
    """Return the calls whose outcome is not known, in order."""
    return list(_read(events).open.values())


def waiting_for_answer(events: Sequence[StoredEvent]) -> bool:
    """Say whether a person's message has been taken but no turn has ended since."""
    for event in reversed(events):
        if event.type in {"ui_end_turn", "rewind"}:
            return False
        if event.type == "user_text":
            return True
    return False


def _read(events: Iterable[StoredEvent]) -> _Reading:
    reading = _Reading()
    for event in events:
        _take(reading, event)
    return reading


def _take(reading: _Reading, event: StoredEvent) -> None:
    data = event.data
    match event.type:
        case "user_text":
            _say(reading, UserSays(data["text"]), f"u:{data['message_id']}")
        case "injected":
            _say(reading, UserSays(data["text"]), "")
        case "assistant_text":
            uses = tuple(use_of(call) for call in data["calls"])
            _say(reading, AssistantSays(data["text"], uses, data.get("provider_data") or {}), "")
            reading.open |= {
                call["call_id"]: OpenCall(call["call_id"], use, begun=False)
                for call, use in zip(data["calls"], uses, strict=True)
            }
        case "tool_call" if data["call_id"] in reading.open:
            reading.open[data["call_id"]] = OpenCall(data["call_id"], reading.open[data["call_id"]].use, begun=True)
        case "function_call_output" if data["call_id"] in reading.open:
            use = reading.open.pop(data["call_id"]).use
            _say(reading, ToolSays(use.id, use.name, data["text"], is_error=data["status"] != "done"), "")
        case "rewind":
            _cut(reading, data["from_item"])


def _say(reading: _Reading, message: Message, source: str) -> None:
    reading.messages.append(message)
    reading.sources.append(source)


def _cut(reading: _Reading, item: str) -> None:
    if item in reading.sources:
        at = reading.sources.index(item)
        del reading.messages[at:], reading.sources[at:]
        reading.open.clear()


def call_as_json(call_id: str, use: ToolUse) -> JsonObject:
    """Write a wanted call for the journal."""
    return {
        "call_id": call_id,
        "id": use.id,
        "name": use.name,
        "arguments": use.arguments,
        "problem": use.problem,
        "provider_data": use.provider_data,
    }


def use_of(call: JsonObject) -> ToolUse:
    """Read a wanted call back."""
    return ToolUse(call["id"], call["name"], call["arguments"], call["problem"], call["provider_data"])
