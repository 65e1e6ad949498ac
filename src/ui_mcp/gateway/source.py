"""The Source protocol: one API or one mounted server, with what policy and search need to know about its tools."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal, Protocol

from ui_mcp.errors import GatewayError
from ui_mcp.jsontypes import JsonObject, digest, sorted_dumps
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.toolkit.tool import Call, Tool, ToolResult

Kind = Literal["target", "backend", "builtin"]
State = Literal["pending", "active", "stale", "failed", "closed"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A tool of the catalog."""

    tool: Tool
    source: str
    kind: Kind
    local_name: str
    """The tool's own name at its source."""
    method: str = ""
    path: str = ""
    tags: tuple[str, ...] = ()
    server: str = ""
    """The address of the API or server, or the command that starts it."""

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def fingerprint(self) -> str:
        """Identifies the operation that a rule or an answer is about; differs when the name means another one."""
        # The description is left out: some servers write the date there.
        operation = [self.method, self.path] if self.method else [self.local_name, sorted_dumps(self.tool.input_schema)]
        return digest([self.kind, self.source, self.server, *operation])[:32]


@dataclass(frozen=True, slots=True)
class Preview:
    shown: JsonObject | None
    """The request with secrets masked; None if the arguments say it all."""
    digest: str
    """Digest of the request as it would be sent, without credentials, since those may rotate."""


@dataclass(frozen=True, slots=True)
class Permit:
    """What was allowed; a source sends nothing else."""

    operation: str
    """The fingerprint of the operation that was allowed."""
    request: str | None = None
    """The digest of the request that a person saw; None if policy allowed any request."""

    def require(self, name: str, operation: str, request: str) -> None:
        """Check what is about to be sent.

        Raises:
            ChangedError: it is not what was allowed.
        """
        if self.operation != operation or self.request not in (None, request):
            raise ChangedError(f"{name} changed since it was approved; nothing was sent")


class ChangedError(GatewayError):
    """A call is no longer what policy or a person allowed."""

    code = "changed"


@dataclass(frozen=True, slots=True)
class Health:
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
    """Return health as JSON, without empty fields."""
    return [{key: value for key, value in asdict(entry).items() if value not in ("", None)} for entry in entries]


class Source(Protocol):
    """Lists and calls the tools of one API or server."""

    @property
    def name(self) -> str: ...

    def entries(self) -> Sequence[Entry]:
        """Return the tools known now, without waiting."""
        ...

    def is_dry_run(self, name: str, arguments: JsonObject, call: Call) -> bool:
        """Return whether a call only asks for its preview.

        Raises:
            InvalidArgumentsError: the arguments contradict each other.
        """
        ...

    async def preview(self, name: str, arguments: JsonObject, call: Call) -> Preview:
        """Return what a call would send; sends nothing."""
        ...

    async def call(self, name: str, arguments: JsonObject, call: Call, permit: Permit | None = None) -> ToolResult:
        """Call a tool by its listed name, if it is still what the permit allows.

        Raises:
            ChangedError: it is not; nothing was sent.
        """
        ...

    async def describe(self, name: str) -> JsonObject: ...

    def health(self) -> Health: ...

    def instructions(self) -> str:
        """Return what a model should know about the source, "" for nothing."""
        ...
