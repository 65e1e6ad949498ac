"""Every accepted difference between our core and the SDK: when it applies, and why it is meant."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conformance.conversations import Conversation, Turn
from conformance.peers import Answer
from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.mcp_server.versions import UNSUPPORTED_VERSION


@dataclass(frozen=True, slots=True)
class Case:
    """One message that the two servers answered differently."""

    conversation: Conversation
    turn: Turn
    ours: Answer
    theirs: Answer

    @property
    def body(self) -> JsonObject:
        return self.turn.message if isinstance(self.turn.message, dict) else {}

    @property
    def params(self) -> JsonObject:
        params = self.body.get("params")
        return params if isinstance(params, dict) else {}

    @property
    def method(self) -> Json:
        return self.body.get("method")


@dataclass(frozen=True, slots=True)
class Difference:
    reason: str
    applies: Callable[[Case], bool]


def essence(answer: Answer) -> Any:
    """Return an answer without the words of its errors, which are each server's own."""
    if isinstance(answer, tuple):
        return answer[0], [_plain(one) for one in messages_of(answer)]
    return [_plain(one) for one in answer]


def _plain(message: Json) -> Json:
    problem = message.get("error") if isinstance(message, dict) else None
    return {"id": message.get("id"), "code": problem.get("code")} if isinstance(problem, dict) else message


def messages_of(answer: Answer) -> list[Json]:
    body = answer[1] if isinstance(answer, tuple) else answer
    return body if isinstance(body, list) else [] if body is None else [body]


def codes(answer: Answer) -> set[int]:
    found = [one["error"] for one in messages_of(answer) if isinstance(one, dict) and "error" in one]
    return {problem["code"] for problem in found}


def says(answer: Answer, words: str) -> bool:
    return words in str(messages_of(answer))


def status(answer: Answer) -> int:
    return answer[0] if isinstance(answer, tuple) else 0


DIFFERENCES = {
    "no message": Difference(
        "What is no JSON-RPC message is answered with -32600 and its id if that can be read, as JSON-RPC 2.0 asks. The "
        "SDK drops it on a stream, takes a request with a null id for a notification, and over HTTP answers -32602 "
        "with the words of its validator, or looks for a session first.",
        lambda case: rpc.kind_of(case.turn.message) == "invalid" and codes(case.ours) == {rpc.INVALID_REQUEST},
    ),
    "batches": Difference(
        "Batches of the revision 2025-03-26 are answered; the SDK knows none.",
        lambda case: isinstance(case.turn.message, list),
    ),
    "eras": Difference(
        "Both eras are served in any order on one connection; the SDK locks it to the era of its first request.",
        lambda case: (
            says(case.theirs, "serves the handshake protocol era")
            or says(case.theirs, "connection is serving")
            or (says(case.theirs, "envelope key") and not rpc.is_modern(case.body))
        ),
    ),
    "discovery": Difference(
        "A method of the modern era without an envelope is told what it lacks; to the SDK it is unknown.",
        lambda case: (
            case.method in ("server/discover", "subscriptions/listen")
            and codes(case.ours) in ({rpc.INVALID_PARAMS}, {UNSUPPORTED_VERSION})
            and codes(case.theirs) <= {rpc.METHOD_NOT_FOUND, rpc.INVALID_PARAMS, rpc.INVALID_REQUEST}
        ),
    ),
    "lenient types": Difference(
        "A truth value is no number; the SDK reads a progress token `true` as 1.",
        lambda case: (
            codes(case.ours) == {rpc.INVALID_PARAMS}
            and isinstance(case.params.get("_meta"), dict)
            and isinstance(case.params["_meta"].get("progressToken"), bool)
        ),
    ),
    "crashes": Difference(
        "An unexpected failure has the code -32603 and no text of its own; the older era of the SDK sends 0 and it.",
        lambda case: case.params.get("name") == "crash" and codes(case.ours) == {rpc.INTERNAL_ERROR},
    ),
    "extensions": Difference(
        "`server/discover` lists extensions even if there are none.",
        lambda case: (
            case.method == "server/discover"
            and "extensions" in str(essence(case.ours))
            and "extensions" not in str(essence(case.theirs))
        ),
    ),
    "progress": Difference(
        "Progress turns an HTTP answer into a stream; the SDK, set to answer in JSON, drops it.",
        lambda case: status(case.ours) == 200 and "progressToken" in str(case.params.get("_meta")),
    ),
    "media types": Difference(
        "A wrong Content-Type is 415, and a refusal has a JSON-RPC error as its body; the SDK answers 400 or no body.",
        lambda case: status(case.ours) in (406, 415) and case.conversation.over_http,
    ),
    "before the handshake": Difference(
        "A request before `initialize` is an invalid request that is told what to send first; the SDK calls its "
        "parameters invalid, or serves it after a bare `notifications/initialized`.",
        lambda case: says(case.ours, "Send initialize before"),
    ),
    "sessions": Difference(
        "Only a handshake that succeeded opens a session; the SDK opens one for any message without a session id, and "
        "names a session after a failed handshake that it does not know afterwards.",
        lambda case: says(case.ours, "No such session") or says(case.theirs, "Session not found"),
    ),
    "posted responses": Difference(
        "A response posted where the modern era knows none is refused with its id, which the SDK leaves out.",
        lambda case: (
            case.conversation.over_http
            and rpc.kind_of(case.turn.message) == "response"
            and codes(case.ours) == codes(case.theirs) == {rpc.INVALID_REQUEST}
        ),
    ),
    "no version": Difference(
        "A handshake without a version counts as the oldest one.",
        lambda case: case.method == "initialize" and "protocolVersion" not in case.params and not codes(case.ours),
    ),
    "unread members": Difference(
        "What a client says about its roots, and what is inside its answers, is checked where it is read; the SDK "
        "checks it with every request.",
        lambda case: (
            not codes(case.ours)
            and codes(case.theirs) == {rpc.INVALID_PARAMS}
            and ("inputResponses" in case.params or "roots" in str(case.params.get("capabilities")))
        ),
    ),
    "large numbers": Difference(
        "Integers beyond 64 bits are read as floating-point numbers, as JavaScript does, so they are neither ids nor "
        "progress tokens, and come back rounded.",
        lambda case: _has_large_number(case.turn.message),
    ),
    "unknown capabilities": Difference(
        "Capabilities that this server does not know reach its tools; the SDK drops them.",
        lambda case: case.params.get("name") == "facts" and not codes(case.ours) | codes(case.theirs),
    ),
}


def _has_large_number(value: Json) -> bool:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(map(_has_large_number, members)) or (isinstance(value, int) and not -(2**63) <= value < 2**64)


def explanation(case: Case) -> str | None:
    """Return the name of the difference that a case is an example of."""
    return next((name for name, one in DIFFERENCES.items() if one.applies(case)), None)
