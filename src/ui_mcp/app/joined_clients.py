"""Lets clients join a server over its socket, and shows them its log."""

import logging
import os
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from threading import get_ident
from typing import TYPE_CHECKING

import anyio
from anyio import from_thread, lowlevel

from ui_mcp.app.directory_place import place_of
from ui_mcp.jsontypes import JsonObject
from ui_mcp.local_socket import SocketPlace
from ui_mcp.log import ROOT, one_line
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports.local import LocalClients, serve_clients
from ui_mcp.version import bundled_version

if TYPE_CHECKING:
    from ui_mcp.ui.server import UiServer  # a gateway's hub does without

GOODBYE_SECONDS = 3.0
MAX_EARLIER = 100


@asynccontextmanager
async def accepting(host: "UiServer", service: McpServer) -> AsyncIterator[LocalClients]:
    """Let clients join the UI server over the socket of its directory while the block runs."""
    workspace = host.configured().workspace
    facts: JsonObject = {"version": bundled_version(), "pid": os.getpid(), "base": str(workspace.base)}
    clients = LocalClients(facts, host.stop)
    host.clients = clients.to_json
    try:
        async with serving_clients(place_of(workspace), service, clients):
            yield clients
    finally:
        host.clients = list


@asynccontextmanager
async def serving_clients(place: SocketPlace, service: McpServer, clients: LocalClients) -> AsyncIterator[None]:
    """Accept clients while the block runs; afterwards each hangs up, with its blocked calls answered."""
    listener, path = place.listen()
    with listener:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve_clients, listener, service, clients)
            try:
                yield
            finally:
                with suppress(OSError):
                    path.unlink()
                with anyio.CancelScope(shield=True):
                    await _say_goodbye(clients)
                tasks.cancel_scope.cancel()


async def _say_goodbye(clients: LocalClients) -> None:
    clients.announce_end()
    with anyio.move_on_after(GOODBYE_SECONDS):
        while len(clients):
            await clients.changed()


class LogForwarder(logging.Handler):
    """Passes records on to the clients, which print them where their hosts look."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(one_line("%(levelname)s %(name)s: %(message)s"))
        self._token = lowlevel.current_token()
        self._thread = get_ident()
        self._earlier: deque[str] = deque(maxlen=MAX_EARLIER)
        self._clients: LocalClients | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if get_ident() == self._thread:
            self._forward(self.format(record))
            return
        with suppress(RuntimeError):  # the event loop has ended
            from_thread.run_sync(self._forward, self.format(record), token=self._token)

    def forward_to(self, clients: LocalClients) -> None:
        self._clients = clients

    def _forward(self, text: str) -> None:
        if self._clients is None or not len(self._clients):
            self._earlier.append(text)
            return
        self._clients.log([*self._earlier, text])
        self._earlier.clear()

    async def flush_to_first(self, clients: LocalClients) -> None:
        """Pass on what was logged before anybody had joined."""
        while not len(clients):
            await clients.changed()
        clients.log(list(self._earlier))
        self._earlier.clear()


@contextmanager
def forwarding_log() -> Iterator[LogForwarder]:
    """Forward the log to the clients while the block runs."""
    forwarder, root = LogForwarder(), logging.getLogger(ROOT)
    root.addHandler(forwarder)
    try:
        yield forwarder
    finally:
        root.removeHandler(forwarder)
