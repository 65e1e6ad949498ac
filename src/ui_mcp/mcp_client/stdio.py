"""JSON-RPC with a server on a pair of pipes, both eras.

Written by hand because a call through the gateway may cost little more than a direct one: messages stay plain
dictionaries from pipe to pipe, and the reader settles the waiting request in the event loop's own callback.
"""

from itertools import count

import anyio
from anyio.abc import TaskGroup

from ui_mcp.errors import UiMcpError, UpstreamError
from ui_mcp.jsonrpc import messages
from ui_mcp.jsonrpc.pipes import Writer
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.mcpd.channel import Greeting, Hooks, Patience
from ui_mcp.mcpd.framing import Framer, TooLong
from ui_mcp.mcpd.pending import Pending

METHOD_NOT_FOUND = -32601
SHOWN_GARBAGE = 200
LONGEST_ID = 18
"""Digits of our own numbers when a server sends them back as text."""


class LineChannel:
    """One server; `take` is fed what it writes."""

    def __init__(self, writer: Writer, hooks: Hooks, tasks: TaskGroup) -> None:
        self.greeting = Greeting(modern=False, name="", instructions=None, capabilities={})
        self.lost = anyio.Event()
        self.envelope: JsonObject = {}
        """What every request of the modern era carries in its `_meta`."""
        self.wanted: dict[str, None] = {}
        """The resources whose changes are wanted (modern era)."""
        self.wanted_changed = anyio.Event()
        self._writer = writer
        self._hooks = hooks
        self._tasks = tasks
        self._framer = Framer()
        self._waiting: dict[int, Pending] = {}
        self._answering: dict[messages.RequestId, anyio.CancelScope] = {}
        self._ids = count(1)

    async def request(self, method: str, params: JsonObject, patience: Patience | None = None) -> JsonObject:
        """Send a request and return its result as it came."""
        if self.lost.is_set():
            raise UpstreamError("the server went away")
        number = next(self._ids)
        pending = self._waiting[number] = Pending(patience)
        meta = {**self.envelope, "progressToken": number} if patience else self.envelope
        if meta:
            params = {**params, messages.META: {**params.get(messages.META, {}), **meta}}
        try:
            self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            return await pending.result()
        except UpstreamError as error:
            if error.details.get("silent"):
                self._cancel(number, "it took too long")
            raise
        finally:
            self._waiting.pop(number, None)
            if not pending.is_settled:
                self._cancel(number, "nobody waits for it any more")

    def notify(self, method: str, params: JsonObject | None = None) -> None:
        """Tell the server something."""
        self._send(messages.notification(method, params))

    async def subscribe(self, uri: str) -> None:
        """Ask to be told of changes of `uri`."""
        if self.greeting.modern:
            self.wanted[uri] = None
            self.wanted_changed.set()
        else:
            await self.request("resources/subscribe", {"uri": uri})

    async def unsubscribe(self, uri: str) -> None:
        """Stop being told."""
        if self.greeting.modern:
            self.wanted.pop(uri, None)
            self.wanted_changed.set()
        else:
            await self.request("resources/unsubscribe", {"uri": uri})

    def take(self, chunk: bytes) -> None:
        """Take what the server wrote; nothing at all means that it is gone."""
        for line in self._framer.feed(chunk) if chunk else self._framer.end():
            if isinstance(line, TooLong):
                self._hooks.stderr("(a message that is too long was passed over)")
            else:
                self._take_line(line)
        if not chunk:
            self.end()

    def end(self) -> None:
        """Nobody will answer any more."""
        self.lost.set()
        for pending in tuple(self._waiting.values()):
            pending.settle(UpstreamError("the server went away"))

    def _take_line(self, line: bytes) -> None:
        try:
            message = messages.decode(line)
        except ValueError:
            self._hooks.stderr(f"(not a message) {line[:SHOWN_GARBAGE].decode('utf-8', 'replace')}")
            return
        for one in message if isinstance(message, list) else (message,):
            if isinstance(one, dict):
                self._route(one)

    def _route(self, message: JsonObject) -> None:
        method = message.get("method")
        # A message with a method is never an answer, whatever else it carries.
        if not isinstance(method, str):
            self._answered(message)
            return
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if messages.is_id(message.get("id")):
            self._tasks.start_soon(self._answer, message["id"], method, params)
        elif method == "notifications/progress":
            pending = self._of(params.get("progressToken"))
            if pending is not None:
                pending.progressed(params)
        elif method == "notifications/cancelled":
            self._revoke(params.get("requestId"))
        else:
            self._hooks.notified(method, params)

    def _answered(self, message: JsonObject) -> None:
        pending = self._of(message.get("id"))
        if pending is None:
            return
        problem, result = message.get("error"), message.get("result")
        if isinstance(problem, dict):
            told = str(problem.get("message") or "the server refused")
            pending.settle(UpstreamError(told, rpc_code=problem.get("code"), data=problem.get("data")))
        elif isinstance(result, dict):
            pending.settle(result)
        else:
            pending.settle(UpstreamError("The server's answer could not be read: it has no result", rpc_code=0))

    def _of(self, number: Json) -> Pending | None:
        if isinstance(number, str) and number.isdecimal() and len(number) <= LONGEST_ID:
            number = int(number)
        return self._waiting.get(number) if isinstance(number, int) else None

    async def _answer(self, request_id: messages.RequestId, method: str, params: JsonObject) -> None:
        with anyio.CancelScope() as scope:
            self._answering[request_id] = scope
            try:
                self._send(messages.result(request_id, await self._hooks.asked(method, params)))
            except UiMcpError as error:
                code = error.details.get("rpc_code")
                self._send(
                    messages.error(request_id, code if isinstance(code, int) else METHOD_NOT_FOUND, error.message)
                )
            finally:
                self._answering.pop(request_id, None)

    def _revoke(self, request_id: Json) -> None:
        scope = self._answering.get(request_id) if messages.is_id(request_id) else None
        if scope is not None:
            scope.cancel()

    def _cancel(self, number: int, why: str) -> None:
        self.notify("notifications/cancelled", {"requestId": number, "reason": why})

    def _send(self, message: JsonObject) -> None:
        try:
            self._writer.write(messages.encode(message) + b"\n")
        except OSError:
            self.end()
