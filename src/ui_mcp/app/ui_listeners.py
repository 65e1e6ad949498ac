"""Starts sessions, UI port, MCP port and person's port of a running server."""

import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from ui_mcp.app.person_listener import CHAT, LAZY_PATHS, bind_person, person_app_beside
from ui_mcp.config import Config
from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config.protected import gateway_places
from ui_mcp.person import PersonKeys
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.chat_events import forward_chat_messages, pushing_events
from ui_mcp.ui.http.app import Pages, ui_app
from ui_mcp.ui.http.person import origins_of, person_links
from ui_mcp.ui.http.routes import mcp_routes, ui_routes
from ui_mcp.ui.http.session_cookies import CodeEntry
from ui_mcp.ui.instance import ListenPorts, keep_port, last_port, port_file, token_file
from ui_mcp.ui.refusals import note_refusal
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.registry import ServerInfo, SessionRegistry
from ui_mcp.ui.states import Configured, Running
from ui_mcp.ui.themes import decorate
from ui_mcp.webserver.auth import CODE_LIFETIME, OneTimeTokens
from ui_mcp.webserver.person_app import registered
from ui_mcp.webserver.security import AccessRules, SecurityMiddleware
from ui_mcp.webserver.server import App, LazyRoutes, Routes, bind, listening, mcp_app, port_of
from ui_mcp.workspace import Workspace


@asynccontextmanager
async def run_listeners(
    host: UiServer, configured: Configured, listen_ports: ListenPorts, announcements: Announcements
) -> AsyncIterator[Running]:
    """Serve one configuration while the block runs."""
    workspace, config = configured.workspace, configured.config
    async with AsyncExitStack() as stack:
        ui = (
            bind_lasting(workspace, config, listen_ports, "ui")
            if listen_ports.ui == 0
            else bind(config.server.host, listen_ports.ui)
        )
        stack.callback(ui.close)
        mcp = None if listen_ports.mcp_is_open else bind(config.server.host, listen_ports.mcp)
        mcp_port = port_of(mcp) if mcp else listen_ports.mcp
        if mcp:
            stack.callback(mcp.close)
        person = bind_person(config, workspace, listen_ports.person)
        stack.callback(person.close)
        stack.enter_context(registered(port_of(person)))
        ports, person_port = frozenset({port_of(ui), mcp_port}), port_of(person)
        # A previous run may have used one of these ports for the person: its credentials must not work here.
        for port in ports:
            PersonKeys().forget_listener(str(port))
        noted, protected = partial(note_refusal, workspace), (*gateway_places(workspace, config), *configured.protected)
        server = ServerInfo(host.status, announcements, noted, protected)
        sessions = await stack.enter_async_context(SessionRegistry(workspace, config, server))
        tokens, codes = OneTimeTokens(), OneTimeTokens(lifetime=CODE_LIFETIME)
        url = config.server.url(port_of(ui))
        running = Running(
            workspace,
            config,
            sessions,
            url,
            mcp_port,
            tokens.mint,
            codes.mint,
            person_url=config.server.url(person_port),
            pending=configured.pending,
        )
        pages = Pages(host, workspace, decorate)
        routes = [
            *person_links(person_port),
            ui_timeline_and_approvals(host),
            *ui_routes(host, tokens),
            ui_chat(host, config.chat.rate),
        ]
        if config.mcp.claude_channel:
            stack.enter_context(pushing_events(sessions, announcements))
        users = config.server.allowed_users
        app = SecurityMiddleware(
            CodeEntry(ui_app(pages, routes), host, codes), ui_rules(config, ports, tokens, person_port)
        )
        await stack.enter_async_context(listening(app, ui, users))
        person_app = person_app_beside(host, config, workspace, port_of(ui), person_port)
        await stack.enter_async_context(listening(person_app, person, users))
        if mcp:
            token = stack.enter_context(token_file(workspace)) if config.server.require_token else None
            mcp_face = guarded_mcp_app(host, mcp_rules(config, ports, token))
            await stack.enter_async_context(listening(mcp_face, mcp, users))
        stack.callback(host.cancel_chat_waiters)
        stack.push_async_callback(sessions.stop)  # before the listeners close, so that blocked requests are answered
        stack.enter_context(port_file(workspace.ui_port, port_of(ui)))
        stack.enter_context(port_file(workspace.mcp_port, mcp_port))
        stack.enter_context(port_file(workspace.person_port, person_port))
        await stack.enter_async_context(forward_chat_messages(host, sessions, announcements))
        yield running


def bind_lasting(workspace: Workspace, config: Config, listen_ports: ListenPorts, name: str) -> socket.socket:
    """Return a socket on the port of the last run, so that the origin stays the same, else on any free port."""
    last = last_port(workspace, name) if listen_ports.lasting else 0
    try:
        listener = bind(config.server.host, last)
    except ConfigError:
        listener = bind(config.server.host, 0)
    if listen_ports.lasting:
        keep_port(workspace, name, port_of(listener))
    return listener


def guarded_mcp_app(host: UiServer, rules: AccessRules, transports: App | None = None) -> App:
    """Build the application of the MCP port with its security middleware."""
    return SecurityMiddleware(
        mcp_app([*mcp_routes(host), mcp_chat(host), mcp_timeline_and_approvals(host)], transports), rules
    )


def ui_chat(host: UiServer, per_second: float) -> LazyRoutes:
    """Return the read-only chat routes of the UI port, imported on the first request."""

    def make() -> Routes:
        from ui_mcp.ui.http.chat_routes import ui_chat_routes

        return ui_chat_routes(host, per_second)

    return LazyRoutes(CHAT, make)


def mcp_chat(host: UiServer) -> LazyRoutes:
    """Return the chat routes of the MCP port, imported on the first request."""

    def make() -> Routes:
        from ui_mcp.ui.http.chat_routes import mcp_chat_routes

        return mcp_chat_routes(host)

    return LazyRoutes(CHAT, make)


def ui_timeline_and_approvals(host: UiServer) -> LazyRoutes:
    """Return the timeline and approval routes of the UI port, imported on the first request."""

    def make() -> Routes:
        from ui_mcp.app import watch_routes

        return watch_routes.ui_timeline_and_approvals(host)

    return LazyRoutes(LAZY_PATHS, make)


def mcp_timeline_and_approvals(host: UiServer) -> LazyRoutes:
    """Return the timeline and approval routes of the MCP port, imported on the first request."""

    def make() -> Routes:
        from ui_mcp.app import watch_routes

        return watch_routes.mcp_timeline_and_approvals(host)

    return LazyRoutes(LAZY_PATHS, make)


def ui_rules(config: Config, ports: frozenset[int], tokens: OneTimeTokens, person_port: int) -> AccessRules:
    """Return the access rules of the UI port, whose pages contain app code."""
    return AccessRules(
        ports=ports,
        allowed_hosts=frozenset(config.server.allowed_hosts),
        allowed_origins=frozenset(config.server.allowed_origins),
        redeem=tokens.valid,
        framed_by=origins_of(config, person_port),
        contained=True,
    )


def mcp_rules(config: Config, ports: frozenset[int], token: str | None) -> AccessRules:
    """Return the access rules of the MCP port; other sites may link only to read-only pages."""
    return AccessRules(
        ports=ports,
        allowed_hosts=frozenset(config.server.allowed_hosts),
        allowed_origins=frozenset(config.server.allowed_origins),
        token=token,
        authenticated_elsewhere=lambda path: path.startswith("/chat/"),
        navigable=lambda path: path in {"/state", "/variables"},
        sockets_without_origin=True,
    )
