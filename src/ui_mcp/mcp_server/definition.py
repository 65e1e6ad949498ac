"""A Face: everything a client of one of our MCP servers can see, independent of transport and era."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.announcements import Announcements, ListKind
from ui_mcp.toolkit.resources import ResourceSet
from ui_mcp.toolkit.tool import Call
from ui_mcp.toolkit.toolset import Toolset

ALIASES: Mapping[str, str] = MappingProxyType({"ui-mcp://": "ui://"})
MAX_RESULT_CHARS = 60_000

StoreOverflow = Callable[[str], Awaitable[str]]
"""Keeps a text that is too long for an answer and returns where."""


class Prompts(Protocol):
    """Prompts and argument completion; only faces that relay other servers have them."""

    async def prompts(self, call: Call) -> Sequence[JsonObject]:
        """Return the prompts as the protocol writes them."""
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


@dataclass(frozen=True, slots=True)
class ServerDefinition:
    """One MCP server as its clients know it."""

    name: str
    title: str
    version: str
    toolset: Toolset
    resources: ResourceSet | None = None
    announcements: Announcements = field(default_factory=Announcements)
    instructions: str | None = None
    prompts: Prompts | None = None
    list_changed: frozenset[ListKind] = frozenset({"resources"})
    """The listings that may change while a client is connected."""
    experimental: Mapping[str, JsonObject] = field(default_factory=dict)
    """Experimental capabilities of the handshake era."""
    extensions: Mapping[str, JsonObject] = field(default_factory=dict)
    """Extensions of the modern era."""
    aliases: Mapping[str, str] = field(default_factory=lambda: ALIASES)
    """URI prefixes that mean another prefix."""
    max_result_chars: Callable[[], int] = lambda: MAX_RESULT_CHARS
    spill: StoreOverflow | None = None
    """Where texts over `max_result_chars` go; without it nothing is cut."""
    tools_per_page: int = 0
    """How many tools one page of the list holds; 0 lists all at once, since many clients ignore cursors."""
    mirrors_arguments: bool = False
    """Whether any tool's schema has `x-mcp-header` annotations."""
    extra_handlers: Mapping[str, tuple[type[Any], Callable[..., Awaitable[Any]]]] = field(default_factory=dict)
    """Further SDK request handlers by method: (params model, handler)."""

    def canonical(self, uri: str) -> str:
        """Return the URI an alias stands for, or `uri` itself."""
        for alias, prefix in self.aliases.items():
            if uri.startswith(alias):
                return prefix + uri[len(alias) :]
        return uri
