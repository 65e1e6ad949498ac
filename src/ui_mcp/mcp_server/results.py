"""Turns results and errors into MCP content and JSON-RPC errors; stores texts that are too long."""

import os
from base64 import b64encode
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard, assert_never

from anyio import to_thread

from ui_mcp.errors import UiMcpError
from ui_mcp.files import open_inside
from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.log import logger
from ui_mcp.toolkit.resources import Resource, ResourceTemplate
from ui_mcp.toolkit.tool import Content, Media, Relayed, Text, Tool, ToolResult

PREVIEW_CHARS = 2000
KEPT_RESULTS = 20
StoreOverflow = Callable[[str], Awaitable[str]]
"""Stores a text that is too long for a result and returns its path."""
_log = logger("mcp")


async def call_result(answer: ToolResult, limit: int = 0, spill: StoreOverflow | None = None) -> JsonObject:
    """Return the result of a tool as MCP content; with `spill`, texts over `limit` characters are stored and cut."""
    content: Sequence[Content] = answer.content
    if spill is not None and answer.structured is None:  # else the text is never cut: clients may compare the two
        content = [await _cut(part, spill) if _is_longer(part, limit) else part for part in content]
    result: JsonObject = {**(answer.extra or {}), "content": [_block(part) for part in content]}
    if answer.structured is not None:
        result["structuredContent"] = answer.structured
    result["isError"] = answer.is_error
    if answer.meta is not None:
        result[rpc.META] = answer.meta
    return result


def with_object(answer: ToolResult) -> ToolResult:
    """Return a result whose first text is JSON but no object with `{"result": …}` as structured content."""
    first = answer.content[0] if answer.content else None
    if answer.structured is not None or not isinstance(first, Text):
        return answer
    try:
        value = loads(first.text)
    except ValueError:
        return answer
    return answer if isinstance(value, dict) else replace(answer, structured={"result": value})


def refusal(error: UiMcpError) -> JsonObject:
    """Return the result of a tool that failed in a way the agent can act on."""
    return {"content": [_block(Text(error.message))], "isError": True}


def failure(request_id: rpc.RequestId, error: Exception) -> JsonObject:
    """Return the error response for an exception; unexpected ones are logged and their text is not sent."""
    match error:
        case rpc.RpcError():
            return rpc.error(request_id, error.code, error.message, error.data)
        # Our own messages are written for the caller; those of other exceptions may quote anything.
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


def _is_longer(part: Content, limit: int) -> TypeGuard[Text]:
    return isinstance(part, Text) and len(part.text) > limit


async def _cut(part: Text, spill: StoreOverflow) -> Text:
    """Store a text, and return its beginning and where the rest is."""
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


class OverflowFiles:
    """Stores the last `KEPT_RESULTS` texts that were too long for a result, as `result-N.json` in a folder."""

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder
        self._written: deque[Path] = deque()
        self._next = 0

    async def __call__(self, text: str) -> str:
        """Write `text` and return its path."""
        self._next += 1  # not in `_write`: two threads could get the same number
        return str(await to_thread.run_sync(self._write, self._next, text))

    def _write(self, number: int, text: str) -> Path:
        folder = self._folder()
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"result-{number}.json"
        # Unlink and O_EXCL: never write through a link that was placed there.
        path.unlink(missing_ok=True)
        descriptor = open_inside(folder.parent, path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        self._written.append(path)
        while len(self._written) > KEPT_RESULTS:
            self._written.popleft().unlink(missing_ok=True)
        return path
