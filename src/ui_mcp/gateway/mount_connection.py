"""What the gateway needs of a connected MCP server; the part of the program that speaks MCP supplies it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

import anyio

from ui_mcp.gateway.config.settings import BackendSettings
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.announcements import ListKind
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Call, Tool, ToolResult


class Connection(Protocol):
    """A server that answers."""

    lost: anyio.Event

    @property
    def notes(self) -> Sequence[str]:
        """What of its lists was left out or mended because it was malformed."""
        ...

    @property
    def name(self) -> str:
        """The name the server gives itself."""
        ...

    @property
    def instructions(self) -> str | None:
        """What the server tells agents about itself."""
        ...

    def offers(self, kind: ListKind) -> bool:
        """Say whether the server has such things at all."""
        ...

    async def ping(self) -> None:
        """See whether the server is still there."""
        ...

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return its tools."""
        ...

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call a tool."""
        ...

    async def resources(self, call: Call) -> Sequence[Resource]:
        """Return its resources."""
        ...

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        """Return its templates."""
        ...

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        """Read a resource."""
        ...

    async def prompts(self, call: Call) -> Sequence[JsonObject]:
        """Return its prompts."""
        ...

    async def get(self, name: str, arguments: Mapping[str, str], call: Call) -> JsonObject:
        """Return a prompt."""
        ...

    async def complete(self, reference: JsonObject, argument: JsonObject, call: Call) -> JsonObject:
        """Complete an argument."""
        ...

    async def subscribe(self, uri: str) -> None:
        """Ask to be told of changes."""
        ...

    async def unsubscribe(self, uri: str) -> None:
        """Stop being told."""
        ...


@dataclass(frozen=True, slots=True)
class Listeners:
    """Whom a connection tells what its server says."""

    list_changed: Callable[[ListKind], None]
    resource_updated: Callable[[str, JsonObject | None], None]
    stderr: Callable[[str], None]
    ending: Callable[[], bool] = lambda: False
    """Says whether the whole gateway ends, so that a child process gets less time."""


Connect = Callable[[BackendSettings, Listeners], AbstractAsyncContextManager[Connection]]
"""Connects to a server for the length of a block; raises MountError when it cannot."""
