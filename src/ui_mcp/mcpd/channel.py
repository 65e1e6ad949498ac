"""A connection to a foreign MCP server as its users need it: raw JSON out and back, whatever carries it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import anyio

from ui_mcp.jsontypes import JsonObject

Heard = Callable[[float, float | None, str | None], Awaitable[None]]
"""Is told how far a request has come."""

CLIENT_INFO: JsonObject = {"name": "ui-mcp", "version": "1"}


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a server says about itself."""

    modern: bool
    name: str
    instructions: str | None
    capabilities: JsonObject


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a request may be silent; progress extends it."""

    seconds: float
    progress: Heard


class Channel(Protocol):
    """A server that answers requests."""

    greeting: Greeting
    lost: anyio.Event
    """Set when the server's end of the connection closes."""

    async def request(self, method: str, params: JsonObject, patience: Patience | None = None) -> JsonObject:
        """Return the result as it came.

        Raises:
            UpstreamError: the server refused, is gone, or was silent for too long.
        """
        ...

    async def subscribe(self, uri: str) -> None:
        """Ask to be told of changes of `uri`."""
        ...

    async def unsubscribe(self, uri: str) -> None:
        """Stop being told."""
        ...


@dataclass(frozen=True, slots=True)
class Hooks:
    """Whom a channel tells what the server says of its own accord."""

    notified: Callable[[str, JsonObject], None]
    """Takes a notification: method and parameters."""
    asked: Callable[[str, JsonObject], Awaitable[JsonObject]]
    """Answers a request of the server; raises UpstreamError to refuse it."""
    stderr: Callable[[str], None]
    capabilities: JsonObject
    """What we tell the server we can do."""
