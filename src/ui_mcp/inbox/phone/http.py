"""Routes of phones: pairing and revoking on the computer's page, push and links of notifications on the phone's."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TYPE_CHECKING, Annotated

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.discovery import lazy
from ui_mcp.errors import ExpiredError, InvalidArgumentsError, NotFoundError, UiMcpError
from ui_mcp.fields import Length
from ui_mcp.inbox.phone.devices import Device, Devices, NoticeLinks, Subscription
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.validation import InvalidDataError, read_json
from ui_mcp.webserver.person_app import PERSON_FOLDER
from ui_mcp.webserver.person_auth import CREDENTIAL_HEADER, is_person
from ui_mcp.webserver.responses import STATUSES

# Needs a package that a page without phones does not need.
if TYPE_CHECKING:
    from ui_mcp.inbox.phone.pairing import new_pairing
else:
    new_pairing = lazy("ui_mcp.inbox.phone.pairing:new_pairing")

MANIFEST = "/manifest.webmanifest"
SERVICE_WORKER = "/service-worker.js"
PUBLIC = frozenset({MANIFEST, SERVICE_WORKER})
USED_LINK = "This link was used before or is too old. Everything that is still waiting for you is listed here."


@dataclass(frozen=True, slots=True)
class SubscriptionKeys:
    p256dh: Annotated[str, Length(1, 200)]
    auth: Annotated[str, Length(1, 100)]


@dataclass(frozen=True, slots=True)
class PushBody:
    """A subscription, as browsers write it."""

    endpoint: Annotated[str, Length(1, 2000)]
    keys: SubscriptionKeys


@dataclass(frozen=True, slots=True)
class LinkBody:
    link: Annotated[str, Length(1, 200)]


def link_routes(links: NoticeLinks) -> Sequence[BaseRoute]:
    """Return the route that tells a page which question a link of a notification is about; it decides nothing."""

    async def opened(request: Request) -> JsonObject:
        given = read_json(LinkBody, await request.body())
        question_id = await to_thread.run_sync(links.redeem, given.link)
        if question_id is None:
            raise ExpiredError(USED_LINK)
        return {"id": question_id}

    return [_route("/notices/open", opened, "POST")]


def computer_routes(devices: Devices, origin: str) -> Sequence[BaseRoute]:
    """Return the routes of the computer's page: list, pair and revoke phones; `origin` is empty if phones are off."""

    def listing() -> JsonObject:
        return {"url": origin or None, "devices": [one.to_json() for one in devices.listed()]}

    async def listed(request: Request) -> JsonObject:
        return await to_thread.run_sync(listing)

    async def pair(request: Request) -> JsonObject:
        if not origin:
            raise InvalidArgumentsError("Phones are off: set phone.url")
        return (await to_thread.run_sync(new_pairing, devices, origin)).to_json()

    async def revoke(request: Request) -> JsonObject:
        device_id = request.path_params["id"]
        if await to_thread.run_sync(devices.revoke, device_id) is None:
            raise NotFoundError(f"No phone {device_id}; it may have been removed already")
        return await to_thread.run_sync(listing)

    return [
        _route("/phones", listed, "GET"),
        _route("/phones/pair", pair, "POST"),
        _route("/phones/{id}/revoke", revoke, "POST"),
    ]


def phone_routes(
    devices: Devices, listener: str, check: Callable[[Subscription, Collection[str]], None], services: Collection[str]
) -> Sequence[BaseRoute]:
    """Return the routes of the phone's page: its push messages, and what makes it a program that can be installed."""

    def device_of(request: Request) -> Device:
        found = devices.of(request.headers.get(CREDENTIAL_HEADER), listener)
        if found is None:
            raise NotFoundError("This phone is no longer paired")
        return found

    async def subscribe(request: Request) -> JsonObject:
        given = read_json(PushBody, await request.body())
        push = Subscription(given.endpoint, given.keys.p256dh, given.keys.auth)
        check(push, services)
        device = await to_thread.run_sync(device_of, request)
        await to_thread.run_sync(devices.subscribe, device.id, push)
        return {"on": True}

    async def unsubscribe(request: Request) -> JsonObject:
        device = await to_thread.run_sync(device_of, request)
        await to_thread.run_sync(devices.subscribe, device.id, None)
        return {"on": False}

    async def manifest(request: Request) -> Response:
        return JSONResponse(MANIFEST_JSON, media_type="application/manifest+json")

    async def worker(request: Request) -> Response:
        return FileResponse(PERSON_FOLDER / "service-worker.js", media_type="text/javascript", headers=_WORKER_HEADERS)

    return [
        _route("/push", subscribe, "PUT"),
        _route("/push", unsubscribe, "DELETE"),
        Route(MANIFEST, manifest, methods=["GET"]),
        Route(SERVICE_WORKER, worker, methods=["GET"]),
    ]


_WORKER_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'",
}
MANIFEST_JSON: JsonObject = {
    "id": "/inbox",
    "name": "ui-mcp inbox",
    "short_name": "ui-mcp",
    "description": "Questions of your agents, and calls that need your approval",
    "start_url": "/inbox",
    "scope": "/",
    "display": "standalone",
    "background_color": "#ffffff",
    "theme_color": "#1f5fbf",
    "icons": [
        {"src": "/person/assets/icon-192.png", "sizes": "192x192", "type": "image/png"},
        {"src": "/person/assets/icon-512.png", "sizes": "512x512", "type": "image/png"},
        {"src": "/person/assets/icon-maskable-512.png", "sizes": "512x512", "type": "image/png", "purpose": "maskable"},
    ],
}


def _route(path: str, act: Callable[[Request], Awaitable[JsonObject]], method: str) -> Route:
    """Return a route for the person alone, which answers an error of ours as JSON."""

    async def answer(request: Request) -> Response:
        if not is_person(request):
            return _failed(401, "unauthorized", "Pair this phone, or open the page of this server")
        try:
            return JSONResponse(await act(request))
        except InvalidDataError as error:
            return _failed(400, InvalidArgumentsError.code, str(error.problems[0]))
        except UiMcpError as error:
            status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 400)
            return _failed(status, error.code, error.message)

    return Route(path, answer, methods=[method])


def _failed(status: int, code: str, message: str) -> Response:
    return JSONResponse({"error": {"code": code, "message": message, "details": {}}}, status)
