import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from anyio import connect_tcp, create_task_group, fail_after
from anyio.abc import ByteStream, SocketAttribute
from anyio.lowlevel import checkpoint
from starlette.applications import Starlette
from starlette.routing import Route

from ui_mcp.errors import NotFoundError
from ui_mcp.jsontypes import dumps, loads
from ui_mcp.ui.http.routes import Wait
from ui_mcp.ui.sessions.events import EventQueue
from ui_mcp.webserver.server import bind, listening, port_of


@dataclass
class Server:
    queue: EventQueue
    port: int

    @asynccontextmanager
    async def asking(self, query: str = "timeout=60") -> AsyncIterator[ByteStream]:
        async with await connect_tcp("127.0.0.1", self.port) as stream:
            await stream.send(f"GET /wait?{query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            yield stream

    async def get(self, query: str = "timeout=60") -> tuple[int, str]:
        async with self.asking(query) as stream:
            return await answer(stream)

    async def until_waiters(self, count: int) -> None:
        with fail_after(60):
            while len(self.queue._waiters) != count:
                await checkpoint()


async def answer(stream: ByteStream) -> tuple[int, str]:
    data = b""
    with fail_after(60):
        while not (data.endswith(b"0\r\n\r\n") or (b"\r\n\r\n" in data and b"chunked" not in data)):
            data += await stream.receive()
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(next((line[16:] for line in head.split(b"\r\n") if line.startswith(b"content-length: ")), b"0"))
        while len(body) < length:
            body += await stream.receive()
    if b"chunked" in head:
        body = b"".join(body.split(b"\r\n")[1::2])
    return int(head.split()[1]), body.decode()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    queue = EventQueue()

    def find(name: str) -> EventQueue:
        if name != "1":
            raise NotFoundError(f"session {name} not found")
        return queue

    app = Starlette(routes=[Route("/wait", Wait(find), methods=["GET"])])
    listener = bind("127.0.0.1", 0)
    async with listening(app, listener):
        yield Server(queue, port_of(listener))
        queue.close()


@pytest.mark.covers("UI-WAIT-3", "UI-HTTP-6")
async def test_queued_events_are_answered_at_once_as_an_array(server: Server) -> None:
    server.queue.push('{"app":"contacts","event":"chat","text":"grüß"}', "2")

    assert await server.get() == (200, '[{"app":"contacts","event":"chat","text":"grüß"},2]')
    assert len(server.queue) == 0


@pytest.mark.covers("UI-WAIT-3")
async def test_a_push_wakes_the_waiting_client(server: Server) -> None:
    async with server.asking() as stream:
        await server.until_waiters(1)
        server.queue.push("1")

        assert await answer(stream) == (200, "[1]")


@pytest.mark.covers("UI-WAIT-2", "UI-WAIT-3")
async def test_nothing_within_the_timeout_is_204_without_a_body(server: Server) -> None:
    assert await server.get("timeout=0") == (204, "")


@pytest.mark.covers("UI-WAIT-4")
async def test_no_session_is_404(server: Server) -> None:
    assert await server.get("sessionId=2") == (404, "No active session")


@pytest.mark.covers("UI-WAIT-4", "UI-SES-6")
async def test_a_session_that_ends_releases_its_waiters(server: Server) -> None:
    async with server.asking() as stream:
        await server.until_waiters(1)
        server.queue.close()

        assert await answer(stream) == (404, "No active session")


@pytest.mark.covers("UI-WAIT-8")
async def test_a_client_that_vanishes_stops_polling_at_once(server: Server) -> None:
    async with server.asking():
        await server.until_waiters(1)
        assert server.queue.polling
    await server.until_waiters(0)

    assert not server.queue.polling


@pytest.mark.covers("UI-WAIT-6")
async def test_of_two_clients_the_first_gets_the_batch_and_the_second_the_next(server: Server) -> None:
    async with server.asking() as first:
        await server.until_waiters(1)
        async with server.asking() as second:
            await server.until_waiters(2)
            server.queue.push("1", "2")
            assert await answer(first) == (200, "[1,2]")
            server.queue.push("3")

            assert await answer(second) == (200, "[3]")


@pytest.mark.covers("UI-WAIT-7")
async def test_events_whose_client_is_gone_before_the_answer_come_back(server: Server) -> None:
    async with server.asking() as stream:
        await server.until_waiters(1)
        raw: socket.socket = stream.extra(SocketAttribute.raw_socket)
        raw.shutdown(socket.SHUT_RDWR)
        server.queue.push("1", "2")
    await server.until_waiters(0)
    with fail_after(60):
        while not server.queue.texts():
            await checkpoint()

    assert await server.get() == (200, "[1,2]")


@pytest.mark.slow
@pytest.mark.covers("UI-WAIT-6", "UI-WAIT-7")
async def test_ten_thousand_events_over_http_none_lost_none_doubled(server: Server) -> None:
    received: list[list[int]] = []
    producers, each = 8, 1250

    async def produce(producer: int) -> None:
        for number in range(each):
            server.queue.push(dumps([producer, number]))
            if number % 7 == producer % 7:
                await checkpoint()

    async def consume() -> None:
        while len(received) < producers * each:
            status, body = await server.get("timeout=1")
            received.extend(loads(body) if status == 200 else [])

    with fail_after(120):
        async with create_task_group() as group:
            for number in range(producers):
                group.start_soon(produce, number)
            for start in [consume] * 2:
                group.start_soon(start)

    assert sorted(map(tuple, received)) == [(who, number) for who in range(producers) for number in range(each)]
