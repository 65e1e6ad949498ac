"""Where a foreign MCP server is found, and the SDK transport that reaches one behind a URL."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import get_args

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


def relayed(
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
