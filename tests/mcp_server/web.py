"""The sample server behind real HTTP, guarded as in the product."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.transports.routes import McpRoutes
from ui_mcp.webserver.security import AccessRules, SecurityMiddleware
from ui_mcp.webserver.server import bind, listening, port_of

JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@asynccontextmanager
async def served(definition: ServerDefinition, **options: Any) -> AsyncIterator[httpx2.AsyncClient]:
    """Serve a definition and return a client whose base is the server."""
    listener = bind("127.0.0.1", 0)
    port = port_of(listener)
    endpoints = McpRoutes(definition, **options)
    async with listening(SecurityMiddleware(endpoints, AccessRules(frozenset({port}))), listener):
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=JSON, timeout=120) as client:
            yield client
        endpoints.close()
