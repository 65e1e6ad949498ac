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
    """Builds a value once, in a worker thread, because importing modules would block the event loop."""

    def __init__(self, build: Callable[[], T]) -> None:
        self._build = build
        self._value: list[T] = []  # empty until built, because None may be a value
        self._lock = anyio.Lock()

    async def get(self) -> T:
        async with self._lock:
            if not self._value:
                self._value.append(await to_thread.run_sync(self._build))
        return self._value[0]


class LazyToolset:
    """A toolset that `build` creates on first use; calls wait for `ready`, listing does not."""

    def __init__(self, build: Callable[[], Toolset], ready: Callable[[], Awaitable[None]]) -> None:
        self._toolset = _Once(build)
        self._ready = ready

    async def tools(self, call: Call) -> Sequence[Tool]:
        return await (await self._toolset.get()).tools(call)

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        await self._ready()
        return await (await self._toolset.get()).call(name, arguments, call)


class LazyResources:
    """A resource set that `build` creates on first use; listing and reading wait for `ready`."""

    def __init__(self, build: Callable[[], ResourceSet], ready: Callable[[], Awaitable[None]]) -> None:
        self._resources = _Once(build)
        self._ready = ready

    async def resources(self, call: Call) -> Sequence[Resource]:
        await self._ready()
        return await (await self._resources.get()).resources(call)

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        return await (await self._resources.get()).templates(call)

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        await self._ready()
        return await (await self._resources.get()).read(uri, call)
