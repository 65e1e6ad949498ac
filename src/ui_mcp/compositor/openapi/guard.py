"""Keeps requests that a document asks for away from addresses only this machine can reach."""

import ipaddress
import socket
import ssl
from collections.abc import Iterable
from functools import cache

import httpx2
from anyio import getaddrinfo

from ui_mcp.errors import RefusedError


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Resolves each host once, refuses private addresses unless the user named the host, and connects to what it saw.

    Redirects pass through here like any other request, so each hop is checked.
    """

    def __init__(self, trusted: Iterable[str], inner: httpx2.AsyncBaseTransport | None = None) -> None:
        self._trusted = {host.lower() for host in trusted if host}
        self._inner = inner or httpx2.AsyncHTTPTransport(verify=tls())

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Check where the request goes, then send it there."""
        host = request.url.host.lower()
        if host not in self._trusted:
            address = await public_address(host, request.url.port or (443 if request.url.scheme == "https" else 80))
            request.extensions = {**request.extensions, "sni_hostname": host}
            request.headers.setdefault("Host", request.url.netloc.decode("ascii"))
            request.url = request.url.copy_with(host=address)
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


@cache
def tls() -> ssl.SSLContext:
    """Return the one TLS context; reading the system's certificates takes a tenth of a second."""
    return ssl.create_default_context()


async def public_address(host: str, port: int) -> str:
    """Resolve `host` to an address anyone may reach.

    Raises:
        RefusedError: one of its addresses is private, or there is none.
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
                "Name the host in the configuration (refs.allow_hosts) if it is meant.",
                host=host,
            )
    return addresses[0]


def is_loopback(host: str) -> bool:
    """Say whether a host, by name or address, is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_public(address: str) -> bool:
    """Say whether an address lies outside every private, local and multicast range."""
    parsed = ipaddress.ip_address(address.split("%", maxsplit=1)[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo[1] if parsed.teredo else None)
        if inner is not None:
            return is_public(str(inner))
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved
