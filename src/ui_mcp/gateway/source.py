"""A source: one API or one mounted server, with what policy and search want to know about each of its tools."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal, Protocol

from ui_mcp.errors import GatewayError
from ui_mcp.jsontypes import JsonObject, digest, sorted_dumps
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
    server: str = ""
    """Where its calls go: the address of an API or server, or the command that starts it."""

    @property
    def name(self) -> str:
        """The listed name."""
        return self.tool.name

    @property
    def fingerprint(self) -> str:
        """What a rule or an answer is about; it changes when the name comes to mean something else.

        A description does not count: some servers write the date there.
        """
        meant = [self.method, self.path] if self.method else [self.local_name, sorted_dumps(self.tool.input_schema)]
        return digest([self.kind, self.source, self.server, *meant])[:32]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a call would do."""

    shown: JsonObject | None
    """The request, secrets masked; None when there is nothing more to show than the arguments."""
    digest: str
    """Binds the request as it would be sent, but for credentials, which may rotate."""


@dataclass(frozen=True, slots=True)
class Permit:
    """What a verdict was about; a source carries out nothing else."""

    operation: str
    """The fingerprint of the operation that was judged."""
    request: str | None = None
    """The digest of the request a person saw; None when policy allowed any."""

    def require(self, name: str, operation: str, request: str) -> None:
        """Check what is about to be sent.

        Raises:
            ChangedError: it is not what the verdict was about.
        """
        if self.operation != operation or self.request not in (None, request):
            raise ChangedError(f"{name} changed since it was approved; nothing was sent")


class ChangedError(GatewayError):
    """A call is no longer what policy or a person agreed to."""

    code = "changed"


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

    def is_dry_run(self, name: str, arguments: JsonObject, call: Call) -> bool:
        """Say whether a call asks for its preview only.

        Raises:
            InvalidArgumentsError: it says both.
        """
        ...

    async def preview(self, name: str, arguments: JsonObject, call: Call) -> Preview:
        """Show what a call would send; sends nothing, to nobody."""
        ...

    async def call(self, name: str, arguments: JsonObject, call: Call, permit: Permit | None = None) -> ToolResult:
        """Call a tool by its listed name, if that is still what the permit is about.

        Raises:
            ChangedError: it is not; nothing was sent.
        """
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
