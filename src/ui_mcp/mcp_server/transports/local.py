"""MCP over a socket of this machine: any number of clients of one account, each on a connection of its own."""

import os
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import anyio

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.local_socket import PROTOCOL, PROTOCOL_KEY, admits, peer_uid
from ui_mcp.log import logger
from ui_mcp.mcp_server.connection import ClientConnection
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports.stdio import CONTROL, serve_connection

GREETING_SECONDS = 10.0
LONGEST_GREETING = 64 * 1024
ENDED = f"{CONTROL}ended"
"""Notification: the server ends on request, and no other is to be started for it."""
LOG = f"{CONTROL}log"
"""Notification: lines of the server's log, which the client prints."""
LEAVE = f"{CONTROL}leave"
"""Request: the client goes elsewhere; answered once what only it used has ended."""
_log = logger("mcp.local")


@dataclass(frozen=True, slots=True, eq=False)
class LocalClient:
    """A client that has joined."""

    connection: ClientConnection
    pid: int
    given_name: str = ""

    @property
    def name(self) -> str:
        """The client's name for itself, in its handshake or when it joined."""
        client = self.connection.client
        return client.name if client and client.name else self.given_name

    def to_json(self) -> JsonObject:
        return {"name": self.name or "unknown", "pid": self.pid}


class LocalClients:
    """The clients that have joined a server."""

    def __init__(self, facts: JsonObject, on_leave: Callable[[], Awaitable[None]] | None = None) -> None:
        self.facts = facts
        """What the greeting says about this server: version, pid, place."""
        self._on_leave = on_leave
        """Ends what only one client used, when the last one leaves for another server."""
        self._joined: list[LocalClient] = []
        self._changed = anyio.Event()

    def __len__(self) -> int:
        return len(self._joined)

    def to_json(self) -> list[Json]:
        """Return the clients as `ui_status` shows them."""
        return [client.to_json() for client in self._joined]

    async def changed(self) -> None:
        """Return when a client has joined or left."""
        await self._changed.wait()

    def announce_end(self) -> None:
        """Tell every client that this server ends on request."""
        for client in self._joined:
            client.connection.queue.put(rpc.notification(ENDED))

    def log(self, lines: list[str]) -> None:
        """Have every client print lines of the log; one that does not read misses them."""
        for client in self._joined:
            if lines and client.connection.queue.has_room:
                client.connection.queue.put(rpc.notification(LOG, {"lines": lines}))

    async def control(self, message: JsonObject) -> Json:
        """Answer a request of a relay that is not its client's: `LEAVE`; the only client takes with it what it used."""
        if message["method"] != LEAVE:
            return rpc.error(message["id"], rpc.METHOD_NOT_FOUND, "Method not found", message["method"])
        if len(self._joined) == 1 and self._on_leave is not None:
            await self._on_leave()
        return rpc.result(message["id"], {})

    @contextmanager
    def joined(self, client: LocalClient) -> Iterator[None]:
        self._joined.append(client)
        self._notify()
        try:
            yield
        finally:
            self._joined.remove(client)
            self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


async def serve_clients(listener: socket.socket, service: McpServer, clients: LocalClients) -> None:
    """Serve everyone who connects to `listener`, until cancelled."""
    async with anyio.create_task_group() as tasks:
        while True:
            await anyio.wait_readable(listener)
            try:
                connection, _ = listener.accept()
            except BlockingIOError:  # the client has hung up meanwhile
                continue
            connection.setblocking(False)
            tasks.start_soon(_serve_one, connection, service, clients)


async def _serve_one(connection: socket.socket, service: McpServer, clients: LocalClients) -> None:
    with connection:
        try:
            greeting, rest = await _greet(connection, clients.facts)
        except (OSError, ValueError, TimeoutError) as error:
            _log.info("A client did not join: %s", error)
            return
        given = greeting.get("client")
        name = given if isinstance(given, str) else ""
        # By the client's name for itself, so that it is the same one for approvals when it joins again.
        client = ClientConnection(service, connection=f"stdio:{name}" if name else "stdio")
        pid = greeting.get("pid")
        joined = LocalClient(client, pid if isinstance(pid, int) else 0, name)
        with clients.joined(joined):
            pipe = connection.fileno()
            await serve_connection(client, pipe, pipe, control=clients.control, received=rest)


async def _greet(connection: socket.socket, facts: JsonObject) -> tuple[JsonObject, bytes]:
    """Exchange greetings; return the client's, and what it sent after it.

    Raises:
        ValueError: the other end may not join, or speaks another protocol.
        OSError: the connection broke.
    """
    uid = peer_uid(connection)
    refused = {} if admits(uid) else {"refused": f"it belongs to the account with uid {os.geteuid()}"}
    connection.send(rpc.encode({PROTOCOL_KEY: PROTOCOL, **facts, **refused}) + b"\n")  # fits into an empty buffer
    if refused:
        raise ValueError(f"it belongs to the account with uid {uid}")
    with anyio.fail_after(GREETING_SECONDS):
        data = b""
        while b"\n" not in data:
            await anyio.wait_readable(connection)
            chunk = connection.recv(LONGEST_GREETING)
            if not chunk or len(data) > LONGEST_GREETING:
                raise ValueError("it sent no greeting")
            data += chunk
    line, _, rest = data.partition(b"\n")
    greeting = rpc.decode(line)
    if not isinstance(greeting, dict) or greeting.get(PROTOCOL_KEY) != PROTOCOL:
        raise ValueError("it speaks another local protocol")
    return greeting, rest
