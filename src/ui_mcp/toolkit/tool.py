"""Tool, the Call that it receives and the ToolResult that it returns."""

from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Literal, Protocol

from anyio import sleep_forever

from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.lazy_dataclass import dataclass

Era = Literal["handshake", "modern"]


@dataclass(frozen=True, slots=True)
class Annotations:
    """Behaviour hints for hosts; `None` omits a hint."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = False
    extra: JsonObject | None = None
    """Further hints that a mounted server lists, passed on unchanged."""


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    title: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None = None
    annotations: Annotations = Annotations()
    aliases: tuple[str, ...] = ()
    """Other names under which the tool can be called; they are not listed."""
    meta: JsonObject | None = None
    app_only: bool = False
    """Listed only to clients that render MCP Apps."""
    extra: JsonObject | None = None
    """Further fields that a mounted server lists, such as icons, passed on unchanged."""


ALWAYS_LOADED: JsonObject = {"anthropic/alwaysLoad": True}
"""Metadata of a tool that hosts with a tool search load from the start.

Every conversation then pays for its definition, whether or not it shows anything: only for the tool to begin with.
"""


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Media:
    kind: Literal["image", "audio"]
    data: bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class Relayed:
    """A content block of a mounted server, passed on unchanged."""

    block: JsonObject


Content = Text | Media | Relayed


@dataclass(frozen=True, slots=True)
class InputNeeded:
    """Requests that a modern-era client answers before it repeats the call."""

    requests: JsonObject
    """The requests, `{method, params}`, by a key that we choose."""
    state: str
    """Opaque to the client, which returns it with the repeated call."""


@dataclass(frozen=True, slots=True)
class InputGiven:
    """The client's answers in a repeated call."""

    responses: JsonObject
    state: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Result of a call; `structured` is set only if the tool declares an output schema."""

    content: tuple[Content, ...]
    structured: JsonObject | None = None
    is_error: bool = False
    meta: JsonObject | None = None
    needs: InputNeeded | None = None
    """Set instead of content if the client has to answer something first."""
    extra: JsonObject | None = None
    """Further fields of a mounted server's result, passed on unchanged."""


def text_result(*texts: str, is_error: bool = False) -> ToolResult:
    return ToolResult(tuple(Text(text) for text in texts), is_error=is_error)


def json_result(value: Json) -> ToolResult:
    """Return a result with `value` as compact JSON text."""
    return text_result(dumps(value))


def structured_result(value: JsonObject) -> ToolResult:
    """Return a result with structured content and the same JSON as text."""
    return ToolResult((Text(dumps(value)),), structured=value)


class Progress(Protocol):
    """Reports progress of a call to the client; does nothing if the client did not ask for it."""

    async def __call__(self, done: float, total: float | None = None, message: str | None = None) -> None: ...


class TaskHandle(Protocol):
    """What a call knows of the task that it may become, or that it continues (MCP's Tasks extension)."""

    @property
    def resumed(self) -> JsonObject | None:
        """The last checkpoint, if the process that began the call has ended; None in the first process."""
        ...

    @property
    def is_cancelled(self) -> bool:
        """Whether the client cancelled the task; otherwise a cancelled call only pauses until the next process."""
        ...

    async def checkpoint(self, state: JsonObject) -> None:
        """Write down how another process can continue this call; a call without a checkpoint is not repeated."""
        ...


async def _no_progress(done: float, total: float | None = None, message: str | None = None) -> None:
    return None


async def _never() -> None:
    await sleep_forever()


@dataclass(frozen=True, slots=True)
class Call:
    """What a tool or resource knows about the request that it handles."""

    principal: str = "local"
    connection: str = ""
    """Id of the client connection; empty within this program. Connection and principal identify the caller."""
    era: Era = "handshake"
    client_name: str = ""
    agent: str = ""
    """The agent of this program that makes the call, named by its conversation; empty for every other caller."""
    call_id: str = ""
    """The agent's id of the call."""
    capabilities: JsonObject = field(default_factory=dict)
    """The client's declared capabilities, `extensions` included."""
    progress: Progress = _no_progress
    closing: Callable[[], Awaitable[None]] = _never
    """Returns when the client disconnects; a blocked call should then return what it has."""
    meta: JsonObject = field(default_factory=dict)
    ask_user: Callable[[str, JsonObject], Awaitable[JsonObject]] | None = None
    """Shows a message and a form to the client's user and returns the answer; None if the client cannot."""
    ask_client: Callable[[str, JsonObject], Awaitable[JsonObject]] | None = None
    """Forwards a mounted server's request (method, parameters) to the client; None if the client takes no requests."""
    ask_person: Callable[[JsonObject], Awaitable[JsonObject]] | None = None
    """Asks the person elsewhere what a mounted server elicits, where the client takes no forms; None without a way."""
    subscribe: Callable[[str, bool], bool] | None = None
    """Starts or ends the notifications about a URI; returns False if there are too many. None without notifications."""
    given: InputGiven | None = None
    """The client's answers to the `needs` of an earlier result."""
    task: TaskHandle | None = None
    """Set if the client takes a task instead of a result; the call may then take as long as it needs."""

    @property
    def caller_name(self) -> str:
        """The caller as people see it: `AGENT/CALL_ID`, or the client's name for itself."""
        return f"{self.agent}/{self.call_id}" if self.agent else self.client_name

    def takes_forms(self) -> bool:
        """Return whether the client can show a form when a modern-era result requests it."""
        declared = self.capabilities.get("elicitation")
        return self.era == "modern" and isinstance(declared, dict) and (not declared or "form" in declared)

    def shows_apps(self) -> bool:
        extensions = self.capabilities.get("extensions") or {}
        return "io.modelcontextprotocol/ui" in extensions
