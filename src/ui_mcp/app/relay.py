"""Relays the messages of one client on stdin and stdout to the server that it has joined.

What every server answers alike is answered here, so that a client gets its list of tools before any server runs.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic

import anyio
from anyio.abc import TaskGroup

from ui_mcp.app.server_link import ClientMemory, ServerLink, Servers, failed, is_call_of, what_happened
from ui_mcp.errors import UiMcpError
from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsonrpc.pipes import MAX_LINE, Line, LineReader, OversizedLine, Writer
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_server.connection import Answering, ClientConnection
from ui_mcp.mcp_server.transports.local import ENDED, LEAVE, LOG
from ui_mcp.mcp_server.transports.stdio import CONTROL, GRACE_SECONDS, cancel_after
from ui_mcp.processes import parent_gone

JOIN_SECONDS = 60.0
QUIET_SECONDS = 1.0
"""A server is started this long after the handshake even if the client asks for nothing."""
CRASH_SECONDS = 60.0
MAX_CRASHES = 3
_READ_FIRST = (b"ui_configure", b'"result"', b'"error"', rb"\u00")
"""In messages of a client that are read before they are passed on: the call may be for another server, a response may
answer an earlier one. Looked for one by one, which is faster than a pattern."""
_FOR_RELAY = b'"ui-mcp'
"""In messages of a server that may be for the relay: the methods and ids between both begin with it."""
_log = logger("relay")


class Relay:
    """Moves messages between a client's pipes and a server, which may change or be started again meanwhile."""

    def __init__(
        self,
        servers: Servers,
        pipes: tuple[int, int],
        tasks: TaskGroup,
        local: ClientConnection | None = None,
        own: frozenset[str] = frozenset(),
    ) -> None:
        self._servers = servers
        self._local = local
        self._own = own
        """The methods that `local` answers while no server is joined."""
        self._tasks = tasks
        self._writer = Writer(pipes[1])
        self._lines = LineReader(
            pipes[0], self._take, lambda: self._link.writer if self._link else self._writer, self._pass_to_server
        )
        self._memory = ClientMemory()
        self._link: ServerLink | None = None
        self._queue: list[JsonObject] = []
        """What arrived while no server was joined."""
        self._joining = False
        self._answering = 0
        self._replies: dict[str, anyio.Event] = {}
        self._crashes: list[float] = []
        self._problem = ""
        """Why no server could be joined."""
        self._changed = anyio.Event()
        self._ended = False
        self._broken: Exception | None = None
        """What ends the relay: the client's pipe broke, or there is no server and no local answer."""

    async def run(self) -> None:
        """Relay until the client closes its end or the parent process exits."""
        try:
            for task in (self._writer.run, self._deliver_local, self._read):
                self._tasks.start_soon(task)
            self._tasks.start_soon(cancel_after, parent_gone, self._tasks)
            if self._local is None:
                self._begin_joining()
            await self._until(lambda: self._ended)
            with anyio.move_on_after(JOIN_SECONDS):
                if self._memory.greeted and not self._problem:
                    self._begin_joining()  # a client that only looks in leaves a configured directory too
                await self._until(lambda: not self._joining)
            if self._local is not None:
                self._local.begin_closing()
            with anyio.move_on_after(GRACE_SECONDS):
                if (link := self._link) is not None:
                    await link.writer.flushed()
                    link.end_input()
                await self._until(lambda: self._link is None and not self._answering)
                await self._writer.flushed()
        finally:
            if self._local is not None:
                self._local.close()
            if self._link is not None:
                self._link.close()

    async def _until(self, reached: Callable[[], bool]) -> None:
        while not reached():
            if self._broken is not None:
                raise self._broken
            await self._changed.wait()

    def _wake(self) -> None:
        # A fresh event at once, so that each waiter checks its own condition again after every wake-up.
        self._changed.set()
        self._changed = anyio.Event()

    # From the client.

    async def _read(self) -> None:
        await self._lines.run()
        self._ended = True
        self._wake()

    def _pass_to_server(self, line: bytes) -> bool:
        """Pass a request or notification on before it is read, unless it may concern the relay."""
        link = self._link
        if link is None or self._joining or b'"method"' not in line or _is_read_first(line):
            return False
        with suppress(OSError):  # a server that has just ended is noticed by its end of input
            link.writer.write(line)
        link.passed(line, self._memory)
        return True

    def _take(self, line: Line) -> None:
        if self._link is not None:
            self._link.read_passed()
        if isinstance(line, OversizedLine):
            self._send(rpc.error(None, rpc.INVALID_REQUEST, f"A message may have at most {MAX_LINE} bytes"))
            return
        try:
            message = rpc.decode(line)
        except ValueError:
            self._send(rpc.error(None, rpc.PARSE_ERROR, "Parse error"))
            return
        self._memory.note(message)
        if self._joining and not self._is_own(message):
            self._queue.append(message)
        elif self._link is not None:
            self._forward(self._link, message, line)
        elif self._is_own(message):
            self._answer_here(message)
        else:
            self._queue.append(message)
            self._begin_joining()

    def _is_own(self, message: Json) -> bool:
        """Return whether a message needs no server."""
        match rpc.kind_of(message):
            case "request":
                return self._link is None and message["method"] in self._own
            case "notification":
                return not self._joining
            case "response":
                return self._link is None
            case _:
                return not isinstance(message, list)

    def _answer_here(self, message: Json) -> None:
        if self._local is None:
            if rpc.kind_of(message) in {"request", "invalid"}:
                self._send(failed(message, self._problem) if "method" in message else rpc.invalid(message))
            return
        if is_call_of(message, "ui_configure"):
            routed = self._routed(None, message)
            if routed is not None:
                self._send(failed(routed, self._problem))
            return
        work = self._local.receive(message, self._send_when_ready)
        if work is not None:
            self._answering += 1
            self._tasks.start_soon(self._answer, work, message)
        if isinstance(message, dict) and message.get("method") == "notifications/initialized":
            self._tasks.start_soon(self._join_after_quiet)

    async def _answer(self, work: Answering, message: Json) -> None:
        try:
            answer = await work
            if answer is not None:
                self._send(answer)
        finally:
            self._answering -= 1
            self._wake()
        if isinstance(message, dict) and message.get("method") == "tools/list" and "tools/list" in self._own:
            self._begin_joining()

    async def _join_after_quiet(self) -> None:
        await anyio.sleep(QUIET_SECONDS)
        self._begin_joining()

    def _forward(self, link: ServerLink, message: Json, line: bytes) -> None:
        if is_call_of(message, "ui_configure"):
            routed = self._routed(link, message)
            if routed is None:
                return
            message, line = routed, rpc.encode(routed)
        if link.expects(message):
            # A server that has just ended is noticed by its end of input, and answered for then.
            with suppress(OSError):
                link.writer.write(line + b"\n")

    def _routed(self, link: ServerLink | None, message: JsonObject) -> JsonObject | None:
        """Return a call of `ui_configure` for the present server; None if the client leaves it, or may not."""
        try:
            servers, routed = self._servers.route(message)
        except UiMcpError as error:
            self._send(failed(message, error.message))
            return None
        if servers is self._servers:
            return routed
        self._joining = True
        self._tasks.start_soon(self._switch, link, servers, routed)
        return None

    # To and from servers.

    def _begin_joining(self, *, after_crash: bool = False) -> None:
        if self._link is None and not self._joining:
            self._joining = True
            self._tasks.start_soon(self._join, after_crash)

    async def _join(self, after_crash: bool) -> None:
        try:
            link = await self._servers.join(self._memory.name)
            await self._memory.tell(link, waiting=frozenset(id(message) for message in self._queue))
        except UiMcpError as error:
            self._servers.unavailable(error)
            if self._local is None and not self._problem and not after_crash:
                self._broken = error
                self._wake()
                return
            self._problem = error.message
            _log.error("%s", error.message)
            self._flush(self._answer_here)
        else:
            self._attach(link)

    def _attach(self, link: ServerLink) -> None:
        self._problem = "The server has ended"
        self._link = link
        self._tasks.start_soon(self._relay, link)
        self._flush(lambda message: self._forward(link, message, rpc.encode(message)))

    def _flush(self, handle: Callable[[JsonObject], None]) -> None:
        self._joining = False
        queue, self._queue = self._queue, []
        for position, message in enumerate(queue):
            if self._joining:  # one of them switched to another server
                self._queue[:0] = queue[position:]
                break
            handle(message)
        self._wake()

    async def _relay(self, link: ServerLink) -> None:
        try:
            pass_on = partial(self._pass_to_client, link)
            await link.run(partial(self._on_server_line, link), pass_on, self._writer)
        except* OSError as broken:
            _log.info("The connection to the server broke: %s", broken.exceptions[0])
        self._on_hangup(link)

    def _pass_to_client(self, link: ServerLink, line: bytes) -> bool:
        """Pass a message of the server on before it is read, unless it may be for the relay."""
        if _FOR_RELAY in line:
            return False
        self._write(line)
        link.passed(line)
        return True

    def _on_server_line(self, link: ServerLink, line: bytes) -> None:
        link.read_passed()
        message = rpc.decode(line)
        match message:
            case {"method": str() as method} if method.startswith(CONTROL):
                self._on_control(link, message)
            case {"id": str() as key} if key in self._replies:
                self._replies[key].set()
            case _:
                link.answered(message)
                self._write(line + b"\n")

    def _on_control(self, link: ServerLink, message: JsonObject) -> None:
        if message["method"] == ENDED:
            link.was_stopped = True
            link.end_input()
        elif message["method"] == LOG:
            sys.stderr.write("".join(f"{line}\n" for line in message["params"]["lines"]))
            sys.stderr.flush()

    def _on_hangup(self, link: ServerLink) -> None:
        link.close()
        link.read_passed()
        for waiting in self._replies.values():
            waiting.set()
        if self._link is not link:  # the client has switched to another
            return
        self._link = None
        restarts = not link.was_stopped and not self._ended and self._may_restart()
        # A stream goes on with the next server; a call may have had effects, so the client decides about it.
        streams = [one for one in link.pending.values() if one["method"] == "subscriptions/listen"]
        for message in link.pending.values():
            if not restarts or message not in streams:
                self._send(failed(message, what_happened(link, restarts=restarts)))
        if not link.was_stopped and not self._ended:
            _log.warning("%s", what_happened(link, restarts=restarts).splitlines()[0])
        if restarts:
            self._queue += streams
            self._begin_joining(after_crash=True)
        else:
            self._servers.left()
        self._wake()

    def _may_restart(self) -> bool:
        """Record a crash of the server; the third within a minute is not followed by a start."""
        now = monotonic()
        self._crashes = [when for when in self._crashes if now - when < CRASH_SECONDS] + [now]
        return len(self._crashes) < MAX_CRASHES

    async def _switch(self, old: ServerLink | None, other: Servers, message: JsonObject) -> None:
        """Leave for another server, unless that one refuses."""
        link: ServerLink | None = None
        try:
            link = await other.join(self._memory.name)
            await self._memory.tell(link, waiting=frozenset())
            answer = {**await link.exchange(message), "id": message["id"]}
        except UiMcpError as error:
            answer = failed(message, error.message)
        if link is not None and "result" in answer and not answer["result"].get("isError"):
            # Only now: a client whose move fails stays where it was.
            if old is not None:
                await self._leave(old)
            self._servers.left()
            self._servers = other
            self._send(answer)
            self._attach(link)
            return
        if link is not None:
            link.close()
            other.left()
        self._send(answer)
        if old is None or self._link is None:
            self._flush(self._answer_here)
        else:
            self._flush(lambda waiting: self._forward(old, waiting, rpc.encode(waiting)))

    async def _leave(self, link: ServerLink) -> None:
        self._link = None
        request_id = link.next_id()
        self._replies[request_id] = left = anyio.Event()
        link.writer.write(rpc.encode({"jsonrpc": "2.0", "id": request_id, "method": LEAVE}) + b"\n")
        with anyio.move_on_after(GRACE_SECONDS):
            await left.wait()
        del self._replies[request_id]
        link.end_input()

    # To the client.

    async def _deliver_local(self) -> None:
        while self._local is not None and (messages := await self._local.queue.get()):
            for message in messages:
                self._send(message)

    async def _send_when_ready(self, message: JsonObject) -> None:
        self._send(message)
        await self._writer.room()

    def _send(self, message: Json) -> None:
        self._write(rpc.encode(message) + b"\n")

    def _write(self, data: bytes) -> None:
        try:
            self._writer.write(data)
        except OSError as broken:
            self._broken = broken
            self._wake()


def _is_read_first(line: bytes) -> bool:
    for word in _READ_FIRST:  # noqa: SIM110 - any() takes three times as long
        if word in line:
            return True
    return False
