"""The chat stream of a message ends with the turn that answers it, not with one that ended meanwhile."""

from itertools import count

from ui_mcp.gateway.web.streams import NluiEvents
from ui_mcp.jsontypes import JsonObject

_numbers = count()


def item(kind: str, **more: object) -> JsonObject:
    return {"id": f"x{next(_numbers)}", "kind": kind, **more}


def shown(one: JsonObject) -> JsonObject:
    return {"type": "ui_state_delta", "ops": [{"op": "append", "item": one}]}


def appended(kind: str, **more: object) -> JsonObject:
    return shown(item(kind, **more))


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


def test_a_message_said_again_while_its_turn_runs_ends_with_that_turn() -> None:
    events = NluiEvents("s", "c", lambda: not ended)
    ended = False
    answer = item("assistant_markdown", md="hello")

    assert [name for name, _ in events.replay([item("user_message"), answer])] == ["content"]
    ended = True
    assert names(events, shown(answer), appended("end_turn", reason="yield")) == ["done"]


def test_a_message_said_again_after_its_turn_is_answered_with_what_came_of_it() -> None:
    events = NluiEvents("s", "c", lambda: False)
    call = item("tool", call_id="1", name="a", status="done", content={"result": "r", "is_error": False})
    late = [item("end_turn", reason="yield"), item("assistant_markdown", md="late"), item("end_turn", reason="yield")]
    later = [item("user_message"), item("assistant_markdown", md="of another"), item("end_turn", reason="yield")]

    decided = item("approval", approval_id="p", status="approved")

    told = [name for name, _ in events.replay([item("user_message"), call, decided, *late, *later])]

    assert told == ["tool_call", "tool_result", "content", "done"]


def test_a_message_said_again_that_is_hidden_now_ends_at_once() -> None:
    assert [name for name, _ in NluiEvents("s", "c", lambda: False).replay([])] == ["done"]


def test_a_rewind_before_the_turn_began_ends_the_stream() -> None:
    events = NluiEvents("s", "c", lambda: False)
    asked = item("user_message")
    hidden = {"type": "ui_state_delta", "ops": [{"op": "update", "id": asked["id"], "set": {"superseded": True}}]}

    assert names(events, shown(asked), hidden) == ["done"]
