"""A load balancer: passes connections on to the first of several servers that takes them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, SocketStream

STREAM_ENDS = (OSError, anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


class Balancer:
    """Passes bytes between its own port and a server."""

    def __init__(self, port: int, servers: Sequence[int]) -> None:
        self.url = f"http://127.0.0.1:{port}/"
        self._port = port
        self.servers = list(servers)
        """Ports of the servers, the preferred one first."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=self._port)
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, self._pass_on)
            yield
            tasks.cancel_scope.cancel()

    async def _pass_on(self, client: SocketStream) -> None:
        async with client:
            for port in list(self.servers):
                with suppress(OSError):
                    async with await anyio.connect_tcp("127.0.0.1", port) as server, anyio.create_task_group() as both:
                        both.start_soon(self._copy, client, server, both.cancel_scope)
                        both.start_soon(self._copy, server, client, both.cancel_scope)
                    return

    async def _copy(self, source: ByteReceiveStream, sink: ByteSendStream, both: anyio.CancelScope) -> None:
        with suppress(*STREAM_ENDS):
            while True:
                await sink.send(await source.receive())
        both.cancel()
