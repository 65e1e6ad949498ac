"""Turns what introspection found or failed at into tool results of the contract's shape."""

from collections.abc import Awaitable

from ui_mcp.errors import (
    IntrospectError,
    InvalidArgumentsError,
    LifecycleError,
    UiArgumentError,
    UiMcpError,
    UiNotEnabledError,
)
from ui_mcp.introspection.contract import error_json
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.log import logger
from ui_mcp.toolkit.tool import Text, ToolResult

_log = logger("introspect")


async def answered(work: Awaitable[ToolResult]) -> ToolResult:
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


def misread(error: InvalidArgumentsError) -> ToolResult:
    """Write arguments that do not fit as the contract's error, like any other."""
    return failed(error_json(UiArgumentError(error.message)))
