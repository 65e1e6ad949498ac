"""A foreign MCP server as a Toolset and a ResourceSet, in whichever era it speaks."""

from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal

import anyio
import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from ui_mcp.errors import MountError, UpstreamError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.mcpd import rpc
from ui_mcp.mcpd.addresses import Address, Lines, streams
from ui_mcp.mcpd.upstream_news import News
from ui_mcp.toolkit.resources import ListKind, Resource, ResourceContent, ResourceNotFoundError, ResourceTemplate
from ui_mcp.toolkit.tool import Annotations, Call, Relayed, Tool, ToolResult

MAX_PAGES = 1000
_log = logger("mcp.client")
_RAW: TypeAdapter[Any] = TypeAdapter(dict[str, Any])
_TOOL_FIELDS = {"name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"}
_RESOURCE_FIELDS = {"uri", "name", "title", "description", "mimeType", "size"}
_TEMPLATE_FIELDS = {"uriTemplate", "name", "title", "description", "mimeType"}


@dataclass(frozen=True, slots=True)
class Options:
    """How to talk to a server, and whom to tell what it says."""

    call_seconds: float = 60.0
    """How long a call may be silent; progress extends it."""
    start_seconds: float = 30.0
    mode: Literal["auto", "legacy"] = "auto"
    list_changed: Callable[[ListKind], None] = lambda _: None
    resource_updated: Callable[[str, JsonObject | None], None] = lambda *_: None
    stderr: Lines = lambda _: None
    roots: Sequence[str] = field(default=())


@asynccontextmanager
async def connected(address: Address, options: Options = Options()) -> AsyncIterator["McpServer"]:
    """Connect to a server for as long as the block runs.

    Raises:
        MountError: it could not be started or reached, or does not speak MCP.
    """
    lost = anyio.Event()
    news = News(options.list_changed, options.resource_updated)
    client = Client(
        streams(address, options.stderr, lost),
        mode=options.mode,
        message_handler=news.notified,
        cache=None,
        client_info=types.Implementation(name="ui-mcp", version="1"),
        list_roots_callback=_roots(options.roots) if options.roots else None,
    )
    started = False
    problem: Exception | None = None
    with anyio.CancelScope(deadline=anyio.current_time() + options.start_seconds) as patience:
        try:
            async with client, anyio.create_task_group() as tasks:
                started, patience.deadline = True, inf
                tasks.start_soon(news.listen, client)
                try:
                    yield McpServer(client, news, lost, options)
                except Exception as error:  # noqa: BLE001 - raised again outside, free of the groups' wrapping
                    problem = error
                tasks.cancel_scope.cancel()
        except Exception as error:
            if not started:
                raise MountError(f"The server could not be reached: {reason(error)}") from error
            _log.info("The connection ended badly: %s", reason(error))
    if patience.cancelled_caught:
        raise MountError(f"The server did not answer within {options.start_seconds:g} s")
    if problem is not None:
        raise problem


class McpServer:
    """The connected server; `lost` is set when its end of the connection closes."""

    def __init__(self, client: Client, news: News, lost: anyio.Event, options: Options) -> None:
        self._client = client
        self._news = news
        self._options = options
        self._capabilities = client.server_capabilities
        self.lost = lost
        self.modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
        """Whether the server speaks the modern era."""
        self.name = client.server_info.name if client.server_info else ""
        """The name the server gives itself."""
        self.instructions = client.instructions
        """What the server tells agents about itself."""

    def offers(self, kind: ListKind) -> bool:
        """Say whether the server has tools, resources or prompts at all."""
        return getattr(self._capabilities, kind) is not None

    async def ping(self) -> None:
        """See whether the server is still there."""
        if self.modern:
            await self._page(types.ListToolsRequest, None)
        else:
            await self._send(types.PingRequest())

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the server's tools, all pages."""
        return [_tool(entry) for entry in await self._all("tools", types.ListToolsRequest, "tools")]

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call a tool; its result passes through whole."""
        with anyio.CancelScope(deadline=anyio.current_time() + self._options.call_seconds) as patience:

            async def progress(done: float, total: float | None, message: str | None) -> None:
                patience.deadline = anyio.current_time() + self._options.call_seconds
                await call.progress(done, total, message)

            params = types.CallToolRequestParams(name=name, arguments=arguments)
            return _tool_result(await self._send(types.CallToolRequest(params=params), progress))
        raise UpstreamError(f"{name} did not answer within {self._options.call_seconds:g} s")

    async def resources(self, call: Call) -> Sequence[Resource]:
        """Return the server's resources, all pages."""
        return [_resource(entry) for entry in await self._all("resources", types.ListResourcesRequest, "resources")]

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        """Return the server's resource templates, all pages."""
        listed = await self._all("resources", types.ListResourceTemplatesRequest, "resourceTemplates")
        return [_template(entry) for entry in listed]

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        """Read one resource."""
        if not self.offers("resources"):
            raise ResourceNotFoundError(uri)
        params = types.ReadResourceRequestParams(uri=uri)
        try:
            body = await self._client.session.send_request(types.ReadResourceRequest(params=params), _RAW)
        except MCPError as error:
            if error.code in {rpc.INVALID_PARAMS, rpc.RESOURCE_NOT_FOUND}:
                raise ResourceNotFoundError(uri, error.message) from error
            raise UpstreamError(error.message) from error
        ttl = int(body.get("ttlMs", 0))
        return [_content(item, ttl) for item in body.get("contents", [])]

    async def prompts(self, call: Call) -> Sequence[JsonObject]:
        """Return the server's prompts as they came, all pages."""
        return await self._all("prompts", types.ListPromptsRequest, "prompts")

    async def get(self, name: str, arguments: Mapping[str, str], call: Call) -> JsonObject:
        """Return one prompt's messages."""
        params = types.GetPromptRequestParams(name=name, arguments=dict(arguments))
        return await self._send(types.GetPromptRequest(params=params))

    async def complete(self, reference: JsonObject, argument: JsonObject, call: Call) -> JsonObject:
        """Complete an argument."""
        params = types.CompleteRequestParams.model_validate({"ref": reference, "argument": argument})
        body = await self._send(types.CompleteRequest(params=params))
        return dict(body.get("completion", {}))

    async def subscribe(self, uri: str) -> None:
        """Ask to be told of changes of `uri`."""
        if self.modern:
            self._news.want(uri)
        else:
            await self._send(types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri)))

    async def unsubscribe(self, uri: str) -> None:
        """Stop being told of changes of `uri`."""
        if self.modern:
            self._news.drop(uri)
        else:
            await self._send(types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri)))

    async def _all(self, kind: ListKind, request: Any, key: str) -> list[JsonObject]:
        if not self.offers(kind):
            return []
        page = await self._page(request, None)
        entries: list[JsonObject] = list(page.get(key, []))
        for _ in range(MAX_PAGES):
            cursor = page.get("nextCursor")
            if not cursor:
                break
            page = await self._page(request, cursor)
            entries += page.get(key, [])
        return entries

    async def _page(self, request: Any, cursor: str | None) -> JsonObject:
        return await self._send(request(params=types.PaginatedRequestParams(cursor=cursor)))

    async def _send(self, request: Any, progress: Any = None) -> JsonObject:
        try:
            body: JsonObject = await self._client.session.send_request(request, _RAW, progress_callback=progress)
            return body
        except MCPError as error:
            raise UpstreamError(error.message, rpc_code=error.code, data=error.data) from error
        except (ValidationError, RuntimeError, OSError) as error:
            raise UpstreamError(f"The server's answer could not be read: {reason(error)}") from error


def reason(error: BaseException) -> str:
    """Say in one line why a foreign server failed; the first cause of a group counts."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def _roots(uris: Sequence[str]) -> Any:
    async def answer(_context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root.model_validate({"uri": uri}) for uri in uris])

    return answer


def _tool(entry: JsonObject) -> Tool:
    hints = entry.get("annotations") or {}
    extra = {key: value for key, value in entry.items() if key not in _TOOL_FIELDS}
    return Tool(
        name=entry["name"],
        title=entry.get("title") or hints.get("title") or entry["name"],
        description=entry.get("description") or "",
        input_schema=entry["inputSchema"],
        output_schema=entry.get("outputSchema"),
        annotations=Annotations(
            read_only=hints.get("readOnlyHint"),
            destructive=hints.get("destructiveHint"),
            idempotent=hints.get("idempotentHint"),
            open_world=hints.get("openWorldHint"),
        ),
        meta=entry.get("_meta"),
        extra=extra or None,
    )


def _tool_result(body: JsonObject) -> ToolResult:
    return ToolResult(
        content=tuple(Relayed(block) for block in body.get("content", [])),
        structured=body.get("structuredContent"),
        is_error=bool(body.get("isError", False)),
        meta=_own_meta(body),
    )


def _own_meta(body: JsonObject) -> JsonObject | None:
    # The server's name belongs to its own envelope; ours will carry our name.
    meta = {key: value for key, value in (body.get("_meta") or {}).items() if key != types.SERVER_INFO_META_KEY}
    return meta or None


def _resource(entry: JsonObject) -> Resource:
    return Resource(
        uri=entry["uri"],
        name=entry["name"],
        description=entry.get("description") or "",
        mime_type=entry.get("mimeType") or "application/octet-stream",
        title=entry.get("title"),
        size=entry.get("size"),
        extra={key: value for key, value in entry.items() if key not in _RESOURCE_FIELDS} or None,
    )


def _template(entry: JsonObject) -> ResourceTemplate:
    return ResourceTemplate(
        uri_template=entry["uriTemplate"],
        name=entry["name"],
        description=entry.get("description") or "",
        mime_type=entry.get("mimeType"),
        title=entry.get("title"),
        extra={key: value for key, value in entry.items() if key not in _TEMPLATE_FIELDS} or None,
    )


def _content(item: JsonObject, ttl_ms: int) -> ResourceContent:
    body: str | bytes = item["text"] if "text" in item else b64decode(item["blob"])
    kind = item.get("mimeType") or ("text/plain" if isinstance(body, str) else "application/octet-stream")
    return ResourceContent(item["uri"], kind, body, ttl_ms=ttl_ms, meta=item.get("_meta"))
