"""Applications and routes that are there before their parts are: the first request asks for them."""

from collections.abc import Callable, Sequence

import anyio
from starlette.routing import BaseRoute, Match, Router
from starlette.types import ASGIApp, Receive, Scope, Send

Routes = Sequence[BaseRoute]


class Later:
    """Stands in for an application until it exists."""

    def __init__(self) -> None:
        self._asked = anyio.Event()
        self._ready = anyio.Event()
        self._app: ASGIApp

    async def wanted(self, *, within: float) -> None:
        """Return when the first request has come, or after so many seconds."""
        with anyio.move_on_after(within):
            await self._asked.wait()

    def become(self, app: ASGIApp) -> None:
        """Pass requests on from now on, those that wait first."""
        self._app = app
        self._ready.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, as soon as that is possible."""
        self._asked.set()
        await self._ready.wait()
        await self._app(scope, receive, send)


class Deferred(BaseRoute):
    """Stands in for the routes below some paths; they are made when the first request comes."""

    def __init__(self, paths: Sequence[str], make: Callable[[], Routes]) -> None:
        self._paths = frozenset(paths)
        self._make = make
        self._router: Router | None = None

    @property
    def routes(self) -> Routes:
        """The routes that stand behind the paths."""
        self._router = self._router or Router(self._make())
        return self._router.routes

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Take what lies at or below one of the paths."""
        path = scope.get("path", "")
        mine = any(path == one or path.startswith(f"{one}/") for one in self._paths)
        return (Match.FULL if mine else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        self._router = self._router or Router(self._make())
        await self._router(scope, receive, send)
