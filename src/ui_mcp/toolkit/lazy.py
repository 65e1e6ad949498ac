"""Toolsets and resource sets that are built on first use, so that a server can answer before they are loaded."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import anyio
from anyio import to_thread

from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceSet, ResourceTemplate
from ui_mcp.toolkit.tool import Call, Tool, ToolResult
from ui_mcp.toolkit.toolset import Toolset
from ui_mcp.ui.server import Host

T = TypeVar("T")


class _Once(Generic[T]):
    """Builds a value in a worker thread, once; importing modules must not stop the event loop."""

    def __init__(self, build: Callable[[], T]) -> None:
        self._build = build
        self._value: list[T] = []
        self._lock = anyio.Lock()

    async def get(self) -> T:
        """Return the value."""
        async with self._lock:
            if not self._value:
                self._value.append(await to_thread.run_sync(self._build))
        return self._value[0]


class DeferredToolset:
    """A toolset that `build` makes when it is first asked."""

    def __init__(self, build: Callable[[], Toolset]) -> None:
        self._toolset = _Once(build)

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the tools."""
        return await (await self._toolset.get()).tools(call)

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Run one tool."""
        return await (await self._toolset.get()).call(name, arguments, call)


class DeferredResources:
    """A resource set that `build` makes when it is first asked."""

    def __init__(self, build: Callable[[], ResourceSet]) -> None:
        self._resources = _Once(build)

    async def resources(self, call: Call) -> Sequence[Resource]:
        """Return the listed resources."""
        return await (await self._resources.get()).resources(call)

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        """Return the templates."""
        return await (await self._resources.get()).templates(call)

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        """Read one resource."""
        return await (await self._resources.get()).read(uri, call)


class Settled:
    """A toolset whose calls wait until the start-up configuration has been tried."""

    def __init__(self, host: Host, toolset: Toolset) -> None:
        self._host = host
        self._toolset = toolset

    async def tools(self, call: Call) -> Sequence[Tool]:
        """List at once; listing does not depend on the lifecycle."""
        return await self._toolset.tools(call)

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Wait, then call."""
        await self._host.settled()
        return await self._toolset.call(name, arguments, call)


class SettledResources:
    """Resources whose listing and reading wait in the same way: they depend on the base directory."""

    def __init__(self, host: Host, resources: ResourceSet) -> None:
        self._host = host
        self._resources = resources

    async def resources(self, call: Call) -> Sequence[Resource]:
        """Wait, then list."""
        await self._host.settled()
        return await self._resources.resources(call)

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        """Return the templates."""
        return await self._resources.templates(call)

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        """Wait, then read."""
        await self._host.settled()
        return await self._resources.read(uri, call)
