"""Carries a session over HTTP+SSE, the transport of 2024-11-05: one stream for all answers, a POST per message."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx2
from anyio.abc import TaskGroup

from ui_mcp.errors import UpstreamError
from ui_mcp.http_client import same_origin
from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_client.http import (
    HttpConnection,
    Posts,
    content_type,
    events_of,
    open_connection,
    refused,
    unreachable,
)
from ui_mcp.mcp_client.negotiation import Mode, discovery_first, follow_changes
from ui_mcp.mcp_client.session import Session
from ui_mcp.mcp_client.transport import NotificationHandlers, SseUrl

_log = logger("mcp.client")


@asynccontextmanager
async def sse_session(address: SseUrl, handlers: NotificationHandlers, mode: Mode) -> AsyncIterator[Session]:
    """Connect for as long as the block runs.

    Raises:
        UpstreamError: the server cannot be reached, or does not speak MCP over SSE.
    """
    async with open_connection(address, handlers) as http, anyio.create_task_group() as tasks:
        wire = SseWire(http, tasks)
        session = wire.session = Session(wire, handlers, tasks)
        try:
            tasks.start_soon(wire.read)
            await wire.opened()
            await discovery_first(session, mode)
            if session.server_info.modern:
                tasks.start_soon(follow_changes, session)
            yield session
        finally:
            session.end()
            tasks.cancel_scope.cancel()


class SseWire:
    closing_cancels = False
    session: Session

    def __init__(self, http: HttpConnection, tasks: TaskGroup) -> None:
        self._http = http
        self._posts = Posts(tasks, self._post)
        self._endpoint = ""
        self._opened = anyio.Event()
        self._problem = UpstreamError("The server ended the stream before it named its endpoint")

    async def opened(self) -> None:
        """Wait until the server has said where to send messages.

        Raises:
            UpstreamError: it does not.
        """
        await self._opened.wait()
        if not self._endpoint:
            raise self._problem

    def send(self, message: JsonObject) -> None:
        self._posts.start(message, self.session)

    def abandon(self, number: int) -> None:
        self._posts.abandon(number)

    async def flush(self) -> None:
        await self._posts.flush()

    async def read(self) -> None:
        """Read the stream until the server ends it."""
        try:
            async with self._http.stream("GET", {"accept": "text/event-stream"}) as response:
                if response.is_error:
                    raise refused(response)
                if content_type(response) != "text/event-stream":
                    raise UpstreamError("The server's answer is not a stream of events")
                async for event in events_of(response):
                    self._take(event)
        except Exception as error:  # noqa: BLE001 - whatever a server makes the client raise ends this stream only
            self._problem = unreachable(error)
            _log.info("The stream of a server ended: %s", self._problem.message)
        self.session.end()
        self._opened.set()

    def _take(self, event: httpx2.ServerSentEvent) -> None:
        if event.event == "endpoint" and not self._endpoint:
            endpoint = str(httpx2.URL(self._http.url).join(event.data))
            if not same_origin(endpoint, self._http.url):
                raise UpstreamError(f"The server wants messages sent to another origin: {endpoint}", fatal=True)
            self._endpoint = endpoint
            self._opened.set()
        elif event.event == "message" and event.data:
            try:
                self.session.receive(event.data)
            except ValueError:
                self.session.handlers.stderr(f"(not a message) {event.data[:200]}")

    async def _post(self, message: JsonObject, number: int | None) -> None:
        headers = {"content-type": "application/json"}
        async with self._http.stream("POST", headers, messages.encode(message), self._endpoint) as response:
            if response.is_error:
                raise refused(response)
