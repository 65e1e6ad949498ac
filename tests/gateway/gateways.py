"""Whole gateways for tests, with a real API behind them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gateway.conftest import Recorder, document
from ui_mcp.gateway.config.settings import GatewaySettings
from ui_mcp.gateway.runner import connector
from ui_mcp.gateway.service import GatewayContext, GatewayService, running_gateway
from ui_mcp.gateway.source import Permit
from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.toolkit.tool import Call, ToolResult
from ui_mcp.validation import read

THINGS = document(
    {
        "/things": {
            "get": {"operationId": "listThings", "responses": {}},
            "post": {
                "operationId": "addThing",
                "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}},
                "responses": {},
            },
        },
        "/things/{id}": {
            "delete": {
                "operationId": "deleteThing",
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
                "responses": {},
            }
        },
    }
)


@asynccontextmanager
async def gateway(
    folder: Path, recorder: Recorder | None = None, *, ready: bool = True, **settings: Json
) -> AsyncIterator[GatewayService]:
    """Run a gateway under the guard policy; it has the API `shop`, read if `ready`, when a server is given."""
    if recorder is not None:
        (folder / "shop.json").write_text(dumps(THINGS))
        shop = {"name": "shop", "spec": str(folder / "shop.json"), "base_url": recorder.url}
        settings["targets"] = [*settings.get("targets", []), shop]
    settings.setdefault("approvals", {"sync_wait_s": 0.3})
    settings["mcp"] = {"startup_wait_ms": 120_000, **settings.get("mcp", {})}
    around = GatewayContext(folder / "data", folder / "cache", connector(), mode="guard")
    async with running_gateway(read(GatewaySettings, settings), around) as found:
        if ready:
            await found.sources.ready()
        yield found


async def at_its_source(found: GatewayService, name: str, arguments: JsonObject, call: Call = Call()) -> ToolResult:
    """Call a tool as policy would have allowed it."""
    return await found.catalog.call(name, arguments, call, Permit(found.catalog.entry(name).fingerprint))
