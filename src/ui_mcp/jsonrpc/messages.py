"""JSON-RPC 2.0 messages: kinds, errors, encoding, and the protocol era of each."""

import json
import math
from typing import Literal

import orjson

from ui_mcp.jsontypes import Json, JsonObject

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
META = "_meta"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_ALWAYS_MODERN = frozenset({"server/discover", "subscriptions/listen"})
Kind = Literal["request", "notification", "response", "invalid"]
RequestId = str | int


class RpcError(Exception):
    """A failure that becomes a JSON-RPC error response as it is."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def kind_of(message: Json) -> Kind:
    """Return the kind of a decoded message."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return "invalid"
    method = message.get("method")
    if method is None:
        answered = ("result" in message) != ("error" in message)
        return "response" if answered and is_id(message.get("id")) else "invalid"
    params = message.get("params")
    if not isinstance(method, str) or not (params is None or isinstance(params, dict)):
        return "invalid"
    if "id" not in message:
        return "notification"
    return "request" if is_id(message["id"]) else "invalid"


def is_id(value: Json) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def correlated(request_id: RequestId) -> RequestId:
    """Return the id under which messages about a request find each other: some clients send 7 and cancel "7"."""
    try:
        return int(request_id)
    except ValueError:
        return request_id


def is_modern(message: JsonObject) -> bool:
    """Return whether a request belongs to the stateless (modern) era; all other messages are of the handshake era."""
    method = message.get("method")
    if isinstance(method, str) and method in _ALWAYS_MODERN:
        return True
    params = message.get("params")
    meta = params.get(META) if isinstance(params, dict) else None
    return method != "initialize" and isinstance(meta, dict) and VERSION_KEY in meta


def progress_token(message: JsonObject) -> RequestId | None:
    """Return the token for progress notifications, or None if the client did not ask for them."""
    match message:
        case {"params": {"_meta": {"progressToken": str() | int() as token}}} if not isinstance(token, bool):
            return token
        case _:
            return None


def result(request_id: RequestId, body: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": request_id, "result": body}


def error(request_id: RequestId | None, code: int, message: str, data: Json = None) -> JsonObject:
    """Return an error response; `request_id` is None if the id could not be read."""
    body: JsonObject = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": body}


def notification(method: str, params: JsonObject | None = None) -> JsonObject:
    message: JsonObject = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return message


def invalid(message: Json) -> JsonObject:
    """Return the error response to something that is not a JSON-RPC message."""
    given = message.get("id") if isinstance(message, dict) else None
    return error(given if is_id(given) else None, INVALID_REQUEST, "Invalid request")


def encode(message: Json) -> bytes:
    """Encode one message as compact UTF-8 without line breaks; NaN and infinities become null."""
    try:
        return orjson.dumps(message)
    except TypeError:
        # orjson refuses lone surrogates, integers beyond 64 bits and deep nesting.
        return _encode_slowly(message)


def _encode_slowly(message: Json) -> bytes:
    try:
        text = json.dumps(_finite(message), ensure_ascii=False, separators=(",", ":"), default=str)
    except RecursionError:
        request_id = message.get("id") if isinstance(message, dict) else None
        return orjson.dumps(error(request_id, INTERNAL_ERROR, "The answer is nested too deeply to be written"))
    return text.encode("utf-8", "replace")


def _finite(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _finite(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(member) for member in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def decode(data: bytes | bytearray | memoryview) -> Json:
    """Decode one message.

    Raises:
        ValueError: not JSON.
    """
    return orjson.loads(data)
