"""`resources__…`: resources as tools, because models call tools and not protocol methods."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Annotated

from ui_mcp.errors import RefusedError, UnknownToolError
from ui_mcp.fields import Limit
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.toolkit.functions import FunctionToolset, NoArgs, tool
from ui_mcp.toolkit.resources import ResourceContent, ResourceSet
from ui_mcp.toolkit.tool import Annotations, Call, Tool, ToolResult, structured_result
from ui_mcp.toolkit.toolset import Toolset

_READ_ONLY = Annotations(read_only=True, idempotent=True)


@dataclass(frozen=True, slots=True)
class ListArgs:
    """Which resources."""

    uri_prefix: Annotated[str, "Only URIs that begin so."] = ""


@tool("resources__list", ListArgs, title="List resources", annotations=_READ_ONLY, aliases=("resources.list",))
async def list_resources(resources: ResourceSet, args: ListArgs, call: Call) -> ToolResult:
    """List what can be read with resources__read: uri, name, description, mimeType."""
    found = [one for one in await resources.resources(call) if one.uri.startswith(args.uri_prefix)]
    entries: list[JsonObject] = [
        {"uri": one.uri, "name": one.name, "description": one.description, "mimeType": one.mime_type} for one in found
    ]
    return structured_result({"resources": entries})


@tool(
    "resources__list_resource_templates",
    NoArgs,
    title="List resource templates",
    annotations=_READ_ONLY,
    aliases=("resources.list_resource_templates",),
)
async def list_templates(resources: ResourceSet, args: NoArgs, call: Call) -> ToolResult:
    """List the patterns of URIs that can be read although they are in no list."""
    found = await resources.templates(call)
    entries: list[JsonObject] = [
        {"uriTemplate": one.uri_template, "name": one.name, "description": one.description} for one in found
    ]
    return structured_result({"resourceTemplates": entries})


@dataclass(frozen=True, slots=True)
class ReadArgs:
    """Which part of which resource."""

    uri: Annotated[str, "From resources__list, or made from a template."]
    start_offset: Annotated[int, "First byte of the text, or character of the base64 of a blob.", Limit(ge=0)] = 0
    max_bytes: Annotated[int, "How much of each part to return.", Limit(ge=4, le=200_000)] = 25_000


@tool("resources__read", ReadArgs, title="Read a resource", annotations=_READ_ONLY, aliases=("resources.read",))
async def read_resource(resources: ResourceSet, args: ReadArgs, call: Call) -> ToolResult:
    """Read a resource as {window, parts, total_parts, next_offset}; next_offset is there while more follows."""
    contents = await resources.read(args.uri, call)
    parts = [_part(one, args) for one in contents]
    following = [end for _, end in parts if end is not None]
    answer: JsonObject = {
        "window": {"start_offset": args.start_offset, "max_bytes": args.max_bytes},
        "parts": [part for part, _ in parts],
        "total_parts": len(parts),
    }
    return structured_result({**answer, "next_offset": min(following)} if following else answer)


def _part(content: ResourceContent, args: ReadArgs) -> tuple[JsonObject, int | None]:
    """Return one part within the window, and where to read on."""
    text = isinstance(content.body, str)
    data = content.body.encode() if isinstance(content.body, str) else b64encode(content.body)
    shown, end = window(data, args.start_offset, args.max_bytes)
    known: JsonObject = {"uri": content.uri, "mimeType": content.mime_type, "text" if text else "blob": shown}
    return known, end if end < len(data) else None


def window(data: bytes, start: int, size: int) -> tuple[str, int]:
    """Return the characters of UTF-8 text from byte `start` on that fit into `size` bytes, and where they end; pure."""
    start = min(start, len(data))
    while start < len(data) and data[start] & 0xC0 == 0x80:  # inside a character: begin with the next one
        start += 1
    end = min(start + size, len(data))
    while end > start and end < len(data) and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[start:end].decode(), end


@dataclass(frozen=True, slots=True)
class SubscribeArgs:
    """Which resource."""

    uri: Annotated[str, "From resources__list, or made from a template."]


_CHANGES_ONLY_ITS_CLIENT = Annotations(destructive=False, idempotent=True)


@tool(
    "resources__subscribe",
    SubscribeArgs,
    title="Subscribe to a resource",
    annotations=_CHANGES_ONLY_ITS_CLIENT,
    aliases=("resources.subscribe",),
)
async def subscribe(resources: ResourceSet, args: SubscribeArgs, call: Call) -> ToolResult:
    """Have this connection notified (notifications/resources/updated) whenever the resource changes."""
    return _set_subscription(args.uri, call, wanted=True)


@tool(
    "resources__unsubscribe",
    SubscribeArgs,
    title="End a subscription",
    annotations=_CHANGES_ONLY_ITS_CLIENT,
    aliases=("resources.unsubscribe",),
)
async def unsubscribe(resources: ResourceSet, args: SubscribeArgs, call: Call) -> ToolResult:
    """End what resources__subscribe or resources/subscribe began."""
    return _set_subscription(args.uri, call, wanted=False)


def _set_subscription(uri: str, call: Call, *, wanted: bool) -> ToolResult:
    if call.subscribe is None:
        raise RefusedError(
            "This connection has no notifications to subscribe to\n"
            "Clients of 2026-07-28 open them with subscriptions/listen; others read again with resources__read."
        )
    if not call.subscribe(uri, wanted):
        raise RefusedError("Too many subscriptions on this connection\nEnd some with resources__unsubscribe.")
    return structured_result({"uri": uri, "subscribed": wanted})


def resource_tools(resources: ResourceSet) -> Toolset:
    return FunctionToolset(resources, [list_resources, list_templates, read_resource, subscribe, unsubscribe])


class Unlisted:
    """A toolset whose tools can be called, but are not listed."""

    def __init__(self, toolset: Toolset) -> None:
        self._toolset = toolset

    async def tools(self, call: Call) -> Sequence[Tool]:
        return []

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call a tool of the set; nothing else reaches it, so that it records no calls of others."""
        if not any(name in (tool.name, *tool.aliases) for tool in await self._toolset.tools(call)):
            raise UnknownToolError(name)
        return await self._toolset.call(name, arguments, call)
