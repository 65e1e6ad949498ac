"""Serves `nlui` on ports: MCP over HTTP, and the chat page."""

import socket
import sys

import anyio

from ui_mcp.app.commands.trust import offer
from ui_mcp.config import LOOPBACK
from ui_mcp.errors import ConfigError
from ui_mcp.gateway.approvals.http import health_route
from ui_mcp.gateway.config.configuration import GatewayOptions, configuration
from ui_mcp.gateway.config.settings import Mode
from ui_mcp.gateway.mcp import gateway_definition
from ui_mcp.gateway.runner import open_gateway
from ui_mcp.gateway.service import GatewayService
from ui_mcp.gateway.source import health_json
from ui_mcp.gateway.web.access import FILE_SIZES
from ui_mcp.gateway.web.demo import demo_unless_configured
from ui_mcp.gateway.web.service import chat_app, open_chat_page
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.transports.routes import McpRoutes
from ui_mcp.processes import run, until_signalled
from ui_mcp.webserver.person_app import person_link, person_listening
from ui_mcp.webserver.person_auth import Access
from ui_mcp.webserver.responses import not_found_app
from ui_mcp.webserver.security import MAX_BODY, AccessRules, SecurityMiddleware, readable_by
from ui_mcp.webserver.server import bind, bind_last, listening, mcp_app, port_of

_log = logger("gateway")


def run_http(options: GatewayOptions, port: int | None) -> int:
    """Serve MCP clients over HTTP until interrupted."""
    offer(options.source)
    return run(_http, options, port)


async def _http(options: GatewayOptions, port: int | None) -> int:
    settings = configuration(options).settings
    host = options.host or settings.server.host
    if host not in LOOPBACK and not settings.server.token:
        raise ConfigError(f"{host} is reachable from other machines\nSet server.token in nlui.yaml, or use 127.0.0.1.")
    chosen = port if port is not None else settings.mcp.server.sse_port or 8080
    listener = bind(host, chosen)
    mode: Mode = "host" if host in LOOPBACK else "guard"
    async with until_signalled(), open_gateway(options, mode=mode) as gateway:
        await _serve_mcp(gateway, gateway_definition(gateway, options), listener, host)
    return 0


async def _serve_mcp(gateway: GatewayService, definition: ServerDefinition, listener: socket.socket, host: str) -> None:
    """Serve MCP and health on one listener until cancelled."""
    endpoints = McpRoutes(definition, post_path="/messages")
    token = gateway.settings.server.token or None
    pages = frozenset(gateway.settings.mcp.server.allowed_origins)
    rules = AccessRules(
        ports=frozenset({port_of(listener)}),
        allowed_hosts=frozenset({host}) - LOOPBACK,
        allowed_origins=pages,
        token=token,
    )
    guarded = SecurityMiddleware(mcp_app([health_route(lambda: _health(gateway))], endpoints), rules)
    app = readable_by(pages, guarded) if pages else guarded
    async with listening(app, listener, gateway.settings.server.allowed_users):
        sys.stderr.write(f"nlui: MCP at http://{host}:{port_of(listener)}/sse and /mcp\n")
        sys.stderr.flush()
        try:
            await anyio.sleep_forever()
        finally:
            endpoints.close()


def _health(gateway: GatewayService) -> JsonObject:
    sources = health_json(gateway.health())
    return {"status": "ok", "tools": len(gateway.catalog.entries()), "sources": sources}


def run_chat(options: GatewayOptions, port: int | None) -> int:
    """Serve the chat page until interrupted."""
    offer(options.source)
    return run(_serve, options, port)


async def _serve(options: GatewayOptions, port: int | None) -> int:
    async with until_signalled(), demo_unless_configured(options) as shown, open_chat_page(shown) as chat:
        settings = chat.gateway.settings.server
        host = options.host or settings.host
        if host not in LOOPBACK and not settings.token:
            raise ConfigError(f"{host} is reachable from other machines\nSet server.token, or use 127.0.0.1.")
        listener = bind(host, settings.port if port is None else port)
        endpoints = McpRoutes(gateway_definition(chat.gateway, options), post_path="/messages", fallback=not_found_app)
        rules = AccessRules(
            ports=frozenset({port_of(listener)}),
            allowed_hosts=frozenset({host}) - LOOPBACK,
            allowed_origins=frozenset(settings.cors),
            sockets_without_origin=True,
            max_body=lambda path: FILE_SIZES.get(path, MAX_BODY),
        )
        app = SecurityMiddleware(chat_app(chat, endpoints, Access(str(port_of(listener)))), rules)
        apps = bind_last(host, chat.gateway.context.data / "apps-port")
        chat.apps.port = port_of(apps)
        async with (
            listening(chat.sandbox.app(), apps, settings.allowed_users),
            person_listening(app, listener, settings.allowed_users),
        ):
            stop = "Press Ctrl+C to stop.\n" if sys.stdout.isatty() else ""
            sys.stdout.write(f"nlui: chat at {person_link(f'http://{host}:{port_of(listener)}')}\n{stop}")
            sys.stdout.flush()
            try:
                await anyio.sleep_forever()
            finally:
                endpoints.close()
    return 0
