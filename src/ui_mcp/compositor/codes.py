"""The reserved error codes of the gateway, and the stamp that tells its own errors from imitations."""

import secrets

from ui_mcp.errors import DeniedError, UpstreamError
from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.toolkit.tool import Relayed, ToolResult

DENIED_ABORT = (-32950, "policy_denied")
DENIED_CONTINUE = (-32951, "policy_denied_continue")
MISUSE = (-32952, "policy_backend_reserved_misuse")
EVALUATOR = (-32953, "policy_evaluator_error")
BUSY = (-32955, "BUSY")
NO_SUBSCRIBE = (-32960, "resources_subscribe_unsupported")
NO_UNSUBSCRIBE = (-32961, "resources_unsubscribe_unsupported")
_ALL = (DENIED_ABORT, DENIED_CONTINUE, MISUSE, EVALUATOR, BUSY, NO_SUBSCRIBE, NO_UNSUBSCRIBE)
RESERVED_CODES = frozenset(code for code, _ in _ALL)
RESERVED_MESSAGES = frozenset(message for _, message in _ALL)
STAMP = secrets.token_hex(16)


def denied(decision: str, server: str, tool: str, reason: str, **more: Json) -> DeniedError:
    """Build the refusal a client sees as a JSON-RPC error."""
    code, message = DENIED_ABORT if decision == "deny_abort" else DENIED_CONTINUE
    data = {
        "type": message,
        "decision": decision,
        "server": server,
        "tool": tool,
        "reason": reason,
        "stamp": STAMP,
        **more,
    }
    text = f"{tool} was denied: {reason}" if reason else f"{tool} was denied"
    return DeniedError(text, rpc_code=code, rpc_message=message, data=data, decision=decision)


def misused(server: str, tool: str, backend_code: Json) -> DeniedError:
    """Build the error that replaces a backend's imitation of ours."""
    code, message = MISUSE
    data: JsonObject = {"server": server, "tool": tool, "backend_code": backend_code, "stamp": STAMP}
    return DeniedError(
        f"{server} answered {tool} with an error that only the gateway may use",
        rpc_code=code,
        rpc_message=message,
        data=data,
    )


def is_imitation(error: UpstreamError) -> bool:
    """Say whether a backend's error pretends to be the gateway's."""
    details = error.details
    return (
        details.get("rpc_code") in RESERVED_CODES
        or error.message.strip() in RESERVED_MESSAGES
        or STAMP in error.message
        or STAMP in dumps(details.get("data"))
    )


def carries_stamp(result: ToolResult) -> bool:
    """Say whether a backend's result holds our stamp or poses as a refusal."""
    structured = result.structured or {}
    error = structured.get("error")
    posing = isinstance(error, dict) and (
        error.get("code") in RESERVED_CODES or error.get("message") in RESERVED_MESSAGES
    )
    held = [structured, result.meta, [part.block for part in result.content if isinstance(part, Relayed)]]
    return posing or STAMP in dumps(held)
