"""The server of `peers` on the SDK: handlers put the answers of the same tools, resources and prompts into its form."""

from functools import partial
from typing import Any

from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError

from conformance.fixture import Prompts, Resources, Tools
from ui_mcp.errors import NotFoundError, UiMcpError, UnknownToolError
from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, InputGiven, text_result

Context = ServerRequestContext[Any, Any]
MODERN = "2026-07-28"
COMPLETE: JsonObject = {"resultType": "complete"}


def sdk_server() -> Server[Any]:
    handlers = Handlers()
    server: Server[Any] = Server(
        "peer",
        version="1",
        title="Peer",
        instructions="Ask.",
        cache_hints={"server/discover": CacheHint(3_600_000, "public")},
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read,
        on_subscribe_resource=nothing,
        on_unsubscribe_resource=nothing,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_completion=handlers.complete,
        on_subscriptions_listen=ListenHandler(InMemorySubscriptionBus()),
    )
    changes = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
    server.create_initialization_options = partial(server.create_initialization_options, changes)  # type: ignore[method-assign]
    return server


class Handlers:
    def __init__(self) -> None:
        self._tools, self._resources, self._prompts = Tools(), Resources(), Prompts()

    async def list_tools(self, ctx: Context, params: Any) -> Any:
        one_page(params)
        listed = [
            {"name": one.name, "title": one.title, "description": one.description, "inputSchema": one.input_schema}
            for one in await self._tools.tools(Call())
        ]
        return {"tools": listed, **hints(300_000, "private")}

    async def call_tool(self, ctx: Context, params: Any) -> Any:
        try:
            answer = await self._tools.call(params.name, params.arguments or {}, call_of(ctx))
        except UnknownToolError as error:
            raise MCPError(rpc.INVALID_PARAMS, error.message) from error
        except UiMcpError as error:
            answer = text_result(error.message, is_error=True)
        if answer.needs is not None:
            needed = {"inputRequests": answer.needs.requests, "requestState": answer.needs.state}
            return {"resultType": "input_required", **needed}
        content = [{"type": "text", "text": part.text} for part in answer.content]  # type: ignore[union-attr]
        structured = {} if answer.structured is None else {"structuredContent": answer.structured}
        return {"content": content, "isError": answer.is_error, **structured, **COMPLETE}

    async def list_resources(self, ctx: Context, params: Any) -> Any:
        one_page(params)
        listed = [
            {"uri": one.uri, "name": one.name, "description": one.description, "mimeType": one.mime_type}
            for one in await self._resources.resources(Call())
        ]
        return {"resources": listed, **hints(60_000, "private")}

    async def list_templates(self, ctx: Context, params: Any) -> Any:
        one_page(params)
        listed = [
            {"uriTemplate": one.uri_template, "name": one.name, "description": one.description}
            for one in await self._resources.templates(Call())
        ]
        return {"resourceTemplates": listed, **hints(300_000, "public")}

    async def read(self, ctx: Context, params: Any) -> Any:
        uri = str(params.uri)
        try:
            found = await self._resources.read(uri, Call())
        except NotFoundError as error:
            code = rpc.INVALID_PARAMS if ctx.protocol_version == MODERN else rpc.RESOURCE_NOT_FOUND
            raise MCPError(code, error.message, {"uri": uri}) from error
        contents = [{"uri": one.uri, "mimeType": one.mime_type, "text": one.body} for one in found]
        return {"contents": contents, **hints(0, "private")}

    async def list_prompts(self, ctx: Context, params: Any) -> Any:
        one_page(params)
        return {"prompts": list(await self._prompts.prompts(Call())), **hints(300_000, "private")}

    async def get_prompt(self, ctx: Context, params: Any) -> Any:
        try:
            return {**await self._prompts.get(params.name, params.arguments or {}, Call()), **COMPLETE}
        except NotFoundError as error:
            raise MCPError(rpc.INVALID_PARAMS, error.message) from error

    async def complete(self, ctx: Context, params: Any) -> Any:
        found = await self._prompts.complete({}, {"value": params.argument.value}, Call())
        return {"completion": found, **COMPLETE}


async def nothing(ctx: Context, params: Any) -> Any:
    return {}


def call_of(ctx: Context) -> Call:
    async def progress(done: float, total: float | None = None, message: str | None = None) -> None:
        token = (ctx.meta or {}).get("progress_token")
        if token is not None:
            await ctx.session.send_progress_notification(token, done, total, message, str(ctx.request_id))

    raw, declared = ctx.params or {}, ctx.session.client_capabilities
    answers, state = raw.get("inputResponses"), raw.get("requestState")
    return Call(
        era="modern" if ctx.protocol_version == MODERN else "handshake",
        capabilities=declared.model_dump(by_alias=True, exclude_none=True) if declared else {},
        progress=progress,
        given=None if answers is None or state is None else InputGiven(answers, state),
    )


def one_page(params: Any) -> None:
    if params is not None and params.cursor is not None:
        raise MCPError(rpc.INVALID_PARAMS, "Unknown cursor")


def hints(ttl: int, scope: str) -> JsonObject:
    return {"ttlMs": ttl, "cacheScope": scope, **COMPLETE}
