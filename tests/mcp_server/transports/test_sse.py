"""The older HTTP+SSE transport: one stream down, posts up, both eras over it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest

from mcp_server.definitions import sample_definition
from mcp_server.web import served
from mcp_server.wire import ENVELOPE, HELLO
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports.sse import SseEndpoint
from ui_mcp.toolkit.announcements import Announcements


class Stream:
    """An open `/sse`: its events in order."""

    def __init__(self, answer: httpx2.Response) -> None:
        self.answer = answer
        self._lines = answer.aiter_lines()
        self.endpoint = ""

    async def event(self) -> tuple[str, str]:
        name = ""
        async for line in self._lines:
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            if line.startswith("data: "):
                return name, line.removeprefix("data: ")
        return "", ""

    async def message(self) -> Any:
        name, data = await self.event()
        assert name == "message"
        return json.loads(data)


@asynccontextmanager
async def streaming(client: httpx2.AsyncClient) -> AsyncIterator[Stream]:
    async with client.stream("GET", "/sse") as answer:
        stream = Stream(answer)
        name, stream.endpoint = await stream.event()
        assert name == "endpoint"
        yield stream


def rpc(method: str, params: dict[str, Any] | None = None, number: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


@pytest.mark.covers("MCP-SSE-1", "MCP-SSE-2", "MCP-SSE-3", "MCP-SSE-4")
@pytest.mark.parametrize("post_path", ["/message", "/messages"])
async def test_answers_to_posts_arrive_on_the_stream_in_both_eras(post_path: str) -> None:
    async with served(sample_definition(), post_path=post_path) as client, streaming(client) as stream:
        accepted = await client.post(stream.endpoint, json=rpc("initialize", HELLO))
        hello = await stream.message()
        await client.post(stream.endpoint, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        call = {"name": "facts", "arguments": {}}
        await client.post(stream.endpoint, json=rpc("tools/call", call, 2))
        old = await stream.message()
        await client.post(stream.endpoint, json=rpc("tools/call", {**call, "_meta": ENVELOPE}, 3))
        new = await stream.message()

    assert stream.endpoint.startswith(f"{post_path}?sessionId=")
    assert (stream.answer.headers["content-type"], stream.answer.headers["cache-control"]) == (
        "text/event-stream",
        "no-store",
    )
    assert stream.answer.headers["x-accel-buffering"] == "no"
    assert accepted.status_code == 202
    assert hello["result"]["protocolVersion"] == "2025-11-25"
    assert [answer["result"]["structuredContent"]["era"] for answer in (old, new)] == ["handshake", "modern"]


@pytest.mark.covers("MCP-SSE-2")
@pytest.mark.parametrize("path", ["/message", "/messages"])
@pytest.mark.parametrize("name", ["sessionId", "session_id"])
async def test_every_spelling_of_the_post_address_works(path: str, name: str) -> None:
    async with served(sample_definition()) as client, streaming(client) as stream:
        session = stream.endpoint.partition("=")[2]
        accepted = await client.post(f"{path}?{name}={session}", json=rpc("ping"))

        assert accepted.status_code == 202
        assert await stream.message() == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.covers("MCP-SSE-2")
async def test_posts_that_cannot_be_taken_say_why() -> None:
    async with served(sample_definition()) as client, streaming(client) as stream:
        statuses = [
            (await client.post("/message", json=rpc("ping"))).status_code,
            (await client.post("/message?sessionId=nobody", json=rpc("ping"))).status_code,
            (await client.post(stream.endpoint, content=b"{")).status_code,
            (await client.post(stream.endpoint, content=b"{}")).status_code,
            (await client.post(stream.endpoint, content=b"x" * 4_200_000)).status_code,
            (await client.get(stream.endpoint)).status_code,
            (await client.post("/sse", json={})).status_code,
        ]
        await client.post(stream.endpoint, json=rpc("ping", number=9))
        alive = await stream.message()

    assert statuses == [400, 404, 400, 400, 413, 405, 405]
    assert alive["id"] == 9


@pytest.mark.covers("MCP-SSE-3", "MCP-LIM-2")
async def test_a_closed_stream_ends_its_session_at_once() -> None:
    bus = Announcements()
    async with served(sample_definition(announcements=bus)) as client:
        async with streaming(client) as stream:
            await client.post(stream.endpoint, json=rpc("tools/call", {"name": "hang", "arguments": {}}))
        with anyio.fail_after(60):
            while (await client.post(stream.endpoint, json=rpc("ping"))).status_code != 404:
                await anyio.sleep(0.01)


@pytest.mark.covers("MCP-SSE-3", "MCP-SUB-2")
async def test_updates_arrive_between_the_answers() -> None:
    bus = Announcements()
    async with served(sample_definition(announcements=bus)) as client, streaming(client) as stream:
        await client.post(stream.endpoint, json=rpc("initialize", HELLO))
        await stream.message()
        await client.post(stream.endpoint, json=rpc("resources/subscribe", {"uri": "ui-mcp://state"}, 2))
        await stream.message()
        bus.resource_updated("ui://state")

        assert (await stream.message())["params"] == {"uri": "ui-mcp://state"}


async def test_a_message_that_was_still_coming_when_its_stream_closed_finds_no_session() -> None:
    endpoint = SseEndpoint(McpServer(sample_definition()))
    left, over = anyio.Event(), anyio.Event()
    streamed: list[Any] = []
    answered: list[Any] = []

    async def leaving() -> Any:
        await left.wait()
        return {"type": "http.disconnect"}

    async def keep(message: Any) -> None:
        streamed.append(message)

    async def stream() -> None:
        await endpoint.stream({"method": "GET"}, leaving, keep)
        over.set()

    async def late() -> Any:
        left.set()
        await over.wait()
        return {"type": "http.request", "body": json.dumps(rpc("ping")).encode()}

    async def answer(message: Any) -> None:
        answered.append(message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stream)
        await anyio.wait_all_tasks_blocked()
        address = streamed[1]["body"].partition(b"?")[2].partition(b"\r\n")[0]
        await endpoint.message({"method": "POST", "query_string": address}, late, answer)

    assert answered[0]["status"] == 404
