"""What both HTTP transports share: a client per server, redirects within its origin, POST requests under way."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import count

import anyio
import httpx2
from anyio.abc import TaskGroup

from ui_mcp.errors import UiMcpError, UpstreamError
from ui_mcp.http_client import MAX_EVENT, open_client, origin_of, same_origin
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_client.session import Session
from ui_mcp.mcp_client.transport import HttpUrl, NotificationHandlers, SseUrl
from ui_mcp.oauth.account import SIGN_IN_SECONDS, Account, Place, sign_in_by_browser
from ui_mcp.oauth.metadata import Challenge, read_challenge

CONNECT_SECONDS = 30.0
READ_SECONDS = 300.0
MAX_REDIRECTS = 5
_log = logger("mcp.client")


class HttpConnection:
    """Sends requests to one server."""

    def __init__(self, client: httpx2.AsyncClient, url: str) -> None:
        self._client = client
        self.url = url

    @asynccontextmanager
    async def stream(
        self, method: str, headers: Mapping[str, str], body: bytes | None = None, url: str = ""
    ) -> AsyncIterator[httpx2.Response]:
        """Send a request, by default to the server's URL, and yield its response before the body is read.

        Raises:
            UpstreamError: it wants to be asked elsewhere, or wants the person to sign in.
            httpx2.HTTPError: it cannot be reached.
        """
        target = url or self.url
        for _ in range(MAX_REDIRECTS):
            request = self._client.build_request(method, target, headers=headers, content=body)
            response = await self._client.send(request, stream=True)
            try:
                if not response.has_redirect_location:
                    yield response
                    return
                target = _redirected(response)
            finally:
                await response.aclose()
        raise UpstreamError(f"The server redirects more than {MAX_REDIRECTS} times", fatal=True)


def _redirected(response: httpx2.Response) -> str:
    """Return where a redirect leads; a request stays with the server's origin, or goes to HTTPS on the same host."""
    here, there = response.url, response.url.join(response.headers["location"])
    keeps_method = response.request.method == "GET" or response.status_code in {307, 308}
    secured = (here.scheme, there.scheme) == ("http", "https") and here.host == there.host
    default_ports = origin_of(str(here))[2] == 80 and origin_of(str(there))[2] == 443
    if keeps_method and (same_origin(str(here), str(there)) or (secured and default_ports)):
        return str(there)
    raise UpstreamError(
        f"The server redirects to {there}, which is not followed\nUse that URL if it is the server you mean.",
        fatal=True,
    )


class SignedRequests(httpx2.Auth):
    """Sends the person's token with each request, renews it when the server refuses it, and lets the person sign in."""

    def __init__(self, address: HttpUrl | SseUrl, handlers: NotificationHandlers) -> None:
        self._configured = any(key.lower() == "authorization" for key in address.headers)
        self._account = Account(address.place or Place(address.url, address.url))
        self._handlers = handlers

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        if self._configured:
            yield request
            return
        token = await self._account.token()
        response = yield _signed(request, token)
        if token and response.status_code == 401:
            token = await self._account.token(refused=token)
            if token:
                response = yield _signed(request, token)
        challenge = read_challenge(response.headers.get("www-authenticate", ""))
        if response.status_code == 401 or (response.status_code == 403 and challenge.error == "insufficient_scope"):
            await self._sign_in(challenge)
            yield _signed(request, await self._account.token())

    async def _sign_in(self, challenge: Challenge) -> None:
        self._handlers.signing_in(SIGN_IN_SECONDS)
        if self._handlers.sign_in is not None:
            await self._handlers.sign_in(self._account, challenge)
        else:
            await sign_in_by_browser(self._account, challenge, self._handlers.stderr)


def _signed(request: httpx2.Request, token: str | None) -> httpx2.Request:
    if token:
        request.headers["Authorization"] = f"Bearer {token}"
    return request


@asynccontextmanager
async def open_connection(address: HttpUrl | SseUrl, handlers: NotificationHandlers) -> AsyncIterator[HttpConnection]:
    """Open a client that sends the configured headers only to the server's own origin."""
    client = open_client(
        events=True,
        bound=address.headers,
        origin=address.url,
        trust_env=True,
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS),
        auth=SignedRequests(address, handlers),
    )
    async with client:
        yield HttpConnection(client, address.url)


class Posts:
    """Messages under way to the server, each in a task of its own."""

    def __init__(self, tasks: TaskGroup, post: Callable[[JsonObject, int | None], Awaitable[None]]) -> None:
        self._tasks = tasks
        self._post = post
        self._requests: dict[int, anyio.CancelScope] = {}
        self._others: dict[int, anyio.Event] = {}
        self._numbers = count()

    def start(self, message: JsonObject, session: Session) -> None:
        if "method" in message and "id" in message:
            scope = self._requests[message["id"]] = anyio.CancelScope()
            self._tasks.start_soon(self._run, message, message["id"], scope, session)
        else:
            number = next(self._numbers)
            self._others[number] = anyio.Event()
            self._tasks.start_soon(self._run_other, message, number, session)

    def abandon(self, number: int) -> None:
        """Close the stream of a request."""
        scope = self._requests.get(number)
        if scope is not None:
            scope.cancel()

    async def flush(self) -> None:
        """Wait until the notifications and answers sent so far have arrived."""
        for arrived in tuple(self._others.values()):
            await arrived.wait()

    async def _run(self, message: JsonObject, number: int, scope: anyio.CancelScope, session: Session) -> None:
        try:
            with scope:
                await self._post(message, number)
        except Exception as error:  # noqa: BLE001 - whatever a server makes the client raise ends this request only
            session.fail(number, unreachable(error))
        finally:
            del self._requests[number]

    async def _run_other(self, message: JsonObject, number: int, session: Session) -> None:
        try:
            with anyio.move_on_after(CONNECT_SECONDS):
                await self._post(message, None)
        except Exception as error:  # noqa: BLE001 - a notification that does not arrive is no reason to disconnect
            session.handlers.stderr(f"(a message could not be sent) {unreachable(error).message}")
        finally:
            self._others.pop(number).set()


def unreachable(error: Exception) -> UpstreamError:
    """Return what went wrong with a request as an error of the server."""
    if isinstance(error, UpstreamError):
        return error
    if isinstance(error, UiMcpError):
        return UpstreamError(error.message, fatal=True, **error.details)
    text = next(iter(str(error).splitlines()), "") or type(error).__name__
    if isinstance(error, httpx2.SSEError | ValueError):
        return UpstreamError(f"The server's answer could not be read: {text}", rpc_code=0)
    return UpstreamError(f"The server cannot be reached: {text}", fatal=isinstance(error, httpx2.TransportError))


def refused(response: httpx2.Response) -> UpstreamError:
    """Return an error response, of which only the status is known, as an error of the server."""
    status = f"{response.status_code} {response.reason_phrase}".strip()
    if response.status_code == 401:
        return UpstreamError("The server refuses the credentials that are configured for it (HTTP 401)", fatal=True)
    return UpstreamError(f"The server answered HTTP {status}", status=response.status_code)


def content_type(response: httpx2.Response) -> str:
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()


def events_of(response: httpx2.Response) -> AsyncIterator[httpx2.ServerSentEvent]:
    """Return the events of a stream, as they arrive."""
    return aiter(httpx2.EventSource(response, max_event_size=MAX_EVENT))
