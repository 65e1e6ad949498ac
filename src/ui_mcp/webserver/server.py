"""Runs uvicorn inside our event loop; binds ports; lazily built apps and routes."""

import asyncio
import errno
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import uvicorn
from anyio.abc import TaskStatus
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Match, Mount, Router
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ui_mcp.errors import ConfigError, LifecycleError, NotFoundError
from ui_mcp.files import write_atomic
from ui_mcp.log import adopt, logger
from ui_mcp.webserver.peer_uid import AllowedUsers

App = ASGIApp

MAX_FRAME = 16 * 1024 * 1024
BIND_RETRY_SECONDS = 3.0
_log = logger("http")


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 means any free port.

    Raises:
        ConfigError: the port is in use or the address is not available.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only on sockets that name their protocol.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # Lets a restart bind its port while old connections are in TIME_WAIT; on Windows it would share the port.
        if hasattr(socket, "SO_REUSEPORT"):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        taken = "Stop the program that uses the port, or choose another port; 0 takes any that is free."
        hint = taken if error.errno == errno.EADDRINUSE else "Choose another address or port."
        message = f"Cannot listen on {host}:{port}: {error.strerror or error}\n{hint}"
        raise ConfigError(message, port=port) from error
    return listener


def bind_last(host: str, file: Path) -> socket.socket:
    """Return a listening socket on the port of the last time, if it is free: an origin is its port, too."""
    try:
        listener = bind(host, int(file.read_text(encoding="ascii")))
    except (OSError, ValueError, OverflowError, ConfigError):
        listener = bind(host, 0)
    with suppress(OSError):  # the next start then takes another port
        write_atomic(file, str(port_of(listener)).encode())
    return listener


async def bind_with_retry(host: str, port: int, seconds: float = BIND_RETRY_SECONDS) -> socket.socket:
    """Return a listening socket; retry for `seconds` while another process still uses the port.

    Raises:
        ConfigError: the port stays in use or the address is not available.
    """
    deadline, said = anyio.current_time() + seconds, False
    while True:
        try:
            return bind(host, port)
        except ConfigError as error:
            taken = isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.EADDRINUSE
            if not taken or anyio.current_time() > deadline:
                raise
        if not said:
            _log.warning("Port %d is in use; trying again for %.0f s", port, seconds)
            said = True
        await anyio.sleep(0.1)


def port_of(listener: socket.socket) -> int:
    """Return the port a socket listens on."""
    port: int = listener.getsockname()[1]
    return port


def received_at(connection: HTTPConnection) -> float | None:
    """Return when a request arrived, by the event loop's clock, before any handler ran."""
    when: float | None = connection.scope.get("received_at")
    return when


def _timed(app: ASGIApp) -> ASGIApp:
    async def timed(scope: Scope, receive: Receive, send: Send) -> None:
        scope["received_at"] = anyio.current_time()
        await app(scope, receive, send)

    return timed


@dataclass(frozen=True, slots=True)
class Tls:
    """Files of a certificate with its chain and of its private key, both PEM."""

    certificate: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        """Return what a listener needs.

        Raises:
            ConfigError: a file is missing, or they do not belong together.
        """
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            made.load_cert_chain(self.certificate, self.key)
        except OSError as error:  # ssl.SSLError is one
            reason = error.strerror or error
            raise ConfigError(f"The certificate {self.certificate} cannot be used: {reason}") from error
        return made


@asynccontextmanager
async def listening(
    app: ASGIApp, listener: socket.socket, allowed_users: Iterable[str | int] = (), tls: Tls | None = None
) -> AsyncIterator[Callable[[], int]]:
    """Serve `app` on `listener` while the block runs; provide the number of open connections.

    Afterwards the port refuses connections.

    On Linux, local connections are accepted only from our own account, root and `allowed_users`.

    Raises:
        ConfigError: an account in `allowed_users` does not exist, or the certificate cannot be used.
    """
    adopt("uvicorn")
    server = _Server(app, AllowedUsers(allowed_users), tls.context() if tls else None)
    async with anyio.create_task_group() as tasks:
        try:
            await tasks.start(server.run_on, listener)
            yield lambda: len(server.server_state.connections)
        finally:
            server.end()


def _http_for(users: AllowedUsers) -> type[asyncio.Protocol]:
    class Http(HttpToolsProtocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            if users.admit(transport):
                super().connection_made(transport)
                return
            transport.set_protocol(asyncio.Protocol())  # discards what arrives before the abort
            transport.abort()

    return Http


class _Server(uvicorn.Server):
    """uvicorn inside our own event loop, without signal handlers and access log."""

    def __init__(self, app: ASGIApp, users: AllowedUsers, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(
            uvicorn.Config(
                _timed(app),
                http=_http_for(users),
                ssl_context_factory=(lambda *_: tls) if tls else None,
                ws="websockets-sansio",
                ws_per_message_deflate=False,
                ws_max_size=MAX_FRAME,
                lifespan="off",
                log_config=None,
                log_level=logging.ERROR,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=1,
            )
        )
        self._status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
        self._ending = anyio.Event()

    async def run_on(self, listener: socket.socket, *, task_status: TaskStatus[None]) -> None:
        self._status = task_status
        with anyio.CancelScope(shield=True):  # only `end` stops it, so that open responses are completed
            await self.serve(sockets=[listener])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._status.started()

    async def main_loop(self) -> None:
        await self.on_tick(0)  # uvicorn ticks ten times a second for a Date header that we do not send
        await self._ending.wait()

    def end(self) -> None:
        """Accept no more connections and complete open responses."""
        self.should_exit = True
        self._ending.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _no_session(request: Request, error: Exception) -> Response:
    return PlainTextResponse("No active session\n", 404)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return PlainTextResponse(f"{error.detail}\n", error.status_code, error.headers)


def mcp_app(routes: Sequence[BaseRoute], transports: ASGIApp | None = None) -> Starlette:
    """Build the application of the MCP port; without `transports`, their paths answer 404."""
    mounted = [Mount("", app=transports)] if transports else []
    return Starlette(
        routes=[*routes, *mounted],
        exception_handlers={
            HTTPException: _http_error,
            LifecycleError: _no_session,
            NotFoundError: _no_session,
        },
    )


Routes = Sequence[BaseRoute]


class LazyApp:
    """An application that holds requests until the real one is set."""

    def __init__(self) -> None:
        self._asked = anyio.Event()
        self._ready = anyio.Event()
        self._app: ASGIApp

    async def wait_requested(self, *, within: float) -> None:
        """Return when the first request arrives, or after `within` seconds."""
        with anyio.move_on_after(within):
            await self._asked.wait()

    def set_app(self, app: ASGIApp) -> None:
        """Forward waiting and later requests to `app`."""
        self._app = app
        self._ready.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._asked.set()
        await self._ready.wait()
        await self._app(scope, receive, send)


class LazyRoutes(BaseRoute):
    """Routes below some paths, built on the first request."""

    def __init__(self, paths: Sequence[str], make: Callable[[], Routes]) -> None:
        self._paths = frozenset(paths)
        self._make = make
        self._router: Router | None = None

    @property
    def routes(self) -> Routes:
        self._router = self._router or Router(self._make())
        return self._router.routes

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match requests at or below one of the paths."""
        path = scope.get("path", "")
        mine = any(path == one or path.startswith(f"{one}/") for one in self._paths)
        return (Match.FULL if mine else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._router = self._router or Router(self._make())
        await self._router(scope, receive, send)
