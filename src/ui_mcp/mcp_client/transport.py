"""Server addresses, and what a connection needs to know of its owner."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.announcements import ListKind

# A server that is a child process needs no HTTP.
if TYPE_CHECKING:
    from ui_mcp.oauth.account import Account, Place
    from ui_mcp.oauth.metadata import Challenge


@dataclass(frozen=True, slots=True)
class Command:
    """A server that we start as a child process and reach over its stdin and stdout."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class HttpUrl:
    """A server behind streamable HTTP."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    place: "Place | None" = None
    """What the person configured for signing in; None if nothing."""


@dataclass(frozen=True, slots=True)
class SseUrl:
    """A server behind the older HTTP+SSE transport."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    place: "Place | None" = None


Address = Command | HttpUrl | SseUrl


UPDATED = "notifications/resources/updated"
_KINDS: tuple[ListKind, ...] = get_args(ListKind)
_CHANGED: dict[str, ListKind] = {f"notifications/{kind}/list_changed": kind for kind in _KINDS}


def relay_notifications(
    list_changed: Callable[[ListKind], None],
    resource_updated: Callable[[str, JsonObject | None], None],
    logged: Callable[[JsonObject], None] = lambda _: None,
) -> Callable[[str, JsonObject], None]:
    """Return a handler that maps a server's notifications, of either era, to the callbacks."""

    def notified(method: str, params: JsonObject) -> None:
        kind, uri = _CHANGED.get(method), params.get("uri")
        if kind is not None:
            list_changed(kind)
        elif method == UPDATED and isinstance(uri, str):
            extra = {key: value for key, value in params.items() if key not in {"uri", messages.META}}
            resource_updated(uri, extra or None)
        elif method == "notifications/message":
            logged(params)

    return notified


AskToSignIn = Callable[["Account", "Challenge"], Awaitable[None]]
"""Returns once the person has signed in; raises UpstreamError if they do not."""

ProgressCallback = Callable[[float, float | None, str | None], Awaitable[None]]
"""Called with the progress of a request: done, total and message."""

CLIENT_NAME = "ui-mcp"


@dataclass(frozen=True, slots=True)
class ServerInfo:
    modern: bool
    name: str
    instructions: str | None
    capabilities: JsonObject


@dataclass(frozen=True, slots=True)
class RequestTimeout:
    """Longest time without an answer or progress, and the callback for progress."""

    seconds: float
    progress: ProgressCallback


@dataclass(frozen=True, slots=True)
class NotificationHandlers:
    """Callbacks for the notifications and requests that the server sends."""

    notified: Callable[[str, JsonObject], None]
    """Called with a notification: method and parameters."""
    asked: Callable[[str, JsonObject], Awaitable[JsonObject]]
    """Answers a request of the server; raises UpstreamError to refuse it."""
    stderr: Callable[[str], None]
    capabilities: JsonObject
    """The client capabilities that we declare to the server."""
    sign_in: AskToSignIn | None = None
    """Lets the person sign in; None opens their browser."""
    client_name: str = CLIENT_NAME
    signing_in: Callable[[float], None] = lambda _: None
    """Called with the longest time, in seconds, that the person now gets to sign in."""

    @property
    def client_info(self) -> JsonObject:
        """What we tell the server about ourselves."""
        return {"name": self.client_name, "version": "1"}
