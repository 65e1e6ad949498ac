"""All tools of all sources in one list, and routing of calls to their source."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import anyio

from ui_mcp.discovery import lazy
from ui_mcp.errors import MountError, UiMcpError, UnknownToolError, UpstreamError
from ui_mcp.gateway.source import Entry, Health, Permit, Preview, Source
from ui_mcp.isolation import message_of
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.toolkit.names import closest
from ui_mcp.toolkit.tool import Call, ToolResult

if TYPE_CHECKING:
    from ui_mcp.gateway.search.index import Index
    from ui_mcp.gateway.search.vectors import token_vectors
else:
    Index = lazy("ui_mcp.gateway.search.index:Index")
    token_vectors = lazy("ui_mcp.gateway.search.vectors:token_vectors")

_log = logger("gateway")
T = TypeVar("T")
_MAX_INSTRUCTIONS = 2_000
BuildIndex = Callable[[Sequence[Entry]], "Index"]
"""Builds the search index of all tools; called in a worker thread."""


class Catalog:
    """The tools of every source; the routing table is rebuilt lazily after a source has changed."""

    def __init__(self, changed: Callable[[], None] = lambda: None, build_index: BuildIndex | None = None) -> None:
        self._sources: dict[str, Source] = {}
        self._internal: list[Source] = []
        self._table: dict[str, tuple[Entry, Source]] | None = None
        self._index: Index | None = None
        self._indexing = anyio.Lock()
        self._build_index = build_index or _index_without_cache
        self._changed = changed

    def add(self, source: Source) -> None:
        """Add a source.

        Raises:
            MountError: there is already a source of this name.
        """
        if source.name in self._sources:
            raise MountError(f"There is already a source named {source.name!r}", name=source.name)
        self._sources[source.name] = source
        self.changed()

    def add_internal(self, source: Source) -> None:
        """Add a source whose tools the gateway itself calls; they are neither listed nor found."""
        self._internal.append(source)
        self._table = None

    def remove(self, name: str) -> None:
        if self._sources.pop(name, None) is not None:
            self.changed()

    def changed(self) -> None:
        """Drop the routing table and the search index, and notify listeners that the tool list changed."""
        self._table = self._index = None
        self._changed()

    def index_again(self) -> None:
        """Build the search index anew with the next search, from the same tools."""
        self._index = None

    def source(self, name: str) -> Source | None:
        return self._sources.get(name)

    def sources(self) -> Iterable[Source]:
        """Return the sources in mounting order."""
        return self._sources.values()

    def health(self) -> list[Health]:
        return [source.health() for source in self._sources.values()]

    def entries(self) -> Sequence[Entry]:
        """Return all tools, grouped by source."""
        return [entry for entry, source in self._routes().values() if source not in self._internal]

    def entry(self, name: str) -> Entry:
        """Return the entry of a listed tool.

        Raises:
            UnknownToolError: there is no such tool; the message names the closest ones.
        """
        return self._find(name)[0]

    def has(self, name: str) -> bool:
        return name in self._routes()

    async def index(self) -> "Index":
        """Return the search index of the current tools, built with the first search in a worker thread."""
        async with self._indexing:
            while (index := self._index) is None:
                table = self._routes()
                offered = [entry for entry in self.entries() if not entry.tool.app_only]
                built = await anyio.to_thread.run_sync(self._build_index, offered)
                if self._table is table:  # the tools did not change meanwhile
                    self._index = built
        return index

    def instructions(self, hints: Sequence[str] = ()) -> str:
        """Return the instructions for models: how to call, `hints`, and a line for each source in mounting order.

        They are cut at 2,000 characters.
        """
        lines = [
            "A gateway to other APIs and MCP servers; tools are named SOURCE__TOOL.",
            (
                "API tools also take: _fields (paths to keep, e.g. items[].id), _max_rows, "
                "_pages (follow n pages of what only reads), _dry_run (show the request, send nothing)."
            ),
            *hints,
        ]
        for source in self.sources():
            hint = source.instructions()
            if hint:
                lines.append(hint[:600])
        text = "\n".join(lines)
        return text if len(text) <= _MAX_INSTRUCTIONS else text[: _MAX_INSTRUCTIONS - 1] + "…"

    async def call(self, name: str, arguments: JsonObject, call: Call, permit: Permit) -> ToolResult:
        """Call a tool at its source, within what the permit allows.

        Raises:
            ChangedError: the call is not what the permit is about.
            UpstreamError: the source failed, expectedly or not.
        """
        source = self._find(name)[1]
        return await _contained(source, source.call(name, arguments, call, permit))

    def is_dry_run(self, name: str, arguments: JsonObject, call: Call) -> bool:
        """Return whether a call only asks for its preview."""
        return self._find(name)[1].is_dry_run(name, arguments, call)

    async def preview(self, name: str, arguments: JsonObject, call: Call) -> Preview:
        """Return what a call would send, without sending it."""
        source = self._find(name)[1]
        return await _contained(source, source.preview(name, arguments, call))

    async def describe(self, name: str) -> JsonObject:
        source = self._find(name)[1]
        return await _contained(source, source.describe(name))

    def _find(self, name: str) -> tuple[Entry, Source]:
        found = self._routes().get(name)
        if found is None:
            raise unknown(name, [entry.name for entry in self.entries()])
        return found

    def _routes(self) -> dict[str, tuple[Entry, Source]]:
        if self._table is None:
            self._table = {}
            for source in (*self._internal, *self._sources.values()):
                for entry in source.entries():
                    self._table.setdefault(entry.name, (entry, source))  # the source mounted first wins
        return self._table


def _index_without_cache(entries: Sequence[Entry]) -> "Index":
    return Index(entries, token_vectors())


async def _contained(source: Source, work: Awaitable[T]) -> T:
    """Await work of a source; an unexpected exception becomes an UpstreamError that names the source."""
    try:
        return await work
    except (UiMcpError, OSError):
        raise  # expected failures, which have a message for the caller
    except Exception as error:
        _log.warning("%s failed unexpectedly", source.name, exc_info=error)
        raise UpstreamError(f"{source.name} {message_of(error)}") from error


def unknown(name: str, known: Iterable[str]) -> UnknownToolError:
    """Build the error for an unknown tool, with the closest names."""
    error = UnknownToolError(name)
    near = closest(name, known)
    if near:
        error.message = f"{error.message}; did you mean {', '.join(near)}?"
    return error
