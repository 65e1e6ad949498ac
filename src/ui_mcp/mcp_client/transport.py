"""Transport protocol, addresses, notification relay."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, get_args

import anyio
import httpx2

from ui_mcp.http_client import open_client
from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.announcements import ListKind


@dataclass(frozen=True, slots=True)
class Command:
    """A server we start and talk to over its standard streams."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class HttpUrl:
    """A server behind streamable HTTP."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SseUrl:
    """A server behind the older HTTP+SSE transport."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)


Address = Command | HttpUrl | SseUrl


def _client(
    url: str,
    secret: Mapping[str, str],
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
) -> httpx2.AsyncClient:
    """Return a client that sends the configured headers to the server's own origin alone."""
    return open_client(
        events=True,
        bound=secret,
        origin=url,
        trust_env=True,
        follow_redirects=True,
        headers=headers,
        timeout=timeout,
        auth=auth,
    )


UPDATED = "notifications/resources/updated"
_KINDS: tuple[ListKind, ...] = get_args(ListKind)
_CHANGED: dict[str, ListKind] = {f"notifications/{kind}/list_changed": kind for kind in _KINDS}


def relay_notifications(
    list_changed: Callable[[ListKind], None], resource_updated: Callable[[str, JsonObject | None], None]
) -> Callable[[str, JsonObject], None]:
    """Return what takes a server's notifications, of either era."""

    def notified(method: str, params: JsonObject) -> None:
        kind, uri = _CHANGED.get(method), params.get("uri")
        if kind is not None:
            list_changed(kind)
        elif method == UPDATED and isinstance(uri, str):
            extra = {key: value for key, value in params.items() if key not in {"uri", messages.META}}
            resource_updated(uri, extra or None)

    return notified


ProgressCallback = Callable[[float, float | None, str | None], Awaitable[None]]
"""Is data how far a request has come."""

CLIENT_INFO: JsonObject = {"name": "ui-mcp", "version": "1"}


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server says about itself."""

    modern: bool
    name: str
    instructions: str | None
    capabilities: JsonObject


@dataclass(frozen=True, slots=True)
class RequestTimeout:
    """How long a request may be silent; progress extends it."""

    seconds: float
    progress: ProgressCallback


class Transport(Protocol):
    """A server that answers requests."""

    server_info: ServerInfo
    lost: anyio.Event
    """Set when the server's end of the connection closes."""

    async def request(
        self, method: str, params: JsonObject, request_timeout: RequestTimeout | None = None
    ) -> JsonObject:
        """Return the result as it came.

        Raises:
            UpstreamError: the server refused, is gone, or was silent for too long.
        """
        ...

    async def subscribe(self, uri: str) -> None:
        """Ask to be data of changes of `uri`."""
        ...

    async def unsubscribe(self, uri: str) -> None:
        """Stop being data."""
        ...


@dataclass(frozen=True, slots=True)
class NotificationHandlers:
    """Whom a transport tells what the server says of its own accord."""

    notified: Callable[[str, JsonObject], None]
    """Takes a notification: method and parameters."""
    asked: Callable[[str, JsonObject], Awaitable[JsonObject]]
    """Answers a request of the server; raises UpstreamError to refuse it."""
    stderr: Callable[[str], None]
    capabilities: JsonObject
    """What we report the server we can do."""
