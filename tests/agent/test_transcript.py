"""What the model reads of a conversation, and fitting it into its context."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.agent.model import AssistantMessage, Message, ToolMessage, ToolUse, UserMessage
from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.agent.transcript import SHORTENED, Transcript, blocks_of, tokens, trimmed
from ui_mcp.jsontypes import JsonObject


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = []
    for number in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(["user", "answer", "calls"]))
        text = "x" * draw(st.integers(0, 200))
        if kind == "user":
            messages.append(UserMessage(f"{number} {text}"))
        elif kind == "answer":
            messages.append(AssistantMessage(f"{number} {text}"))
        else:
            names = [f"{number}-{call}" for call in range(draw(st.integers(1, 3)))]
            messages.append(AssistantMessage(text, tuple(ToolUse(name, "t", {}) for name in names)))
            messages += [ToolMessage(name, "t", text) for name in names]
    return messages


@pytest.mark.covers("R-LO-12")
@given(conversations(), st.integers(1, 300))
def test_what_is_kept_fits_in_order_with_the_question_and_whole_calls(messages: list[Message], limit: int) -> None:
    kept = trimmed(messages, limit)

    asked = [message for message in messages if isinstance(message, UserMessage)]
    if asked and tokens(asked[-1]) <= limit:
        assert asked[-1] in kept
        assert sum(tokens(message) for message in kept) <= limit
    called = {call.id for message in kept if isinstance(message, AssistantMessage) for call in message.calls}
    assert called == {message.call_id for message in kept if isinstance(message, ToolMessage)}
    same = [message for message in messages if message in kept]
    assert [message for message in kept if message in same] == [message for message in same if message in kept]


@pytest.mark.covers("R-LO-12")
def test_a_question_that_is_too_long_is_shortened_not_dropped() -> None:
    (kept,) = trimmed([UserMessage("begin " + "x" * 10_000 + " end")], 100)

    assert isinstance(kept, UserMessage)
    assert kept.text.startswith("begin")
    assert kept.text.endswith("end")
    assert SHORTENED in kept.text


def test_no_limit_keeps_everything() -> None:
    messages: list[Message] = [UserMessage("a"), AssistantMessage("b")]

    assert trimmed(messages, 0) == messages
    assert blocks_of(messages) == [(messages[0],), (messages[1],)]


def late(*, calls: list[JsonObject]) -> list[StoredEvent]:
    """Return a talk in which "And?" came while the model answered "Look."."""
    return [
        StoredEvent(1, "", "user_text", {"message_id": "m1", "text": "Look."}),
        StoredEvent(2, "", "user_text", {"message_id": "m2", "text": "And?"}),
        StoredEvent(3, "", "assistant_text", {"text": "Seen.", "calls": calls, "seen": 1}),
    ]


def texts(messages: list[Message]) -> list[str]:
    return [message.text for message in messages]


@pytest.mark.covers("GW-API-2")
def test_a_message_that_came_during_an_answer_follows_it_for_the_model() -> None:
    assert texts(Transcript(late(calls=[])).messages()) == ["Look.", "Seen.", "And?"]


@pytest.mark.covers("GW-API-2")
def test_a_message_that_came_during_an_answer_follows_the_results_of_its_calls() -> None:
    wanted: JsonObject = {"id": "v", "name": "look", "arguments": {}, "problem": None, "provider_data": {}}
    call: JsonObject = {"call_id": "c", **wanted}
    said: JsonObject = {"call_id": "c", "text": "result", "status": "done", "content": None}
    result = StoredEvent(4, "", "function_call_output", said)
    assert texts(Transcript([*late(calls=[call]), result]).messages()) == ["Look.", "Seen.", "result", "And?"]


@pytest.mark.covers("GW-API-2")
def test_a_rewind_to_a_message_that_came_during_an_answer_takes_the_answer_back_as_on_the_page() -> None:
    rewind = StoredEvent(4, "", "rewind", {"from_item": "u:m2"})
    assert texts(Transcript([*late(calls=[]), rewind]).messages()) == ["Look."]
