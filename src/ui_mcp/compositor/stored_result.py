"""Tool results as JSON, so that an approved call's outcome can wait for whoever asked."""

from base64 import b64decode, b64encode

from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.tool import Content, Media, Relayed, Text, ToolResult


def to_json(result: ToolResult) -> JsonObject:
    """Write a result."""
    return {
        "content": [_block(part) for part in result.content],
        "structured": result.structured,
        "is_error": result.is_error,
        "meta": result.meta,
    }


def from_json(value: JsonObject) -> ToolResult:
    """Read a result."""
    return ToolResult(
        tuple(_content(part) for part in value["content"]), value["structured"], value["is_error"], value["meta"]
    )


def _block(part: Content) -> JsonObject:
    match part:
        case Text(text):
            return {"text": text}
        case Media(kind, data, mime_type):
            return {"media": kind, "data": b64encode(data).decode(), "mime": mime_type}
        case Relayed(block):
            return {"relayed": block}


def _content(value: Json) -> Content:
    if "text" in value:
        return Text(value["text"])
    if "media" in value:
        return Media(value["media"], b64decode(value["data"]), value["mime"])
    return Relayed(value["relayed"])
