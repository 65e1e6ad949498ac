"""Ways to a browser: a WebSocket to its debugging address, or the pipes of a browser that we have started."""

import asyncio
import ssl
from collections.abc import Callable
from typing import cast

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidURI
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri

from ui_mcp.introspection.backends.chromium.devtools import Connection, DevToolsError


class WebSocketTransport(asyncio.Protocol):
    """A WebSocket on which messages are sent without waiting, so that commands keep their order."""

    def __init__(self, url: str, connection: Connection) -> None:
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._connection = connection
        self._protocol = ClientProtocol(parse_uri(url), max_size=None)  # pictures of large pages are long
        self._socket: asyncio.Transport | None = None
        self._parts: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._socket = cast("asyncio.Transport", transport)
        self._protocol.send_request(self._protocol.connect())
        self._flush()

    def data_received(self, data: bytes) -> None:
        self._protocol.receive_data(data)
        self._flush()
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._take(event)
            elif not self.opened.done():
                refused = self._protocol.handshake_exc
                self.opened.set_exception(DevToolsError(str(refused))) if refused else self.opened.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.opened.done():
            self.opened.set_exception(DevToolsError("the connection was closed"))
        self._connection.lost()

    def send(self, message: bytes) -> None:
        self._protocol.send_text(message)
        self._flush()

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()

    def _take(self, frame: Frame) -> None:
        if frame.opcode in {Opcode.TEXT, Opcode.CONT}:
            self._parts.append(bytes(frame.data))
            if frame.fin:
                message, self._parts = b"".join(self._parts), []
                self._connection.received(message)

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if self._socket is not None and data:
                self._socket.write(data)
            else:
                self.close()


async def connect_websocket(url: str, connection: Connection) -> None:
    """Connect to a debugging address, `ws://` or `wss://`.

    Raises:
        DevToolsError: nothing accepts a WebSocket there.
    """
    try:
        uri = parse_uri(url)
        encryption = ssl.create_default_context() if uri.secure else None
        loop = asyncio.get_running_loop()
        _, protocol = await loop.create_connection(
            lambda: WebSocketTransport(url, connection), uri.host, uri.port, ssl=encryption
        )
    except (OSError, InvalidURI) as error:
        raise DevToolsError(f"Nothing accepts a WebSocket at {url}: {error}") from error
    await protocol.opened
    connection.use(protocol)


class PipeReader:
    """Splits what a browser writes into messages, which end with a zero byte."""

    def __init__(self, received: Callable[[bytes], None]) -> None:
        self._received = received
        self._rest = bytearray()

    def feed(self, data: bytes) -> None:
        *whole, rest = data.split(b"\0")
        for part in whole:
            message = bytes(self._rest + part)
            self._rest.clear()
            self._received(message)
        self._rest += rest


class PipeTransport:
    """The input pipe of a browser."""

    def __init__(self, pipe: asyncio.WriteTransport) -> None:
        self._pipe = pipe

    def send(self, message: bytes) -> None:
        self._pipe.write(message + b"\0")

    def close(self) -> None:
        self._pipe.close()
