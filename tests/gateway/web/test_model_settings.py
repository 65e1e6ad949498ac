"""The model of the page: its connections end when another model is chosen, after a test, and with the page."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from ui_mcp.agent.model import ModelRequest, Stop, TextDelta, UserMessage
from ui_mcp.agent.models import ModelSettings
from ui_mcp.gateway.web.model_settings import ModelSettingsService

BEGUN = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = b'data: {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}\n\n'
REQUEST = ModelRequest([UserMessage("hello")])


class Server:
    """Answers each request with one word, and counts connections that begin and end."""

    def __init__(self) -> None:
        self.url = ""
        self.opened = 0
        self.ended = anyio.Event()

    async def serve(self, stream: SocketStream) -> None:
        self.opened += 1
        async with stream:
            async for received in stream:
                if b"POST " in received:
                    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (EVENT, b"data: [DONE]\n\n", b""))
                    await stream.send(BEGUN + chunks)
        self.ended.set()

    async def wait_ended(self) -> None:
        with anyio.fail_after(10):
            await self.ended.wait()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    found = Server()
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    found.url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, found.serve)
        yield found
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def page_model(server: Server, folder: Path) -> AsyncIterator[ModelSettingsService]:
    settings = ModelSettings(provider="openai", model="m", api_base=server.url)
    model = ModelSettingsService(settings, None, None, folder)
    try:
        yield model
    finally:
        await model.close()


@pytest.mark.covers("R-MP-9")
async def test_connections_of_a_replaced_model_end(server: Server, tmp_path: Path) -> None:
    async with page_model(server, tmp_path) as model:
        assert [event async for event in model.stream(REQUEST)] == [TextDelta("hi"), Stop("end")]

        await model.change({"model": "other"})

        await server.wait_ended()


@pytest.mark.covers("R-MP-9")
async def test_an_answer_that_has_begun_is_finished_by_the_model_that_began_it(server: Server, tmp_path: Path) -> None:
    async with page_model(server, tmp_path) as model:
        answer = model.stream(REQUEST)
        first = await anext(answer)

        await model.change({"model": "other"})

        assert not server.ended.is_set()
        assert [first, *[event async for event in answer]] == [TextDelta("hi"), Stop("end")]
        await server.wait_ended()


@pytest.mark.covers("R-MP-9")
async def test_the_connection_of_a_test_ends_with_it(server: Server, tmp_path: Path) -> None:
    async with page_model(server, tmp_path) as model:
        assert (await model.test({}))["ok"] is True

        await server.wait_ended()


@pytest.mark.covers("R-MP-9")
async def test_the_connections_of_a_model_end_with_the_page(server: Server, tmp_path: Path) -> None:
    async with page_model(server, tmp_path) as model:
        for _ in range(2):
            assert [event async for event in model.stream(REQUEST)] == [TextDelta("hi"), Stop("end")]

    await server.wait_ended()
    assert server.opened == 1
