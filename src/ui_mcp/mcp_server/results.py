"""Turns results and errors into MCP content and JSON-RPC errors; no other module does."""

from base64 import b64encode
from collections.abc import Awaitable, Callable
from typing import Any, assert_never

from ui_mcp.errors import UiMcpError
from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.log import logger
from ui_mcp.toolkit.resources import Resource, ResourceTemplate
from ui_mcp.toolkit.tool import Content, Media, Relayed, Text, Tool, ToolResult

PREVIEW_CHARS = 2000
StoreOverflow = Callable[[str], Awaitable[str]]
"""Stores a text that is too long for a result and returns its path."""
_log = logger("mcp")


async def call_result(answer: ToolResult, limit: int = 0, spill: StoreOverflow | None = None) -> JsonObject:
    """Return the result of a tool as MCP content; with `spill`, texts over `limit` characters are stored and cut."""
    if answer.structured is not None:  # its text is never cut: clients may compare the two
        blocks = [_block(part) for part in answer.content]
    else:
        blocks = [_block(await _fitting(part, limit, spill)) for part in answer.content]
    fields = {"structuredContent": answer.structured, "isError": answer.is_error, rpc.META: answer.meta}
    return {**(answer.extra or {}), "content": blocks, **present(fields)}


def refusal(error: UiMcpError) -> JsonObject:
    """Return the result of a tool that failed in a way the agent can act on."""
    return {"content": [_block(Text(error.message))], "isError": True}


def failure(request_id: rpc.RequestId, error: Exception) -> JsonObject:
    """Return the error response for an exception; unexpected ones are logged and their text is not sent."""
    match error:
        case rpc.RpcError():
            return rpc.error(request_id, error.code, error.message, error.data)
        case UiMcpError():
            return rpc.error(request_id, rpc.INVALID_PARAMS, cleaned(error.message))
        case _:
            _log.error("Request failed unexpectedly", exc_info=error)
            return rpc.error(request_id, rpc.INTERNAL_ERROR, "Internal error")


def listed(entry: Tool | Resource | ResourceTemplate, fields: dict[str, str]) -> JsonObject:
    """Return an entry of a list: what a mounted server said of it, and our `fields` by their names in MCP."""
    return {**(entry.extra or {}), **present({key: getattr(entry, name) for key, name in fields.items()})}


def present(fields: dict[str, Any]) -> JsonObject:
    return {key: value for key, value in fields.items() if value is not None}


def cleaned(text: str) -> str:
    """Replace lone surrogates, which cannot be written as UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


async def _fitting(part: Content, limit: int, spill: StoreOverflow | None) -> Content:
    if not isinstance(part, Text) or spill is None or len(part.text) <= limit:
        return part
    note = {"truncated": True, "chars": len(part.text), "preview": part.text[:PREVIEW_CHARS]}
    try:
        kept = {"file": await spill(part.text), "hint": "narrow the query"}
    except OSError as error:
        kept = {"hint": f"the whole text could not be written ({error.strerror}: {error.filename}); narrow the query"}
    return Text(dumps(note | kept))


def _block(part: Content) -> JsonObject:
    match part:
        case Text(text):
            return {"type": "text", "text": cleaned(text)}
        case Media(kind, data, mime_type):
            return {"type": kind, "data": b64encode(data).decode(), "mimeType": mime_type}
        case Relayed(block):
            return block
    assert_never(part)
