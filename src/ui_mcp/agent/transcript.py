"""Turns journal events into messages for the model, and trims them to its context."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from ui_mcp.agent.model import AssistantMessage, Message, ToolMessage, ToolUse, UserMessage, marked
from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.jsontypes import JsonObject, dumps

CHARS_PER_TOKEN = 4
PICTURE_TOKENS = 1_600
"""About what vendors count for an image of ordinary size."""
SHORTENED = "\n[…shortened to fit…]\n"

Block = tuple[Message, ...]
"""Messages that are kept or dropped together: an answer with the results of its calls, or one user message."""


def trimmed(
    messages: Sequence[Message], max_tokens: int, count: Callable[[Message], int] | None = None
) -> list[Message]:
    """Return the newest blocks that fit into `max_tokens` (0 = no limit); the last user message is always kept."""
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
            # Older blocks end at the first that does not fit, which leaves no gap before the question; newer blocks
            # are skipped one by one.
            if question is None or at < question:
                break
            continue
        left -= cost
        kept.insert(0, blocks[at])
    return [message for block in kept for message in block]


def blocks_of(messages: Sequence[Message]) -> list[Block]:
    """Group messages so that a call and its result are in the same block."""
    blocks: list[Block] = []
    for message in messages:
        if isinstance(message, ToolMessage) and blocks and not isinstance(blocks[-1][0], UserMessage):
            blocks[-1] = (*blocks[-1], message)
        elif not isinstance(message, ToolMessage):
            blocks.append((message,))
    return blocks


def tokens(message: Message) -> int:
    """Estimate the tokens of a message: a quarter of its characters, which is close enough for every vendor."""
    match message:
        case AssistantMessage(text, calls):
            length = len(text) + sum(len(call.name) + len(dumps(call.arguments)) for call in calls)
        case UserMessage(text, pictures):
            return len(text) // CHARS_PER_TOKEN + len(pictures) * PICTURE_TOKENS + 4
        case _:
            length = len(message.text)
    return length // CHARS_PER_TOKEN + 4


def _shortened(message: Message, max_tokens: int, size: Callable[[Message], int]) -> Message:
    if not isinstance(message, UserMessage) or size(message) <= max_tokens:
        return message
    room = max(0, (max_tokens - 4) * CHARS_PER_TOKEN - len(SHORTENED))
    head = room * 2 // 3
    tail = room - head
    return replace(message, text=message.text[:head] + SHORTENED + (message.text[-tail:] if tail else ""))


ABORTED = "This call was interrupted before it answered. It may or may not have had an effect; it was not repeated."
DEFERRED = "[What became of {name}, which you called earlier and a person had to allow]\n{text}"


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call without an outcome: it runs, or was running when the process ended."""

    call_id: str
    use: ToolUse
    name: str = ""
    """The tool's real name, which may differ from the vendor-safe one."""
    client_id: str = ""
    """For a post: the id that makes repeating it idempotent."""
    implicit: bool = False
    """Whether the loop made this call for a model that only wrote text."""
    partial: str = ""
    """Why the text that it posts is not whole, if it is not."""


@dataclass(frozen=True, slots=True)
class _Version:
    messages: list[Message]
    sources: list[list[str]]
    compacted: list[tuple[list[Message], list[list[str]]]]

    def has(self, item: str) -> bool:
        return any(_position(sources, item) is not None for _, sources in [*self.compacted, ([], self.sources)])


@dataclass(slots=True)
class _State:
    messages: list[Message] = field(default_factory=list)
    sources: list[list[str]] = field(default_factory=list)
    """The timeline items of each message, "" for none; for an answer those of its text and of each call.

    A rewind cuts at one of them.
    """
    posted: str = ""
    """The item of the post whose outcome is the next event."""
    open: dict[str, OpenCall] = field(default_factory=dict)
    deferred: dict[str, OpenCall] = field(default_factory=dict)
    """Calls that wait for an approval while the conversation continues."""
    held: list[tuple[Message, str]] = field(default_factory=list)
    """User messages that arrived while calls ran; vendors require the results of the calls first."""
    compacted: list[tuple[list[Message], list[list[str]]]] = field(default_factory=list)
    """Messages and sources before each compaction, for a rewind to an item of that time."""
    arrived: list[int] = field(default_factory=list)
    """The events since the newest answer that became a user message."""
    versions: list["_Version"] = field(default_factory=list)
    """What each rewind has left, for a return to it."""


class Transcript:
    """The messages for the model, updated event by event so that no sampling re-reads the whole journal."""

    def __init__(self, events: Iterable[StoredEvent] = ()) -> None:
        self._state = _State()
        for event in events:
            self.take(event)

    def take(self, event: StoredEvent) -> None:
        _take(self._state, event)

    def messages(self) -> list[Message]:
        """Return the messages so far; calls without an outcome get an "interrupted" result."""
        return _as_answered(_settled(self._state)[0])

    def before_question(self) -> list[Message]:
        """Return the messages that a compaction would replace: those before the last message of a person."""
        return self._state.messages[: _last_question(self._state)]

    def open_calls(self) -> list[OpenCall]:
        """Return the calls without an outcome, in call order."""
        return list(self._state.open.values())

    def deferred_calls(self) -> list[OpenCall]:
        """Return the calls that wait for an approval while the conversation continues."""
        return list(self._state.deferred.values())


def has_yielded(events: Sequence[StoredEvent], yields: Collection[str]) -> bool:
    """Return whether the newest answer yielded, but the end of the turn has not been written yet."""
    done: set[str] = set()
    for event in reversed(events):
        match event.type:
            case "function_call_output" if event.data["status"] == "done":
                done.add(event.data["call_id"])
            case "tool_call" if event.data["name"] in yields and event.data["call_id"] in done:
                return True
            case "assistant_text" | "injected" | "ui_end_turn" | "rewind":
                return False
    return False


def _take(state: _State, event: StoredEvent) -> None:
    data = event.data
    _note_arrival(state, event)
    match event.type:
        case "user_text":
            said = UserMessage(data["text"], by_person=True)
            _append_or_hold(state, said, f"u:{data['message_id']}")
        case "injected":
            _append_or_hold(state, UserMessage(data["text"]), "")
        case "assistant_text":
            uses = tuple(use_of(call) for call in data["calls"])
            items = ["", *(f"t:{call['call_id']}" for call in data["calls"])]
            answer = AssistantMessage(data["text"], uses, data.get("provider_data") or {}, _unseen(state, event))
            _append(state, answer, items)
            state.open |= {
                call["call_id"]: OpenCall(call["call_id"], use, use.name)
                for call, use in zip(data["calls"], uses, strict=True)
            }
        case "ui_message":
            state.posted = f"a:{data['message_id']}"
        case "tool_call" | "call_deferred" | "function_call_output":
            _take_call(state, event.type, data)
        case "compacted":
            _compact(state, data["text"])
        case "rewind":
            _keep_version(state)
            _cut(state, data["from_item"])
        case "version_shown":
            _show_version(state, data["item"])


def _note_arrival(state: _State, event: StoredEvent) -> None:
    outcome = event.type == "function_call_output" and event.data["call_id"] in state.deferred
    if outcome or event.type in {"user_text", "injected"}:
        state.arrived.append(event.id)
    elif event.type in {"rewind", "version_shown"}:
        state.arrived.clear()


def _unseen(state: _State, event: StoredEvent) -> int:
    """Return how many of the newest messages came while the model wrote this answer."""
    seen = event.data.get("seen", event.id)
    late = len([number for number in state.arrived if number > seen])
    state.arrived.clear()
    return late


def _take_call(state: _State, kind: str, data: JsonObject) -> None:
    call_id = data["call_id"]
    call = state.open.get(call_id)
    if kind == "tool_call":
        if call is None and data.get("implicit"):
            call = OpenCall(call_id, ToolUse("", data["name"], data["args"]), implicit=True)
        if call is not None:
            own = {"client_id": data.get("client_id", ""), "partial": data.get("partial", "")}
            state.open[call_id] = replace(call, name=data["name"], **own)
    elif call is None:
        if waited := state.deferred.pop(call_id, None):
            _append_or_hold(state, UserMessage(DEFERRED.format(name=waited.name, text=_read(data))), "")
    else:
        _close(state, call, kind, data)
    if kind == "function_call_output":
        state.posted = ""


def _close(state: _State, call: OpenCall, kind: str, data: JsonObject) -> None:
    del state.open[call.call_id]
    item = f"t:{call.call_id}"
    if state.posted:
        _relabel(state, "" if call.implicit else item, state.posted)
        item = state.posted
    if kind == "call_deferred":
        state.deferred[call.call_id] = call
    if not call.implicit:
        is_error = data.get("status", "done") != "done"
        _append(state, ToolMessage(call.use.id, call.use.name, _read(data), is_error=is_error), [item])
    if not state.open:
        for message, source in state.held:
            _append(state, message, [source])
        state.held.clear()


def _read(data: JsonObject) -> str:
    """Return a result as the model reads it."""
    text: str = data["text"]
    return marked(text, data["mark"]) if "mark" in data else text


def _relabel(state: _State, old: str, new: str) -> None:
    """Replace an item of the newest answer: a post is displayed as a message, not as text or a call."""
    for message, items in zip(reversed(state.messages), reversed(state.sources), strict=True):
        if isinstance(message, AssistantMessage):
            if old in items:
                items[items.index(old)] = new
            return


def _append(state: _State, message: Message, items: list[str]) -> None:
    state.messages.append(message)
    state.sources.append(items)


def _append_or_hold(state: _State, message: Message, source: str) -> None:
    if state.open:
        state.held.append((message, source))
    else:
        _append(state, message, [source])


def _last_question(state: _State) -> int:
    asked = [at for at, items in enumerate(state.sources) if items[0].startswith("u:")]
    return asked[-1] if asked else len(state.sources)


def _compact(state: _State, summary: str) -> None:
    """Replace the messages before the last message of a person by a summary."""
    kept = _last_question(state)
    state.compacted.append((state.messages, state.sources))
    state.messages = [UserMessage(summary), *state.messages[kept:]]
    state.sources = [[""], *state.sources[kept:]]


def _settled(state: _State) -> tuple[list[Message], list[list[str]]]:
    """Return messages and sources with an "interrupted" result for each call without an outcome."""
    missing = [call for call in state.open.values() if not call.implicit]
    results = [ToolMessage(call.use.id, call.use.name, ABORTED, is_error=True) for call in missing]
    messages = [*state.messages, *results, *(message for message, _ in state.held)]
    ids = [[f"t:{call.call_id}"] for call in missing]
    return messages, [*map(list, state.sources), *ids, *([source] for _, source in state.held)]


def _as_answered(messages: Iterable[Message]) -> list[Message]:
    """Put messages behind the answer, with its results, that was written without knowing them.

    The journal has them before it, as people see them; a model would take them for answered.
    """
    ordered: list[Message] = []
    waiting: list[Message] = []
    for message in messages:
        if not isinstance(message, ToolMessage):
            ordered += waiting
            waiting = []
        if isinstance(message, AssistantMessage) and message.unseen:
            first = max(1, len(ordered) - message.unseen)  # an answer has seen at least one
            waiting, ordered = ordered[first:], ordered[:first]
        ordered.append(message)
    return ordered + waiting


def _keep_version(state: _State) -> None:
    state.versions.append(_Version(*_settled(state), list(state.compacted)))


def _show_version(state: _State, item: str) -> None:
    found = next((version for version in reversed(state.versions) if version.has(item)), None)
    if found is None or _Version(*_settled(state), state.compacted).has(item):
        return
    _keep_version(state)
    state.messages, state.sources = list(found.messages), [*map(list, found.sources)]
    state.compacted = list(found.compacted)
    state.open.clear()
    state.held.clear()


def _cut(state: _State, item: str) -> None:
    sources = [source for _, source in state.held]
    if item in sources:
        del state.held[sources.index(item) :]
        return
    if _position(state.sources, item) is None:
        _undo_compaction(state, item)
    at = _position(state.sources, item)
    if at is not None:
        later = list(zip(state.messages[at:], state.sources[at:], strict=True))
        del state.messages[at:], state.sources[at:]
        _keep_before(state, item, later)
        state.open.clear()
        state.held.clear()


def _position(sources: Sequence[Sequence[str]], item: str) -> int | None:
    return next((at for at, items in enumerate(sources) if item in items), None)


def _undo_compaction(state: _State, item: str) -> None:
    """Bring back the messages of the time of an item, if it was compacted."""
    for at, (messages, sources) in reversed(list(enumerate(state.compacted))):
        if _position(sources, item) is not None:
            state.messages, state.sources = messages, sources
            del state.compacted[at:]
            return


def _keep_before(state: _State, item: str, later: Sequence[tuple[Message, list[str]]]) -> None:
    """Keep the part of an answer that was displayed before `item`: its text, and earlier calls with results."""
    answer, items = later[0]
    if not isinstance(answer, AssistantMessage) or item == items[0]:
        return
    before = items[1 : items.index(item)]
    results = [(said, own) for said, own in later[1:] if isinstance(said, ToolMessage) and own[0] in before]
    done = [own[0] for _, own in results]
    kept = [(use, own) for use, own in zip(answer.calls, items[1:], strict=True) if own in done]
    if kept or (items[0] and answer.text):
        _append(
            state,
            AssistantMessage(answer.text, tuple(use for use, _ in kept), unseen=answer.unseen),
            [items[0], *(own for _, own in kept)],
        )
        state.messages += [said for said, _ in results]
        state.sources += [own for _, own in results]


def call_as_json(call_id: str, use: ToolUse) -> JsonObject:
    """Return a requested call as JSON for the journal."""
    return {
        "call_id": call_id,
        "id": use.id,
        "name": use.name,
        "arguments": use.arguments,
        "problem": use.problem,
        "provider_data": use.provider_data,
    }


def use_of(call: JsonObject) -> ToolUse:
    """Return the requested call that `call_as_json` encoded."""
    return ToolUse(call["id"], call["name"], call["arguments"], call["problem"], call["provider_data"])
