"""Both servers of the differential test, each spoken to in messages or in HTTP requests."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError

from conformance.fixture import Prompts, Resources, Tools
from conformance.sdk_server import sdk_server
from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import Json
from ui_mcp.mcp_server.connection import ClientConnection
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports.routes import McpRoutes
from ui_mcp.toolkit.announcements import ListKind

Answer = tuple[int, Json] | list[Json]
"""The messages that came back; over HTTP the status and the body."""


class Peer(Protocol):
    """A server in the middle of a conversation."""

    async def send(self, message: Json, headers: dict[str, str]) -> Answer:
        """Send one message and return everything that comes back at once."""
        ...


def ours() -> ServerDefinition:
    kinds: frozenset[ListKind] = frozenset({"tools", "resources", "prompts"})
    return ServerDefinition(
        "peer", "Peer", "1", Tools(), Resources(), instructions="Ask.", prompts=Prompts(), list_changed=kinds
    )


async def settled(answered: anyio.Event | None = None) -> None:
    """Give every task a hundred turns, in which handlers that wait for nothing have long answered."""
    for _ in range(100):
        if answered is not None and answered.is_set():
            return
        await anyio.lowlevel.checkpoint()


class OurStream:
    def __init__(self, connection: ClientConnection, tasks: TaskGroup) -> None:
        self._connection, self._tasks = connection, tasks
        self._received: list[Json] = []

    async def send(self, message: Json, headers: dict[str, str]) -> Answer:
        work = self._connection.receive(rpc.decode(json.dumps(message).encode()), self._take)
        if work is not None:
            self._tasks.start_soon(self._answer, work)
        await settled()
        received, self._received = self._received, []
        return received

    async def _take(self, message: Json) -> None:
        self._received.append(message)

    async def _answer(self, work: Awaitable[Json]) -> None:
        answer = await work
        if answer is not None:
            await self._take(answer)


class TheirStream:
    """Messages are parsed as the SDK's stdio transport does: what is no message is handed on as an exception."""

    def __init__(self, inlet: Any, outlet: Any) -> None:
        self._inlet, self._outlet = inlet, outlet

    async def send(self, message: Json, headers: dict[str, str]) -> Answer:
        try:
            parsed: JSONRPCMessage = jsonrpc_message_adapter.validate_json(json.dumps(message), by_name=False)
        except ValidationError as error:
            await self._inlet.send(error)
        else:
            await self._inlet.send(SessionMessage(parsed))
        await settled()
        received: list[Json] = []
        while self._outlet.statistics().current_buffer_used:
            said = (await self._outlet.receive()).message
            body = said.model_dump(by_alias=True, mode="json", exclude_none=True)
            received.append({"id": None, **body} if "error" in body else body)
        return received


class HttpPeer:
    """An ASGI application, spoken to without a socket; keeps the id of its session."""

    def __init__(self, app: Callable[..., Awaitable[None]], tasks: TaskGroup) -> None:
        self._app, self._tasks = app, tasks
        self._session: dict[str, str] = {}

    async def send(self, message: Json, headers: dict[str, str]) -> Answer:
        sent: list[Any] = []
        bodies = [{"type": "http.request", "body": json.dumps(message).encode()}]
        answered, left = anyio.Event(), anyio.Event()

        async def receive() -> Any:
            if bodies:
                return bodies.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(part: Any) -> None:
            sent.append(part)

        async def run() -> None:
            await self._app(self._scope(headers), receive, send)
            answered.set()

        self._tasks.start_soon(run)
        await settled(answered)
        left.set()
        with anyio.move_on_after(5):
            await answered.wait()
        return self._answer(sent)

    def _scope(self, headers: dict[str, str]) -> Any:
        given = {
            "host": "127.0.0.1",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            **self._session,
            **headers,
        }
        return {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "query_string": b"",
            "client": ("127.0.0.1", 1),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
        }

    def _answer(self, sent: list[Any]) -> Answer:
        if not sent:
            return 0, None
        headers = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
        if "mcp-session-id" in headers:
            self._session = {"mcp-session-id": headers["mcp-session-id"]}
        body = b"".join(part.get("body", b"") for part in sent[1:])
        if headers.get("content-type", "").startswith("text/event-stream"):
            lines = [line.removeprefix(b"data: ") for line in body.splitlines() if line.startswith(b"data: {")]
            return int(sent[0]["status"]), [json.loads(line) for line in lines]
        try:
            return int(sent[0]["status"]), json.loads(body)
        except ValueError:
            return int(sent[0]["status"]), None


@asynccontextmanager
async def streams() -> AsyncIterator[tuple[Peer, Peer]]:
    """Open a conversation with each server in messages, as over stdio."""
    connection = ClientConnection(McpServer(ours()))
    inlet, their_in = anyio.create_memory_object_stream[Any](16)
    their_out, outlet = anyio.create_memory_object_stream[Any](1000)
    server = sdk_server()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.run, their_in, their_out, server.create_initialization_options())
        try:
            yield OurStream(connection, tasks), TheirStream(inlet, outlet)
        finally:
            connection.close()
            tasks.cancel_scope.cancel()
            for stream in (inlet, outlet, their_in, their_out):
                stream.close()


class HttpServers:
    """Both servers behind streamable HTTP, for many conversations."""

    def __init__(self, tasks: TaskGroup, manager: StreamableHTTPSessionManager) -> None:
        self._tasks, self._manager, self._ours = tasks, manager, McpRoutes(ours())

    def peers(self) -> tuple[Peer, Peer]:
        return HttpPeer(self._ours, self._tasks), HttpPeer(self._manager.handle_request, self._tasks)


@asynccontextmanager
async def http_servers() -> AsyncIterator[HttpServers]:
    manager = StreamableHTTPSessionManager(sdk_server(), json_response=True, max_sessions=None)
    async with manager.run(), anyio.create_task_group() as tasks:
        yield HttpServers(tasks, manager)
        tasks.cancel_scope.cancel()
