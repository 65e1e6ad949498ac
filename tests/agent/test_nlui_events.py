"""The chat stream of a message ends with the turn that answers it, not with one that ended meanwhile."""

from ui_mcp.agent.nlui_events import NluiEvents
from ui_mcp.jsontypes import JsonObject


def appended(kind: str, **more: str) -> JsonObject:
    return {"type": "ui_state_delta", "ops": [{"op": "append", "item": {"id": "x", "kind": kind, **more}}]}


def names(events: NluiEvents, *frames: JsonObject) -> list[str]:
    return [name for frame in frames for name, _ in events.of(frame)]


def test_the_end_of_a_turn_before_the_message_was_taken_is_another_ones() -> None:
    events = NluiEvents("s", "c", lambda: False)

    assert names(events, appended("end_turn", reason="yield")) == []
    answer = appended("assistant_markdown", md="hello")
    assert names(events, appended("user_message"), answer, appended("end_turn", reason="yield")) == ["content", "done"]
    assert events.done


def test_a_message_that_came_too_late_for_a_turn_waits_for_the_next() -> None:
    open_turns = [True, False]
    events = NluiEvents("s", "c", lambda: open_turns.pop(0))

    assert names(events, appended("user_message"), appended("end_turn", reason="yield")) == []
    assert names(events, appended("end_turn", reason="yield")) == ["done"]


def test_a_message_said_again_ends_with_the_turn_that_runs() -> None:
    events = NluiEvents("s", "c", lambda: False)
    events.taken = True

    assert names(events, appended("end_turn", reason="yield")) == ["done"]
