"""Versions of a message: what was edited away or asked again can be shown again, to the person and to the model."""

from collections.abc import Sequence

import anyio
import pytest

from agent.test_conversation import make_loop
from agent.test_orchestrator import People
from ui_mcp.agent.conversation import Conversation
from ui_mcp.agent.journal import MemoryJournal
from ui_mcp.agent.model import UserMessage
from ui_mcp.agent.timeline import StoredEvent, replay
from ui_mcp.agent.transcript import Transcript
from ui_mcp.errors import NotFoundError
from ui_mcp.jsontypes import JsonObject

pytestmark = pytest.mark.covers("CHAT-VERSION-1")


def said(text: str) -> tuple[str, JsonObject]:
    return "user_text", {"message_id": text, "mime": "text/plain", "text": text}


def rewound(text: str, **more: object) -> tuple[str, JsonObject]:
    return "rewind", {"from_item": f"u:{text}", **more}


def shown_again(text: str) -> tuple[str, JsonObject]:
    return "version_shown", {"item": f"u:{text}"}


def events(*given: tuple[str, JsonObject]) -> list[StoredEvent]:
    return [StoredEvent(number, "", kind, data) for number, (kind, data) in enumerate(given, 1)]


def visible(stored: Sequence[StoredEvent]) -> list[str]:
    person = [item["text"] for item in replay(stored).items if not item.get("superseded")]
    model = [message.text for message in Transcript(stored).messages() if isinstance(message, UserMessage)]
    assert person == model
    return person


EDITED = [said("a"), said("b"), rewound("b"), said("b2"), said("c"), rewound("a"), said("a2")]


@pytest.mark.parametrize(
    ("then", "left"),
    [
        ([], ["a2"]),
        ([shown_again("a")], ["a", "b2", "c"]),
        ([shown_again("a"), shown_again("b")], ["a", "b"]),
        ([shown_again("b")], ["a", "b"]),
        ([shown_again("b"), shown_again("b2")], ["a", "b2", "c"]),
        ([shown_again("b"), said("d"), shown_again("a2"), shown_again("b")], ["a", "b", "d"]),
        ([shown_again("a2")], ["a2"]),
        ([shown_again("none")], ["a2"]),
        ([rewound("c"), said("d")], ["a2", "d"]),
    ],
)
def test_a_version_comes_back_with_what_followed_it(then: list[tuple[str, JsonObject]], left: list[str]) -> None:
    assert visible(events(*EDITED, *then)) == left


def test_an_edited_message_is_a_version_of_the_first_one_and_a_later_message_is_not() -> None:
    stored = events(*EDITED, shown_again("a"), rewound("b2"), said("b3"), said("d"))

    groups = {item["text"]: item.get("version_of") for item in replay(stored).items}

    assert groups == {"a": None, "b": None, "b2": "u:b", "c": None, "a2": "u:a", "b3": "u:b", "d": None}


def test_what_replaces_a_deleted_message_is_no_version_of_it() -> None:
    assert "version_of" not in replay(events(said("a"), rewound("a", is_cut=True), said("b"))).items[-1]


def test_a_version_that_was_summarised_comes_back_whole() -> None:
    talk = events(said("a"), said("b"), ("compacted", {"text": "summary"}), rewound("a"), said("a2"), shown_again("b"))

    assert [message.text for message in Transcript(talk).messages() if isinstance(message, UserMessage)] == [
        "summary",
        "b",
    ]


async def test_asking_again_keeps_the_first_answer_for_later() -> None:
    conversation = Conversation("again", MemoryJournal(), People("hello"), make_loop)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            await tasks.start(conversation.run)
            while not conversation.journal.timeline.state.items or conversation.running:
                await anyio.sleep(0.01)
            await conversation.again("u:0001")
            await conversation.show_version("u:0001")
            tasks.cancel_scope.cancel()

    items = conversation.journal.timeline.state.items
    assert [item["id"] for item in items if item["kind"] == "user_message" and not item.get("superseded")] == ["u:0001"]
    assert conversation.run_state == "sleeping"
    with pytest.raises(NotFoundError):
        await conversation.show_version("u:none")
