"""Toolset protocol, combined toolsets, and toolsets and resource sets that are built on first use."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, Protocol, TypeVar

import anyio
from anyio import to_thread

from ui_mcp.errors import UnknownToolError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceSet, ResourceTemplate
from ui_mcp.toolkit.tool import Call, Tool, ToolResult


class Toolset(Protocol):
    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the tools in a stable order."""
        ...

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Run the tool called `name`.

        Raises:
            UnknownToolError: there is no such tool here.
            UiMcpError: the tool failed in a way the agent can act on.
        """
        ...


class Combined:
    """Several toolsets as one; the first that knows a name runs it."""

    def __init__(self, parts: Sequence[Toolset]) -> None:
        self._parts = parts

    async def tools(self, call: Call) -> Sequence[Tool]:
        return [tool for part in self._parts for tool in await part.tools(call)]

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        unknown = UnknownToolError(name)
        for part in self._parts:
            try:
                return await part.call(name, arguments, call)
            except UnknownToolError as error:
                unknown = error  # the last part may suggest a name
        raise unknown


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
    """A toolset that `build` creates on first use; calls wait for `ready`, listing does not.

    `recorded` returns the tools that it would list, so that listing them need not create it; None if not known.
    `choose` returns those of them that a client is shown; it can call the others all the same.
    """

    def __init__(
        self,
        build: Callable[[], Toolset],
        ready: Callable[[], Awaitable[None]],
        recorded: Callable[[], Sequence[Tool] | None] = lambda: None,
        choose: Callable[[Sequence[Tool], Call], Sequence[Tool]] = lambda tools, _: tools,
    ) -> None:
        self._toolset = _Once(build)
        self._ready = ready
        self._recorded = recorded
        self._choose = choose

    async def tools(self, call: Call) -> Sequence[Tool]:
        recorded = self._recorded()
        tools = await (await self._toolset.get()).tools(call) if recorded is None else recorded
        return self._choose(tools, call)

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
