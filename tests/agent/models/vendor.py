"""A local server that answers in a vendor's shape and writes down what it was asked."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from ui_mcp.agent.models.http import Endpoint, ModelHttp
from ui_mcp.jsontypes import dumps
from ui_mcp.webserver.server import bind, listening, port_of


@dataclass
class Vendor:
    """Gives its answers one after the other, the last one again and again."""

    url: str
    answers: list[Any] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    connections: set[int] = field(default_factory=set)
    """Ports from which requests came."""
    clients: list[ModelHttp] = field(default_factory=list)

    def http(self, headers: Mapping[str, str] = {}, *, attempts: int = 6, idle: float = 60.0) -> ModelHttp:
        """Return a client of this server that is closed with it."""
        client = ModelHttp(Endpoint(self.url, headers, attempts=attempts, first_wait=0.001, idle_seconds=idle))
        self.clients.append(client)
        return client

    def streams(self, *events: Any, names: bool = False) -> None:
        """Answer with an event stream; with `names` each event is announced by its type."""
        lines = [": hello\r\n\r\n"]
        for event in events:
            text = event if isinstance(event, str) else dumps(event)
            name = f"event: {event['type']}\r\n" if names else ""
            lines.append(f"{name}data: {text}\r\n\r\n")
        self.answers.append(lines)

    def refuses(self, status: int, body: str, **headers: str) -> None:
        """Answer with an error."""
        self.answers.append((status, body, headers))

    def falls_silent(self, *events: Any, names: bool = False) -> None:
        """Begin an answer and say nothing more."""
        self.streams(*events, names=names)
        self.answers[-1].append(None)

    def breaks_off(self, *events: Any, names: bool = False) -> None:
        """Begin an answer and close the connection."""
        self.streams(*events, names=names)
        self.answers[-1].append(ConnectionError("the test ends the answer here"))

    async def answer(self, request: Request) -> Response:
        self.asked.append(await request.json())
        self.paths.append(f"{request.url.path}?{request.url.query}".rstrip("?"))
        self.headers.append(dict(request.headers))
        assert request.client is not None
        self.connections.add(request.client.port)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, tuple):
            status, body, headers = answer
            return PlainTextResponse(body, status, {name.replace("_", "-"): value for name, value in headers.items()})

        async def lines() -> AsyncIterator[str]:
            for line in answer:
                if isinstance(line, ConnectionError):
                    raise line
                if line is None:
                    await anyio.sleep(30)
                    return
                yield line

        return StreamingResponse(lines(), media_type="text/event-stream")


@asynccontextmanager
async def vendor() -> AsyncIterator[Vendor]:
    """Run a vendor on a free port."""
    socket = bind("127.0.0.1", 0)
    serving = Vendor(f"http://127.0.0.1:{port_of(socket)}")
    app = Starlette(routes=[Route("/{path:path}", serving.answer, methods=["POST"])])
    async with listening(app, socket):
        yield serving
        for client in serving.clients:
            await client.close()
