"""ServerDefinition: the tools, resources, prompts and capabilities of one MCP server, for every transport and era."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.mcp_server.request import Request
from ui_mcp.mcp_server.results import StoreOverflow
from ui_mcp.mcp_server.versions import Client
from ui_mcp.toolkit.announcements import Announcements, ListKind
from ui_mcp.toolkit.resources import ResourceSet
from ui_mcp.toolkit.tool import Call
from ui_mcp.toolkit.toolset import Toolset

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from ui_mcp.mcp_server.notifications import NotificationQueue

ALIASES: Mapping[str, str] = MappingProxyType({"ui-mcp://": "ui://"})
MAX_RESULT_CHARS = 60_000


class Prompts(Protocol):
    """Prompts and argument completion; only servers that relay other servers have them."""

    async def prompts(self, call: Call) -> Sequence[JsonObject]:
        """Return the prompts in the protocol's JSON format."""
        ...

    async def get(self, name: str, arguments: Mapping[str, str], call: Call) -> JsonObject:
        """Return one prompt's messages.

        Raises:
            NotFoundError: there is no such prompt.
        """
        ...

    async def complete(self, reference: JsonObject, argument: JsonObject, call: Call) -> JsonObject:
        """Return `{"values": […], "total"?, "hasMore"?}` for an argument being typed."""
        ...


Answer = Callable[[str, JsonObject, Call], Awaitable[JsonObject]]
"""Calls a tool by its name and returns the result of `tools/call`."""


class TaskExtension(Protocol):
    """An extension of the modern era by which calls of tools outlive their requests; `mcp_tasks` is one."""

    name: str
    """Of the capability that client and server declare."""

    def methods(self, answer: Answer) -> Mapping[str, Callable[[Request], Awaitable[JsonObject]]]:
        """Return the handlers of further methods."""
        ...

    @property
    def busy(self) -> bool:
        """Whether a call runs that only this process can finish."""
        ...

    def paused(self) -> "AbstractAsyncContextManager[None]":
        """End all calls after the block."""
        ...

    def is_declared_by(self, client: Client) -> bool: ...

    async def call(self, request: Request, answer: Answer, repeatable: Callable[[], Awaitable[bool]]) -> JsonObject:
        """Answer `tools/call` of a client that declared the extension."""
        ...

    async def watch(
        self, queue: "NotificationQueue", request: Request, ids: Sequence[str], answer: Answer
    ) -> Sequence[str]:
        """Notify a stream of changes; return those ids that the client may watch."""
        ...

    def unwatch(self, queue: "NotificationQueue") -> None: ...


@dataclass(frozen=True, slots=True)
class ServerDefinition:
    name: str
    title: str
    version: str
    toolset: Toolset
    resources: ResourceSet | None = None
    announcements: Announcements = field(default_factory=Announcements)
    instructions: str | Callable[[], str] | None = None
    """What models should know; a function is called for each client that connects."""
    prompts: Prompts | None = None
    list_changed: frozenset[ListKind] = frozenset({"resources"})
    """The lists that can change while a client is connected."""
    experimental: Mapping[str, JsonObject] = field(default_factory=dict)
    """Experimental capabilities of the handshake era."""
    extensions: Mapping[str, JsonObject] = field(default_factory=dict)
    """Extensions of the modern era."""
    aliases: Mapping[str, str] = field(default_factory=lambda: ALIASES)
    """Alternative URI prefixes and the prefix that each stands for."""
    max_result_chars: Callable[[], int] = lambda: MAX_RESULT_CHARS
    spill: StoreOverflow | None = None
    """Stores texts longer than `max_result_chars`; if None, results are never truncated."""
    tools_per_page: int = 0
    """Tools per page of the list; 0 lists all at once, because many clients ignore cursors."""
    tasks: TaskExtension | None = None
    """Where calls that take long become tasks; None if this server has no tasks."""
    extra_handlers: Mapping[str, Callable[[Request], Awaitable[JsonObject]]] = field(default_factory=dict)
    """Handlers of further methods, or instead of ours."""

    def current_instructions(self) -> str | None:
        return self.instructions() if callable(self.instructions) else self.instructions

    def canonical(self, uri: str) -> str:
        """Return the URI that an alias stands for, or `uri` itself."""
        for alias, prefix in self.aliases.items():
            if uri.startswith(alias):
                return prefix + uri[len(alias) :]
        return uri
