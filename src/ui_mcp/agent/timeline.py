"""Reduces journal events to the UI state that clients render, and to the state of the run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, assert_never

from ui_mcp.jsontypes import JsonObject

RunState = Literal["idle", "running", "awaiting_approval", "sleeping", "finished", "aborted", "error"]
_AFTER: dict[str, RunState] = {"yield": "sleeping", "abort": "aborted", "limit": "finished", "error": "error"}


def run_state(items: Sequence[JsonObject], *, served: bool) -> RunState:
    """Return the state of the run; `served` means that a process serves the agent."""
    for item in reversed(items):
        if item.get("superseded"):
            continue
        match item["kind"]:
            case "approval" if item["status"] == "pending":
                return "awaiting_approval"
            case "user_message":
                return "running" if served else "idle"
            case "end_turn":
                return _AFTER.get(item["reason"], "finished")
    return "idle"


def state_after(state: RunState, ops: Sequence[JsonObject]) -> RunState:
    """Return the state of the run after the ops of one change, given as JSON."""
    for op in ops:
        match op:
            case {"op": "append", "item": {"kind": "user_message"}}:
                state = "running" if state != "awaiting_approval" else state
            case {"op": "append", "item": {"kind": "approval", "status": "pending"}}:
                state = "awaiting_approval"
            case {"op": "append", "item": {"kind": "end_turn", "reason": reason}}:
                state = _AFTER.get(reason, "finished")
            case {"op": "update", "id": name, "set": {"status": _}} if name.startswith("p:"):
                state = "running" if state == "awaiting_approval" else state
    return state


VERSION = "ui_state_v1"


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event in the journal; ids are consecutive."""

    id: int
    ts: str
    type: str
    data: JsonObject


@dataclass(frozen=True, slots=True)
class Versions:
    """What a conversation was before messages were edited or asked again."""

    left: tuple[tuple[str, ...], ...] = ()
    """The visible items each time that some were hidden, in order."""
    replaced: str = ""
    """The first version of the message that the next message of a person replaces."""

    def newest_with(self, item: str) -> tuple[str, ...]:
        return next((names for names in reversed(self.left) if item in names), ())


@dataclass(frozen=True, slots=True)
class UiState:
    """The items that clients render; `seq` counts the changes."""

    seq: int = 0
    items: tuple[JsonObject, ...] = ()
    versions: Versions = field(default=Versions(), compare=False)

    def snapshot(self, name: str) -> JsonObject:
        """Return the snapshot message of the whole state; `name` becomes its `state_id`."""
        return {
            "type": "ui_state_snapshot",
            "v": VERSION,
            "state_id": name,
            "seq": self.seq,
            "state": {"seq": self.seq, "items": list(self.items)},
        }


@dataclass(frozen=True, slots=True)
class Append:
    """A new item at the end."""

    item: JsonObject

    def as_json(self) -> JsonObject:
        return {"op": "append", "item": self.item}


@dataclass(frozen=True, slots=True)
class Update:
    """New fields of an item."""

    id: str
    set: JsonObject

    def as_json(self) -> JsonObject:
        return {"op": "update", "id": self.id, "set": self.set}


Op = Append | Update


@dataclass(frozen=True, slots=True)
class Delta:
    """The ops of one event; empty if the event changes nothing visible."""

    seq: int
    ops: tuple[Op, ...]


def reduce_ui_state(state: UiState, event: StoredEvent) -> UiState:
    """Return the state after one more event; pure."""
    timeline = Timeline(state)
    timeline.take(event)
    return timeline.state


def replay(events: Iterable[StoredEvent]) -> UiState:
    """Return the state after all events."""
    timeline = Timeline()
    for event in events:
        timeline.take(event)
    return timeline.state


class Timeline:
    """A UI state that applies events one by one and returns the changes."""

    def __init__(self, state: UiState = UiState()) -> None:
        self._seq = state.seq
        self._items: dict[str, JsonObject] = {item["id"]: item for item in state.items}
        self._versions = state.versions

    @property
    def seq(self) -> int:
        return self._seq

    @property
    def state(self) -> UiState:
        return UiState(self._seq, tuple(self._items.values()), self._versions)

    def item(self, name: str) -> JsonObject | None:
        return self._items.get(name)

    def take(self, event: StoredEvent) -> Delta:
        """Apply one event and return the change."""
        ops = tuple(self._ops(event))
        for op in ops:
            match op:
                case Append(item):
                    self._items[item["id"]] = item
                case Update(name, values):
                    self._items[name] = {**self._items[name], **values}
                case _:
                    assert_never(op)
        if ops:
            self._seq += 1
        return Delta(self._seq, ops)

    def _ops(self, event: StoredEvent) -> Sequence[Op]:
        data = event.data
        match event.type:
            case "user_text":
                return self._said(event)
            case "ui_message":
                return self._add(f"a:{data['message_id']}", event, "assistant_markdown", _picked(data, _ASSISTANT))
            case "assistant_text":
                return self._sampled(event)
            case "tool_call":
                return self._call(event)
            case "function_call_output":
                return self._change(f"t:{data['call_id']}", {"status": data["status"], "content": data["content"]})
            case "approval_requested":
                return self._ask(event)
            case "approval_decided" | "approval_expired":
                return self._decide(event)
            case "ui_end_turn" | "notice":
                return self._remark(event)
            case "rewind" | "version_shown":
                return self._go_back(event.type, data)
            case _:
                return ()

    def _add(self, name: str, event: StoredEvent, kind: str, fields: JsonObject) -> Sequence[Op]:
        if name in self._items:
            return ()
        return (Append({"id": name, "ts": event.ts, "kind": kind, **fields}),)

    def _remark(self, event: StoredEvent) -> Sequence[Op]:
        if event.type == "notice":
            return self._add(f"n:{event.id}", event, "notice", _picked(event.data, ("level", "text")))
        return self._add(f"e:{event.id}", event, "end_turn", {"reason": event.data["reason"]})

    def _sampled(self, event: StoredEvent) -> Sequence[Op]:
        details = _picked(event.data, _SAMPLING)
        return self._add(f"s:{event.id}", event, "sampling", details) if details else ()

    def _change(self, name: str, fields: JsonObject) -> Sequence[Op]:
        return (Update(name, fields),) if name in self._items else ()

    def _call(self, event: StoredEvent) -> Sequence[Op]:
        data = event.data
        if data.get("silent"):  # displayed as a message or as the end of the turn
            return ()
        fields = {**_picked(data, _TOOL), "status": data.get("status", "running"), "content": None}
        return self._add(f"t:{data['call_id']}", event, "tool", fields)

    def _ask(self, event: StoredEvent) -> Sequence[Op]:
        fields = {**_picked(event.data, _APPROVAL), "status": "pending"}
        asked = self._add(f"p:{event.data['approval_id']}", event, "approval", fields)
        name = f"t:{event.data['call_id']}"
        held = {"decision": "ask", "approval_id": event.data["approval_id"]}
        if (self._items.get(name) or {}).get("status") == "running":  # the outcome may have arrived first
            held["status"] = "pending"
        return (*asked, *self._change(name, held))

    def _decide(self, event: StoredEvent) -> Sequence[Op]:
        data = event.data
        name = f"p:{data['approval_id']}"
        if name not in self._items:
            return ()
        status = "expired" if event.type == "approval_expired" else data["status"]
        fields = {"status": status, **_picked(data, _DECISION)}
        tool = {"decision": status, **_picked(data, _DECIDER), **({} if status == "approved" else {"status": "denied"})}
        return (Update(name, fields), *self._change(f"t:{self._items[name]['call_id']}", tool))

    def _said(self, event: StoredEvent) -> Sequence[Op]:
        replaced = {"version_of": self._versions.replaced} if self._versions.replaced else {}
        said = self._add(
            f"u:{event.data['message_id']}", event, "user_message", {**_picked(event.data, _USER), **replaced}
        )
        self._versions = replace(self._versions, replaced="") if said else self._versions
        return said

    def _go_back(self, kind: str, data: JsonObject) -> Sequence[Op]:
        if kind == "version_shown":
            return self._show_version(data["item"])
        return self._rewind(data["from_item"], is_cut=bool(data.get("is_cut")))

    def _visible(self) -> tuple[str, ...]:
        return tuple(name for name, item in self._items.items() if not item.get("superseded"))

    def _rewind(self, first: str, *, is_cut: bool) -> Sequence[Op]:
        item = self._items.get(first)
        if item is None or item.get("superseded"):
            return ()
        is_replaced = item["kind"] == "user_message" and not is_cut
        group = item.get("version_of", first) if is_replaced else ""
        self._versions = Versions((*self._versions.left, self._visible()), group)
        names = list(self._items)
        later = names[names.index(first) :]
        return [Update(name, {"superseded": True}) for name in later if not self._items[name].get("superseded")]

    def _show_version(self, item: str) -> Sequence[Op]:
        """Show what was visible when this item was last visible."""
        wanted = set(self._versions.newest_with(item))
        if not wanted or not self._items[item].get("superseded"):
            return ()
        self._versions = Versions((*self._versions.left, self._visible()))
        return [
            Update(name, {"superseded": name not in wanted})
            for name, one in self._items.items()
            if bool(one.get("superseded")) == (name in wanted)
        ]


_USER = ("message_id", "mime", "text", "client_id")
_ASSISTANT = ("message_id", "mime", "md", "partial")
_SAMPLING = ("reasoning", "usage")
_TOOL = ("call_id", "name", "args", "decision", "approval_id")
_APPROVAL = ("approval_id", "call_id", "tool", "says", "args", "digest", "expires_at", "request", "risk")
_DECIDER = ("decided_by", "reason")
_DECISION = ("decided_by", "decided_at", "reason", "args")


def _picked(data: JsonObject, names: Sequence[str]) -> JsonObject:
    return {name: data[name] for name in names if data.get(name) is not None}
