"""A relay's connection to the server that it has joined, and what a new server must know of the client."""

import socket
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Protocol

import anyio

from ui_mcp.errors import UiMcpError, UpstreamError
from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsonrpc.pipes import CHUNK, Line, LineReader, LineSplitter, OversizedLine, Writer
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.local_socket import PROTOCOL, PROTOCOL_KEY

ANSWER_SECONDS = 60.0
MAX_UNREAD = 64
"""Lines that a relay passes on before it reads them: nothing has to wait for what it remembers."""
_PREFIX = "ui-mcp-relay-"


class ServerLink:
    """An open connection to a server; used for single exchanges until `run` begins to relay."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._splitter = LineSplitter()
        self._received: list[bytes] = []
        self._numbers = 0
        self.writer = Writer(connection.fileno())
        self.facts: JsonObject = {}
        """What the server said about itself."""
        self.pending: dict[rpc.RequestId, JsonObject] = {}
        """The client's requests that the server has not answered yet."""
        self._asked: set[str] = set()
        """Ids of the server's requests that the client has not answered yet."""
        self._unread_lines: list[tuple[bytes, ClientMemory | None]] = []
        """Lines that were passed on before they were read, the oldest first."""
        self.was_stopped = False
        """Whether the server ends on request: a signal, or the end of `serve`."""

    @property
    def pid(self) -> int:
        return int(self.facts.get("pid") or 0)

    async def greet(self, greeting: JsonObject) -> None:
        """Read the server's greeting and send ours.

        Raises:
            UpstreamError: the server hung up, or it is none.
        """
        line = await self._line()
        try:
            facts = rpc.decode(line)
        except ValueError:
            facts = None
        if not isinstance(facts, dict) or PROTOCOL_KEY not in facts:
            raise UpstreamError("The program at the socket is not ui-mcp")
        self.facts = facts
        if facts[PROTOCOL_KEY] == PROTOCOL and "refused" not in facts:
            await self._send({PROTOCOL_KEY: PROTOCOL, **greeting})

    async def exchange(self, message: JsonObject) -> JsonObject:
        """Send a request under an id of ours and return its answer; what else arrives is kept for the client.

        Raises:
            UpstreamError: the server hung up.
        """
        request_id = self.next_id()
        await self._send({**message, "id": request_id})
        kept: list[bytes] = []
        while True:
            line = await self._line()
            answer: Json = rpc.decode(line)
            if isinstance(answer, dict) and answer.get("id") == request_id:
                self._received = kept + self._received
                return answer
            kept.append(line)

    async def notify(self, message: JsonObject) -> None:
        await self._send(message)

    def next_id(self) -> str:
        """Return an id that no client uses."""
        self._numbers += 1
        return f"{_PREFIX}{id(self):x}-{self._numbers}"

    async def run(
        self,
        take: Callable[[bytes], None],
        pass_on: Callable[[bytes], bool] | None = None,
        writer: Writer | None = None,
    ) -> None:
        """Relay to `writer` until the server hangs up: `take` gets every line that `pass_on` has not passed on unread.

        Raises:
            OSError: the connection broke, inside an exception group.
        """

        def whole(line: Line) -> None:
            if not isinstance(line, OversizedLine):
                take(line)

        to = writer or self.writer
        reader = LineReader(self._socket.fileno(), whole, lambda: to, pass_on)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.writer.run)
            await reader.run(self._unread())
            tasks.cancel_scope.cancel()

    def _unread(self) -> bytes:
        """Return what was received but not taken during single exchanges."""
        lines, self._received = self._received, []
        return b"".join(line + b"\n" for line in lines) + self._splitter.rest()

    def passed(self, line: bytes, memory: "ClientMemory | None" = None) -> None:
        """Note a line that was passed on unread: one of the server, or with `memory` one of the client."""
        self._unread_lines.append((line, memory))
        if len(self._unread_lines) >= MAX_UNREAD:
            self.read_passed()

    def read_passed(self) -> None:
        """Read what was passed on, for what is to be remembered of it."""
        lines, self._unread_lines = self._unread_lines, []
        for line, memory in lines:
            try:
                message = rpc.decode(line)
            except ValueError:
                continue  # the server answers it
            if memory is None:
                self.answered(message)
            else:
                memory.note(message)
                self.expects(message)

    def expects(self, message: Json) -> bool:
        """Record a message of the client; return whether it concerns this server."""
        for one in message if isinstance(message, list) else [message]:
            match rpc.kind_of(one):
                case "request":
                    self.pending[rpc.correlated(one["id"])] = one
                case "response":
                    if str(one["id"]) not in self._asked:
                        return False  # to a request of an earlier server
                    self._asked.discard(str(one["id"]))
                case "notification" if one["method"] == "notifications/cancelled":
                    cancelled = (one.get("params") or {}).get("requestId")
                    if isinstance(cancelled, str | int):
                        self.pending.pop(rpc.correlated(cancelled), None)
        return True

    def answered(self, message: Json) -> None:
        """Record a message of the server."""
        for one in message if isinstance(message, list) else [message]:
            if "method" not in one:
                answered = one.get("id")
                # An error about a message whose id could not be read has none: no request is called "".
                self.pending.pop(rpc.correlated(answered) if isinstance(answered, str | int) else "", None)
            elif "id" in one:
                self._asked.add(str(one["id"]))

    def end_input(self) -> None:
        """Tell the server that the client sends no more."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            return  # the server has hung up already

    def close(self) -> None:
        self._socket.close()

    async def _send(self, message: JsonObject) -> None:
        try:
            with anyio.fail_after(ANSWER_SECONDS):
                data = memoryview(rpc.encode(message) + b"\n")
                while data:
                    await anyio.wait_writable(self._socket)
                    data = data[self._socket.send(data) :]
        except (OSError, TimeoutError) as error:
            raise UpstreamError("The server hung up") from error

    async def _line(self) -> bytes:
        while not self._received:
            try:
                with anyio.fail_after(ANSWER_SECONDS):
                    await anyio.wait_readable(self._socket)
                    chunk = self._socket.recv(CHUNK)
            except (OSError, TimeoutError) as error:
                raise UpstreamError("The server hung up") from error
            if not chunk:
                raise UpstreamError("The server hung up")
            self._received += list(_whole(self._splitter.feed(chunk)))
        return self._received.pop(0)


def _whole(lines: list[Line]) -> Iterator[bytes]:
    return (line for line in lines if isinstance(line, bytes))


class Servers(Protocol):
    """Where a relay finds its server."""

    async def join(self, client_name: str) -> ServerLink:
        """Connect to the running server, or start one.

        Raises:
            UiMcpError: there is none and none can be started, or it may not be joined.
        """

    def left(self) -> None:
        """Take note that the client no longer counts on the server that it joined."""

    def unavailable(self, error: UiMcpError) -> None:
        """Prepare to answer for a server that cannot be joined."""

    def route(self, message: JsonObject) -> "tuple[Servers, JsonObject]":
        """Return whose server handles a call that may name another directory, and the call as that one reads it.

        Raises:
            UiMcpError: the client may not go there.
        """


@dataclass(slots=True)
class ClientMemory:
    """What a client has said to its server that the next server has to know too."""

    _hello: JsonObject | None = None
    _initialized: JsonObject | None = None
    _level: JsonObject | None = None
    _subscribed: dict[str, JsonObject] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The client's name for itself, or ""."""
        match self._hello:
            case {"params": {"clientInfo": {"name": str() as name}}}:
                return name
            case _:
                return ""

    @property
    def greeted(self) -> bool:
        """Whether the client has begun a handshake."""
        return self._hello is not None

    def note(self, message: Json) -> None:
        """Remember a message of the client if a later server needs it."""
        match message:
            case {"method": "initialize", "id": _}:
                self._hello = message
            case {"method": "notifications/initialized"}:
                self._initialized = message
            case {"method": "logging/setLevel", "id": _}:
                self._level = message
            case {"method": "resources/subscribe", "id": _, "params": {"uri": str() as uri}}:
                self._subscribed[uri] = message
            case {"method": "resources/unsubscribe", "id": _, "params": {"uri": str() as uri}}:
                self._subscribed.pop(uri, None)

    async def tell(self, link: ServerLink, *, waiting: frozenset[int]) -> None:
        """Repeat to a server what the client has said; messages with an id in `waiting` are still to be sent."""
        requests = [self._hello, self._level, *self._subscribed.values()]
        for message in (one for one in requests if one is not None and id(one) not in waiting):
            await link.exchange(message)
            if message is self._hello and self._initialized is not None:
                await link.notify(self._initialized)


def is_call_of(message: Json, tool: str) -> bool:
    """Return whether a message calls this tool."""
    match message:
        case {"method": "tools/call", "id": _, "params": {"name": name}}:
            return bool(name == tool)
        case _:
            return False


def failed(message: JsonObject, text: str) -> JsonObject:
    """Return the answer to a request that no server could answer."""
    if message["method"] != "tools/call":
        return rpc.error(message["id"], rpc.INTERNAL_ERROR, text)
    modern = {"resultType": "complete"} if rpc.is_modern(message) else {}
    return rpc.result(message["id"], {"content": [{"type": "text", "text": text}], "isError": True, **modern})


def what_happened(link: ServerLink, *, restarts: bool) -> str:
    """Return what to say of a server that hung up."""
    ended = f"The ui-mcp server (pid {link.pid}) ended"
    if link.was_stopped:
        return f"{ended}: it was stopped\nThe next call starts another one."
    if restarts:
        return f"{ended} unexpectedly\nAnother one continues with what was saved of the apps. Check, and call again."
    return f"{ended} unexpectedly, three times within a minute\nSee log/mcp.log; the next call tries again."
