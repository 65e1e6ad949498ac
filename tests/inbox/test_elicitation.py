"""Forms of MCP servers in the inbox: what can be asked, and what the server hears."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio
import pytest

from ui_mcp.errors import InboxError
from ui_mcp.inbox.elicitation import asking_in, form_fields
from ui_mcp.inbox.model import Field, Option, Question
from ui_mcp.inbox.service import Inbox, Reply, opened
from ui_mcp.jsontypes import Json, JsonObject

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "email": {"type": "string", "title": "E-mail", "description": "Where to?", "default": "a@b.c"},
        "age": {"type": "integer"},
        "height": {"type": "number"},
        "sure": {"type": "boolean", "default": False},
        "size": {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]},
        "colour": {"type": "string", "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#00f"}]},
        "days": {"type": "array", "items": {"type": "string", "enum": ["mon", "tue"]}},
        "tags": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "Ex"}]}},
    },
    "required": ["email", "size"],
}
PARAMS: JsonObject = {"message": "Which size?", "requestedSchema": SCHEMA}


@pytest.mark.covers("INBOX-6")
def test_every_kind_of_a_requested_schema_is_a_field() -> None:
    assert form_fields(SCHEMA) == [
        Field("email", "E-mail", "text", help="Where to?", default="a@b.c"),
        Field("age", "age", "integer", required=False),
        Field("height", "height", "number", required=False),
        Field("sure", "sure", "yes_no", required=False, default=False),
        Field("size", "size", "choice", (Option("s", "Small"), Option("l", "Large"))),
        Field("colour", "colour", "choice", (Option("#f00", "Red"), Option("#00f", "#00f")), required=False),
        Field("days", "days", "choices", (Option("mon", "mon"), Option("tue", "tue")), required=False),
        Field("tags", "tags", "choices", (Option("x", "Ex"),), required=False),
    ]
    assert form_fields({"type": "object"}) == []


@pytest.mark.covers("INBOX-6")
@pytest.mark.parametrize(
    "schema",
    [
        "no schema",
        {"properties": []},
        {"properties": {"a": "text"}},
        {"properties": {"a": {"type": "object"}}},
        {"properties": {"a": {"type": "array", "items": {"type": "string"}}}},
        {"properties": {f"f{n}": {"type": "string"} for n in range(51)}},
    ],
    ids=["no object", "no properties", "no part", "nested", "free list", "too many"],
)
def test_what_a_person_cannot_fill_in_is_no_form(schema: Json) -> None:
    assert form_fields(schema) is None


async def told(place: str, params: JsonObject, then: Callable[[Inbox, Question], Awaitable[object]]) -> JsonObject:
    """Return what the server hears when the person does something with the question."""
    heard: list[JsonObject] = []
    stored = anyio.Event()
    ask = asking_in(partial(opened, place), stored.set)

    async def asking() -> None:
        heard.append(await ask("shop", "claude-code", params))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(asking)
        with anyio.fail_after(30):
            await stored.wait()
        async with opened(place) as inbox:
            (question,) = await inbox.pending()
            await then(inbox, question)
    return heard[0]


@pytest.mark.covers("INBOX-6")
async def test_the_server_hears_the_answer_that_the_person_gives(tmp_path: Path) -> None:
    shown: list[Question] = []

    async def accept(inbox: Inbox, question: Question) -> None:
        shown.append(question)
        await inbox.answer(question.id, Reply("answer", "human", {"email": "x@y.z", "size": "l"}))

    async def decline(inbox: Inbox, question: Question) -> None:
        await inbox.answer(question.id, Reply("decline", "human"))

    place = str(tmp_path / "inbox.db")
    accepted, declined = await told(place, PARAMS, accept), await told(place, {"message": "Sure?"}, decline)

    assert accepted == {"action": "accept", "content": {"email": "x@y.z", "size": "l"}}
    assert declined == {"action": "decline"}
    assert (shown[0].title, shown[0].agent) == ("The server shop asks: Which size?", "Claude Code")


@pytest.mark.covers("INBOX-6", "INBOX-3")
async def test_a_question_is_withdrawn_when_its_call_is_cancelled(tmp_path: Path) -> None:
    place, stored = str(tmp_path / "inbox.db"), anyio.Event()
    ask = asking_in(partial(opened, place), stored.set)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, "shop", "", PARAMS)
        await stored.wait()
        tasks.cancel_scope.cancel()
    async with opened(place) as inbox:
        waiting, (past,) = await inbox.pending(), await inbox.history()

    assert (waiting, past.status) == ([], "withdrawn")


@pytest.mark.covers("INBOX-6")
async def test_addresses_to_open_are_declined_and_a_broken_store_cancels(tmp_path: Path) -> None:
    def broken() -> None:
        raise InboxError("the disk is full")

    ask = asking_in(partial(opened, str(tmp_path / "inbox.db")), broken)
    by_address: JsonObject = {"mode": "url", "message": "Sign in", "url": "https://example.org"}

    assert await ask("shop", "", by_address) == {"action": "decline"}
    assert await ask("shop", "", PARAMS) == {"action": "cancel"}
