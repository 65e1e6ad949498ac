"""The Chrome DevTools Protocol: commands to and events of a browser and its targets, over any transport."""

import asyncio
import json
from collections.abc import Callable
from typing import Protocol

from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.log import logger

log = logger(__name__)
Handler = Callable[[JsonObject], None]
CLOSED = "closed"
"""Our own event of a session: its target is gone."""


class DevToolsError(Exception):
    """The browser refused a command, or the target of the command is gone."""


class Transport(Protocol):
    """Carries messages to a browser; those of the browser go to `Connection.received`."""

    def send(self, message: bytes) -> None: ...

    def close(self) -> None: ...


class Session:
    """Commands to and events of one target; the browser itself is the target with the id ""."""

    def __init__(self, connection: "Connection", session_id: str = "") -> None:
        self.id = session_id
        self.is_closed = False
        self._connection = connection
        self._handlers: dict[str, list[Handler]] = {}

    def post(self, method: str, params: JsonObject | None = None) -> "asyncio.Future[JsonObject]":
        """Send a command now and return the future of its result, which need not be awaited.

        Commands of one session are carried out in the order in which they were posted.
        """
        return self._connection.post(self, method, params or {})

    async def send(self, method: str, params: JsonObject | None = None) -> JsonObject:
        """Send a command and return its result.

        Raises:
            DevToolsError: the browser refused it, or the target is gone.
        """
        return await self.post(method, params)

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` with the parameters of each such event, in order of arrival."""
        self._handlers.setdefault(event, []).append(handler)

    def emit(self, event: str, params: JsonObject) -> None:
        for handler in self._handlers.get(event, ()):
            handler(params)


class Connection:
    """Sends commands and passes results and events on to the sessions of targets."""

    def __init__(self) -> None:
        self.browser = Session(self)
        self.is_open = True
        self._transport: Transport | None = None
        self._sessions: dict[str, Session] = {"": self.browser}
        self._pending: dict[int, tuple[Session, asyncio.Future[JsonObject]]] = {}
        self._last_id = 0

    def use(self, transport: Transport) -> None:
        """Send through `transport` from now on."""
        self._transport = transport

    def session(self, session_id: str) -> Session:
        """Return the session of a target that the browser has attached us to."""
        return self._sessions.setdefault(session_id, Session(self, session_id))

    def post(self, session: Session, method: str, params: JsonObject) -> "asyncio.Future[JsonObject]":
        future: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_retrieve)
        if session.is_closed or not self.is_open or self._transport is None:
            future.set_exception(DevToolsError(f"{method}: the target is closed"))
            return future
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": params}
        if session.id:
            message["sessionId"] = session.id
        self._pending[self._last_id] = (session, future)
        self._transport.send(dumps(message).encode())
        return future

    def received(self, text: bytes) -> None:
        """Take a message of the browser."""
        message = _decoded(text)
        if "id" in message:
            self._answered(message)
            return
        session = self._sessions.get(message.get("sessionId", ""))
        if session is None:
            return
        params = message.get("params") or {}
        try:
            session.emit(message["method"], params)
        except Exception:
            # One event that we misread must not end the connection.
            log.exception("A %s event of the browser could not be handled", message["method"])
        if message["method"] == "Target.detachedFromTarget":
            self._detached(params["sessionId"])

    def lost(self) -> None:
        """Note that the browser is gone: every command fails."""
        self.is_open = False
        for session in list(self._sessions.values()):
            self.fail(session, "the browser has closed the connection")

    def close(self) -> None:
        """End the connection."""
        if self._transport is not None and self.is_open:
            self._transport.close()
        self.lost()

    def fail(self, session: Session, reason: str) -> None:
        """Let all commands of a session that wait for a result fail, and those to come."""
        if session.is_closed:
            return
        session.is_closed = True
        for number, (waiting, future) in list(self._pending.items()):
            if waiting is session:
                del self._pending[number]
                if not future.done():
                    future.set_exception(DevToolsError(reason))
        session.emit(CLOSED, {})

    def _answered(self, message: JsonObject) -> None:
        _, future = self._pending.pop(message["id"], (None, None))
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(DevToolsError(message["error"].get("message", "refused")))
        else:
            future.set_result(message.get("result") or {})

    def _detached(self, session_id: str) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            self.fail(session, "the target is closed")


def on_result(future: "asyncio.Future[JsonObject]", handler: Handler) -> None:
    """Call `handler` with the result of a command, if it succeeds."""
    future.add_done_callback(
        lambda done: None if done.cancelled() or done.exception() is not None else handler(done.result())
    )


def _decoded(text: bytes) -> JsonObject:
    try:
        return dict(loads(text))
    except ValueError:
        # Texts of pages may contain lone surrogates, which only the standard library accepts.
        whole = json.loads(text)
        return dict(json.loads(json.dumps(whole, ensure_ascii=False).encode("utf-8", "replace")))


def _retrieve(future: "asyncio.Future[JsonObject]") -> None:
    if not future.cancelled():
        future.exception()  # marks it as seen; who awaits the future gets it all the same
