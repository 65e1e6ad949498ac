"""Events → messages for the model, fitted into its context."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from ui_mcp.agent.model import AssistantMessage, Message, ToolMessage, ToolUse, UserMessage
from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.jsontypes import JsonObject, dumps

CHARS_PER_TOKEN = 4
SHORTENED = "\n[…shortened to fit…]\n"

Block = tuple[Message, ...]
"""Messages that stand or fall together: an answer with the results of its calls, or one message of a person."""


def trimmed(
    messages: Sequence[Message], max_tokens: int, count: Callable[[Message], int] | None = None
) -> list[Message]:
    """Return the newest blocks that fit into `max_tokens` (0 = no limit); the last message of a person always stays."""
    if max_tokens <= 0:
        return list(messages)
    size = count or tokens
    blocks = blocks_of(messages)
    question = next((at for at in reversed(range(len(blocks))) if isinstance(blocks[at][0], UserMessage)), None)
    left = max_tokens
    kept: list[Block] = []
    if question is not None:
        asked = _shortened(blocks[question][0], max_tokens, size)
        blocks[question] = (asked,)
        left -= size(asked)
    for at in reversed(range(len(blocks))):
        cost = 0 if at == question else sum(size(message) for message in blocks[at])
        if cost > left and at != question:
            if question is None or at < question:
                break
            continue
        left -= cost
        kept.insert(0, blocks[at])
    return [message for block in kept for message in block]


def blocks_of(messages: Sequence[Message]) -> list[Block]:
    """Group messages so that no call loses its result and no result its call."""
    blocks: list[Block] = []
    for message in messages:
        if isinstance(message, ToolMessage) and blocks and not isinstance(blocks[-1][0], UserMessage):
            blocks[-1] = (*blocks[-1], message)
        elif not isinstance(message, ToolMessage):
            blocks.append((message,))
    return blocks


def tokens(message: Message) -> int:
    """Estimate; vendors differ, and a quarter of the characters is near enough for all of them."""
    match message:
        case AssistantMessage(text, calls):
            length = len(text) + sum(len(call.name) + len(dumps(call.arguments)) for call in calls)
        case _:
            length = len(message.text)
    return length // CHARS_PER_TOKEN + 4


def _shortened(message: Message, max_tokens: int, size: Callable[[Message], int]) -> Message:
    if not isinstance(message, UserMessage) or size(message) <= max_tokens:
        return message
    room = max(0, (max_tokens - 4) * CHARS_PER_TOKEN - len(SHORTENED))
    head = room * 2 // 3
    tail = room - head
    return UserMessage(message.text[:head] + SHORTENED + (message.text[-tail:] if tail else ""))


ABORTED = "This call was interrupted before it answered. It may or may not have had an effect; it was not repeated."
DEFERRED = "[What became of {name}, which you called earlier and a person had to allow]\n{text}"


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call whose outcome is not known: it was running when the process ended."""

    call_id: str
    use: ToolUse
    name: str = ""
    """Its real name, which may differ from the one the model was shown."""
    client_id: str = ""
    """For a post: what makes repeating it harmless."""
    implicit: bool = False
    """Made on behalf of a model that only wrote text."""


@dataclass(slots=True)
class _Reading:
    messages: list[Message] = field(default_factory=list)
    sources: list[list[str]] = field(default_factory=list)
    """The timeline items of each message, or "": of an answer its text's and then each call's. Rewinding cuts there."""
    posted: str = ""
    """The item of the post whose outcome comes next."""
    open: dict[str, OpenCall] = field(default_factory=dict)
    deferred: dict[str, OpenCall] = field(default_factory=dict)
    """Calls that still wait for a person while the conversation goes on."""
    held: list[tuple[Message, str]] = field(default_factory=list)
    """What was said while calls ran; vendors want their results first."""


class Transcript:
    """Grows event by event, so that a long conversation is not read anew for each sampling."""

    def __init__(self, events: Iterable[StoredEvent] = ()) -> None:
        self._reading = _Reading()
        for event in events:
            self.take(event)

    def take(self, event: StoredEvent) -> None:
        """Read one more event."""
        _take(self._reading, event)

    def messages(self) -> list[Message]:
        """Return the conversation so far; calls without an outcome are shown as interrupted."""
        reading = self._reading
        missing = [
            ToolMessage(call.use.id, call.use.name, ABORTED, is_error=True)
            for call in reading.open.values()
            if not call.implicit
        ]
        return [*reading.messages, *missing, *(message for message, _ in reading.held)]

    def open_calls(self) -> list[OpenCall]:
        """Return the calls whose outcome is not known, in order."""
        return list(self._reading.open.values())

    def deferred_calls(self) -> list[OpenCall]:
        """Return the calls that wait for a person while the conversation goes on."""
        return list(self._reading.deferred.values())


def has_yielded(events: Sequence[StoredEvent], yields: Collection[str]) -> bool:
    """Say whether the newest answer ended its turn, and nothing has been written about that yet."""
    done: set[str] = set()
    for event in reversed(events):
        match event.type:
            case "function_call_output" if event.data["status"] == "done":
                done.add(event.data["call_id"])
            case "tool_call" if event.data["name"] in yields and event.data["call_id"] in done:
                return True
            case "assistant_text" | "ui_end_turn" | "rewind":
                return False
    return False


def _take(reading: _Reading, event: StoredEvent) -> None:
    data = event.data
    match event.type:
        case "user_text":
            _hear(reading, UserMessage(data["text"]), f"u:{data['message_id']}")
        case "injected":
            _hear(reading, UserMessage(data["text"]), "")
        case "assistant_text":
            uses = tuple(use_of(call) for call in data["calls"])
            items = ["", *(f"t:{call['call_id']}" for call in data["calls"])]
            _say(reading, AssistantMessage(data["text"], uses, data.get("provider_data") or {}), items)
            reading.open |= {
                call["call_id"]: OpenCall(call["call_id"], use, use.name)
                for call, use in zip(data["calls"], uses, strict=True)
            }
        case "ui_message":
            reading.posted = f"a:{data['message_id']}"
        case "tool_call" | "call_deferred" | "function_call_output":
            _take_call(reading, event.type, data)
        case "compacted":
            _compact(reading, data["text"])
        case "rewind":
            _cut(reading, data["from_item"])


def _take_call(reading: _Reading, kind: str, data: JsonObject) -> None:
    call_id = data["call_id"]
    call = reading.open.get(call_id)
    if kind == "tool_call":
        if call is None and data.get("implicit"):
            call = OpenCall(call_id, ToolUse("", data["name"], data["args"]), implicit=True)
        if call is not None:
            reading.open[call_id] = replace(call, name=data["name"], client_id=data.get("client_id", ""))
    elif call is None:
        if waited := reading.deferred.pop(call_id, None):
            _hear(reading, UserMessage(DEFERRED.format(name=waited.name, text=data["text"])), "")
    else:
        _close(reading, call, kind, data)
    if kind == "function_call_output":
        reading.posted = ""


def _close(reading: _Reading, call: OpenCall, kind: str, data: JsonObject) -> None:
    del reading.open[call.call_id]
    item = f"t:{call.call_id}"
    if reading.posted:
        _relabel(reading, "" if call.implicit else item, reading.posted)
        item = reading.posted
    if kind == "call_deferred":
        reading.deferred[call.call_id] = call
    if not call.implicit:
        is_error = data.get("status", "done") != "done"
        _say(reading, ToolMessage(call.use.id, call.use.name, data["text"], is_error=is_error), [item])
    if not reading.open:
        for message, source in reading.held:
            _say(reading, message, [source])
        reading.held.clear()


def _relabel(reading: _Reading, old: str, new: str) -> None:
    """Let a part of the newest answer belong to another item: its text, or a call that was a post."""
    for message, items in zip(reversed(reading.messages), reversed(reading.sources), strict=True):
        if isinstance(message, AssistantMessage):
            if old in items:
                items[items.index(old)] = new
            return


def _say(reading: _Reading, message: Message, items: list[str]) -> None:
    reading.messages.append(message)
    reading.sources.append(items)


def _hear(reading: _Reading, message: Message, source: str) -> None:
    if reading.open:
        reading.held.append((message, source))
    else:
        _say(reading, message, [source])


def _compact(reading: _Reading, summary: str) -> None:
    """Let a summary stand for what was said before the last question."""
    asked = [at for at, items in enumerate(reading.sources) if items[0].startswith("u:")]
    kept = slice(asked[-1], None) if asked else slice(len(reading.sources), None)
    reading.messages = [UserMessage(summary), *reading.messages[kept]]
    reading.sources = [[""], *reading.sources[kept]]


def _cut(reading: _Reading, item: str) -> None:
    at = next((at for at, items in enumerate(reading.sources) if item in items), None)
    if at is not None:
        later = list(zip(reading.messages[at:], reading.sources[at:], strict=True))
        del reading.messages[at:], reading.sources[at:]
        _keep_before(reading, item, later)
        reading.open.clear()
        reading.held.clear()
    else:
        heard = [source for _, source in reading.held]
        if item in heard:
            del reading.held[heard.index(item) :]


def _keep_before(reading: _Reading, item: str, later: Sequence[tuple[Message, list[str]]]) -> None:
    """Keep of an answer what was shown before `item`: its text, and earlier calls that have their results."""
    answer, items = later[0]
    if not isinstance(answer, AssistantMessage) or item == items[0]:
        return
    before = items[1 : items.index(item)]
    results = [(said, own) for said, own in later[1:] if isinstance(said, ToolMessage) and own[0] in before]
    done = [own[0] for _, own in results]
    kept = [(use, own) for use, own in zip(answer.calls, items[1:], strict=True) if own in done]
    if kept or (items[0] and answer.text):
        _say(
            reading, AssistantMessage(answer.text, tuple(use for use, _ in kept)), [items[0], *(own for _, own in kept)]
        )
        reading.messages += [said for said, _ in results]
        reading.sources += [own for _, own in results]


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
