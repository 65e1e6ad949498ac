"""One announcement reaches the subscribers of both eras, each in its own way."""

import gc
import tracemalloc

import anyio
import pytest

from mcp_server.definitions import sample_definition
from mcp_server.wire import ENVELOPE, HELLO, Wire, wired
from ui_mcp.mcp_server.connection import ClientConnection
from ui_mcp.mcp_server.notifications import CHANNEL
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.toolkit.announcements import Announcements

STAMP = "io.modelcontextprotocol/subscriptionId"


async def listen(wire: Wire, number: int, **wanted: object) -> dict[str, object]:
    params = {"notifications": wanted, "_meta": ENVELOPE}
    await wire.send({"jsonrpc": "2.0", "id": number, "method": "subscriptions/listen", "params": params})
    acknowledged = await wire.receive()
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"]["_meta"] == {STAMP: number}
    honoured: dict[str, object] = acknowledged["params"]["notifications"]
    return honoured


@pytest.mark.covers("MCP-SUB-1", "MCP-SUB-2", "MCP-SUB-3")
async def test_both_eras_hear_of_one_change_on_one_connection() -> None:
    bus = Announcements()
    async with wired(sample_definition(announcements=bus)) as wire:
        await wire.shake_hands()
        await wire.ask("resources/subscribe", {"uri": "ui://state"})
        await listen(wire, 50, resourceSubscriptions=["ui://state"])
        bus.resource_updated("ui://state")
        heard = [await wire.receive(), await wire.receive()]

    assert {"uri": "ui://state"} in [message["params"] for message in heard]
    assert {"uri": "ui://state", "_meta": {STAMP: 50}} in [message["params"] for message in heard]
    assert {message["method"] for message in heard} == {"notifications/resources/updated"}


@pytest.mark.covers("MCP-SUB-2")
async def test_subscribing_is_idempotent_and_ends_with_unsubscribe() -> None:
    bus = Announcements()
    async with wired(sample_definition(announcements=bus)) as wire:
        await wire.shake_hands()
        for _ in range(2):
            assert (await wire.ask("resources/subscribe", {"uri": "ui://later"}))["result"] == {}
        bus.resource_updated("ui://later")
        told = await wire.receive()
        for _ in range(2):
            assert (await wire.ask("resources/unsubscribe", {"uri": "ui://later"}))["result"] == {}
        bus.resource_updated("ui://later")
        quiet = await wire.ask("ping")

    assert told["params"] == {"uri": "ui://later"}
    assert quiet["result"] == {}


@pytest.mark.covers("MCP-SUB-3", "R-NO-11")
async def test_a_stream_honours_what_we_announce_and_tells_nothing_else() -> None:
    bus = Announcements()
    async with wired(sample_definition(announcements=bus)) as wire:
        honoured = await listen(
            wire,
            1,
            toolsListChanged=True,
            promptsListChanged=True,
            resourcesListChanged=True,
            resourceSubscriptions=["ui://a"],
        )
        bus.list_changed("tools")
        bus.resource_updated("ui://b")
        bus.list_changed("resources")
        told = await wire.receive()

    assert honoured == {"resourcesListChanged": True, "resourceSubscriptions": ["ui://a"]}
    assert told == {
        "jsonrpc": "2.0",
        "method": "notifications/resources/list_changed",
        "params": {"_meta": {STAMP: 1}},
    }


@pytest.mark.covers("MCP-SUB-3", "R-NO-11")
async def test_several_streams_live_side_by_side_until_each_is_cancelled() -> None:
    bus = Announcements()
    async with wired(sample_definition(announcements=bus)) as wire:
        await listen(wire, 1, resourceSubscriptions=["ui://chat/a"])
        await listen(wire, 2, resourceSubscriptions=["ui://chat/a"])
        await wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        await wire.ask("ping")  # answered behind the cancellation, which has therefore been seen
        bus.resource_updated("ui://chat/a", {"messages": ["hi"]})
        told = await wire.receive()
        wire.hang_up()
        rest = await wire.all()

    assert told["params"]["_meta"] == {"ui-mcp/messages": ["hi"], STAMP: 2}
    assert [message["id"] for message in rest] == [2]
    assert rest[0]["result"]["_meta"][STAMP] == 2


@pytest.mark.covers("MCP-SUB-4")
async def test_a_change_between_registration_and_acknowledgement_is_not_lost() -> None:
    bus = Announcements()
    definition = sample_definition(announcements=bus)
    async with wired(definition) as wire, anyio.create_task_group() as tasks:

        async def announce_often() -> None:
            while True:
                bus.resource_updated("ui-mcp://never")
                bus.resource_updated("ui://chat/inbox")
                await anyio.lowlevel.checkpoint()

        tasks.start_soon(announce_often)
        await listen(wire, 7, resourceSubscriptions=["ui-mcp://chat/inbox"])
        told = await wire.receive()
        tasks.cancel_scope.cancel()

    assert told["params"] == {"uri": "ui-mcp://chat/inbox", "_meta": {STAMP: 7}}


@pytest.mark.covers("MCP-SUB-2")
async def test_listings_are_announced_only_to_clients_that_finished_the_handshake() -> None:
    bus = Announcements()
    async with wired(sample_definition(announcements=bus)) as wire:
        bus.list_changed("resources")
        await wire.shake_hands()
        await wire.ask("ping")
        bus.list_changed("tools")
        bus.list_changed("resources")

        assert await wire.receive() == {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"}


@pytest.mark.covers("MCP-CHAN-1")
async def test_channel_events_go_to_handshake_clients_of_servers_that_declare_the_channel() -> None:
    bus = Announcements()
    async with wired(sample_definition(announcements=bus, experimental={CHANNEL: {}})) as wire:
        hello = await wire.shake_hands()
        discovered = await wire.ask("server/discover", modern=True)
        bus.channel_event("pressed", {"app": "contacts"})
        told = await wire.receive()

    assert hello["result"]["capabilities"]["experimental"] == {CHANNEL: {}}
    assert "experimental" not in discovered["result"]["capabilities"]
    assert told["params"] == {"content": "pressed", "meta": {"app": "contacts"}}


@pytest.mark.covers("MCP-LIM-3")
async def test_a_thousand_connections_with_streams_leave_nothing_behind() -> None:
    service = McpServer(sample_definition())

    async def nowhere(message: object) -> None:
        return None

    for number in range(1000):
        conversation = ClientConnection(service)
        stream = {"notifications": {"resourceSubscriptions": [f"ui://{number}"]}, "_meta": ENVELOPE}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(conversation.answer, _request(1, "initialize", HELLO), nowhere)
            tasks.start_soon(
                conversation.answer, _request(2, "resources/subscribe", {"uri": f"ui://{number}"}), nowhere
            )
            tasks.start_soon(conversation.answer, _request(3, "subscriptions/listen", stream), nowhere)
            await anyio.wait_all_tasks_blocked()
            conversation.close()

    assert service.subscriptions._queues == {}


@pytest.mark.slow
@pytest.mark.covers("MCP-LIM-3")
async def test_ten_thousand_calls_of_one_connection_leave_no_memory_behind() -> None:
    conversation = ClientConnection(McpServer(sample_definition()))

    async def nowhere(message: object) -> None:
        return None

    async def work(count: int) -> None:
        for number in range(count):
            uri = {"uri": f"ui://{number}"}
            call = {"name": "echo", "arguments": {"text": "x"}, "_meta": ENVELOPE if number % 2 else {}}
            await conversation.answer(_request(number, "resources/subscribe", uri), nowhere)
            await conversation.answer(_request(number, "tools/call", call), nowhere)
            await conversation.answer(_request(number, "resources/unsubscribe", uri), nowhere)

    await conversation.answer(_request(0, "initialize", HELLO), nowhere)
    await work(500)
    tracemalloc.start()
    sizes = []
    for count in (0, 5_000, 5_000):
        await work(count)
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()

    # A table that is laid out anew grows once; what leaks grows each time.
    assert min(sizes[1] - sizes[0], sizes[2] - sizes[1]) < 50_000


def _request(number: int, method: str, params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
