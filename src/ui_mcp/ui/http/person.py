"""The person's origin of the UI server: a page with the app, the chat and the approvals."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.config import Config
from ui_mcp.errors import LifecycleError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.person import introduced
from ui_mcp.ui.console import MAX_ARCHIVE
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.themes import chosen_theme
from ui_mcp.version import bundled_version
from ui_mcp.webserver.person_app import (
    ATTACHMENTS,
    MAX_UPLOAD,
    PAGES,
    PERSON_FOLDER,
    HtmlRoute,
    PersonSite,
    file_route,
    person_app,
    person_html,
    person_page,
)
from ui_mcp.webserver.person_auth import Access
from ui_mcp.webserver.security import LOOPBACK_NAMES, MAX_BODY, AccessRules, SecurityMiddleware
from ui_mcp.webserver.server import App
from ui_mcp.webserver.static import shared_style_route

UPLOADS = {"/imports/archive": MAX_ARCHIVE, ATTACHMENTS: MAX_UPLOAD}
"""Paths that take files, with the most bytes of one."""
VIEWS = frozenset({"/apps", "/settings", "/console"})
"""Further addresses of the page, each of which opens one of its views."""


@dataclass(frozen=True, slots=True)
class PersonListeners:
    """The listeners that the person's page combines."""

    ui_port: int
    person_port: int
    waiting: Callable[[], Awaitable[int]]
    """Returns the number of pending approvals."""
    has_tour: bool = False
    """Whether the page shows the tour."""


def ui_person_app(
    host: UiServer, config: Config, listeners: PersonListeners, access: Access, routes: Sequence[BaseRoute]
) -> App:
    """Build the person's origin of the UI server; `routes` are chat, timeline and approvals."""
    frames = origins_of(config, listeners.ui_port)

    def page(request: Request) -> Response:
        return person_html(person_page(), access.nonces, frames=frames)

    async def describe(request: Request) -> JsonObject:
        return {
            "app_url": _app_url(host, request, listeners.ui_port),
            "version": bundled_version(),
            "base_dir": host.configured().workspace.given,
            "pending": await listeners.waiting(),
            "console": True,
            "inbox": True,
            "phones": True,
            "accounts": host.configured().config.gateway.config is not None,
            "introduced": introduced(),
            "theme": chosen_theme(host.configured().workspace),
            "tour": listeners.has_tour,
        }

    files = [file_route("/person/assets", PERSON_FOLDER), shared_style_route()]
    site = PersonSite(access, page, describe, [*routes, *files], PAGES | VIEWS, frozenset(UPLOADS))
    return SecurityMiddleware(person_app(site), person_rules(config, listeners.person_port))


def person_rules(config: Config, port: int) -> AccessRules:
    """Return what the person's listener accepts: its own host names and no other origin, whatever else is allowed."""
    return AccessRules(
        ports=frozenset({port}),
        allowed_hosts=frozenset(config.server.allowed_hosts),
        max_body=lambda path: UPLOADS.get(path, MAX_BODY),
    )


def origins_of(config: Config, port: int) -> tuple[str, ...]:
    """Return the origins of a port, for content security policies, which cannot contain IPv6 addresses."""
    names = (*LOOPBACK_NAMES, *(_bare(name) for name in config.server.allowed_hosts))
    return tuple(f"http://{name}:{port}" for name in names if ":" not in name)


def person_links(person_port: int) -> Sequence[BaseRoute]:
    """Return routes of the UI port that lead to the person's page, by an address that grants no access."""

    async def person_url(request: Request) -> Response:
        return JSONResponse({"url": _same_name(request, person_port)})

    async def redirect(request: Request) -> Response:
        return RedirectResponse(_same_name(request, person_port) + request.url.path, 307)

    pages = (HtmlRoute(path, redirect, methods=["GET"]) for path in ("/chat", "/inbox", "/approvals", "/settings"))
    return [Route("/person-url", person_url, methods=["GET"]), *pages]


def _app_url(host: UiServer, connection: HTTPConnection, ui_port: int) -> str:
    """Return the app's address under the host name that the browser uses, so that its cookies are same-site."""
    try:
        path = host.running().local_url.partition("://")[2].partition("/")[2]
    except LifecycleError:
        path = ""
    return f"{_same_name(connection, ui_port)}/{path}"


def _same_name(connection: HTTPConnection, port: int) -> str:
    return f"http://{_bare(connection.headers.get('host', ''))}:{port}"


def _bare(host: str) -> str:
    name, _, digits = host.rpartition(":")
    return name if name and digits.isdigit() else host
