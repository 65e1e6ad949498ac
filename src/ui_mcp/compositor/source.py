"""A source: one API or one mounted server, with what policy and search want to know about each of its tools."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal, Protocol

from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, Tool, ToolResult

Kind = Literal["target", "backend", "builtin"]
State = Literal["pending", "active", "stale", "failed", "closed"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A tool of the catalogue."""

    tool: Tool
    source: str
    kind: Kind
    local_name: str
    """The tool's own name at its source."""
    method: str = ""
    path: str = ""
    tags: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The listed name."""
        return self.tool.name


@dataclass(frozen=True, slots=True)
class Health:
    """How a source is."""

    name: str
    kind: Kind
    state: State
    tools: int = 0
    error: str = ""
    restarts: int = 0
    since: str = ""
    where: str = ""
    pinned: bool = False
    details: JsonObject | None = None


def health_json(entries: Sequence[Health]) -> list[dict[str, object]]:
    """Return health for people and programs."""
    return [{key: value for key, value in asdict(entry).items() if value not in ("", None)} for entry in entries]


class Source(Protocol):
    """Lists and calls the tools of one API or server."""

    @property
    def name(self) -> str:
        """The prefix of its tools."""
        ...

    def entries(self) -> Sequence[Entry]:
        """Return what is known now, without waiting."""
        ...

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call a tool by its listed name."""
        ...

    async def preview(self, name: str, arguments: JsonObject, call: Call) -> JsonObject | None:
        """Show what a call would send, secrets masked; None when there is nothing more to show than its arguments."""
        ...

    async def describe(self, name: str) -> JsonObject:
        """Return everything known about a tool."""
        ...

    def health(self) -> Health:
        """Say how the source is."""
        ...

    def instructions(self) -> str:
        """Return what a model should know about the source; empty when nothing."""
        ...
