"""Streamable HTTP: sessions for the handshake era, self-contained requests for the modern one."""

import gc
import json
import tracemalloc
from typing import Any

import anyio
import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.definitions import sample_definition
from mcp_server.web import served
from mcp_server.wire import ENVELOPE, HELLO
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.notifications import MAX_WAITING
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.subscriptions import Subscriptions
from ui_mcp.mcp_server.transports import http
from ui_mcp.mcp_server.transports import http_sessions as sessions_module
from ui_mcp.mcp_server.transports.http_sessions import IDLE_SECONDS, Session, Sessions
from ui_mcp.mcp_server.transports.routes import McpRoutes
from ui_mcp.mcp_server.transports.streamable_http import StreamableEndpoint, _connection
from ui_mcp.toolkit.announcements import Announcements, ResourceUpdated
from ui_mcp.toolkit.tool import Call, Tool, ToolResult, text_result
from ui_mcp.webserver.security import AccessRules, SecurityMiddleware

Message = dict[str, Any]


def rpc(method: str, params: Message | None = None, number: int | None = 1) -> Message:
    message: Message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
    return message if number is None else {**message, "id": number}


def modern(method: str, params: Message | None = None, name: str | None = None, number: int = 1) -> dict[str, Any]:
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **({"Mcp-Name": name} if name else {})}
    return {"json": rpc(method, {**(params or {}), "_meta": ENVELOPE}, number), "headers": headers}


async def shake_hands(client: httpx2.AsyncClient) -> dict[str, str]:
    answer = await client.post("/mcp", json=rpc("initialize", HELLO))
    session = {"Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
    accepted = await client.post("/mcp", json=rpc("notifications/initialized", number=None), headers=session)
    assert (accepted.status_code, accepted.content) == (202, b"")
    return session


async def events(answer: httpx2.Response, count: int) -> list[Any]:
    heard = []
    async for line in answer.aiter_lines():
        if line.startswith("data: {"):
            heard.append(json.loads(line.removeprefix("data: ")))
            if len(heard) == count:
                break
    return heard


@pytest.mark.covers("MCP-HTTP-3", "MCP-HTTP-5")
async def test_a_handshake_session_lives_from_initialize_to_delete() -> None:
    async with served(sample_definition()) as client:
        session = await shake_hands(client)
        called = await client.post(
            "/mcp", json=rpc("tools/call", {"name": "echo", "arguments": {"text": "x"}}), headers=session
        )
        ended = await client.delete("/mcp", headers=session)
        after = await client.post("/mcp", json=rpc("ping"), headers=session)

    assert called.headers["content-type"] == "application/json"
    assert called.json()["result"]["content"] == [{"type": "text", "text": "x"}]
    assert (ended.status_code, after.status_code) == (200, 404)


@pytest.mark.covers("MCP-HTTP-4")
async def test_a_session_of_an_earlier_run_is_answered_but_cannot_subscribe() -> None:
    async with served(sample_definition()) as before:
        session = await shake_hands(before)
    async with served(sample_definition()) as client:
        call = rpc("tools/call", {"name": "facts", "arguments": {}})
        called = await client.post("/mcp", json=call, headers=session)
        listed = await client.post("/mcp", json=rpc("resources/list"), headers=session)
        refused = [
            await client.post("/mcp", json=rpc("resources/subscribe", {"uri": "ui://state"}), headers=session),
            await client.get("/mcp", headers=session),
            await client.post("/mcp", json=call, headers={"Mcp-Session-Id": "0" * 40}),
        ]

    assert called.json()["result"]["structuredContent"]["era"] == "handshake"
    assert "mcp-session-id" not in called.headers
    assert len(listed.json()["result"]["resources"]) == 2
    assert [answer.status_code for answer in refused] == [404, 404, 404]


@pytest.mark.covers("MCP-HTTP-3")
async def test_without_a_session_get_and_delete_are_not_allowed_and_calls_need_one() -> None:
    async with served(sample_definition()) as client:
        got = await client.get("/mcp")
        deleted = await client.delete("/mcp")
        put = await client.put("/mcp", json={})
        posted = await client.post("/mcp", json=rpc("tools/list"))
        unknown = await client.get("/mcp", headers={"Mcp-Session-Id": "x"})

    assert [got.status_code, deleted.status_code, put.status_code] == [405, 405, 405]
    assert (posted.status_code, posted.json()["error"]["code"]) == (400, -32600)
    assert unknown.status_code == 404


@pytest.mark.covers("MCP-HTTP-2")
@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({}, 200, None),
        ({"MCP-Protocol-Version": None}, 400, -32020),
        ({"Mcp-Method": None}, 400, -32020),
        ({"Mcp-Method": "tools/list"}, 400, -32020),
        ({"Mcp-Name": None}, 400, -32020),
        ({"Mcp-Name": "other"}, 400, -32020),
        ({"Mcp-Name": "=?base64?ZWNobw==?="}, 200, None),
        ({"Mcp-Session-Id": "whatever", "Last-Event-ID": "7"}, 200, None),
    ],
)
async def test_modern_headers_must_agree_with_the_body(
    change: dict[str, str | None], status: int, code: int | None
) -> None:
    post = modern("tools/call", {"name": "echo", "arguments": {"text": "x"}}, "echo")
    headers = {name: value for name, value in {**post["headers"], **change}.items() if value is not None}
    async with served(sample_definition()) as client:
        answer = await client.post("/mcp", json=post["json"], headers=headers)

    assert (answer.status_code, answer.json().get("error", {}).get("code")) == (status, code)
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("params", [1, [], {"_meta": 1}, {"_meta": [1]}, {"_meta": None}, None])
def test_a_modern_request_without_readable_metadata_stands_alone(params: Any) -> None:
    one, other = (_connection({"params": params}) for _ in range(2))

    assert one != other


@pytest.mark.covers("MCP-HTTP-2")
async def test_modern_refusals_have_the_status_that_fits() -> None:
    version, capabilities = ENVELOPE
    future = {version: "2099-01-01", capabilities: {}}
    async with served(sample_definition()) as client:
        unknown = await client.post("/mcp", **modern("no/such"))
        pinged = await client.post("/mcp", **modern("ping"))
        other = await client.post(
            "/mcp",
            json=rpc("tools/list", {"_meta": future}),
            headers={"MCP-Protocol-Version": "2099-01-01", "Mcp-Method": "tools/list"},
        )
        missing = await client.post(
            "/mcp", json=rpc("tools/list"), headers={"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
        )
        note = await client.post(
            "/mcp", json=rpc("notifications/x", number=None), headers={"MCP-Protocol-Version": "2026-07-28"}
        )

    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, -32601)
    assert (pinged.status_code, pinged.json()["error"]["code"]) == (404, -32601)
    assert (other.status_code, other.json()["error"]["code"]) == (400, -32022)
    assert (missing.status_code, missing.json()["error"]["code"]) == (400, -32602)
    assert (note.status_code, note.content) == (202, b"")


@pytest.mark.covers("MCP-HTTP-5")
async def test_progress_turns_the_answer_into_a_stream_in_both_eras() -> None:
    async with served(sample_definition()) as client:
        session = await shake_hands(client)
        params = {"name": "count", "arguments": {}}
        old = await client.post(
            "/mcp", json=rpc("tools/call", {**params, "_meta": {"progressToken": 5}}), headers=session
        )
        headers = modern("tools/call", {}, "count")["headers"]
        new_params = {**params, "_meta": {**ENVELOPE, "progressToken": 5}}
        new = await client.post("/mcp", json=rpc("tools/call", new_params), headers=headers)

    for answer in (old, new):
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.headers["x-accel-buffering"] == "no"
        methods = [message.get("method") for message in await events(answer, 3)]
        assert methods == ["notifications/progress", "notifications/progress", None]


@pytest.mark.covers("MCP-HTTP-5")
async def test_a_notification_that_carries_a_progress_token_is_accepted_like_any_other() -> None:
    async with served(sample_definition()) as client:
        session = await shake_hands(client)
        token = rpc("notifications/roots/list_changed", {"_meta": {"progressToken": 5}}, number=None)
        answer = await client.post("/mcp", json=token, headers=session)

    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.covers("MCP-HTTP-5")
async def test_closing_the_response_cancels_the_call_and_frees_the_stream() -> None:
    bus = Announcements()
    async with served(sample_definition(announcements=bus)) as client:
        for _ in range(3):
            post = modern(
                "subscriptions/listen", {"notifications": {"resourceSubscriptions": ["ui://chat/a"]}}, number=9
            )
            async with client.stream("POST", "/mcp", **post) as answer:
                assert (await events(answer, 1))[0]["method"] == "notifications/subscriptions/acknowledged"
            with anyio.fail_after(60):
                while _queues(bus):
                    await anyio.sleep(0.01)


@pytest.mark.covers("MCP-HTTP-5", "MCP-HTTP-6")
async def test_a_call_that_takes_its_time_becomes_a_stream_that_is_kept_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "KEEP_ALIVE_SECONDS", 0.05)
    async with served(sample_definition()) as client:
        post = modern("tools/call", {"name": "hang", "arguments": {}}, "hang")
        async with client.stream("POST", "/mcp", **post) as answer:
            lines = answer.aiter_lines()
            beats = [await anext(lines) for _ in range(4)]

    assert answer.headers["content-type"] == "text/event-stream"
    assert beats == [": alive", "", ": alive", ""]


@pytest.mark.covers("MCP-HTTP-5")
async def test_a_client_that_takes_json_only_gets_json_only() -> None:
    params = {"name": "count", "arguments": {}, "_meta": {**ENVELOPE, "progressToken": 5}}
    headers = {**modern("tools/call", {}, "count")["headers"], "Accept": "application/json"}
    async with served(sample_definition()) as client:
        counted = await client.post("/mcp", json=rpc("tools/call", params), headers=headers)
        stream = modern("subscriptions/listen", {"notifications": {}})
        plain = {**stream["headers"], "Accept": "application/json"}
        refused = await client.post("/mcp", json=stream["json"], headers=plain)

    assert counted.json()["result"]["content"][0]["text"] == "counted"
    assert refused.status_code == 406


class Regions:
    """One tool, whose argument is repeated in a header once `annotated`."""

    annotated = False

    async def tools(self, call: Call) -> list[Tool]:
        region: JsonObject = {"type": "string", **({"x-mcp-header": "Region"} if self.annotated else {})}
        return [Tool("move", "Move", "", {"type": "object", "properties": {"region": region}})]

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        return text_result(str(arguments["region"]))


@pytest.mark.covers("MCP-HTTP-7")
async def test_an_argument_without_the_header_that_its_schema_wants_is_refused_also_after_the_tools_changed() -> None:
    bus, regions = Announcements(), Regions()
    post = modern("tools/call", {"name": "move", "arguments": {"region": "north"}}, name="move")
    named = {**post, "headers": {**post["headers"], "Mcp-Param-Region": "north"}}
    async with served(ServerDefinition("regions", "Regions", "1", regions, announcements=bus)) as client:
        unmarked = await client.post("/mcp", **post)
        regions.annotated = True
        bus.list_changed("tools")
        refused, moved = await client.post("/mcp", **post), await client.post("/mcp", **named)

    assert [answer.status_code for answer in (unmarked, refused, moved)] == [200, 400, 200]
    assert refused.json()["error"]["code"] == http.HEADER_MISMATCH


def _queues(bus: Announcements) -> int:
    owners = [listener.__self__ for listener in bus._listeners.values()]  # type: ignore[attr-defined]
    return sum(len(owner._queues) for owner in owners if isinstance(owner, Subscriptions))


@pytest.mark.covers("MCP-HTTP-3", "MCP-SUB-2")
async def test_the_session_stream_brings_updates_and_the_newest_stream_wins() -> None:
    bus = Announcements()
    async with served(sample_definition(announcements=bus)) as client:
        session = await shake_hands(client)
        await client.post("/mcp", json=rpc("resources/subscribe", {"uri": "ui://state"}), headers=session)
        async with client.stream("GET", "/mcp", headers=session) as first:
            assert first.headers["content-type"] == "text/event-stream"
            async with client.stream("GET", "/mcp", headers=session) as second:
                bus.resource_updated("ui://state")
                heard = await events(second, 1)
            ended = await events(first, 1)

    assert heard[0]["params"] == {"uri": "ui://state"}
    assert ended == []


@pytest.mark.covers("R-NO-13", "R-NO-9")
async def test_a_session_without_a_stream_is_told_all_the_same_and_shakes_hands_again_if_it_missed_something() -> None:
    bus = Announcements()
    async with served(sample_definition(announcements=bus)) as client:
        session = await shake_hands(client)
        uris = ["ui://chat/inbox/kept", "ui://chat/inbox/dropped"]
        for uri in uris:
            await client.post("/mcp", json=rpc("resources/subscribe", {"uri": uri}), headers=session)
        await client.post("/mcp", json=rpc("resources/unsubscribe", {"uri": uris[1]}), headers=session)
        for _ in range(MAX_WAITING + 1):
            for uri in uris:
                bus.resource_updated(uri)
        alive = await client.post("/mcp", json=rpc("ping"), headers=session)
        async with client.stream("GET", "/mcp", headers=session) as stream:
            told = await events(stream, MAX_WAITING + 2)
        gone = await client.post("/mcp", json=rpc("ping"), headers=session)
        left = _queues(bus)

    assert {message["params"]["uri"] for message in told} == {uris[0]}
    assert len(told) == MAX_WAITING + 1
    assert [alive.status_code, gone.status_code, left] == [200, 404, 0]


@pytest.mark.covers("MCP-LIM-2")
@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"x" * (4 * 1024 * 1024 + 1), {}, 413),
        (b"{", {}, 400),
        (b"[]", {"MCP-Protocol-Version": "2026-07-28"}, 400),
        (b"7", {}, 400),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {"Accept": "text/html"}, 406),
    ],
)
async def test_bodies_that_cannot_be_read_are_refused(content: bytes, headers: dict[str, str], status: int) -> None:
    async with served(sample_definition()) as client:
        answer = await client.post("/mcp", content=content, headers=headers)

    assert answer.status_code == status


@pytest.mark.covers("MCP-SEC-1")
async def test_foreign_hosts_and_origins_are_turned_away_on_every_path() -> None:
    async with served(sample_definition()) as client:
        for path in ("/mcp", "/sse", "/message", "/messages"):
            rebound = await client.post(path, json={}, headers={"Host": "evil.example"})
            foreign = await client.post(path, json={}, headers={"Origin": "https://evil.example"})
            assert (rebound.status_code, foreign.status_code) == (421, 403)


@pytest.mark.covers("MCP-HTTP-1")
async def test_streamable_http_can_be_left_out() -> None:
    async with served(sample_definition(), streamable=False) as client:
        answer = await client.post("/mcp", **modern("server/discover"))

    assert answer.status_code == 404


@pytest.mark.slow
@pytest.mark.covers("MCP-LIM-1")
async def test_ten_thousand_rejected_requests_leave_no_session_and_no_memory() -> None:
    app = SecurityMiddleware(McpRoutes(sample_definition()), AccessRules(frozenset({80})))
    initialize = rpc("initialize", {"protocolVersion": 5})
    rejected: list[tuple[str, Message, dict[str, str], int]] = [
        ("/mcp", rpc("tools/list"), {"mcp-session-id": "nobody"}, 404),
        ("/mcp", {}, {"host": "evil.example"}, 421),
        ("/mcp", {}, {"origin": "https://evil.example"}, 403),
        ("/message", rpc("ping"), {}, 400),
        ("/mcp", initialize, {}, 200),
        ("/mcp", modern("no/such")["json"], modern("no/such")["headers"], 404),
    ]

    async def reject(count: int) -> None:
        for number in range(count):
            path, body, headers, status = rejected[number % len(rejected)]
            assert await status_of(app, path, body, headers) == status

    await reject(300)
    gc.collect()
    tracemalloc.start()
    sizes = []
    for count in (0, 5_000, 5_000):
        await reject(count)
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()

    # A table that is laid out anew grows once; what leaks grows each time.
    assert min(sizes[1] - sizes[0], sizes[2] - sizes[1]) < 50_000


@settings(max_examples=150, deadline=None)
@given(
    body=st.recursive(
        st.none() | st.integers() | st.sampled_from(["2.0", "ping", "tools/call", "initialize", "x"]),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(["jsonrpc", "id", "method", "params", "_meta", "name"]), inner, max_size=5
            )
        ),
        max_leaves=8,
    ),
    headers=st.dictionaries(
        st.sampled_from(["mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name", "accept", "content-type"]),
        st.sampled_from(["2026-07-28", "2025-11-25", "ping", "", "*/*", "application/json", "=?base64?!?="]),
    ),
    path=st.sampled_from(["/mcp", "/message", "/messages", "/other"]),
)
async def test_no_request_makes_the_server_fail(body: Any, headers: dict[str, str], path: str) -> None:
    app = SecurityMiddleware(McpRoutes(sample_definition()), AccessRules(frozenset({80})))

    assert await status_of(app, path, body, headers) in {200, 202, 400, 404, 405, 406, 415}


async def status_of(app: SecurityMiddleware, path: str, body: Any, headers: dict[str, str]) -> int:
    """Send one request straight into the application."""
    given = {"host": "127.0.0.1", "content-type": "application/json", **headers}
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
    }
    sent: list[Any] = []
    messages = [{"type": "http.request", "body": json.dumps(body).encode()}]

    async def receive() -> Any:
        return messages.pop() if messages else await anyio.sleep_forever()

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    status: int = sent[0]["status"]
    return status


@pytest.mark.covers("MCP-LIM-2", "R-NO-13")
async def test_idle_sessions_end_and_the_longest_idle_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(sessions_module, "MAX_SESSIONS", 3)
    sessions = Sessions(McpServer(sample_definition()), clock=lambda: now)
    opened = [sessions.open("local") for _ in range(3)]
    first, second, third = [session for session in opened if session]
    with sessions.using(first):
        now = 1.0
        fourth = sessions.open("local")
        assert fourth is not None
        assert sessions.find(second.id) is None
        assert sessions.find(third.id) is third
        now = IDLE_SECONDS + 2
        assert sessions.find(third.id) is None
        assert sessions.find(first.id) is first
    sessions.end_all()

    assert len(sessions) == 0


@pytest.mark.covers("MCP-LIM-5")
async def test_a_flood_of_handshakes_ends_sessions_of_its_own_connection_before_any_other() -> None:
    endpoint = StreamableEndpoint(McpServer(sample_definition()))
    living = await session_of(endpoint, ("127.0.0.1", 40_000))

    for _ in range(1500):
        await session_of(endpoint, ("127.0.0.1", 50_000))

    assert endpoint.sessions.find(living) is not None
    assert len(endpoint.sessions) == 1000


@pytest.mark.covers("MCP-LIM-5")
async def test_a_flood_over_many_connections_ends_sessions_that_only_shook_hands_first() -> None:
    endpoint = StreamableEndpoint(McpServer(sample_definition()))
    living = await session_of(endpoint, ("127.0.0.1", 40_000))
    found = endpoint.sessions.find(living)
    assert found is not None
    with endpoint.sessions.using(found):
        pass

    for port in range(1500):
        await session_of(endpoint, ("127.0.0.1", 50_000 + port))

    assert endpoint.sessions.find(living) is found


@pytest.mark.covers("MCP-LIM-5")
def test_a_flood_that_uses_its_sessions_ends_none_that_was_in_use_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions_module, "MAX_SESSIONS", 3)
    now = 0.0
    sessions = Sessions(McpServer(sample_definition()), clock=lambda: now)

    def opened(port: int, uses: int, pause: float) -> Session:
        nonlocal now
        found = sessions.open("local", f"127.0.0.1:{port}")
        assert found is not None
        for _ in range(uses):
            now += pause
            with sessions.using(found):
                pass
        return found

    living = opened(40_000, 2, 5.0)
    for port in range(10):
        opened(50_000 + port, 9, 0.001)

    assert sessions.find(living.id) is living


@pytest.mark.covers("MCP-LIM-5")
def test_a_flooding_principal_ends_none_of_another_principals_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions_module, "MAX_SESSIONS", 3)
    sessions = Sessions(McpServer(sample_definition()))
    anna = sessions.open("anna")
    assert anna is not None

    for _ in range(5):
        flooding = sessions.open("bert")
        assert flooding is not None
        for _ in range(3):
            with sessions.using(flooding):
                pass

    assert sessions.find(anna.id) is anna
    sessions.end_all()


async def session_of(endpoint: StreamableEndpoint, client: tuple[str, int]) -> str:
    """Shake hands from an address; answer the session's id."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode()
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/json"), (b"accept", b"application/json, text/event-stream")]
    await endpoint({"method": "POST", "headers": headers, "client": client}, receive, send)
    session_id: bytes = dict(sent[0]["headers"])[b"mcp-session-id"]
    return session_id.decode()


@pytest.mark.covers("R-NO-13")
async def test_a_session_that_missed_something_is_gone_before_its_stream_ends() -> None:
    endpoint = StreamableEndpoint(McpServer(sample_definition()))
    session = endpoint.sessions.open("local")
    assert session is not None
    session.client.queue.subscribe("ui://chat/a")
    for _ in range(MAX_WAITING + 1):
        session.client.queue.publish(ResourceUpdated("ui://chat/a"))
    found: list[object] = []

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body"):
            found.append(endpoint.sessions.find(session.id))

    async def receive() -> Any:
        await anyio.sleep_forever()

    await endpoint({"method": "GET", "headers": [(b"mcp-session-id", session.id.encode())]}, receive, send)

    assert found == [None]


@pytest.mark.covers("MCP-HTTP-6")
async def test_a_stream_ends_behind_a_beat_that_is_still_being_sent() -> None:
    taken = anyio.Event()
    sent: list[Any] = []

    async def send(message: Any) -> None:
        if message.get("more_body"):
            await taken.wait()
        sent.append(message)

    stream = http.Reply(send)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stream.keep_alive)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(stream.end)
        await anyio.wait_all_tasks_blocked()
        taken.set()

    assert [message.get("body") for message in sent] == [None, b": alive\r\n\r\n", b""]
