"""Request handlers by method, for every transport and both protocol eras."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from mcp.server.caching import CacheHint
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    ClientCapabilities,
    CompleteRequestParams,
    GetPromptRequestParams,
    InitializeRequestParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    RequestParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    UnsubscribeRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ui_mcp.errors import NotFoundError, UiMcpError, UpstreamError
from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import adopt
from ui_mcp.mcp_server import results
from ui_mcp.mcp_server.definition import Prompts, ServerDefinition
from ui_mcp.mcp_server.request_context import RequestContext
from ui_mcp.mcp_server.subscriptions import Context, Subscriptions, request_context
from ui_mcp.toolkit.resources import ResourceSet
from ui_mcp.toolkit.tool import Call, InputGiven

_LONGEST_CURSOR = 9
"""Digits; `int` raises for texts of thousands of digits."""
_HINTS: dict[Any, CacheHint] = {
    "server/discover": CacheHint(3_600_000, "public"),
    "tools/list": CacheHint(300_000, "private"),
    "prompts/list": CacheHint(300_000, "private"),
    "resources/templates/list": CacheHint(300_000, "public"),
    "resources/list": CacheHint(60_000, "private"),
}


class McpServer:
    """Serves one definition: the SDK server, its initialization options and the subscriptions."""

    def __init__(self, definition: ServerDefinition) -> None:
        adopt("mcp")
        self.definition = definition
        self.subscriptions = Subscriptions(definition)
        self.server: Server[JsonObject] = self._server()
        self._options: InitializationOptions = self.server.create_initialization_options(
            NotificationOptions(**{f"{kind}_changed": True for kind in definition.list_changed}),
            experimental_capabilities=dict(definition.experimental) or None,
        )

    def options(self) -> InitializationOptions:
        """Return what the handshake says to a client that connects now."""
        return self._options.model_copy(update={"instructions": self.definition.current_instructions()})

    def close(self) -> None:
        """End every subscription stream."""
        self.subscriptions.close()

    def _server(self) -> Server[JsonObject]:
        definition = self.definition
        server: Server[JsonObject] = Server(
            definition.name,
            version=definition.version,
            title=definition.title,
            cache_hints=_HINTS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        # No tracer is configured, and spans cost 10 % per call.
        server.middleware.clear()
        server.extensions = dict(definition.extensions)
        server.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, self.subscriptions.listen)
        server.add_request_handler("server/discover", RequestParams, self._discover)
        if definition.resources is not None:
            _Resources(self, definition.resources).register(server)
        if definition.prompts is not None:
            _PromptHandlers(definition.prompts).register(server)
        for method, (params, handler) in definition.extra_handlers.items():
            server.add_request_handler(method, params, handler)
        return server

    def is_plain_call(self, message: JsonObject) -> bool:
        """Return whether a request is a well-formed `tools/call` without a handler of its own in the definition."""
        if message["method"] != "tools/call" or "tools/call" in self.definition.extra_handlers:
            return False
        params = message.get("params") or {}
        described = isinstance(params.get(messages.META) or {}, dict)
        return described and isinstance(params.get("name"), str) and isinstance(params.get("arguments", {}), dict)

    async def call_tool(
        self, request: RequestContext, client: InitializeRequestParams, params: JsonObject
    ) -> JsonObject:
        """Answer `tools/call` of the handshake era without the SDK's result model.

        That model drops unknown fields of a mounted server's result, and validating takes time.
        """
        call = _described(request, client, client.capabilities, params.get(messages.META))
        answer = await results.tool_answer(self.definition, params["name"], params.get("arguments") or {}, call)
        answer.pop("resultType", None)  # of the modern era only
        return answer

    async def _discover(self, ctx: Context, params: RequestParams) -> JsonObject:
        capabilities = self._options.capabilities.model_dump(by_alias=True, mode="json", exclude_none=True)
        capabilities.pop("experimental", None)  # of the handshake era only
        if self.definition.extensions:
            capabilities["extensions"] = dict(self.definition.extensions)
        answer = {"supportedVersions": list(MODERN_PROTOCOL_VERSIONS), "capabilities": capabilities}
        instructions = self.definition.current_instructions()
        return results.complete({**answer, "instructions": instructions} if instructions else answer)

    async def _list_tools(self, ctx: Context, params: PaginatedRequestParams | None) -> Any:
        call = call_of(ctx)
        start = _offset(params, self.definition.tools_per_page)
        listed = await self.definition.toolset.tools(call)
        shown = [tool for tool in listed if call.shows_apps() or not tool.app_only]
        end = start + (self.definition.tools_per_page or len(shown))
        following = {"nextCursor": str(end)} if end < len(shown) else {}
        return results.complete({"tools": [results.tool(tool) for tool in shown[start:end]], **following})

    async def _call_tool(self, ctx: Context, params: CallToolRequestParams) -> Any:
        call = replace(call_of(ctx), given=_given(ctx.params or {}))
        return await results.tool_answer(self.definition, params.name, params.arguments or {}, call)


class _Resources:
    """The `resources/*` handlers."""

    def __init__(self, service: McpServer, resources: ResourceSet) -> None:
        self._service = service
        self._resources = resources

    def register(self, server: Server[JsonObject]) -> None:
        subscriptions = self._service.subscriptions
        server.add_request_handler("resources/list", PaginatedRequestParams, self._list)
        server.add_request_handler("resources/templates/list", PaginatedRequestParams, self._templates)
        server.add_request_handler("resources/read", ReadResourceRequestParams, self._read)
        server.add_request_handler("resources/subscribe", SubscribeRequestParams, subscriptions.subscribe)
        server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, subscriptions.unsubscribe)

    async def _list(self, ctx: Context, params: PaginatedRequestParams) -> JsonObject:
        one_page(params)
        listed = await self._resources.resources(call_of(ctx))
        return results.complete({"resources": [results.resource(entry) for entry in listed]})

    async def _templates(self, ctx: Context, params: PaginatedRequestParams) -> JsonObject:
        one_page(params)
        listed = await self._resources.templates(call_of(ctx))
        return results.complete({"resourceTemplates": [results.template(entry) for entry in listed]})

    async def _read(self, ctx: Context, params: ReadResourceRequestParams) -> JsonObject:
        call = call_of(ctx)
        uri = str(params.uri)
        canonical = self._service.definition.canonical(uri)
        try:
            read = await self._resources.read(canonical, call)
        except UiMcpError as error:
            raise results.resource_error(error, uri, call) from error
        if not read:
            raise results.resource_error(NotFoundError(f"Resource not found: {uri}"), uri, call)
        return results.contents(read, canonical, uri)


class _PromptHandlers:
    """The `prompts/*` and `completion/complete` handlers."""

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts

    def register(self, server: Server[JsonObject]) -> None:
        server.add_request_handler("prompts/list", PaginatedRequestParams, self._list)
        server.add_request_handler("prompts/get", GetPromptRequestParams, self._get)
        server.add_request_handler("completion/complete", CompleteRequestParams, self._complete)

    async def _list(self, ctx: Context, params: PaginatedRequestParams) -> JsonObject:
        one_page(params)
        return results.complete({"prompts": list(await self._prompts.prompts(call_of(ctx)))})

    async def _get(self, ctx: Context, params: GetPromptRequestParams) -> JsonObject:
        return results.complete(await self._prompts.get(params.name, params.arguments or {}, call_of(ctx)))

    async def _complete(self, ctx: Context, params: CompleteRequestParams) -> JsonObject:
        raw = ctx.params or {}
        found = await self._prompts.complete(raw["ref"], raw["argument"], call_of(ctx))
        return results.complete({"completion": found})


def call_of(ctx: Context) -> Call:
    """Return the Call that describes the request of a handler."""
    session = ctx.session
    call = _described(request_context(ctx), session.client_params, session.client_capabilities, ctx.meta)
    return replace(call, era="modern") if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else call


def _described(
    request: RequestContext,
    client: InitializeRequestParams | None,
    declared: ClientCapabilities | None,
    meta: Mapping[str, Any] | None,
) -> Call:
    return Call(
        principal=request.principal,
        connection=request.connection,
        client_name=client.client_info.name if client else "",
        capabilities=declared.model_dump(by_alias=True, mode="json", exclude_none=True) if declared else {},
        progress=request.progress,
        closing=request.closing,
        meta=dict(meta or {}),
        ask_client=_ask_client(request) if request.can_send_request else None,
        ask_user=_ask_user(request) if request.can_send_request and _takes_forms(declared) else None,
    )


def _takes_forms(declared: ClientCapabilities | None) -> bool:
    asked = declared.elicitation if declared else None
    return asked is not None and (asked.form is not None or asked.url is None)


def _given(params: Mapping[str, Any]) -> InputGiven | None:
    responses, state = params.get("inputResponses"), params.get("requestState")
    return InputGiven(responses, state) if isinstance(responses, dict) and isinstance(state, str) else None


def _ask_user(request: RequestContext) -> Callable[[str, JsonObject], Awaitable[JsonObject]]:
    async def ask(message: str, form: JsonObject) -> JsonObject:
        try:
            return await request.send_raw_request("elicitation/create", {"message": message, "requestedSchema": form})
        except MCPError as error:
            raise UpstreamError(f"The client did not put the question: {error.message}") from error

    return ask


def _ask_client(request: RequestContext) -> Callable[[str, JsonObject], Awaitable[JsonObject]]:
    async def ask(method: str, params: JsonObject) -> JsonObject:
        try:
            return await request.send_raw_request(method, params)
        except MCPError as error:
            raise UpstreamError(error.message, rpc_code=error.code, data=error.data) from error

    return ask


def _offset(params: PaginatedRequestParams | None, size: int) -> int:
    """Return the offset of a page; the cursor is the number of entries before it."""
    cursor = params.cursor if params else None
    if cursor is None:
        return 0
    if not size or not cursor.isdecimal() or len(cursor) > _LONGEST_CURSOR or int(cursor) % size:
        raise MCPError(messages.INVALID_PARAMS, "Unknown cursor: list again from the start")
    return int(cursor)


def one_page(params: PaginatedRequestParams | None) -> None:
    """Raise if the request has a cursor: every other list is a single page."""
    if params is not None and params.cursor is not None:
        raise MCPError(messages.INVALID_PARAMS, "Unknown cursor: this list has one page")
