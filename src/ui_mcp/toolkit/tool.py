"""What a tool is, what it is told about a call, and what it answers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from anyio import sleep_forever

from ui_mcp.jsontypes import Json, JsonObject, dumps

Era = Literal["handshake", "modern"]


@dataclass(frozen=True, slots=True)
class Annotations:
    """Hints for hosts; `None` leaves a hint out."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is listed."""

    name: str
    title: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None = None
    annotations: Annotations = Annotations()
    aliases: tuple[str, ...] = ()
    """Other spellings that may be called but are not listed."""
    meta: JsonObject | None = None
    app_only: bool = False
    """Listed only to clients that render MCP Apps."""
    extra: JsonObject | None = None
    """Further listed fields of a mounted server's tool (icons and the like), as they came."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text block."""

    text: str


@dataclass(frozen=True, slots=True)
class Media:
    """An image or a sound."""

    kind: Literal["image", "audio"]
    data: bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class Relayed:
    """A content block that a mounted server sent, as it came."""

    block: JsonObject


Content = Text | Media | Relayed


@dataclass(frozen=True, slots=True)
class InputNeeded:
    """Questions a client of the modern era answers before it repeats the call."""

    requests: JsonObject
    """By a key of ours, what the client is to do: `{method, params}`."""
    state: str
    """Comes back with the repeated call, unread by the client."""


@dataclass(frozen=True, slots=True)
class InputGiven:
    """What a repeated call brings along."""

    responses: JsonObject
    state: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """An answer; `structured` only where the tool's specification asks for it."""

    content: tuple[Content, ...]
    structured: JsonObject | None = None
    is_error: bool = False
    meta: JsonObject | None = None
    needs: InputNeeded | None = None
    """Set instead of content when the client must be asked first."""


def text_result(*texts: str, is_error: bool = False) -> ToolResult:
    """Answer with plain text blocks."""
    return ToolResult(tuple(Text(text) for text in texts), is_error=is_error)


def json_result(value: Json) -> ToolResult:
    """Answer with JSON as compact text."""
    return text_result(dumps(value))


def structured_result(value: JsonObject) -> ToolResult:
    """Answer with structured content and the same JSON, complete, as text."""
    return ToolResult((Text(dumps(value)),), structured=value)


class Progress(Protocol):
    """Tells the client how far a call has come; does nothing when nobody asked."""

    async def __call__(self, done: float, total: float | None = None, message: str | None = None) -> None: ...


async def _no_progress(done: float, total: float | None = None, message: str | None = None) -> None:
    return None


async def _never() -> None:
    await sleep_forever()


@dataclass(frozen=True, slots=True)
class Call:
    """What a tool or resource may know about the request it answers."""

    principal: str = "local"
    connection: str = ""
    """The client connection it came over; empty inside of this program. With the principal it is the caller."""
    era: Era = "handshake"
    client_name: str = ""
    capabilities: JsonObject = field(default_factory=dict)
    """The client's declared capabilities, `extensions` included."""
    progress: Progress = _no_progress
    closing: Callable[[], Awaitable[None]] = _never
    """Returns when the client is leaving and blocked calls should answer with what they have."""
    meta: JsonObject = field(default_factory=dict)
    ask_user: Callable[[str, JsonObject], Awaitable[JsonObject]] | None = None
    """Puts a message and a form to the client's user and returns the answer; None where the client cannot."""
    ask_client: Callable[[str, JsonObject], Awaitable[JsonObject]] | None = None
    """Passes a mounted server's request (method, parameters) to the client; None where nothing can be asked."""
    given: InputGiven | None = None
    """The client's answers to what an earlier result needed."""

    @property
    def conversation(self) -> str:
        """The conversation an agent of ours calls from; its calls are named `CONVERSATION/CALL`."""
        return self.client_name.rpartition("/")[0]

    def takes_forms(self) -> bool:
        """Say whether the client can put a form to its user when a result of the modern era asks for it."""
        declared = self.capabilities.get("elicitation")
        return self.era == "modern" and isinstance(declared, dict) and (not declared or "form" in declared)

    def shows_apps(self) -> bool:
        """Say whether the client renders MCP Apps."""
        extensions = self.capabilities.get("extensions") or {}
        return "io.modelcontextprotocol/ui" in extensions
