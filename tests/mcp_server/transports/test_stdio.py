"""The pump: whatever comes down the pipe, the connection goes on, and everything read is answered."""

import json
import os

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_server.definitions import sample_definition
from mcp_server.wire import ENVELOPE, Message, wired
from ui_mcp.toolkit.announcements import Announcements


def request(number: int, method: str, **params: object) -> Message:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@pytest.mark.covers("MCP-STDIO-3")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("not json", -32700),
        ('{"jsonrpc":"2.0","id":1,', -32700),
        (b"\xff\xfe\x00", -32700),
        ('"text"', -32600),
        ("42", -32600),
        ("{}", -32600),
        ('{"jsonrpc":"1.0","id":null,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","method":7}', -32600),
        ('{"jsonrpc":"2.0","method":"ping","params":[1]}', -32600),
        ("[]", -32600),
        ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        ("[" * 100_000, -32700),
    ],
)
async def test_what_is_no_message_gets_an_error_and_the_next_call_works(line: str | bytes, code: int) -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        await wire.line(line)
        refused = await wire.receive()
        answer = await wire.call("echo", text="fine")

    assert (refused["id"], refused["error"]["code"]) == (None, code)
    assert answer["result"]["content"][0]["text"] == "fine"


@pytest.mark.covers("MCP-STDIO-3")
@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("tools/call", {}, -32602),
        ("tools/call", {"name": 7}, -32602),
        ("tools/call", {"name": "echo", "arguments": "text"}, -32602),
        ("tools/call", {"name": "echo", "arguments": {"text": "a"}, "_meta": 0.5}, -32602),
        ("tools/list", {"_meta": {"progressToken": None}}, -32602),
        ("tools/list", {"_meta": {"progressToken": True}}, -32602),
        ("tools/list", {"cursor": "page 2"}, -32602),
        ("tools/list", {"cursor": "9" * 5000}, -32602),
        ("resources/read", {}, -32602),
        ("resources/subscribe", {"uri": 5}, -32602),
        ("initialize", {"protocolVersion": 5}, -32602),
        ("no/such/method", {}, -32601),
    ],
)
async def test_wrong_types_and_unknown_methods_are_named(method: str, params: Message, code: int) -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        refused = await wire.ask(method, params)
        answer = await wire.ask("ping")

    assert refused["error"]["code"] == code
    assert answer["result"] == {}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    message=st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(max_size=8)
        | st.sampled_from(["2.0", "tools/call", "ping"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["jsonrpc", "id", "method", "params", "result", "_meta"]), inner, max_size=5
            )
        ),
        max_leaves=8,
    )
)
async def test_no_json_value_stops_the_pump(message: object) -> None:
    async with wired(sample_definition()) as wire:
        await wire.send(message)
        await wire.send(request(999, "ping"))
        while (await wire.receive()).get("id") != 999:
            pass


@pytest.mark.covers("MCP-STDIO-3", "MCP-STDIO-4")
async def test_lines_of_five_megabytes_pass_both_ways() -> None:
    words = "ä" * 2_500_000
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        async with anyio.create_task_group() as tasks:
            message = request(7, "tools/call", name="echo", arguments={"text": words})
            tasks.start_soon(wire.line, json.dumps(message, ensure_ascii=False))
            answer = await wire.receive()

    assert answer["result"]["content"][0]["text"] == words


@pytest.mark.covers("MCP-STDIO-6")
async def test_a_blocked_call_delays_nobody_and_a_cancelled_one_is_never_answered() -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        await wire.send(request(100, "tools/call", name="hang", arguments={}))
        await wire.send(request(101, "tools/call", name="hang", arguments={}, _meta=ENVELOPE))
        assert (await wire.call("echo", text="passes"))["result"]["content"][0]["text"] == "passes"

        for number in (100, 101):
            cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
            await wire.send(cancelled)
        await wire.send(request(102, "ping"))
        wire.hang_up()
        answers = await wire.all()

    assert [answer["id"] for answer in answers] == [102]


@pytest.mark.covers("MCP-STDIO-7")
async def test_at_end_of_file_everything_read_is_answered_and_blocked_calls_end_empty() -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        await wire.send(request(1, "tools/call", name="wait", arguments={}))
        await wire.send(
            request(2, "subscriptions/listen", notifications={"resourcesListChanged": True}, _meta=ENVELOPE)
        )
        for number in range(3, 40):
            await wire.send(request(number, "tools/call", name="echo", arguments={"text": str(number)}))
        wire.hang_up()
        answers = {message["id"]: message for message in await wire.all() if "id" in message}
        await wire.ended.wait()

    assert sorted(answers) == list(range(1, 40))
    assert answers[1]["result"]["content"] == [{"type": "text", "text": "[]"}]
    assert answers[2]["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 2
    assert answers[39]["result"]["content"][0]["text"] == "39"


@pytest.mark.covers("MCP-STDIO-7")
async def test_a_last_line_without_a_break_is_answered_too() -> None:
    async with wired(sample_definition()) as wire:
        os.write(wire._out, json.dumps(request(5, "ping")).encode())
        wire.hang_up()

        assert await wire.all() == [{"jsonrpc": "2.0", "id": 5, "result": {}}]


@pytest.mark.covers("MCP-STDIO-8")
async def test_a_client_that_no_longer_reads_ends_the_server() -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        wire.stop_reading()
        await wire.send(request(9, "ping"))

        await wire.ended.wait()


@pytest.mark.covers("MCP-STDIO-2", "MCP-STDIO-4")
async def test_each_message_is_one_line_of_utf8_ended_by_a_line_feed() -> None:
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    os.write(our_out, b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n\r\n')
    os.close(our_out)
    from ui_mcp.mcp_server.server import McpServer
    from ui_mcp.mcp_server.transports.stdio import serve

    await serve(McpServer(sample_definition()), their_in, their_out, orphan_check=False)
    os.close(their_out)

    assert os.read(our_in, 1000) == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
    os.close(our_in)
    os.close(their_in)


@pytest.mark.covers("MCP-STDIO-4", "MCP-LIM-4")
async def test_a_slow_reader_gets_everything_in_order_and_the_loop_goes_on() -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        for number in range(200, 260):
            await wire.send(request(number, "tools/call", name="echo", arguments={"text": "x" * 20_000}))
        await anyio.lowlevel.checkpoint()

        answers = [await wire.receive() for _ in range(60)]

    assert [answer["id"] for answer in answers] == list(range(200, 260))


@pytest.mark.covers("MCP-LIM-4")
async def test_a_client_that_never_reads_its_notifications_loses_its_connection() -> None:
    bus = Announcements()
    async with wired(sample_definition(announcements=bus)) as wire:
        await wire.shake_hands()
        await wire.ask("resources/subscribe", {"uri": "ui://chat/inbox"})
        batch = {"messages": ["x" * 10_000]}
        while not wire.ended.is_set():
            bus.resource_updated("ui://chat/inbox", batch)
            await anyio.sleep(0)


@pytest.mark.covers("MCP-ERA-3")
async def test_a_call_before_the_handshake_is_told_what_is_missing() -> None:
    async with wired(sample_definition()) as wire:
        early = await wire.call("echo", text="x")
        unknown = await wire.ask("no/such")
        await wire.shake_hands()
        later = await wire.call("echo", text="x")

    assert early["error"]["code"] == -32600
    assert "initialize" in early["error"]["message"]
    assert unknown["error"]["code"] == -32601
    assert "result" in later


@pytest.mark.covers("MCP-ERA-2")
async def test_a_batch_of_2025_03_26_is_answered_as_one_array() -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands("2025-03-26")
        await wire.send([request(1, "ping"), {"jsonrpc": "2.0", "method": "notifications/x"}, request(2, "nope"), 7])
        answers = await wire.receive()
        await wire.send([{"jsonrpc": "2.0", "method": "notifications/x"}])
        alone = await wire.ask("ping")

    assert {answer["id"] for answer in answers} == {1, 2, None}
    assert alone["result"] == {}


@pytest.mark.covers("MCP-ERA-2")
async def test_progress_is_sent_in_both_eras_to_clients_that_gave_a_token() -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        for meta in ({"progressToken": "t"}, {"progressToken": "t", **ENVELOPE}):
            await wire.send(request(50, "tools/call", name="count", arguments={}, _meta=meta))
            heard = [await wire.receive() for _ in range(3)]
            assert [message.get("method", "answer") for message in heard] == [
                "notifications/progress",
                "notifications/progress",
                "answer",
            ]
            assert heard[0]["params"] == {"progressToken": "t", "progress": 1, "total": 2, "message": "step 1"}
        assert (await wire.call("count"))["result"]["content"][0]["text"] == "counted"
