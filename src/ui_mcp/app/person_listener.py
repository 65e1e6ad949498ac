"""The person's listener of the UI server: its port and its routes."""

import socket
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from ui_mcp.config import Config
from ui_mcp.discovery import lazy
from ui_mcp.errors import ConfigError
from ui_mcp.person import last_port, remember_port
from ui_mcp.ui.http.person import PersonListeners, ui_person_app
from ui_mcp.ui.server import UiServer
from ui_mcp.webserver.person_auth import Access
from ui_mcp.webserver.server import App, LazyRoutes, bind
from ui_mcp.workspace import Workspace

if TYPE_CHECKING:
    from ui_mcp.app.watch_routes import person_timeline_and_approvals, waiting
    from ui_mcp.ui.http.chat_routes import person_chat_routes
else:
    person_timeline_and_approvals = lazy("ui_mcp.app.watch_routes:person_timeline_and_approvals")
    waiting = lazy("ui_mcp.app.watch_routes:waiting")
    person_chat_routes = lazy("ui_mcp.ui.http.chat_routes:person_chat_routes")

PERSON_PORT = 8002
CHAT = ("/chat",)
LAZY_PATHS = ("/timeline", "/ws/timeline", "/agents", "/approvals")


def bind_person(config: Config, workspace: Workspace, preferred: int) -> socket.socket:
    """Return the socket of the person's listener: on the configured port, else on a previous or any free one.

    A port that stays the same keeps the origin, and with it the credential in the browser.

    Raises:
        ConfigError: the configured port is in use.
    """
    host, configured = config.server.host, config.server.person_port
    if configured:
        return bind(host, configured)
    known = (preferred, last_port(workspace.base)) if configured is None else (preferred,)
    for port in filter(None, known):
        with suppress(ConfigError):
            return bind(host, port)
    return bind(host, 0)


def person_app_beside(host: UiServer, config: Config, workspace: Workspace, ui_port: int, person_port: int) -> App:
    """Build the application of the person's listener."""
    remember_port(workspace.base, person_port)
    access = Access(str(person_port))

    routes = [
        LazyRoutes(LAZY_PATHS, partial(person_timeline_and_approvals, host, access)),
        LazyRoutes(CHAT, partial(person_chat_routes, host, config.chat.rate)),
    ]
    return ui_person_app(host, config, PersonListeners(ui_port, person_port, partial(waiting, host)), access, routes)
