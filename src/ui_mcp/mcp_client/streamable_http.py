"""Carries a session over streamable HTTP: a POST per message, and a GET stream for what the server sends by itself."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx2
from anyio.abc import TaskGroup

from ui_mcp.errors import UpstreamError
from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_client.http import HttpConnection, Posts, content_type, events_of, open_connection, refused
from ui_mcp.mcp_client.http_headers import request_headers
from ui_mcp.mcp_client.negotiation import Mode, discovery_first, follow_changes
from ui_mcp.mcp_client.session import Session
from ui_mcp.mcp_client.transport import HttpUrl, NotificationHandlers

FIRST_WAIT = 1.0
LONGEST_WAIT = 30.0
MAX_RESUMPTIONS = 5
"""How often in a row a broken stream is resumed without an event."""
DRAIN_SECONDS = 1.0
"""How long a stream may stay open after its response; a connection whose stream has ended can be used again."""
CLOSE_SECONDS = 2.0
EVENTS = "text/event-stream"
_SESSION = "mcp-session-id"
_log = logger("mcp.client")


@asynccontextmanager
async def http_session(address: HttpUrl, handlers: NotificationHandlers, mode: Mode) -> AsyncIterator[Session]:
    """Connect for as long as the block runs.

    Raises:
        UpstreamError: the server cannot be reached, or does not speak MCP over streamable HTTP.
    """
    async with open_connection(address, handlers) as http, anyio.create_task_group() as tasks:
        wire = StreamableHttpWire(http, tasks)
        session = wire.session = Session(wire, handlers, tasks)
        try:
            await discovery_first(session, mode)
            tasks.start_soon(follow_changes if session.server_info.modern else wire.listen, session)
            yield session
        finally:
            await wire.close()
            tasks.cancel_scope.cancel()


class StreamPosition:
    """Where to resume a stream of events, and when."""

    def __init__(self) -> None:
        self.last = ""
        self.failures = 0
        self._wait: float | None = None

    def note(self, event: httpx2.ServerSentEvent) -> None:
        self.last = event.id or self.last
        self.failures = 0
        if event.retry is not None:
            self._wait = min(max(event.retry, 0) / 1000, LONGEST_WAIT)

    async def wait(self) -> None:
        """Wait as long as the server asked, else longer with each failure."""
        seconds = self._wait if self._wait is not None else min(FIRST_WAIT * 2**self.failures, LONGEST_WAIT)
        self.failures += 1
        await anyio.sleep(seconds)


class StreamableHttpWire:
    closing_cancels = True
    session: Session

    def __init__(self, http: HttpConnection, tasks: TaskGroup) -> None:
        self._http = http
        self._posts = Posts(tasks, self._post)
        self._id = ""
        """The session id that the server gave us in the handshake era."""

    def send(self, message: JsonObject) -> None:
        self._posts.start(message, self.session)

    def abandon(self, number: int) -> None:
        self._posts.abandon(number)

    async def flush(self) -> None:
        await self._posts.flush()

    async def listen(self, session: Session) -> None:
        """Read what the server sends outside of requests; reopen the stream with back-off."""
        position = StreamPosition()
        while not session.lost.is_set():
            try:
                if not await self._read_stream(position):
                    return
            except (httpx2.HTTPError, UpstreamError) as error:
                _log.debug("The stream of a server broke: %s", error)
            await position.wait()

    async def close(self) -> None:
        """End the server's session."""
        if not self._id or self.session.lost.is_set():
            return
        with anyio.move_on_after(CLOSE_SECONDS, shield=True):
            try:
                async with self._http.stream("DELETE", self._headers()):
                    return
            except (httpx2.HTTPError, UpstreamError) as error:
                _log.debug("A session could not be ended: %s", error)

    async def _post(self, message: JsonObject, number: int | None) -> None:
        headers = self._headers() | request_headers(message, self.session.version, self.session.header_parameters)
        if message.get("method") == "initialize":
            headers.pop(_SESSION, None)
        async with self._http.stream("POST", headers, messages.encode(message)) as response:
            if message.get("method") == "initialize":
                self._id = response.headers.get(_SESSION, "")
            if response.is_error:
                await self._refused(response, number)
            elif number is not None:
                await self._read(response, number)

    async def _refused(self, response: httpx2.Response, number: int | None) -> None:
        if response.status_code == 404 and self._id:
            self._end_session()
        elif number is None:
            raise refused(response)
        if number is not None and content_type(response) == "application/json":
            try:
                self.session.receive(await response.aread(), number)
            except ValueError:
                _log.debug("A server's error response is not JSON")
        if number is not None:
            self.session.fail(number, refused(response))

    async def _read(self, response: httpx2.Response, number: int) -> None:
        match content_type(response):
            case "application/json":
                self.session.receive(await response.aread(), number)
            case "text/event-stream":
                await self._read_answer(response, number)
            case kind:
                what = "HTTP 202 and no response" if response.status_code == 202 else kind or "no content type"
                raise UpstreamError(f"The server's answer could not be read: it has {what}", rpc_code=0)
        self.session.fail(number, UpstreamError("The server's answer could not be read: it has no response"))

    async def _read_answer(self, response: httpx2.Response, number: int) -> None:
        """Read a request's stream up to its response; resume it if it breaks before that."""
        position = StreamPosition()
        try:
            await self._read_events(response, position, number)
        except httpx2.HTTPError as error:
            if not position.last:
                raise
            _log.debug("The stream of a request broke: %s", error)
        while self.session.is_waiting(number):
            if not position.last or position.failures >= MAX_RESUMPTIONS:
                raise UpstreamError("The server ended the stream without a response", ended=True)
            await position.wait()
            try:
                if not await self._read_stream(position, number):
                    return
            except httpx2.HTTPError as error:
                _log.debug("The stream of a request could not be resumed: %s", error)

    async def _read_stream(self, position: StreamPosition, number: int | None = None) -> bool:
        """Read a GET stream from a position to its end; return False if the server does not offer one."""
        headers = {**self._headers(), "accept": EVENTS, **({"last-event-id": position.last} if position.last else {})}
        if self.session.version:
            headers["mcp-protocol-version"] = self.session.version
        async with self._http.stream("GET", headers) as response:
            if response.status_code == 404 and self._id:
                self._end_session()
                return False
            if response.is_client_error or (response.is_success and content_type(response) != EVENTS):
                if number is not None:
                    self.session.fail(number, refused(response))
                return False
            if response.is_success:
                await self._read_events(response, position, number)
            return True

    async def _read_events(self, response: httpx2.Response, position: StreamPosition, number: int | None) -> None:
        with anyio.CancelScope() as rest:
            async for event in events_of(response):
                position.note(event)
                if event.event == "message" and event.data:
                    self._take(event.data, number)
                if number is not None and not self.session.is_waiting(number):
                    rest.deadline = min(rest.deadline, anyio.current_time() + DRAIN_SECONDS)

    def _take(self, data: str, number: int | None) -> None:
        try:
            self.session.receive(data, number)
        except ValueError:
            self.session.handlers.stderr(f"(not a message) {data[:200]}")

    def _end_session(self) -> None:
        # The server has forgotten us, for instance after a restart; the owner of the connection makes a new one.
        self._id = ""
        self.session.end()

    def _headers(self) -> dict[str, str]:
        headers = {"accept": f"application/json, {EVENTS}", "content-type": "application/json"}
        return headers | {_SESSION: self._id} if self._id else headers
