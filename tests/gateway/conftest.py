"""A real HTTP server that keeps the exact bytes it was sent, and what the tests of targets share."""

from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import anyio
import pytest
from anyio.abc import SocketStream

from ui_mcp.gateway.config.settings import TargetSettings
from ui_mcp.gateway.openapi.live import DocumentCache, LiveTarget
from ui_mcp.gateway.results import ResultStore
from ui_mcp.gateway.sanitize import SecretMasker
from ui_mcp.jsontypes import Json, dumps
from ui_mcp.validation import read


@dataclass(frozen=True)
class Recorded:
    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def target(self) -> str:
        return self.line.split(" ")[1]


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


def json_reply(value: Json, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(status, dumps(value).encode(), {"Content-Type": "application/json", **named})


class Recorder:
    """Answers by path, else with the default reply."""

    def __init__(self) -> None:
        self.requests: list[Recorded] = []
        self.replies: dict[str, Callable[[Recorded], Reply] | Reply] = {}
        self.default: Callable[[Recorded], Reply] | Reply = Reply()
        self.url = ""

    @property
    def last(self) -> Recorded:
        return self.requests[-1]

    async def handle(self, stream: SocketStream) -> None:
        """Answer until the client leaves, which it may do at any moment."""
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            await self._serve(stream)

    async def _serve(self, stream: SocketStream) -> None:
        buffer = b""
        async with stream:
            while True:
                while b"\r\n\r\n" not in buffer:
                    buffer += await stream.receive()
                head, _, buffer = buffer.partition(b"\r\n\r\n")
                line, *rows = head.decode("latin-1").split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (row.partition(":") for row in rows)}
                size = int(headers.get("content-length", 0))
                while len(buffer) < size:
                    buffer += await stream.receive()
                body, buffer = buffer[:size], buffer[size:]
                request = Recorded(line, headers, body)
                self.requests.append(request)
                await stream.send(self._answer(request))

    def _answer(self, request: Recorded) -> bytes:
        found = self.replies.get(request.target) or self.replies.get(request.target.split("?")[0]) or self.default
        reply = found(request) if callable(found) else found
        rows = [f"HTTP/1.1 {reply.status} Reason", *(f"{name}: {value}" for name, value in reply.headers.items())]
        rows.append(f"Content-Length: {len(reply.body)}")
        return ("\r\n".join(rows) + "\r\n\r\n").encode("latin-1") + reply.body


@pytest.fixture
async def recorder() -> AsyncIterator[Recorder]:
    found = Recorder()
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    found.url = f"http://127.0.0.1:{port}"
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, found.handle)
        yield found
        group.cancel_scope.cancel()


class MakeTarget(Protocol):
    def __call__(self, document: Json = None, **settings: Json) -> LiveTarget: ...


@pytest.fixture
def make_target(tmp_path: Path) -> MakeTarget:
    """Build a target from a document given as JSON, or from settings alone."""

    def make(document: Json = None, **settings: Json) -> LiveTarget:
        if document is not None:
            spec = tmp_path / "openapi.json"
            spec.write_text(dumps(document))
            settings.setdefault("spec", str(spec))
        settings.setdefault("name", "api")
        return LiveTarget(
            read(TargetSettings, settings),
            cache=DocumentCache(tmp_path / "cache"),
            store=ResultStore(tmp_path / "results"),
            masker=SecretMasker(),
        )

    return make


def document(paths: Json, **more: Json) -> Json:
    """An OpenAPI 3.0 document with these paths."""
    return {"openapi": "3.0.3", "info": {"title": "Ours", "version": "1"}, "paths": paths, **more}
