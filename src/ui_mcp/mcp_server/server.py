"""McpServer: the handler of every method, for both eras and every transport."""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from ui_mcp.jsonrpc.messages import INTERNAL_ERROR, META, METHOD_NOT_FOUND, SERVER_KEY, RpcError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.params import check_params, is_of_era
from ui_mcp.mcp_server.request import Request
from ui_mcp.mcp_server.resources import PromptHandlers, Resources
from ui_mcp.mcp_server.subscriptions import Subscriptions
from ui_mcp.mcp_server.tools import Tools
from ui_mcp.mcp_server.versions import MODERN_VERSIONS
from ui_mcp.toolkit.tool import Era

Handler = Callable[[Request], Awaitable[JsonObject]]
_MODERN_FIELDS = frozenset({"resultType", "ttlMs", "cacheScope"})
_CACHE_HINTS: Mapping[str, JsonObject] = MappingProxyType(
    {
        "server/discover": {"ttlMs": 3_600_000, "cacheScope": "public"},
        "tools/list": {"ttlMs": 300_000, "cacheScope": "private"},
        "prompts/list": {"ttlMs": 300_000, "cacheScope": "private"},
        "resources/templates/list": {"ttlMs": 300_000, "cacheScope": "public"},
        "resources/list": {"ttlMs": 60_000, "cacheScope": "private"},
    }
)


class McpServer:
    """Serves one definition."""

    def __init__(self, definition: ServerDefinition) -> None:
        self.definition = definition
        self.lifecycle = Lifecycle(definition)
        self.tools = Tools(definition)
        self.subscriptions = Subscriptions(definition, self.tools.answer)
        self._handlers = {**self._own_handlers(), **definition.extra_handlers}

    def close(self) -> None:
        """End every subscription stream."""
        self.subscriptions.close()

    def serves(self, method: str, era: Era) -> bool:
        return method in self._handlers and is_of_era(method, era)

    async def result(self, request: Request) -> JsonObject:
        """Return the result of a request.

        Raises:
            RpcError: the method is unknown, its parameters are wrong, or it failed as expected.
        """
        era = request.client.era
        check_params(request.method, request.params, era)
        if not self.serves(request.method, era):
            raise RpcError(METHOD_NOT_FOUND, "Method not found", request.method)
        result = await self._handlers[request.method](request)
        return self._modern_result(request.method, result) if era == "modern" else _handshake_result(result)

    def _own_handlers(self) -> dict[str, Handler]:
        handlers: dict[str, Handler] = {
            "ping": self.lifecycle.ping,
            "server/discover": self.lifecycle.discover,
            "tools/list": self.tools.list,
            "tools/call": self.tools.call,
            "subscriptions/listen": self.subscriptions.listen,
        }
        if self.definition.resources is not None:
            resources = Resources(self.definition, self.definition.resources)
            handlers |= {
                "resources/list": resources.list,
                "resources/templates/list": resources.templates,
                "resources/read": resources.read,
                "resources/subscribe": self.subscriptions.subscribe,
                "resources/unsubscribe": self.subscriptions.unsubscribe,
            }
        if self.definition.prompts is not None:
            prompts = PromptHandlers(self.definition.prompts)
            handlers |= {
                "prompts/list": prompts.list,
                "prompts/get": prompts.get,
                "completion/complete": prompts.complete,
            }
        tasks = self.definition.tasks
        if tasks is not None:
            handlers |= tasks.methods(self.tools.answer)
        return handlers

    def _modern_result(self, method: str, result: JsonObject) -> JsonObject:
        """Add what the modern era requires: whether the result is final, how long it holds, and who answers."""
        given = result.get(META)
        meta = {SERVER_KEY: self.lifecycle.server_info(), **(given if isinstance(given, dict) else {})}
        if result.get("resultType") in {"input_required", "task"}:
            return {**result, META: meta}
        return {"resultType": "complete", **_CACHE_HINTS.get(method, {}), **result, META: meta}


class Lifecycle:
    """`initialize`, `server/discover` and `ping`, and the capabilities that they announce."""

    def __init__(self, definition: ServerDefinition) -> None:
        self._definition = definition

    def server_info(self) -> JsonObject:
        definition = self._definition
        return {"name": definition.name, "title": definition.title, "version": definition.version}

    def initialize(self, version: str) -> JsonObject:
        """Return the result of a handshake that agreed on `version`."""
        capabilities = self._capabilities()
        if self._definition.experimental:
            capabilities["experimental"] = dict(self._definition.experimental)
        greeting = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": self.server_info()}
        return self._instructed(greeting)

    async def discover(self, request: Request) -> JsonObject:
        offered = self._definition.tasks
        tasks: JsonObject = {offered.name: {}} if offered is not None else {}
        capabilities = {**self._capabilities(), "extensions": {**self._definition.extensions, **tasks}}
        return self._instructed({"supportedVersions": list(MODERN_VERSIONS), "capabilities": capabilities})

    async def ping(self, request: Request) -> JsonObject:
        return {}

    def _capabilities(self) -> JsonObject:
        definition = self._definition
        capabilities: JsonObject = {"tools": {"listChanged": "tools" in definition.list_changed}}
        if definition.resources is not None:
            capabilities["resources"] = {"subscribe": True, "listChanged": "resources" in definition.list_changed}
        if definition.prompts is not None:
            capabilities["prompts"] = {"listChanged": "prompts" in definition.list_changed}
            capabilities["completions"] = {}
        if "logging/setLevel" in definition.extra_handlers:
            capabilities["logging"] = {}
        return capabilities

    def _instructed(self, greeting: JsonObject) -> JsonObject:
        instructions = self._definition.current_instructions()
        return {**greeting, "instructions": instructions} if instructions else greeting


def _handshake_result(result: JsonObject) -> JsonObject:
    """Remove what the handshake era does not have."""
    if result.get("resultType") == "input_required":
        raise RpcError(INTERNAL_ERROR, "This needs input that only clients of the newer protocol are asked for")
    if _MODERN_FIELDS.isdisjoint(result):
        return result
    return {key: value for key, value in result.items() if key not in _MODERN_FIELDS}
