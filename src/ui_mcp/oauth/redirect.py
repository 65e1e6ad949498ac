"""The loopback address at which the person's browser comes back from a sign-in (RFC 8252)."""

import html
import os
import socket
from contextlib import suppress
from urllib.parse import parse_qsl, urlsplit

import anyio
from anyio.abc import SocketStream

from ui_mcp.errors import UpstreamError

_MAX_REQUEST = 16 * 1024
_REQUEST_SECONDS = 10.0
_PAGE = """\
<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">
<title>ui-mcp</title></head><body style="font: 1.1rem system-ui; margin: 3rem"><p>{text}</p></body></html>
"""


class Redirect:
    """Receives one answer; bound when made, because the address is registered before the person is sent away."""

    def __init__(self, port: int = 0) -> None:
        self._socket = _bound(port)
        self._socket.setblocking(False)
        self._socket.listen()  # the browser may be back before `answer` is called
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/callback"

    def close(self) -> None:
        self._socket.close()

    async def answer(self, state: str) -> dict[str, str]:
        """Wait for the answer to the sign-in with this `state`; other requests are turned away."""
        found: list[dict[str, str]] = []

        async def handle(stream: SocketStream) -> None:
            async with stream:
                with anyio.move_on_after(_REQUEST_SECONDS):
                    query = _query(await _head(stream))
                    taken = query is not None and query.get("state") == state
                    await stream.send(_page(query if taken else None))
                    if query is not None and taken:
                        found.append(query)
            if found:
                tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            # Not `SocketListener.serve`: asyncio raises InvalidStateError if it is cancelled while a browser connects.
            while True:
                tasks.start_soon(handle, await _accepted(self._socket))
        return found[0]


async def _accepted(listener: socket.socket) -> SocketStream:
    """Wait for a connection."""
    while True:
        await anyio.wait_readable(listener)
        with suppress(BlockingIOError, ConnectionAbortedError):
            return await SocketStream.from_socket(listener.accept()[0])


def _bound(port: int) -> socket.socket:
    """Return a socket at a port, or at any free one if another program has it."""
    for one in dict.fromkeys((port, 0)):
        found = socket.socket()
        try:
            if os.name == "posix":  # the port of the last sign-in is free, though its connections linger
                found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(("127.0.0.1", one))
        except OSError:
            found.close()
        else:
            return found
    raise UpstreamError("There is no free port to come back to after the sign-in", fatal=True)


async def _head(stream: SocketStream) -> bytes:
    """Return a request up to the end of its headers."""
    data = b""
    while b"\r\n\r\n" not in data and len(data) < _MAX_REQUEST:
        try:
            data += await stream.receive()
        except anyio.EndOfStream:
            break
    return data


def _query(request: bytes) -> dict[str, str] | None:
    """Return the query of a request for the redirect URL, or None for any other request."""
    target = request.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    parts = urlsplit(target[1]) if len(target) == 3 and target[0] == "GET" else None
    return dict(parse_qsl(parts.query)) if parts is not None and parts.path == "/callback" else None


def _page(query: dict[str, str] | None) -> bytes:
    if query is None:
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    refused = query.get("error_description") or query.get("error")
    text = f"Not signed in: {refused}" if refused else "Thank you. You can close this page and go back."
    body = _PAGE.format(text=html.escape(text)).encode()
    headers = f"Content-Type: text/html\r\nContent-Length: {len(body)}\r\nCache-Control: no-store\r\nConnection: close"
    return f"HTTP/1.1 200 OK\r\n{headers}\r\n\r\n".encode() + body
