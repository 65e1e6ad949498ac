"""Words of the contract, error → tool result."""

import re
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
Mode = Literal["full", "compact"]
StageChoice = Literal["focused", "primary", "all"]
Section = Literal["bounds", "localToScreen", "properties", "virtualization", "accessibility", "reach"]
FULL: frozenset[Section] = frozenset({"bounds", "localToScreen", "virtualization"})
COMPACT: frozenset[Section] = frozenset()
ALL: frozenset[Section] = frozenset({"bounds", "localToScreen", "properties", "virtualization", "accessibility"})
FULL_DEPTH = 50
COMPACT_DEPTH = 8
UNLIMITED_DEPTH = 10_000
PATH = re.compile(r"/stages\[\d+\]/scene/root(/[A-Za-z_$][\w$-]*\[\d+\])*")


@dataclass(frozen=True, slots=True)
class Ref:
    """A node as a caller names it: by uid, else by path; the hint only helps to say what else it could be."""

    uid: str | None = None
    path: str | None = None
    hint: JsonObject | None = None

    def json(self) -> JsonObject:
        """Return the reference as the contract writes it."""
        return {"path": self.path, "uid": self.uid}


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """What a backend shall read in one pass over its UI."""

    stage: StageChoice | int = "focused"
    depth: int = UNLIMITED_DEPTH
    sections: frozenset[Section] = COMPACT
    internals: bool = False
    popups: bool = True
    css: str | None = None
    root: Ref | None = None
    redact: tuple[str, ...] = ()
    """Css selectors of nodes whose words must not leave the UI."""

    def json(self) -> JsonObject:
        """Return what goes over the wire to a page or an agent."""
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


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a UI one answer may carry."""

    tokens: int = 20_000
    """0 = no limit; a token is four characters."""
    hard_chars: int = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a full snapshot holds unless the caller says otherwise."""

    depth: int = FULL_DEPTH
    sections: frozenset[Section] = FULL
    limits: Limits = field(default_factory=Limits)


def tokens(text: str) -> int:
    """Estimate the tokens of a text as the contract does."""
    return -(-len(text) // 4)


def error_json(error: IntrospectError) -> JsonObject:
    """Write an error as the contract does."""
    return {"error": {"code": error.code, "message": error.message, "details": error.details}}


_log = logger("introspect")


async def as_tool_result(work: Awaitable[ToolResult]) -> ToolResult:
    """Wait for a result; a failure becomes `{"error": {code, message, details}}`, complete as text too."""
    try:
        return await work
    except IntrospectError as error:
        return failed(error_json(error))
    except LifecycleError as error:
        reason = UiNotEnabledError(f"{error.message}\nCall ui_start first.", reason="NOT_STARTED")
        return failed(error_json(reason))
    except UiMcpError:
        raise
    except Exception as error:  # noqa: BLE001 - the contract has a code for what nobody expected
        _log.exception("Looking failed unexpectedly")
        return failed(error_json(IntrospectError(f"Unexpected: {type(error).__name__}")))


def failed(answer: JsonObject) -> ToolResult:
    """Write an error."""
    return ToolResult((Text(dumps(answer)),), structured=answer, is_error=True)


def invalid_arguments(error: InvalidArgumentsError) -> ToolResult:
    """Write arguments that do not fit as the contract's error, like any other."""
    return failed(error_json(UiArgumentError(error.message)))
