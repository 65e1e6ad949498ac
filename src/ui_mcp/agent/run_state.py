"""How a conversation's agent is, told from the end of its timeline."""

from collections.abc import Sequence
from typing import Literal

from ui_mcp.jsontypes import JsonObject

RunState = Literal["idle", "running", "awaiting_approval", "sleeping", "finished", "aborted", "error"]
_AFTER: dict[str, RunState] = {"yield": "sleeping", "abort": "aborted", "limit": "finished", "error": "error"}


def run_state(items: Sequence[JsonObject], *, served: bool) -> RunState:
    """Return the state; `served` says whether an agent is there to answer."""
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
    """Return the state after the ops of one change, as they go over the wire."""
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
