"""The tools of both sides, without a transport."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from ui_mcp.chat.identity import AccessTokens, Authenticator, principal
from ui_mcp.chat.mcp import ChatResources
from ui_mcp.chat.service import Chat, open_chat
from ui_mcp.chat.tools import ChatTools, Naming, chat_context
from ui_mcp.errors import NotFoundError, RefusedError, UnknownToolError
from ui_mcp.jsontypes import JsonObject, loads
from ui_mcp.toolkit.tool import Call, Text


@dataclass
class Sides:
    chat: Chat
    human: ChatTools
    assistant: ChatTools
    resources: ChatResources

    async def call(self, name: str, **arguments: object) -> JsonObject:
        side = self.human if "human" in name else self.assistant
        result = await side.call(name, arguments, Call())
        text = result.content[0]
        assert isinstance(text, Text)
        assert loads(text.text) == result.structured
        return result.structured or {}

    async def read(self, uri: str) -> JsonObject:
        (content,) = await self.resources.read(uri, Call())
        assert (content.uri, content.mime_type, content.ttl_ms) == (uri, "application/json", 0)
        body: JsonObject = loads(content.body)
        return body


@pytest.fixture
async def sides(tmp_path: object) -> AsyncIterator[Sides]:
    async with open_chat(f"sqlite:///{tmp_path}/storage/runtime.db") as chat:
        keys = AccessTokens(chat.store)
        human = chat_context(chat, Authenticator(keys, principal("human", "human")))
        agent = chat_context(chat, Authenticator(keys, principal("agent", "agent")))
        yield Sides(chat, ChatTools(human, "human"), ChatTools(agent, "assistant"), ChatResources(agent))


@pytest.mark.covers("R-PO-1", "R-PO-2", "R-PO-8", "R-IN-1", "R-IN-7")
async def test_what_both_sides_post_is_in_the_inbox(sides: Sides) -> None:
    asked = await sides.call("chat_human_post", mime="text/markdown", content="Deploy now?")
    answered = await sides.call("chat_assistant_post", content="Done.")

    assert await sides.read("ui://chat/inbox") == {
        "last_id": answered["id"],
        "messages": [
            {**asked, "author": "user", "mime": "text/markdown", "content": "Deploy now?"},
            {**answered, "author": "assistant", "mime": "text/markdown", "content": "Done."},
        ],
    }


@pytest.mark.covers("R-IN-1", "R-NO-12")
async def test_an_empty_inbox_says_so(sides: Sides) -> None:
    assert await sides.read("ui://chat/inbox") == {"last_id": None, "messages": []}
    assert await sides.read("ui://chat/head") == {"last_id": None}


@pytest.mark.covers("R-NA-1", "R-PO-5")
async def test_every_documented_spelling_reaches_its_tool(sides: Sides) -> None:
    for name in ("chat_human_post", "chat.human.post"):
        await sides.call(name, content=name)
    for name in ("chat_assistant_post", "chat.assistant.post", "post"):
        await sides.call(name, content=name)
    await sides.human.call("post", {"content": "post"}, Call())
    reads = [
        (await sides.call(name, limit=2))["messages"]
        for name in ("chat_read_since", "chat.read_since", "ui.chat_read_since", "ui_chat_read_since", "read_since")
    ]
    waits = [(await sides.call(name, limit=2))["messages"] for name in ("chat_wait_since", "chat.wait_since")]

    assert all(read == reads[0] for read in reads + waits)
    authors = [message["author"] for message in (await sides.call("read_since"))["messages"]]
    assert authors == ["user", "user", "assistant", "assistant", "assistant", "user"]


@pytest.mark.covers("R-NA-2")
async def test_the_listed_names_are_chosen_and_the_others_stay_callable(sides: Sides) -> None:
    async def listed(side: ChatTools) -> list[str]:
        return [tool.name for tool in await side.tools(Call())]

    dotted = ChatTools(sides.human._context, "human", Naming(names="dotted"))

    assert await listed(sides.human) == ["chat_human_post", "chat_read_since", "chat_wait_since"]
    assert await listed(sides.assistant) == ["chat_assistant_post", "chat_read_since", "chat_wait_since"]
    assert await listed(dotted) == ["chat.human.post", "chat.read_since", "chat.wait_since"]
    assert not (await dotted.call("chat_human_post", {"content": "x"}, Call())).is_error


@pytest.mark.covers("R-NA-3")
async def test_the_old_names_work_with_a_note_or_not_at_all(sides: Sides) -> None:
    noted = await sides.assistant.call("ui.send_message", {"mime": "text/markdown", "content": "x"}, Call())
    off = ChatTools(sides.assistant._context, "assistant", Naming(legacy="off"))
    shown = ChatTools(sides.assistant._context, "assistant", Naming(legacy="list"))

    assert (noted.meta or {})["ui-mcp/deprecated"] == "chat_assistant_post"
    assert "ui_send_message" in [tool.name for tool in await shown.tools(Call())]
    with pytest.raises(UnknownToolError):
        await off.call("ui_send_message", {"content": "x"}, Call())
    with pytest.raises(UnknownToolError):
        await sides.human.call("chat_assistant_post", {"content": "x"}, Call())


@pytest.mark.covers("R-PO-6", "R-IN-11")
async def test_a_batch_is_posted_together_and_once(sides: Sides) -> None:
    batch = [{"content": "a", "client_id": "1"}, {"content": "b", "client_id": "2"}]
    first = await sides.call("chat_human_post", messages=batch)
    again = await sides.call("chat_human_post", messages=batch)

    assert first == again
    assert (await sides.call("chat_read_since"))["last_id"] == first["ids"][-1] == first["last_id"]


@pytest.mark.covers("R-PO-7")
@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("chat_human_post", {"content": " "}, "empty_content"),
        ("chat_human_post", {"content": "x", "mime": "text/html"}, "unsupported_mime"),
        ("chat_human_post", {"content": "x", "author": "assistant"}, "invalid_argument"),
        ("chat_human_post", {}, "invalid_argument"),
        ("chat_human_post", {"content": "x", "conversation": "no/where"}, "unknown_conversation"),
        ("chat_read_since", {"after_id": "ten"}, "invalid_cursor"),
        ("chat_read_since", {"limit": 0}, "invalid_argument"),
        ("chat_read_since", {"limit": "many"}, "invalid_argument"),
        ("chat_read_since", {"limit": "5"}, "invalid_argument"),
        ("chat_read_since", {"limit": True}, "invalid_argument"),
        ("chat_read_since", {"limit": 1.5}, "invalid_argument"),
        ("chat_wait_since", {"limit": "5"}, "invalid_argument"),
        ("chat_read_and_advance", {"limit": True}, "invalid_argument"),
        ("chat_read_and_advance", {"limit": "5"}, "invalid_argument"),
        ("chat_read_since", {"subscriber": "human"}, "forbidden"),
    ],
)
async def test_errors_are_complete_in_text_and_structure(
    sides: Sides, name: str, arguments: JsonObject, code: str
) -> None:
    assert (await sides.call(name, **arguments))["error"]["code"] == code


@pytest.mark.covers("R-RS-11")
async def test_results_hint_at_unread_messages(sides: Sides) -> None:
    await sides.call("chat_human_post", content="psst")

    posted = await sides.assistant.call("chat_assistant_post", {"content": "working"}, Call())
    read = await sides.assistant.call("chat_read_since", {}, Call())

    assert posted.meta == {"ui-mcp/unread": {"default": 1}}
    assert read.meta is None


@pytest.mark.covers("R-IN-9", "R-IN-8")
async def test_other_conversations_and_pages_are_resources_too(sides: Sides) -> None:
    await sides.call("chat_human_post", conversation="ops", messages=[{"content": str(n)} for n in range(5)])

    ops = await sides.read("ui://chat/inbox/ops")
    page = await sides.read("ui://chat/inbox?limit=2")
    ops_page = await sides.read(f"ui://chat/inbox/ops?after={ops['messages'][1]['id']}&limit=2")

    assert [message["content"] for message in ops["messages"]] == ["0", "1", "2", "3", "4"]
    assert page["messages"] == []
    assert [message["content"] for message in ops_page["messages"]] == ["2", "3"]
    assert ops_page["has_more"]
    assert await sides.read("ui://chat/head/ops") == {"last_id": ops["last_id"]}


@pytest.mark.parametrize("uri", ["ui://chat", "ui://chat/inboxes", "ui://chat/inbox/a%20b", "ui://chat/head?after=1"])
async def test_unknown_resources_are_not_found(sides: Sides, uri: str) -> None:
    with pytest.raises(NotFoundError):
        await sides.read(uri)


async def test_a_bad_cursor_in_a_uri_is_refused(sides: Sides) -> None:
    with pytest.raises(RefusedError):
        await sides.read("ui://chat/inbox?after=x")


@pytest.mark.covers("R-RS-8")
async def test_a_mark_moves_only_by_what_was_finished_and_never_back(sides: Sides) -> None:
    ids = [(await sides.call("chat_human_post", content=text))["id"] for text in "abc"]

    async def texts(**arguments: object) -> list[str]:
        page = await sides.call("chat_read_and_advance", **arguments)
        return [message["content"] for message in page["messages"]]

    assert await texts(limit=2) == ["a", "b"]
    assert await texts() == ["a", "b", "c"]
    assert await texts(ack=ids[1]) == ["c"]
    assert await texts(ack=ids[0]) == ["c"]
    assert await texts(ack=ids[2]) == []
    assert await sides.read("ui://chat/receipts") is not None
    human = await sides.human.call("read_and_advance", {}, Call())
    assert [message["content"] for message in (human.structured or {})["messages"]] == ["a", "b", "c"]


@pytest.mark.covers("R-RS-8")
async def test_a_mark_beyond_the_newest_message_is_refused(sides: Sides) -> None:
    posted = await sides.call("chat_human_post", content="a")

    refused = await sides.call("chat_read_and_advance", ack=str(int(posted["id"]) + 1))
    empty = await sides.call("chat_read_and_advance", ack="5", conversation="other")

    assert (refused["error"]["code"], empty["error"]["code"]) == ("invalid_cursor", "invalid_cursor")


@pytest.mark.covers("R-RS-8", "R-NA-1")
async def test_the_tool_of_marks_is_listed_where_the_settings_say_so_and_callable_everywhere(sides: Sides) -> None:
    marked = ChatTools(sides.assistant._context, "assistant", Naming(marks=True))

    assert "chat_read_and_advance" in [tool.name for tool in await marked.tools(Call())]
    assert "chat_read_and_advance" not in [tool.name for tool in await sides.assistant.tools(Call())]


@pytest.mark.covers("R-CO-11")
@pytest.mark.parametrize("name", ["chat__assistant_post", "chat.assistant.post"])
async def test_the_compositors_spellings_are_the_same_tools(sides: Sides, name: str) -> None:
    posted = await sides.call(name, content="hello")
    page = await sides.call("chat__read_since")

    assert page["last_id"] == posted["id"]
