"""Ways to a browser: a WebSocket to its debugging address, or a headless one that we start and reach by pipes."""

import asyncio
import os
import re
import signal
import ssl
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import cast

import anyio
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidURI
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri

from ui_mcp.errors import UiNotEnabledError
from ui_mcp.introspection.backends.chromium.devtools import Connection, DevToolsError
from ui_mcp.processes import WATCHDOG

ARGUMENTS = (
    "--headless", "--no-first-run", "--no-default-browser-check", "--no-startup-window", "--disable-quic",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-gpu",
    "--disable-breakpad", "--disable-default-apps", "--disable-extensions", "--disable-dev-shm-usage",
    "--disable-popup-blocking", "--disable-prompt-on-repost", "--disable-back-forward-cache", "--mute-audio",
    "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--hide-scrollbars",
    "--disable-renderer-backgrounding", "--force-color-profile=srgb", "--metrics-recording-only",
    "--password-store=basic", "--use-mock-keychain", "--disable-features=Translate,MediaRouter",
    "--enable-features=WebMCP",
    # A page without a pointer hides what others show on hover.
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
)  # fmt: skip

# The browser reads commands from descriptor 3 and writes to 4; the shell makes them from its input and output.
_PIPES = 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null'
START_SECONDS = 60.0
END_SECONDS = 5.0
_TOLD = 4000
"""Bytes of the browser's complaints that an error may quote."""


class BrowserProcess(asyncio.SubprocessProtocol):
    """A headless browser as a child process, with a profile of its own that is deleted with it."""

    def __init__(self, connection: Connection) -> None:
        self.ended = asyncio.Event()
        self.address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._connection = connection
        self._messages = PipeReader(connection.received)
        self._told = b""
        self._profile = TemporaryDirectory(prefix="ui-mcp-browser-", ignore_cleanup_errors=True)
        self._transport: asyncio.SubprocessTransport | None = None

    @classmethod
    async def start(
        cls, executable: str, options: Sequence[str], connection: Connection, *, pipes: bool = os.name == "posix"
    ) -> "BrowserProcess":
        """Start a browser and connect to it: by pipes, to which no other program has access, where there are any.

        Raises:
            UiNotEnabledError: it does not start; the message has its own words.
        """
        process = cls(connection)
        command = [executable, *ARGUMENTS, *_sandbox(), *options, f"--user-data-dir={process._profile.name}"]
        if pipes:
            command = ["/bin/sh", "-c", _PIPES, "sh", *command, "--remote-debugging-pipe"]
        else:
            command.append("--remote-debugging-port=0")
        try:
            await asyncio.get_running_loop().subprocess_exec(lambda: process, *command, start_new_session=True)
            with anyio.fail_after(START_SECONDS):
                await process._connect(pipes=pipes)
        except (OSError, DevToolsError, TimeoutError) as error:
            await process.end()
            raise UiNotEnabledError(
                f"{executable} does not start\n{process._words() or error}", reason="NO_BROWSER"
            ) from error
        except BaseException:
            await process.end()
            raise
        return process

    async def _connect(self, *, pipes: bool) -> None:
        if pipes:
            assert self._transport is not None
            self._connection.use(PipeTransport(cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))))
        else:
            await connect_websocket(await self.address, self._connection)
        await self._connection.browser.send("Browser.getVersion")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        WATCHDOG.watch(self._transport.get_pid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self._messages.feed(data)
            return
        self._told = (self._told + data)[-_TOLD:]
        found = re.search(rb"DevTools listening on (ws://\S+)\s", self._told)
        if found and not self.address.done():
            self.address.set_result(found[1].decode())

    def process_exited(self) -> None:
        self.ended.set()
        self._connection.lost()
        if not self.address.done():
            self.address.cancel()
        if self._transport is not None:
            WATCHDOG.forget(self._transport.get_pid())

    async def end(self) -> None:
        """Ask the browser to end, then make sure that it has; delete its profile."""
        if self._transport is not None:
            if self._connection.is_open:
                self._connection.browser.post("Browser.close")
            with anyio.move_on_after(END_SECONDS, shield=True):
                await self.ended.wait()
            self._kill()
            self._transport.close()
        self._connection.close()
        await anyio.to_thread.run_sync(self._profile.cleanup)

    def _kill(self) -> None:
        assert self._transport is not None
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._transport.kill()
            else:
                # The group too: helpers of a browser that was killed may still write into its profile.
                os.killpg(self._transport.get_pid(), signal.SIGKILL)

    def _words(self) -> str:
        lines = [line.strip() for line in self._told.decode(errors="replace").splitlines() if line.strip()]
        return "\n".join(lines[-5:])


def _sandbox() -> list[str]:
    # Chromium's sandbox does not work for root, which most containers use.
    return ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


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
