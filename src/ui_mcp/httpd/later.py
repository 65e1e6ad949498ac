"""An application that is there before its parts are: the first request asks for them and waits."""

import anyio
from starlette.types import ASGIApp, Receive, Scope, Send


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
