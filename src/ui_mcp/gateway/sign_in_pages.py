"""HTTP API of the person's accounts: who is signed in where; every request is for the person only."""

from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.gateway.sign_ins import SignIns
from ui_mcp.webserver.person_auth import NOT_IN, is_person
from ui_mcp.webserver.responses import answering, body_of

PATH = "/sign-ins"
OpenSignIns = Callable[[], Awaitable[SignIns | None]]
"""Returns the accounts of the running gateway; None if there is no gateway."""


class SignInPages:
    def __init__(self, open_sign_ins: OpenSignIns) -> None:
        self._open = open_sign_ins

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route(PATH, answering(self.listed), methods=["GET"]),
            Route(f"{PATH}/begin", answering(self.begin), methods=["POST"]),
            Route(f"{PATH}/cancel", answering(self.cancel), methods=["POST"]),
            Route(f"{PATH}/sign-out", answering(self.sign_out), methods=["POST"]),
        ]

    async def listed(self, request: Request) -> Response:
        if not is_person(request):
            return NOT_IN.response()
        found = await self._open()
        return JSONResponse({"accounts": await found.listed() if found else []})

    async def begin(self, request: Request) -> Response:
        """Begin a sign-in; the answer has the page to open, and the code to enter there if one was asked for."""
        if not is_person(request):
            return NOT_IN.response()
        found, name, way = await self._named(request)
        if way not in {"browser", "device"}:
            raise InvalidArgumentsError("way must be browser or device")
        return JSONResponse(await found.begin(name, "device" if way == "device" else "browser"))

    async def cancel(self, request: Request) -> Response:
        if not is_person(request):
            return NOT_IN.response()
        found, name, _ = await self._named(request)
        found.cancel(name)
        return JSONResponse({"ok": True})

    async def sign_out(self, request: Request) -> Response:
        if not is_person(request):
            return NOT_IN.response()
        found, name, _ = await self._named(request)
        return JSONResponse({"signed_out": await found.sign_out(name)})

    async def _named(self, request: Request) -> tuple[SignIns, str, str]:
        body = await body_of(request)
        found = await self._open()
        if found is None:
            raise InvalidArgumentsError("There is no gateway here, so there is nothing to sign in to")
        return found, str(body.get("name", "")), str(body.get("way", "browser"))


def sign_in_routes(sign_ins: Callable[[], SignIns]) -> Sequence[BaseRoute]:
    """Return the routes for a gateway that runs in this process."""

    async def opened() -> SignIns:
        return sign_ins()

    return SignInPages(opened).routes()
