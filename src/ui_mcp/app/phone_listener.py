"""The listener for paired phones, off by default: the person's inbox and chat over HTTPS, and notifications."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from ui_mcp.app.watch_routes import approvals_of, inboxes, person_timeline_and_approvals, waiting
from ui_mcp.config import Config
from ui_mcp.discovery import lazy
from ui_mcp.errors import ConfigError
from ui_mcp.gateway.approvals.http import approvals_opener
from ui_mcp.inbox.phone.channels import channels_of
from ui_mcp.inbox.phone.devices import Devices, NoticeLinks
from ui_mcp.inbox.phone.http import PUBLIC, SERVICE_WORKER, computer_routes, link_routes, phone_routes
from ui_mcp.inbox.phone.notices import Notice, Notifier, Told, links_at, notice_of
from ui_mcp.jsontypes import JsonObject
from ui_mcp.phone_settings import PhoneSettings
from ui_mcp.ui.http.chat_routes import person_chat_routes
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Configured
from ui_mcp.version import bundled_version
from ui_mcp.webserver.person_app import (
    ATTACHMENTS,
    MAX_UPLOAD,
    PERSON_FOLDER,
    PersonSite,
    file_route,
    person_app,
    person_html,
    person_page,
    registered,
)
from ui_mcp.webserver.person_auth import CREDENTIAL_HEADER, Access
from ui_mcp.webserver.security import MAX_BODY, AccessRules, SecurityMiddleware
from ui_mcp.webserver.server import App, Routes, Tls, bind, listening, port_of
from ui_mcp.webserver.static import shared_style_route
from ui_mcp.workspace import Workspace

# Web push needs a package that the extra `phone` brings.
if TYPE_CHECKING:
    from ui_mcp.inbox.phone.push_channel import push_channel, push_key
    from ui_mcp.inbox.phone.webpush import check_subscription
else:
    push_channel = lazy("ui_mcp.inbox.phone.push_channel:push_channel")
    push_key = lazy("ui_mcp.inbox.phone.push_channel:push_key")
    check_subscription = lazy("ui_mcp.inbox.phone.webpush:check_subscription")

PAGES = frozenset({"/", "/chat", "/inbox", "/approvals"})
TOLD_FILE = "notified.json"
_NEEDED = ("cryptography", "segno")
_HEAD = (
    '\n<link rel="manifest" href="/manifest.webmanifest">\n<meta name="theme-color" content="#1f5fbf">'
    '\n<link rel="apple-touch-icon" href="/person/assets/icon-192.png">'
)


def phone_listener(host: UiServer, configured: Configured) -> AbstractAsyncContextManager[Callable[[], int]]:
    """Return the listener for phones, which provides the number of its open connections.

    Raises:
        ConfigError: a package or a certificate is missing, or the port is in use.
    """
    require_packages()
    return _listening(host, configured)


def require_packages() -> None:
    """Check that the packages for phones are installed.

    Raises:
        ConfigError: one is missing.
    """
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise ConfigError(f"phone.url needs {' and '.join(missing)}\nInstall it with its extra, as ui-mcp[phone].")


@asynccontextmanager
async def _listening(host: UiServer, configured: Configured) -> AsyncIterator[Callable[[], int]]:
    config, phone = configured.config, configured.config.phone
    tls = _tls(phone, configured.workspace)
    listener = bind(phone.host, phone.port)
    try:
        # Registered, so that browsers which agents drive do not open it.
        with registered(port_of(listener)):
            app = phone_app(host, config)
            async with listening(app, listener, config.server.allowed_users, tls) as count:
                yield count
    finally:
        listener.close()


def _tls(phone: PhoneSettings, workspace: Workspace) -> Tls | None:
    if not phone.certificate or not phone.key:
        return None
    return Tls(workspace.named(phone.certificate), workspace.named(phone.key))


def phone_app(host: UiServer, config: Config) -> App:
    """Build the application for phones: inbox and chat; settings, console and accounts stay on the computer."""
    phone, devices = config.phone, Devices()
    access = Access(phone.origin, devices)
    key = push_key(devices).public

    def page(request: Request) -> Response:
        return person_html(person_page(), access.nonces, head=_HEAD)

    async def describe(request: Request) -> JsonObject:
        device = devices.of(request.headers.get(CREDENTIAL_HEADER), phone.origin)
        return {
            "app_url": None,
            "version": bundled_version(),
            "base_dir": host.configured().workspace.given,
            "pending": await waiting(host),
            "chat": True,
            "inbox": True,
            "device": {"name": device.name if device else "", "push": bool(device and device.push), "push_key": key},
        }

    routes = [
        *person_timeline_and_approvals(host, access),
        *person_chat_routes(host, config.chat.rate),
        *phone_routes(devices, phone.origin, check_subscription, phone.push_services),
        *link_routes(NoticeLinks()),
        file_route("/person/assets", PERSON_FOLDER),
        shared_style_route(),
    ]
    site = PersonSite(access, page, describe, routes, PAGES, uploads=frozenset({ATTACHMENTS}), files=PUBLIC)
    return SecurityMiddleware(person_app(site), phone_rules(phone))


def phone_rules(phone: PhoneSettings) -> AccessRules:
    """Return what the listener accepts: the one HTTPS origin, whatever port a tunnel leads to."""
    return AccessRules(
        ports=frozenset(),
        allowed_hosts=frozenset({urlsplit(phone.origin).netloc}),
        allowed_origins=frozenset({phone.origin}),
        service_worker=SERVICE_WORKER,
        max_body=lambda path: MAX_UPLOAD if path == ATTACHMENTS else MAX_BODY,
    )


def computer_phone_routes(host: UiServer) -> Routes:
    """Return the routes by which the computer's page pairs and revokes phones, and opens links of notifications."""
    return [*computer_routes(Devices(), host.configured().config.phone.origin), *link_routes(NoticeLinks())]


async def notify_phones(host: UiServer, configured: Configured) -> None:
    """Tell the person's devices of new questions until cancelled."""
    phone = configured.config.phone
    told = Told(configured.workspace.state_dir / TOLD_FILE)
    links = links_at(phone.origin, NoticeLinks())
    push = [push_channel(Devices(), phone.origin)] if phone.url else []
    await Notifier(partial(_notices, host), [*push, *channels_of(phone)], told, links).run()


async def _notices(host: UiServer) -> Sequence[Notice]:
    """Return what waits for the person, questions and calls alike."""
    found: list[Notice] = []
    for open_inbox in inboxes(host):
        async with open_inbox() as inbox:
            found += [notice_of(one) for one in (await inbox.pending() if inbox else ())]
    async with approvals_opener(lambda: approvals_of(host))() as approvals:
        found += [Notice(one.id, "call", one.expires_at) for one in (await approvals.pending() if approvals else ())]
    return found
