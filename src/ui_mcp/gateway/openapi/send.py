"""Sends a request byte for byte as it was built, with redirects, retries and limits."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2

from ui_mcp.errors import UpstreamError
from ui_mcp.gateway.openapi.auth import Attached
from ui_mcp.gateway.openapi.fetch import is_loopback
from ui_mcp.gateway.openapi.model import Answer, Outgoing
from ui_mcp.http_client import PackedError, TooLargeError, origin_of, same_origin

_IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE", "OPTIONS"})
_RETRY_STATUSES = frozenset({429, 502, 503, 504})
_MAX_RETRIES = 3
_MAX_RETRY_AFTER = 30.0
"""Longest `Retry-After`, in seconds, that is waited for."""
_CROSS_ORIGIN_HEADERS = frozenset({"accept", "content-type", "user-agent"})
"""Headers that are kept on a redirect to another origin; any other header may be a credential."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
Sleep = Callable[[float], Awaitable[None]]
Clients = Callable[[str, str, bool], httpx2.AsyncClient]
"""Returns the client for a principal and a host; the third argument says whether a redirect led to another machine."""


class Sender:
    """Sends requests to one API, at most `concurrency` at a time."""

    def __init__(self, clients: Clients, agent: str, concurrency: int = 8, sleep: Sleep = anyio.sleep) -> None:
        self._clients = clients
        self._agent = agent
        self._slots = anyio.Semaphore(concurrency)
        self._sleep = sleep

    async def send(self, outgoing: Outgoing, attached: Attached, principal: str) -> Answer:
        """Send a request, follow redirects, and retry idempotent methods with back-off.

        Raises:
            UpstreamError: there is no response; `kind` in the details says why.
        """
        started = time.perf_counter()
        async with self._slots:
            for retries in range(_MAX_RETRIES + 1):
                last = retries == _MAX_RETRIES or outgoing.method not in _IDEMPOTENT
                found = await self._attempt(principal, outgoing, attached, retries, last=last)
                if isinstance(found, Answer):
                    elapsed = int((time.perf_counter() - started) * 1000)
                    return replace(found, elapsed_ms=elapsed, retries=retries)
                await self._sleep(found)
        raise UpstreamError("Out of retries", kind="busy")

    async def _attempt(
        self, principal: str, outgoing: Outgoing, attached: Attached, retries: int, *, last: bool
    ) -> Answer | float:
        """Return the response, or the seconds to wait before the next attempt."""
        try:
            answer = await self._follow_redirects(principal, outgoing, attached)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            # Without a connection the API has not seen the request; after other errors it may have.
            if last or not isinstance(error, httpx2.ConnectError):
                raise _translate_error(error, outgoing) from error
            return 0.2 * 2.0**retries
        wait = (
            retry_delay(answer.headers.get("retry-after"), retries)
            if answer.status in _RETRY_STATUSES and not last
            else None
        )
        return answer if wait is None else wait

    async def _follow_redirects(self, principal: str, outgoing: Outgoing, attached: Attached) -> Answer:
        first_host = _host(outgoing)
        left_origin = False
        answer = await self._send_once(self._clients(principal, first_host, False), outgoing, attached)
        for _ in range(5):
            location = answer.headers.get("location")
            if answer.status not in _REDIRECTS or not location:
                break
            url = _redirect_url(answer.url, location)
            left_origin = left_origin or not same_origin(url, outgoing.url)
            outgoing, attached = _redirect_request(outgoing, attached, answer.status, url)
            host = _host(outgoing)
            other_machine = host != first_host and not (is_loopback(host) and is_loopback(first_host))
            client = self._clients(principal, host, other_machine)
            answer = await self._send_once(client, outgoing, attached, left_origin=left_origin)
        return replace(answer, elsewhere=left_origin)

    async def _send_once(
        self, client: httpx2.AsyncClient, outgoing: Outgoing, attached: Attached, *, left_origin: bool = False
    ) -> Answer:
        full = replace(outgoing, query=outgoing.query + attached.query, cookies=outgoing.cookies + attached.cookies)
        url = full.url
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        request = client.build_request(
            outgoing.method,
            url,
            headers=[("User-Agent", self._agent), *full.all_headers, *attached.headers],
            content=outgoing.body,
            extensions={"target": target.encode("ascii")},  # else httpx normalizes the path and query
        )
        if left_origin:
            request.headers.pop("cookie", None)  # the cookie jar of the client does not distinguish ports
        response = await client.send(request, stream=True)
        try:
            body = await response.aread()
        finally:
            await response.aclose()
        return Answer(response.status_code, response.reason_phrase, dict(response.headers), body, url, 0)


def _host(outgoing: Outgoing) -> str:
    return (urlsplit(outgoing.url).hostname or "").lower()


def retry_delay(header: str | None, retries: int) -> float | None:
    """Return the seconds to wait before a retry; None if `Retry-After` exceeds the limit."""
    if header is None:
        return 0.5 * 2.0**retries
    try:
        wait = float(header)
    except ValueError:
        try:
            wait = (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, OverflowError):
            return 0.5 * 2.0**retries
    return max(wait, 0.0) if wait <= _MAX_RETRY_AFTER else None


def _redirect_url(url: str, location: str) -> str:
    """Return the absolute URL of a redirect.

    Raises:
        UpstreamError: it is not a URL.
    """
    try:
        joined = urljoin(url, location)
        origin_of(joined)
    except ValueError as error:
        raise UpstreamError(
            f"{url} redirects to {location[:200]!r}, which is not a valid URL", kind="protocol"
        ) from error
    return joined


def _redirect_request(outgoing: Outgoing, attached: Attached, status: int, url: str) -> tuple[Outgoing, Attached]:
    parts = urlsplit(url)
    stays = same_origin(url, outgoing.url)
    # POST becomes GET as in browsers (RFC 9110, section 15.4).
    becomes_get = status == 303 or (status in {301, 302} and outgoing.method == "POST")
    headers = tuple(
        (name, value)
        for name, value in outgoing.headers
        if not (becomes_get and name.lower() == "content-type") and (stays or name.lower() in _CROSS_ORIGIN_HEADERS)
    )
    moved = Outgoing(
        method="GET" if becomes_get and outgoing.method != "HEAD" else outgoing.method,
        base=f"{parts.scheme}://{parts.netloc}",
        path=parts.path or "/",
        query=(parts.query,) if parts.query else (),
        headers=headers,
        cookies=outgoing.cookies if stays else (),
        body=None if becomes_get else outgoing.body,
    )
    return moved, replace(attached, query=()) if stays else Attached()


def _translate_error(error: Exception, outgoing: Outgoing) -> UpstreamError:
    if isinstance(error, TooLargeError):
        return UpstreamError(str(error), kind="too_large")
    if isinstance(error, PackedError):
        accepted = error.request.headers.get("accept-encoding", "")
        return UpstreamError(f"{error}\nThe request accepts {accepted}.", kind="encoding")
    # DNS and TLS failures have no exception classes of their own.
    cause = f"{error} {error.__cause__ or ''}".lower()
    if isinstance(error, httpx2.TimeoutException):
        kind, hint = "timeout", "The API did not answer in time; raise timeout_s or try a smaller request."
    elif "name or service" in cause or "getaddrinfo" in cause or "nodename" in cause:
        kind, hint = "dns", "The host name does not resolve; check base_url."
    elif "ssl" in cause or "certificate" in cause:
        kind, hint = "tls", "The certificate was not accepted; check the address and the system's certificates."
    elif isinstance(error, httpx2.ConnectError):
        kind, hint = "refused", "Nothing answers there; check that the API runs and base_url is right."
    else:
        kind, hint = "protocol", "The connection broke or the answer was not HTTP."
    message = f"{outgoing.method} {outgoing.base}{outgoing.path} failed: {kind} ({error or type(error).__name__})"
    # After a connection was made, the API may have acted on the request.
    return UpstreamError(f"{message}\n{hint}", kind=kind, uncertain=not isinstance(error, httpx2.ConnectError))
