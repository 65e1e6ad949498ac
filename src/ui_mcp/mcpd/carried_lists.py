"""Carries the lists of a foreign server past the SDK, which refuses a whole list for one entry it cannot read."""

from dataclasses import replace

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from ui_mcp.jsontypes import Json, JsonObject

_LISTS = ("tools", "resources", "resourceTemplates", "prompts")
_CARRIED = "ui-mcp/lists"
"""The key in `_meta`, where anything may stand."""


def carried(message: Json) -> Json:
    """Return an answer with its lists put aside; anything else as it is."""
    if not isinstance(message, SessionMessage) or not isinstance(message.message, JSONRPCResponse):
        return message
    result = message.message.result
    lists = {key: result[key] for key in _LISTS if key in result}
    meta: Json = result.get("_meta") or {}
    if not lists or not isinstance(meta, dict):
        return message
    emptied = {**result, **{key: [] for key in lists}, "_meta": {**meta, _CARRIED: lists}}
    return replace(message, message=message.message.model_copy(update={"result": emptied}))


def restored(result: JsonObject) -> JsonObject:
    """Return an answer with the lists that were put aside in their places."""
    meta: Json = result.get("_meta")
    lists: Json = meta.get(_CARRIED) if isinstance(meta, dict) else None
    if not isinstance(lists, dict):
        return result
    kept = {key: value for key, value in meta.items() if key != _CARRIED}
    plain = {key: value for key, value in result.items() if key != "_meta"}
    return {**plain, **{key: lists[key] for key in _LISTS if key in lists}, **({"_meta": kept} if kept else {})}
