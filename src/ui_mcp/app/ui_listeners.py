"""Starts sessions, UI port, MCP port and person's port of a running server."""

import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from anyio import create_memory_object_stream, create_task_group
from anyio.streams.memory import MemoryObjectReceiveStream

from ui_mcp.config import LOOPBACK, Config
from ui_mcp.discovery import lazy
from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config.protected import gateway_places
from ui_mcp.log import logger
from ui_mcp.person import PersonKeys, remember_port
from ui_mcp.person import last_port as last_person_port
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.toolset import Combined, LazyToolset, Toolset
from ui_mcp.ui.chat_events import forward_chat_messages, pushing_events
from ui_mcp.ui.http.app import Aliases, Pages, ui_app
from ui_mcp.ui.http.person import PersonListeners, origins_of, person_links, ui_person_app
from ui_mcp.ui.http.routes import mcp_routes, ui_routes
from ui_mcp.ui.http.session_cookies import CodeEntry, GroupEntry, refuse_uninvited
from ui_mcp.ui.instance import ListenPorts, keep_port, last_port, port_file, token_file
from ui_mcp.ui.refusals import note_refusal
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.record import SessionRecords
from ui_mcp.ui.sessions.registry import ServerInfo, SessionRegistry
from ui_mcp.ui.states import Configured, Running
from ui_mcp.ui.themes import decorate
from ui_mcp.webserver.auth import CODE_LIFETIME, OneTimeTokens
from ui_mcp.webserver.person_app import bind_for_person, registered
from ui_mcp.webserver.person_auth import Access
from ui_mcp.webserver.security import AccessRules, SecurityMiddleware, readable_by
from ui_mcp.webserver.server import App, LazyRoutes, Routes, bind, listening, mcp_app, port_of
from ui_mcp.wire import OutputKind
from ui_mcp.workspace import Workspace

# A page is served before any of these is needed, and few servers need all.
if TYPE_CHECKING:
    from ui_mcp.app.phone_listener import computer_phone_routes, notify_phones, phone_listener
    from ui_mcp.app.watch_routes import (
        mcp_timeline_and_approvals,
        person_accounts,
        person_timeline_and_approvals,
        ui_timeline_and_approvals,
        waiting,
    )
    from ui_mcp.ui.http.chat_routes import mcp_chat_routes, person_chat_routes, ui_chat_routes
    from ui_mcp.ui.http.connect_routes import connect_routes
    from ui_mcp.ui.http.console_routes import console_routes
    from ui_mcp.ui.http.guide_routes import guide_routes
    from ui_mcp.ui.http.hand_over_routes import hand_over_routes
    from ui_mcp.ui.http.publisher_routes import publisher_app
    from ui_mcp.ui.http.tool_routes import api_routes
    from ui_mcp.ui.pointing.pointing import point_in_browser
    from ui_mcp.ui.publisher import Publisher
    from ui_mcp.ui.toolset import all_tools
else:
    computer_phone_routes = lazy("ui_mcp.app.phone_listener:computer_phone_routes")
    notify_phones = lazy("ui_mcp.app.phone_listener:notify_phones")
    phone_listener = lazy("ui_mcp.app.phone_listener:phone_listener")
    connect_routes = lazy("ui_mcp.ui.http.connect_routes:connect_routes")
    console_routes = lazy("ui_mcp.ui.http.console_routes:console_routes")
    mcp_timeline_and_approvals = lazy("ui_mcp.app.watch_routes:mcp_timeline_and_approvals")
    person_accounts = lazy("ui_mcp.app.watch_routes:person_accounts")
    person_timeline_and_approvals = lazy("ui_mcp.app.watch_routes:person_timeline_and_approvals")
    waiting = lazy("ui_mcp.app.watch_routes:waiting")
    person_chat_routes = lazy("ui_mcp.ui.http.chat_routes:person_chat_routes")
    ui_timeline_and_approvals = lazy("ui_mcp.app.watch_routes:ui_timeline_and_approvals")
    mcp_chat_routes = lazy("ui_mcp.ui.http.chat_routes:mcp_chat_routes")
    ui_chat_routes = lazy("ui_mcp.ui.http.chat_routes:ui_chat_routes")
    hand_over_routes = lazy("ui_mcp.ui.http.hand_over_routes:hand_over_routes")
    guide_routes = lazy("ui_mcp.ui.http.guide_routes:guide_routes")
    publisher_app = lazy("ui_mcp.ui.http.publisher_routes:publisher_app")
    api_routes = lazy("ui_mcp.ui.http.tool_routes:api_routes")
    point_in_browser = lazy("ui_mcp.ui.pointing.pointing:point_in_browser")
    Publisher = lazy("ui_mcp.ui.publisher:Publisher")
    all_tools = lazy("ui_mcp.ui.toolset:all_tools")

_log = logger("host")

PERSON_PORT = 8002
CHAT = ("/chat",)
CONNECT = ("/connect",)
CONSOLE = ("/apps", "/imports", "/deleted", "/console", "/progress", "/settings", "/point")
WATCHED = ("/timeline", "/ws/timeline", "/agents", "/approvals", "/inbox")
ACCOUNTS = ("/sign-ins",)
PHONES = ("/phones", "/notices")
HAND_OVER = ("/hand-over", "/ws/hand-over")

MakeApp = Callable[[], App]

GUIDES = ("/api/resource", "/api/readme")
"""Paths of texts for people, which other sites may link to."""


@asynccontextmanager
async def run_listeners(
    host: UiServer,
    configured: Configured,
    listen_ports: ListenPorts,
    announcements: Announcements,
    transports: MakeApp | None = None,
    *,
    tour: Routes = (),
) -> AsyncIterator[Running]:
    """Serve one configuration while the block runs; `transports` makes MCP over HTTP for a port of our own."""
    workspace, config = configured.workspace, configured.config
    async with AsyncExitStack() as stack:
        sockets = stack.enter_context(_bound(workspace, config, listen_ports))
        aliases = Aliases()
        sessions, subscriptions = await _open_sessions(stack, host, configured, announcements, aliases)
        tokens, codes = OneTimeTokens(), OneTimeTokens(lifetime=CODE_LIFETIME)
        counts = _Counts()
        running = Running(
            workspace,
            config,
            sessions,
            config.server.url(port_of(sockets.ui)),
            sockets.mcp_port,
            tokens.mint,
            codes.mint,
            person_url=replace(config.server, host=person_host(config)).url(port_of(sockets.person)),
            pending=configured.pending,
            connections=counts.total,
        )
        if config.mcp.claude_channel:
            stack.enter_context(pushing_events(sessions, announcements))
        pages: App = CodeEntry(_pages_app(host, configured, aliases, tokens, port_of(sockets.person)), host, codes)
        if config.session.group_key_file:
            pages = GroupEntry(pages, host)
        host.accept_requests(running)
        for listener in _listeners(host, configured, sockets, pages, tokens=tokens, transports=transports, tour=tour):
            counts.append(await stack.enter_async_context(listener))
        stack.callback(host.cancel_chat_waiters)
        stack.callback(lambda: host.targets.hand_overs.wake() if "targets" in vars(host) else None)
        stack.push_async_callback(sessions.stop)  # before the listeners close, so that blocked requests are answered
        stack.enter_context(_port_files(workspace, sockets))
        await stack.enter_async_context(forward_chat_messages(host, sessions, announcements))
        tasks = await stack.enter_async_context(create_task_group())
        stack.callback(tasks.cancel_scope.cancel)
        tasks.start_soon(publish, config, sessions, subscriptions)
        if config.phone.notifies:
            tasks.start_soon(notify_phones, host, configured)
        host.on_pointed = lambda target, words: tasks.start_soon(point_in_browser, host, target, words)
        stack.callback(setattr, host, "on_pointed", lambda _target, _words: None)
        yield running


async def _open_sessions(
    stack: AsyncExitStack, host: UiServer, configured: Configured, announcements: Announcements, aliases: Aliases
) -> tuple[SessionRegistry, MemoryObjectReceiveStream[str]]:
    """Open the sessions of a server until `stack` closes; return them and the topics that apps subscribe to."""
    workspace, config = configured.workspace, configured.config
    send, receive = create_memory_object_stream[str](inf)
    stack.enter_context(send)
    stack.enter_context(receive)

    def noted(kind: str, text: str) -> None:
        note_refusal(workspace, kind, text)
        aliases.note(kind, text)
        if kind == OutputKind.SUBSCRIBED:
            send.send_nowait(text)

    protected = (*gateway_places(workspace, config), *configured.protected)
    durable = config.session.journal == "full"
    records = SessionRecords(workspace.state_dir, resumes=host.resumes, durable=durable)
    server = ServerInfo(host.status, announcements, noted, protected, records)
    return await stack.enter_async_context(SessionRegistry(workspace, config, server)), receive


def _listeners(
    host: UiServer,
    configured: Configured,
    sockets: "_Sockets",
    pages: App,
    *,
    tokens: OneTimeTokens,
    transports: MakeApp | None,
    tour: Routes,
) -> Iterator[AbstractAsyncContextManager[Callable[[], int]]]:
    """Yield the listener of each port; each provides the number of its open connections."""
    config, users = configured.config, configured.config.server.allowed_users
    ui_port, person_port = port_of(sockets.ui), port_of(sockets.person)
    ports = frozenset({ui_port, sockets.mcp_port})
    app = SecurityMiddleware(pages, ui_rules(config, ports, tokens, person_port))
    yield listening(app, sockets.ui, users)
    person_app = person_app_beside(host, configured, ui_port, person_port, tour)
    yield listening(person_app, sockets.person, users)
    if config.phone.url:
        yield phone_listener(host, configured)
    if sockets.mcp:
        yield _mcp_listening(host, configured, sockets.mcp, ports, transports)


@asynccontextmanager
async def _mcp_listening(
    host: UiServer, configured: Configured, listener: socket.socket, ports: frozenset[int], transports: MakeApp | None
) -> AsyncIterator[Callable[[], int]]:
    """Serve an MCP port that opens and closes with the UI; provide the number of open connections."""
    config = configured.config
    with token_file(configured.workspace) if config.server.require_token else nullcontext() as token:
        app = guarded_mcp_app(host, mcp_rules(config, ports, token), transports() if transports else None)
        async with listening(app, listener, config.server.allowed_users) as count:
            yield count


class _Counts(list[Callable[[], int]]):
    """The numbers of open connections of several listeners."""

    def total(self) -> int:
        return sum(count() for count in self)


@contextmanager
def _port_files(workspace: Workspace, sockets: "_Sockets") -> Iterator[None]:
    """Keep the ports in files of the base directory while the block runs."""
    with (
        port_file(workspace.ui_port, port_of(sockets.ui)),
        port_file(workspace.mcp_port, sockets.mcp_port),
        port_file(workspace.person_port, port_of(sockets.person)),
    ):
        yield


def _pages_app(
    host: UiServer, configured: Configured, aliases: Aliases, tokens: OneTimeTokens, person_port: int
) -> App:
    """Build the application of the UI port, without its security middleware."""
    routes = [
        *person_links(person_port),
        LazyRoutes(WATCHED, partial(ui_timeline_and_approvals, host)),
        *ui_routes(host, tokens),
        LazyRoutes(CONNECT, partial(connect_routes, host)),
        LazyRoutes(CHAT, partial(ui_chat_routes, host, configured.config.chat.rate)),
        LazyRoutes(GUIDES, partial(guide_routes, host, partial(refuse_uninvited, host))),
    ]
    return ui_app(Pages(host, configured.workspace, decorate, aliases), routes)


async def publish(config: Config, sessions: SessionRegistry, subscriptions: MemoryObjectReceiveStream[str]) -> None:
    """Run the publisher from the first subscription of an app on; its failure affects nothing else."""
    first = await subscriptions.receive()
    publisher = Publisher(config.publisher, publisher_app, config.server.allowed_users)
    publisher.subscribe(first)
    try:
        await publisher.run(sessions.publish, subscriptions)
    except Exception:  # noqa: BLE001 - apps run without it, and the server must not end with it
        _log.exception("the publisher ended")


@dataclass(frozen=True, slots=True)
class _Sockets:
    ui: socket.socket
    mcp: socket.socket | None
    """None if the MCP port has been open since before."""
    mcp_port: int
    person: socket.socket


@contextmanager
def _bound(workspace: Workspace, config: Config, listen_ports: ListenPorts) -> Iterator[_Sockets]:
    """Bind the ports of a server for the length of the block."""
    with ExitStack() as stack:
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
        # A previous run may have used one of these ports for the person: its credentials must not work here.
        for port in {port_of(ui), mcp_port}:
            PersonKeys().forget_listener(str(port))
        yield _Sockets(ui, mcp, mcp_port, person)


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
    routes = [
        *mcp_routes(host),
        LazyRoutes(("/api", "/app"), partial(_mcp_tools, host)),
        LazyRoutes(CHAT, partial(mcp_chat_routes, host)),
        LazyRoutes(WATCHED, partial(mcp_timeline_and_approvals, host)),
    ]
    guarded = SecurityMiddleware(mcp_app(routes, transports), rules)
    return readable_by(rules.allowed_origins, guarded) if rules.allowed_origins else guarded


def _mcp_tools(host: UiServer) -> Routes:
    """Return the tools and guides of the MCP port as HTTP routes."""
    own = LazyToolset(partial(all_tools, host), host.wait_configured)

    def toolset() -> Toolset:
        return Combined([own, host.gateway]) if host.gateway else own

    readmes = ("/api/readme/{app}", "/app/{app}/readme")  # the second is the address of frictionless
    return [*guide_routes(host, readmes=readmes), *api_routes(toolset)]


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
        navigable=lambda path: path in {"/state", "/variables"} or path.startswith((*GUIDES, "/app/")),
        sockets_without_origin=True,
    )


def bind_person(config: Config, workspace: Workspace, preferred: int) -> socket.socket:
    """Return the socket of the person's listener: on the configured port, else on a previous or any free one.

    A port that stays the same keeps the origin, and with it the credential in the browser.

    Raises:
        ConfigError: the configured port is in use.
    """
    # On loopback, whatever the other listeners bind, because it speaks plain HTTP; phones have a listener of their own.
    host, configured = person_host(config), config.server.person_port
    if configured:
        return bind(host, configured)
    known = (preferred, last_person_port(workspace.base)) if configured is None else (preferred,)
    return bind_for_person(host, workspace.base, filter(None, known))


def person_host(config: Config) -> str:
    """Return the loopback address of the person's listener."""
    return config.server.host if config.server.host in LOOPBACK else "127.0.0.1"


def person_app_beside(host: UiServer, configured: Configured, ui_port: int, person_port: int, tour: Routes) -> App:
    """Build the application of the person's listener."""
    config = configured.config
    remember_port(configured.workspace.base, person_port)
    access = Access(str(person_port))
    routes = [
        LazyRoutes(WATCHED, partial(person_timeline_and_approvals, host, access)),
        LazyRoutes(CHAT, partial(person_chat_routes, host, config.chat.rate)),
        LazyRoutes(CONSOLE, partial(console_routes, host, partial(all_tools, host))),
        LazyRoutes(ACCOUNTS, partial(person_accounts, host)),
        LazyRoutes(PHONES, partial(computer_phone_routes, host)),
        LazyRoutes(CONNECT, partial(connect_routes, host)),
        LazyRoutes(HAND_OVER, partial(hand_over_routes, host, access)),
        *tour,
    ]
    listeners = PersonListeners(ui_port, person_port, partial(waiting, host), has_tour=bool(tour))
    return ui_person_app(host, config, listeners, access, routes)
