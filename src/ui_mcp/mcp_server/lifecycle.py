"""Lifecycle: `initialize`, `server/discover` and `ping`, and the capabilities that they announce."""

from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.request import Request
from ui_mcp.mcp_server.versions import MODERN_VERSIONS


class Lifecycle:
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
        capabilities = {**self._capabilities(), "extensions": dict(self._definition.extensions)}
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
