"""Toolsets and resource sets that are built on first use, so that a server can answer before they are loaded."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

import anyio
from anyio import to_thread

from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceSet, ResourceTemplate
from ui_mcp.toolkit.tool import Call, Tool, ToolResult
from ui_mcp.toolkit.toolset import Toolset

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


class LazyToolset:
    """A toolset that `build` makes on first use; calls, unlike listing, wait until `ready`."""

    def __init__(self, build: Callable[[], Toolset], ready: Callable[[], Awaitable[None]]) -> None:
        self._toolset = _Once(build)
        self._ready = ready

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the tools."""
        return await (await self._toolset.get()).tools(call)

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Run one tool."""
        await self._ready()
        return await (await self._toolset.get()).call(name, arguments, call)


class LazyResources:
    """A resource set that `build` makes on first use; listing and reading wait until `ready`."""

    def __init__(self, build: Callable[[], ResourceSet], ready: Callable[[], Awaitable[None]]) -> None:
        self._resources = _Once(build)
        self._ready = ready

    async def resources(self, call: Call) -> Sequence[Resource]:
        """Return the listed resources."""
        await self._ready()
        return await (await self._resources.get()).resources(call)

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        """Return the templates."""
        return await (await self._resources.get()).templates(call)

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        """Read one resource."""
        await self._ready()
        return await (await self._resources.get()).read(uri, call)
