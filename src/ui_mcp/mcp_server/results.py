"""Converts results and errors to MCP content and MCP errors; no other module does."""

import os
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, assert_never

from anyio import to_thread
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from ui_mcp.errors import (
    DISK_ERRNOS,
    DeniedError,
    DiskError,
    LifecycleError,
    NotFoundError,
    RefusedError,
    TooDeepError,
    UiMcpError,
    UnknownToolError,
)
from ui_mcp.files import open_inside
from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.log import logger
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Annotations, Call, Content, Media, Relayed, Text, Tool, ToolResult

PREVIEW_CHARS = 2000
KEPT_RESULTS = 20
_log = logger("mcp")


async def tool_answer(definition: ServerDefinition, name: str, arguments: JsonObject, call: Call) -> JsonObject:
    """Run a tool and return its result; a failure that the agent can act on is a result with `isError`.

    Raises:
        MCPError: there is no such tool, or it failed unexpectedly.
    """
    try:
        answer = await definition.toolset.call(name, arguments, call)
    except UnknownToolError as error:
        raise MCPError(messages.INVALID_PARAMS, _clean(error.message)) from error
    except TooDeepError as error:
        raise MCPError(messages.INVALID_PARAMS, error.message) from error
    except DeniedError as error:
        raise _denial(error) from error
    except UiMcpError as error:
        return _refusal(error)
    except OSError as error:
        if error.errno not in DISK_ERRNOS:
            raise
        return _refusal(DiskError(f"{name} cannot write {error.filename or 'its files'}", error))
    if answer.needs is not None:
        asked = {"inputRequests": answer.needs.requests, "requestState": answer.needs.state}
        return {"resultType": "input_required", **asked}
    return await _call_result(definition, answer)


def _refusal(error: UiMcpError) -> JsonObject:
    return complete({"content": [_text(error.message)], "isError": True})


def _denial(error: DeniedError) -> MCPError:
    code = error.details.get("rpc_code")
    if not isinstance(code, int):
        return MCPError(messages.INVALID_PARAMS, _clean(error.message))
    return MCPError(code, str(error.details.get("rpc_message")), error.details.get("data"))


def complete(result: JsonObject) -> JsonObject:
    """Mark a result as final, as the modern era requires; the SDK drops the field in the handshake era."""
    return {"resultType": "complete", **result}


def tool(entry: Tool) -> JsonObject:
    listed: JsonObject = {
        **(entry.extra or {}),
        "name": entry.name,
        "title": entry.title,
        "description": entry.description,
        "inputSchema": entry.input_schema,
        "outputSchema": entry.output_schema,
        "annotations": _annotations(entry.annotations),
        messages.META: entry.meta,
    }
    return _present(listed)


def resource(entry: Resource) -> JsonObject:
    return _present(
        {
            **(entry.extra or {}),
            "uri": entry.uri,
            "name": entry.name,
            "title": entry.title,
            "description": entry.description,
            "mimeType": entry.mime_type,
            "size": entry.size,
        }
    )


def template(entry: ResourceTemplate) -> JsonObject:
    return _present(
        {
            **(entry.extra or {}),
            "uriTemplate": entry.uri_template,
            "name": entry.name,
            "title": entry.title,
            "description": entry.description,
            "mimeType": entry.mime_type,
        }
    )


def contents(read: Sequence[ResourceContent], canonical: str, asked: str) -> JsonObject:
    """Return the result of a read, under the URI that the client used."""
    items = [_content_item(item, asked if item.uri == canonical else item.uri) for item in read]
    ttl = min((item.ttl_ms for item in read), default=0)
    return complete({"contents": items, "ttlMs": ttl, "cacheScope": "private"})


def resource_error(error: UiMcpError, uri: str, call: Call) -> MCPError:
    """Return the error for a resource that cannot be read; the code for a missing one differs by era."""
    absent = isinstance(error, NotFoundError | RefusedError | LifecycleError)
    missing = messages.INVALID_PARAMS if call.era == "modern" else messages.RESOURCE_NOT_FOUND
    return MCPError(missing if absent else messages.INTERNAL_ERROR, _clean(error.message), {"uri": uri})


def failure(request_id: messages.RequestId | None, error: Exception) -> JsonObject:
    """Return the error response for an exception; unexpected ones are logged and their text is not sent."""
    match error:
        case MCPError():
            return messages.error(request_id, error.code, error.message, error.data)
        case ValidationError():
            return messages.error(request_id, messages.INVALID_PARAMS, "Invalid request parameters", _problems(error))
        case UiMcpError():
            return messages.error(request_id, messages.INVALID_PARAMS, _clean(error.message))
        case _:
            _log.error("Request failed unexpectedly", exc_info=error)
            return messages.error(request_id, messages.INTERNAL_ERROR, "Internal error")


class OverflowFiles:
    """Stores the last `KEPT_RESULTS` texts that were too long for a result, as `result-N.json` in the log folder."""

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
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(_clean(text))
        self._written.append(path)
        while len(self._written) > KEPT_RESULTS:
            self._written.popleft().unlink(missing_ok=True)
        return path


async def _call_result(definition: ServerDefinition, answer: ToolResult) -> JsonObject:
    # Text beside structured content is never cut: clients may compare the two.
    blocks = (
        answer.content
        if answer.structured is not None
        else [await _fitting(definition, part) for part in answer.content]
    )
    result: JsonObject = {
        "content": [_block(part) for part in blocks],
        "structuredContent": answer.structured,
        "isError": answer.is_error,
        messages.META: answer.meta,
    }
    return complete(_present(result))


async def _fitting(definition: ServerDefinition, part: Content) -> Content:
    if not isinstance(part, Text) or definition.spill is None or len(part.text) <= definition.max_result_chars():
        return part
    note = {"truncated": True, "chars": len(part.text), "preview": part.text[:PREVIEW_CHARS]}
    try:
        kept = {"file": await definition.spill(part.text), "hint": "narrow the query"}
    except OSError as error:
        kept = {"hint": f"the whole text could not be written ({error.strerror}: {error.filename}); narrow the query"}
    return Text(dumps(note | kept))


def _block(part: Content) -> JsonObject:
    match part:
        case Text(text):
            return _text(text)
        case Media(kind, data, mime_type):
            return {"type": kind, "data": b64encode(data).decode(), "mimeType": mime_type}
        case Relayed(block):
            return block
    assert_never(part)


def _content_item(item: ResourceContent, uri: str) -> JsonObject:
    body: JsonObject = (
        {"text": _clean(item.body)} if isinstance(item.body, str) else {"blob": b64encode(item.body).decode()}
    )
    return _present({"uri": uri, "mimeType": item.mime_type, **body, messages.META: item.meta})


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": _clean(text)}


def _clean(text: str) -> str:
    # Lone surrogates cannot be written as UTF-8.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _annotations(hints: Annotations) -> JsonObject | None:
    named = {
        "readOnlyHint": hints.read_only,
        "destructiveHint": hints.destructive,
        "idempotentHint": hints.idempotent,
        "openWorldHint": hints.open_world,
    }
    return _present(named) or None


def _problems(error: ValidationError) -> str:
    # The input itself is left out: it may be large or secret.
    found = [f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors(include_input=False)]
    return "; ".join(found[:5])


def _present(fields: dict[str, Any]) -> JsonObject:
    return {key: value for key, value in fields.items() if value is not None}
