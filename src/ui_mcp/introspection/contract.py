"""Types and constants of the introspection contract, and its errors as tool results."""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Literal

from ui_mcp.errors import (
    IntrospectError,
    InvalidArgumentsError,
    LifecycleError,
    UiArgumentError,
    UiMcpError,
    UiNotEnabledError,
)
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.log import logger
from ui_mcp.toolkit.tool import Text, ToolResult

SCHEMA = "mcp-javafx-ui/1.0"
Mode = Literal["full", "compact", "interactive", "brief"]
StageChoice = Literal["focused", "primary", "all"]
Section = Literal["bounds", "localToScreen", "properties", "virtualization", "accessibility", "reach"]
FULL: frozenset[Section] = frozenset({"bounds", "localToScreen", "virtualization"})
COMPACT: frozenset[Section] = frozenset()
ALL: frozenset[Section] = frozenset({"bounds", "localToScreen", "properties", "virtualization", "accessibility"})
FULL_DEPTH = 50
COMPACT_DEPTH = 8
UNLIMITED_DEPTH = 10_000


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to a node, by uid or else by path; `hint` only serves to suggest candidates if it is not found."""

    uid: str | None = None
    path: str | None = None
    hint: JsonObject | None = None

    def json(self) -> JsonObject:
        """Return the reference in the format of the contract."""
        return {"path": self.path, "uid": self.uid}


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """What a backend reads in one pass over its UI."""

    stage: StageChoice | int = "focused"
    depth: int = UNLIMITED_DEPTH
    sections: frozenset[Section] = COMPACT
    internals: bool = False
    popups: bool = True
    css: str | None = None
    root: Ref | None = None
    redact: tuple[str, ...] = ()
    """CSS selectors of nodes whose text must not leave the UI."""

    def json(self) -> JsonObject:
        """Return the message for a page script or JVM agent."""
        return {
            "stage": self.stage,
            "depth": self.depth,
            "sections": sorted(self.sections),
            "internals": self.internals,
            "popups": self.popups,
            "css": self.css,
            "root": self.root and self.root.json(),
            **({"redact": list(self.redact)} if self.redact else {}),
        }


RECORDED = CaptureRequest(stage="all", sections=frozenset({"accessibility", "virtualization"}))
"""What a recorder reads before and after each step."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Size limits of one snapshot."""

    tokens: int = 20_000
    """0 = no limit; a token is four characters."""
    hard_chars: int = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Defaults:
    """Depth, sections and limits of a full snapshot if the caller gives none."""

    depth: int = FULL_DEPTH
    sections: frozenset[Section] = FULL
    limits: Limits = field(default_factory=Limits)


def tokens(text: str) -> int:
    """Return the token estimate of the contract: four characters per token."""
    return -(-len(text) // 4)


def error_json(error: IntrospectError) -> JsonObject:
    """Return an error in the format of the contract."""
    return {"error": {"code": error.code, "message": error.message, "details": error.details}}


_log = logger("introspect")


async def as_tool_result(work: Awaitable[ToolResult]) -> ToolResult:
    """Return the result of `work`; an error becomes `{"error": {code, message, details}}`, as text and structured."""
    try:
        return await work
    except IntrospectError as error:
        return failed(error_json(error))
    except LifecycleError as error:
        reason = UiNotEnabledError(f"{error.message}\nCall ui_start first.", reason="NOT_STARTED")
        return failed(error_json(reason))
    except UiMcpError:
        raise
    except Exception as error:  # noqa: BLE001 - the contract has a code for unexpected errors
        _log.exception("unexpected error in an introspection tool")
        return failed(error_json(IntrospectError(f"Unexpected: {type(error).__name__}")))


def failed(answer: JsonObject) -> ToolResult:
    return ToolResult((Text(dumps(answer)),), structured=answer, is_error=True)


def invalid_arguments(error: InvalidArgumentsError) -> ToolResult:
    """Return invalid arguments as an error of the contract."""
    return failed(error_json(UiArgumentError(error.message)))
