"""HTTP requests to addresses that documents name, guarded against server-side request forgery (SSRF)."""

import ipaddress
import socket
import ssl
from collections.abc import Iterable, Mapping
from functools import cache

import httpx2
from anyio import getaddrinfo

from ui_mcp.errors import RefusedError, UpstreamError
from ui_mcp.http_client import TooLargeError, open_client

_MAX_BYTES = 50 * 1024 * 1024  # no more than `config.parse` reads
_SECONDS = 10.0


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Refuses hosts that resolve to private addresses, except the trusted ones that the user configured.

    Redirects pass through here like any other request, so each hop is checked.
    """

    def __init__(self, trusted: Iterable[str], inner: httpx2.AsyncBaseTransport | None = None) -> None:
        self._trusted = {host.lower() for host in trusted if host}
        self._inner = inner or httpx2.AsyncHTTPTransport(verify=tls())

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.host.lower()
        if host not in self._trusted:
            address = await public_address(host, request.url.port or (443 if request.url.scheme == "https" else 80))
            # Connect to the address that was checked: a second DNS lookup could return another one.
            request.extensions = {**request.extensions, "sni_hostname": host}
            request.headers.setdefault("Host", request.url.netloc.decode("ascii"))
            request.url = request.url.copy_with(host=address)
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


@cache
def tls() -> ssl.SSLContext:
    """Return the shared TLS context."""
    # Reading the system's certificates takes 0.1 s.
    return ssl.create_default_context()


async def public_address(host: str, port: int) -> str:
    """Resolve `host` to a public address.

    Raises:
        RefusedError: one of its addresses is private, or it has none.
    """
    try:
        found = await getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise RefusedError(f"Host {host} does not resolve: {error}", host=host) from error
    addresses = [str(entry[4][0]) for entry in found]
    for address in addresses:
        if not is_public(address):
            raise RefusedError(
                f"Host {host} resolves to the private address {address}\n"
                "Name the host in the configuration (refs.allow_hosts) to allow it.",
                host=host,
            )
    return addresses[0]


def is_public(address: str) -> bool:
    """Return whether an address is outside all private, local, reserved and multicast ranges."""
    parsed = ipaddress.ip_address(address.split("%", maxsplit=1)[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        # An IPv6 address that embeds an IPv4 address reaches that one.
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo[1] if parsed.teredo else None)
        if inner is not None:
            return is_public(str(inner))
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved


class WebFiles:
    """Downloads the files of one document; `headers` are sent to the origin of the URL `origin` only."""

    def __init__(
        self,
        trusted: Iterable[str],
        headers: Mapping[str, str],
        origin: str,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._client = open_client(
            GuardedTransport(trusted, transport),
            limit=_MAX_BYTES,
            bound=headers,
            origin=origin,
            timeout=_SECONDS,
            follow_redirects=True,
            max_redirects=5,
        )

    async def get(self, url: str, headers: Mapping[str, str]) -> tuple[bytes, dict[str, str]] | None:
        """Return body and headers of a file; None if the server says that it has not changed.

        Raises:
            RefusedError: the host is private, or the file too large.
            UpstreamError: its server failed.
        """
        headers = {"Accept": "application/json, application/yaml;q=0.9, */*;q=0.5", **headers}
        try:
            async with self._client.stream("GET", url, headers=headers) as answer:
                if answer.status_code == httpx2.codes.NOT_MODIFIED:
                    return None
                if answer.is_error:
                    raise UpstreamError(f"{url} answered HTTP {answer.status_code}", status=answer.status_code)
                return await answer.aread(), dict(answer.headers)
        except TooLargeError as error:
            raise RefusedError(f"{url} sends more than {_MAX_BYTES} bytes") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise UpstreamError(f"Cannot fetch {url}: {error or type(error).__name__}", url=url) from error

    async def aclose(self) -> None:
        await self._client.aclose()
