"""The gateway's HTTP listeners: MCP transports and health for programs, approvals on a listener of the person's own."""

import socket
import sys
from collections.abc import Callable

import anyio

from ui_mcp.app.person_listener import person_listening
from ui_mcp.config import LOOPBACK
from ui_mcp.errors import ConfigError
from ui_mcp.gateway.approvals.http import ApprovalPages, Routes, health_route
from ui_mcp.gateway.approvals.person_http import approvals_app
from ui_mcp.gateway.service import Gateway
from ui_mcp.gateway.source import health_json
from ui_mcp.httpd.mcp_app import mcp_app
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_server.definition import Face
from ui_mcp.mcp_server.transports.routes import Endpoints
from ui_mcp.person import last_port, remember_port
from ui_mcp.webserver.security import Guard, Rules
from ui_mcp.webserver.server import bind, listening, port_of


async def serve_gateway(gateway: Gateway, face: Face, listener: socket.socket, host: str) -> None:
    """Serve MCP and health on one listener until cancelled."""
    endpoints = Endpoints(face, post_path="/messages")
    token = gateway.settings.server.token or None
    rules = Rules(ports=frozenset({port_of(listener)}), allowed_hosts=frozenset({host}) - LOOPBACK, token=token)
    app = Guard(mcp_app([health_route(lambda: _health(gateway))], endpoints), rules)
    async with listening(app, listener, gateway.settings.server.allowed_users):
        sys.stderr.write(f"nlui: MCP at http://{host}:{port_of(listener)}/sse and /mcp\n")
        sys.stderr.flush()
        try:
            await anyio.sleep_forever()
        finally:
            endpoints.close()


async def serve_approvals(gateway: Gateway, opened: Callable[[str], None]) -> None:
    """Serve the approvals on a loopback listener of the person's own until cancelled."""
    listener = _person_socket(gateway)
    port = port_of(listener)
    pages = ApprovalPages(gateway.desk, gateway.proposals, gateway.replay, gateway.scrubber)
    async with person_listening(
        approvals_app(port, pages, gateway.desk), listener, gateway.settings.server.allowed_users
    ):
        opened(f"http://127.0.0.1:{port}")
        await anyio.sleep_forever()


def approval_routes(gateway: Gateway) -> Routes:
    """Return the approvals of a gateway, for a listener that knows the person."""
    return ApprovalPages(gateway.desk, gateway.proposals, gateway.replay, gateway.scrubber).routes()


def _person_socket(gateway: Gateway) -> socket.socket:
    """Take the last port if it is free, so that the browser still holds its credential for this origin."""
    data = gateway.around.data
    try:
        listener = bind("127.0.0.1", last_port(data) or 0)
    except ConfigError:
        listener = bind("127.0.0.1", 0)
    remember_port(data, port_of(listener))
    return listener


def _health(gateway: Gateway) -> JsonObject:
    sources = health_json(gateway.health())
    return {"status": "ok", "tools": len(gateway.catalogue.entries()), "sources": sources}
