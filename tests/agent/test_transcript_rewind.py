"""Rewinding: what people no longer see the model is not shown either."""

import pytest

from ui_mcp.agent.model import AssistantMessage, Message, ToolMessage, ToolUse, UserMessage
from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.agent.transcript import Transcript
from ui_mcp.jsontypes import Json, JsonObject


def event(number: int, kind: str, **data: Json) -> StoredEvent:
    return StoredEvent(number, f"2026-01-01T00:00:{number:02}Z", kind, data)


def call(call_id: str) -> JsonObject:
    return {
        "call_id": call_id,
        "id": f"v{call_id}",
        "name": "look",
        "arguments": {},
        "problem": None,
        "provider_data": {},
    }


def posts(number: int, call_id: str) -> StoredEvent:
    post: JsonObject = {"name": "chat_assistant_post", "args": {}, "client_id": call_id}
    return event(number, "tool_call", call_id=call_id, implicit=True, silent=True, **post)


def ended(number: int, call_id: str) -> StoredEvent:
    return event(number, "function_call_output", call_id=call_id, text=f"result {call_id}", status="done", content=None)


TALK = [
    event(1, "user_text", message_id="m1", text="Look twice."),
    event(2, "assistant_text", text="I look.", calls=[call("2-1"), call("2-2")]),
    event(
        3, "tool_call", call_id="3-1", name="chat_assistant_post", args={}, implicit=True, client_id="k", silent=True
    ),
    event(4, "tool_call", call_id="2-1", name="look", args={}),
    event(5, "tool_call", call_id="2-2", name="look", args={}),
    event(6, "ui_message", message_id="m2", md="I look."),
    ended(7, "3-1"),
    ended(8, "2-1"),
    ended(9, "2-2"),
    event(10, "assistant_text", text="Seen.", calls=[]),
    event(
        11, "tool_call", call_id="11-1", name="chat_assistant_post", args={}, implicit=True, client_id="l", silent=True
    ),
    event(12, "ui_message", message_id="m3", md="Seen."),
    ended(13, "11-1"),
    event(14, "user_text", message_id="m4", text="Thanks."),
]
ASKED = UserMessage("Look twice.")
FIRST, SECOND = ToolUse("v2-1", "look", {}), ToolUse("v2-2", "look", {})
RESULTS = [ToolMessage("v2-1", "look", "result 2-1"), ToolMessage("v2-2", "look", "result 2-2")]


@pytest.mark.covers("GW-API-2")
@pytest.mark.parametrize(
    ("item", "left"),
    [
        ("u:m4", [ASKED, AssistantMessage("I look.", (FIRST, SECOND)), *RESULTS, AssistantMessage("Seen.")]),
        ("a:m3", [ASKED, AssistantMessage("I look.", (FIRST, SECOND)), *RESULTS]),
        ("t:2-2", [ASKED, AssistantMessage("I look.", (FIRST,)), RESULTS[0]]),
        ("t:2-1", [ASKED, AssistantMessage("I look.")]),
        ("a:m2", [ASKED]),
        ("u:m1", []),
    ],
)
def test_the_model_is_shown_what_came_before_the_item(item: str, left: list[Message]) -> None:
    assert Transcript([*TALK, event(15, "rewind", from_item=item)]).messages() == left


def test_a_call_cut_off_while_it_runs_leaves_no_trace() -> None:
    running = [*TALK[:7], event(15, "rewind", from_item="t:2-2"), ended(16, "2-1"), ended(17, "2-2")]

    assert Transcript(running).messages() == [ASKED, AssistantMessage("I look.")]
