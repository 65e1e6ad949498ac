"""The four sequences of a chat with every client library over every transport."""

import anyio
import pytest

from integration.chat_clients.room import CLIENTS, UI_MCP, Room
from terminals import with_terminal

pytestmark = [pytest.mark.slow, pytest.mark.covers("R-NO-7", "R-NO-1", "R-NO-3")]
TRANSPORTS = ["stdio", "sse", "http"]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("kind", CLIENTS)
async def test_an_orchestrator_follows_the_human_and_survives_a_restart(room: Room, kind: str, transport: str) -> None:
    human = await room.client("mcp 2 legacy", "http", "human")
    first = await human.call("chat.human.post", mime="text/markdown", content="CI is green on main")
    agent = await room.client(kind, transport, "assistant")

    # Start-up: subscribe, then read what is there.
    await agent.subscribe()
    inbox = await agent.read()
    assert [message["content"] for message in inbox["messages"]] == ["CI is green on main"]
    assert inbox["last_id"] == first["id"]
    watermark = inbox["last_id"]

    # A new message: one notification, and it can be read.
    posted = await human.call("chat_human_post", content="Deploy now?")
    assert (await agent.update())["uri"] == "ui://chat/inbox"
    page = await agent.call("chat.read_since", after_id=watermark)
    assert [(m["id"], m["author"], m["content"]) for m in page["messages"]] == [(posted["id"], "user", "Deploy now?")]
    watermark = page["last_id"]

    # The agent answers: it is in the inbox, and no client is notified.
    answered = await agent.call("chat.assistant.post", mime="text/markdown", content="Deploying.")
    assert (await human.read())["last_id"] == answered["id"]
    await human.call("chat_human_post", content="Thanks")
    await agent.update(2)
    assert len(agent.updates) == 2

    # Crash: what was missed comes from the watermark, once.
    agent.process.kill()
    await human.call("chat_human_post", content="Still there?")
    again = await room.client(kind, transport, "assistant")
    await again.subscribe()
    missed = await again.call("ui.chat_read_since", after_id=watermark, authors=["user"])
    assert [message["content"] for message in missed["messages"]] == ["Thanks", "Still there?"]
    assert missed["has_more"] is False


@pytest.mark.covers("R-NO-2", "R-NO-10")
async def test_five_clients_of_all_kinds_hear_the_human_and_none_hears_the_assistant(room: Room) -> None:
    seats = [
        ("mcp 2 modern", "http", "assistant"),
        ("mcp 2 legacy", "stdio", "human"),
        ("mcp 1", "sse", "human"),
        ("fastmcp", "stdio", "assistant"),
        ("mcp 1", "http", "assistant"),
    ]
    clients = [await room.client(*seat) for seat in seats]
    for client in clients:
        await client.subscribe()
    human, agent = clients[1], clients[0]

    await agent.call("chat_assistant_post", content="hello?")
    await human.call("chat_human_post", content="hi")

    for client in clients:
        await client.update()
        assert await client.texts() == ["hello?", "hi"]
        assert [update["uri"] for update in client.updates] == ["ui://chat/inbox"]


@pytest.mark.covers("R-NO-4", "R-NA-4")
async def test_the_batch_rides_along_and_the_alias_notifies_under_its_own_name(room: Room) -> None:
    human = await room.client("mcp 2 legacy", "stdio", "human")
    old = await room.client("mcp 1", "stdio", "assistant")
    new = await room.client("mcp 2 legacy", "stdio", "assistant")
    await old.subscribe("ui-mcp://chat/inbox")
    await new.subscribe()

    posted = await human.call("chat_human_post", messages=[{"content": "a"}, {"content": "b"}])

    heard = [await old.update(), await new.update()]
    assert [update["uri"] for update in heard] == ["ui-mcp://chat/inbox", "ui://chat/inbox"]
    assert [[message["id"] for message in update["batch"]] for update in heard] == [posted["ids"]] * 2


@pytest.mark.covers("R-NA-2")
async def test_each_side_lists_its_own_three_tools(room: Room) -> None:
    human = await room.client("mcp 2 modern", "http", "human")
    agent = await room.client("mcp 2 modern", "stdio", "assistant")

    assert (await human.ask(op="tools"))["answer"] == ["chat_human_post", "chat_read_since", "chat_wait_since"]
    assert (await agent.ask(op="tools"))["answer"] == ["chat_assistant_post", "chat_read_since", "chat_wait_since"]


@pytest.mark.covers("R-NO-14")
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("kind", ["mcp 2 modern", "mcp 2 legacy"])
async def test_a_post_of_another_process_notifies_the_clients_of_this_one(
    room: Room, kind: str, transport: str
) -> None:
    agent = await room.client(kind, transport, "assistant")
    await agent.subscribe()

    command = [*UI_MCP, "chat", "post", "--dir", str(room.folder), "from the terminal"]
    await anyio.run_process(with_terminal(command))

    assert (await agent.update())["uri"] == "ui://chat/inbox"
    assert await agent.texts() == ["from the terminal"]
