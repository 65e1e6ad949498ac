"""The gateway's HTTP listeners: MCP transports, the approvals page and health."""

import socket
import sys
from collections.abc import Callable

import anyio

from ui_mcp.compositor.gateway import Gateway
from ui_mcp.compositor.source import health_json
from ui_mcp.config import LOOPBACK
from ui_mcp.httpd.approvals import ApprovalPages, Routes, Visitors, health_route
from ui_mcp.httpd.mcp_app import mcp_app
from ui_mcp.httpd.security import Guard, Rules
from ui_mcp.httpd.serve import listening, port_of
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcpd.endpoints import Endpoints
from ui_mcp.mcpd.face import Face


async def serve_gateway(gateway: Gateway, face: Face, listener: socket.socket, host: str) -> None:
    """Serve MCP, approvals and health on one listener until cancelled."""
    endpoints = Endpoints(face, post_path="/messages")
    token = gateway.settings.server.token or None
    rules = Rules(ports=frozenset({port_of(listener)}), allowed_hosts=frozenset({host}) - LOOPBACK, token=token)
    # Who has the token may call tools; answering is for people, so with a token the page is on loopback alone.
    pages = [] if token else approval_routes(gateway)
    app = Guard(mcp_app([*pages, health_route(lambda: _health(gateway))], endpoints), rules)
    async with listening(app, listener, gateway.settings.server.allowed_users):
        sys.stderr.write(f"nlui: MCP at http://{host}:{port_of(listener)}/sse and /mcp\n")
        sys.stderr.flush()
        try:
            await anyio.sleep_forever()
        finally:
            endpoints.close()


async def serve_approvals(gateway: Gateway, listener: socket.socket, opened: Callable[[str], None]) -> None:
    """Serve only the approvals page, on loopback, until cancelled."""
    app = Guard(mcp_app(approval_routes(gateway)), Rules(ports=frozenset({port_of(listener)})))
    async with listening(app, listener):
        opened(f"http://127.0.0.1:{port_of(listener)}/approvals")
        await anyio.sleep_forever()


def approval_routes(gateway: Gateway, visitors: Visitors | None = None) -> Routes:
    """Return the approvals page of a gateway."""
    known = visitors or Visitors()
    return ApprovalPages(gateway.desk, gateway.proposals, gateway.replay, gateway.scrubber, known).routes()


def _health(gateway: Gateway) -> JsonObject:
    sources = health_json(gateway.health())
    return {"status": "ok", "tools": len(gateway.catalogue.entries()), "sources": sources}
