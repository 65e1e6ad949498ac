"""Border: OpenAPI documents, as the text of a file, and calls of what they describe."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from fuzz.border import Border
from fuzz.values import any_json, damage, damaged, mutated, text_of, yaml_of
from ui_mcp.errors import UiMcpError
from ui_mcp.gateway.config.settings import GatewaySettings, TargetSettings
from ui_mcp.gateway.runner import connector
from ui_mcp.gateway.service import GatewayContext, GatewayService, running_gateway
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.jsontypes import dumps
from ui_mcp.toolkit.tool import Call
from ui_mcp.validation import read

THING = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "format": "int64", "minimum": 0, "maximum": 9, "default": 5},
        "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5, "nullable": True},
        "parent": {"$ref": "#/components/schemas/Thing"},
        "kind": {
            "oneOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}],
            "discriminator": {"propertyName": "k"},
        },
        "tags": {"type": "array", "items": {"allOf": [{"type": "string"}, {"minLength": 1}]}},
    },
    "required": ["name"],
    "additionalProperties": {"type": "string"},
}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}, "style": "simple", "explode": False}
BODY = {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}
OK = {"200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}
THREE: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1", "description": "d"},
    "servers": [{"url": "http://127.0.0.1:9/{v}", "variables": {"v": {"default": "v1", "enum": ["v1"]}}}],
    "paths": {
        "/things": {
            "parameters": [{"$ref": "#/components/parameters/Page"}],
            "get": {"operationId": "listThings", "tags": ["a"], "summary": "s", "responses": OK},
            "post": {"operationId": "addThing", "requestBody": BODY, "responses": OK, "security": [{"key": []}]},
        },
        "/things/{id}": {"parameters": [ID], "get": {"responses": OK, "deprecated": True}, "delete": {"responses": {}}},
    },
    "components": {
        "schemas": {"Thing": THING},
        "parameters": {"Page": {"name": "page", "in": "query", "schema": {"type": "integer"}, "example": 1}},
        "securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
            "oauth": {
                "type": "oauth2",
                "flows": {"clientCredentials": {"tokenUrl": "http://127.0.0.1:9/t", "scopes": {}}},
            },
        },
    },
    "security": [{"oauth": ["read"]}],
    "webhooks": {"w": {"post": {"responses": {}}}},
}
TWO: dict[str, Any] = {
    "swagger": "2.0",
    "info": {"title": "Old", "version": "1"},
    "host": "127.0.0.1:9",
    "basePath": "/v1",
    "schemes": ["http"],
    "consumes": ["application/json"],
    "paths": {
        "/pets/{id}": {
            "post": {
                "operationId": "addPet",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "type": "integer", "collectionFormat": "csv"},
                    {"name": "f", "in": "formData", "type": "file"},
                    {"name": "b", "in": "body", "schema": {"$ref": "#/definitions/Pet"}},
                ],
                "responses": {"200": {"description": "ok", "schema": {"$ref": "#/definitions/Pet"}}},
            }
        }
    },
    "definitions": {"Pet": {"type": "object", "properties": {"n": {"type": "string"}}}},
    "securityDefinitions": {"basic": {"type": "basic"}},
}
GOOD = {"openapi": "3.0.3", "info": {"title": "G", "version": "1"}, "paths": {"/a": {"get": {"operationId": "getA"}}}}


class Targets:
    """A gateway with a fuzzed API and a good one."""

    def __init__(self, gateway: GatewayService, folder: Path) -> None:
        self._gateway, self._file = gateway, folder / "api.txt"
        self._offered = GatewayToolset(gateway)

    async def take(self, case: tuple[bytes, Any]) -> None:
        document, arguments = case
        self._file.write_bytes(document)
        await self._gateway.sources.attach_target(TargetSettings(name="bad", spec=str(self._file)))
        try:
            await self._gateway.sources.ready()
            names = [tool.name for tool in await self._offered.tools(Call()) if tool.name.startswith("bad__")]
            for name in names[:2]:
                await self._use(name, arguments if isinstance(arguments, dict) else {})
        finally:
            await self._gateway.sources.detach_target("bad")

    async def _use(self, name: str, arguments: dict[str, Any]) -> None:
        """Describe a tool and build its request, without sending it."""
        with suppress(UiMcpError):
            dumps((await self._offered.call("nlui__describe", {"name": name}, Call())).structured)
        with suppress(UiMcpError):
            await self._offered.call(name, {**arguments, "_dry_run": True}, Call())

    async def neighbour_answers(self) -> None:
        shown = await self._offered.call("good__getA", {"_dry_run": True}, Call())
        assert not shown.is_error
        assert [one.state for one in self._gateway.health() if one.name == "good"] == ["active"]


@asynccontextmanager
async def targets_opened(folder: Path) -> AsyncIterator[Targets]:
    (folder / "good.json").write_text(dumps(GOOD))
    good = {"name": "good", "spec": str(folder / "good.json"), "base_url": "http://127.0.0.1:9"}
    settings = read(GatewaySettings, {"targets": [good]})
    around = GatewayContext(folder / "data", folder / "cache", connector())
    async with running_gateway(settings, around) as gateway:
        await gateway.sources.ready()
        yield Targets(gateway, folder)


trees = mutated(THREE, TWO)
texts = st.builds(lambda tree: text_of(tree).encode(), trees) | st.builds(yaml_of, trees)
documents = texts | texts | st.builds(damaged, texts, damage) | st.builds(lambda tree: text_of(tree).encode(), any_json)
arguments = st.fixed_dictionaries({}, optional={"id": any_json, "page": any_json, "body": any_json, "name": any_json})

BORDERS = [Border("OpenAPI documents", st.tuples(documents, arguments), targets_opened, 150)]
