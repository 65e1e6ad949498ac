"""The timeline: a pure reduction that replays to the same state."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.agent.timeline import Append, StoredEvent, Timeline, UiState, Update, reduce_ui_state, replay


def event(number: int, kind: str, **data: Any) -> StoredEvent:
    return StoredEvent(number, f"2026-01-01T00:00:{number % 60:02}Z", kind, data)


JOURNEY = [
    event(1, "user_text", message_id="m1", mime="text/markdown", text="Deploy now?", client_id="c1"),
    event(2, "assistant_text", text="thinking aloud"),
    event(3, "tool_call", call_id="k1", name="runtime__exec", args={"cmd": "deploy"}),
    event(
        4,
        "approval_requested",
        approval_id="a1",
        call_id="k1",
        tool="runtime__exec",
        args={},
        digest="d",
        expires_at="x",
        request={"method": "DELETE", "url": "https://shop.example/1"},
        risk="destroys",
    ),
    event(5, "approval_decided", approval_id="a1", status="approved", decided_by="ann", decided_at="t"),
    event(6, "function_call_output", call_id="k1", status="done", content={"json": {"result": 1}}),
    event(7, "tool_call", call_id="k2", name="chat_assistant_post", args={}, silent=True),
    event(8, "ui_message", message_id="m2", mime="text/markdown", md="Done."),
    event(9, "ui_end_turn", reason="yield"),
]


@pytest.mark.covers("R-UI-1", "R-UI-2", "R-UI-5")
def test_a_journey_becomes_items_with_ids_from_their_events() -> None:
    state = replay(JOURNEY)

    assert [(item["id"], item["kind"]) for item in state.items] == [
        ("u:m1", "user_message"),
        ("t:k1", "tool"),
        ("p:a1", "approval"),
        ("a:m2", "assistant_markdown"),
        ("e:9", "end_turn"),
    ]
    tool, approval = state.items[1], state.items[2]
    assert (tool["status"], tool["decision"], tool["content"]) == ("done", "approved", {"json": {"result": 1}})
    assert (approval["status"], approval["decided_by"], tool["decided_by"]) == ("approved", "ann", "ann")
    assert (approval["request"]["method"], approval["risk"]) == ("DELETE", "destroys")
    assert state.seq == 7


@pytest.mark.covers("R-UI-3")
def test_a_message_that_comes_twice_is_one_bubble() -> None:
    twice = [JOURNEY[0], event(2, "user_text", message_id="m1", mime="text/plain", text="again")]

    assert replay(twice) == replay(JOURNEY[:1])


@pytest.mark.covers("R-UI-1")
def test_rewinding_hides_what_came_after_and_keeps_the_log() -> None:
    state = replay([*JOURNEY, event(10, "rewind", from_item="p:a1")])

    assert [item.get("superseded", False) for item in state.items] == [False, False, True, True, True]


def test_a_denied_or_expired_call_shows_as_denied() -> None:
    for last in (
        event(5, "approval_decided", approval_id="a1", status="denied"),
        event(5, "approval_expired", approval_id="a1"),
    ):
        tool = replay([*JOURNEY[:4], last]).items[1]
        assert tool["status"] == "denied"


@pytest.mark.covers("R-UI-4")
def test_deltas_count_up_by_one_and_rebuild_the_state() -> None:
    timeline = Timeline()
    items: dict[str, dict[str, Any]] = {}
    seen = 0
    for one in JOURNEY:
        delta = timeline.take(one)
        if delta.ops:
            assert delta.seq == seen + 1
            seen = delta.seq
        for op in delta.ops:
            match op:
                case Append(item):
                    items[item["id"]] = item
                case Update(name, values):
                    items[name] = {**items[name], **values}

    assert UiState(seen, tuple(items.values())) == timeline.state


kinds = st.sampled_from(
    ["user_text", "ui_message", "tool_call", "function_call_output", "approval_requested", "approval_decided",
     "approval_expired", "ui_end_turn", "notice", "rewind", "assistant_text", "reasoning", "from the future"]
)  # fmt: skip
small = st.integers(1, 4).map(str)


@st.composite
def journals(draw: st.DrawFn) -> list[StoredEvent]:
    return [
        event(
            number,
            draw(kinds),
            message_id=draw(small),
            call_id=draw(small),
            approval_id=draw(small),
            name="files__read", silent=draw(st.booleans()),
            mime="text/plain", text="t", md="m", args={}, tool="x", digest="d", expires_at="e", content={"json": {}},
            reason="yield", level="info",
            status=draw(st.sampled_from(["done", "error", "approved", "denied"])),
            from_item=draw(st.sampled_from(["u:1", "t:2", "nothing"])),
        )
        for number in range(1, draw(st.integers(0, 25)))
    ]  # fmt: skip


@pytest.mark.covers("R-UI-1")
@given(journals())
def test_reducing_step_by_step_equals_replaying_any_journal(journal: list[StoredEvent]) -> None:
    state = UiState()
    for one in journal:
        state = reduce_ui_state(state, one)

    assert state == replay(journal)
    assert len({item["id"] for item in state.items}) == len(state.items)
