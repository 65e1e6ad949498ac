"""Fetches the files of a document, guarded against server-side request forgery (SSRF)."""

import ipaddress
import socket
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import unquote, urlsplit

import anyio
import httpx2
from anyio import getaddrinfo

from ui_mcp.errors import NotFoundError, RefusedError, UpstreamError
from ui_mcp.http_client import TooLargeError, open_client


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


def is_loopback(host: str) -> bool:
    """Return whether a host name or address means this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_public(address: str) -> bool:
    """Return whether an address is outside all private, local, reserved and multicast ranges."""
    parsed = ipaddress.ip_address(address.split("%", maxsplit=1)[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        # An IPv6 address that embeds an IPv4 address reaches that one.
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo[1] if parsed.teredo else None)
        if inner is not None:
            return is_public(str(inner))
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved


_MAX_FILES = 5_000
_MAX_TOTAL = 200 * 1024 * 1024
_MAX_BYTES = 50 * 1024 * 1024  # no more than `config.parse` reads
_SECONDS = 10.0

_SIBLING_SUFFIXES = frozenset({".json", ".yaml", ".yml"})
"""Suffixes of files that a document may also read from sibling folders (`../common/Error.json`)."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The content of one file or URL."""

    location: str
    body: bytes
    media_type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


class Fetcher:
    """Fetches one root document and the files below its folder or on its origin."""

    def __init__(
        self,
        root: str,
        *,
        allow_hosts: frozenset[str] = frozenset(),
        headers: Mapping[str, str] | None = None,
        origin: str = "",
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        """Send `headers` only to the origin of the URL `origin`, by default the root's."""
        self._root = root
        self._remote = is_url(root)
        self._tree = None if self._remote else Path(root).resolve().parent
        self._host = (urlsplit(root).hostname or "") if self._remote else ""
        self._allow_hosts = allow_hosts
        self._headers = dict(headers or {})
        self._origin = origin or root
        self._files = self._bytes = 0
        self._transport = transport

    @cached_property
    def _client(self) -> httpx2.AsyncClient:
        # Lazy: documents on disk need no client.
        return open_client(
            GuardedTransport({self._host, *self._allow_hosts}, self._transport),
            limit=_MAX_BYTES,
            bound=self._headers,
            origin=self._origin,
            timeout=_SECONDS,
            follow_redirects=True,
            max_redirects=5,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        client: httpx2.AsyncClient | None = vars(self).get("_client")
        if client is not None:
            await client.aclose()

    async def root(self, *, etag: str = "", modified: str = "") -> Fetched | None:
        """Fetch the root document; None if it has not changed since `etag` or `modified`."""
        conditions = {"If-None-Match": etag, "If-Modified-Since": modified}
        extra = {name: value for name, value in conditions.items() if value}
        return await self._web(self._root, extra) if self._remote else await self._file(Path(self._root))

    async def related(self, location: str) -> Fetched:
        """Fetch a file that the root refers to, directly or through other files.

        Raises:
            RefusedError: it is outside the root's folder or origin, or there are too many files or bytes.
            NotFoundError: it does not exist.
            UpstreamError: its server failed.
        """
        self._files += 1
        if self._files > _MAX_FILES or self._bytes > _MAX_TOTAL:
            raise RefusedError(f"The document refers to more than {_MAX_FILES} files or {_MAX_TOTAL} bytes")
        fetched = await self._related_web(location) if is_url(location) else await self._related_file(location)
        self._bytes += len(fetched.body)
        return fetched

    async def _related_web(self, location: str) -> Fetched:
        parts, root = urlsplit(location), urlsplit(self._root)
        same_origin = self._remote and (parts.scheme, parts.netloc) == (root.scheme, root.netloc)
        if not same_origin and (parts.hostname or "") not in self._allow_hosts:
            raise RefusedError(
                f"{location} is on another host than the document\nAllow it with refs.allow_hosts.", location=location
            )
        fetched = await self._web(location, {} if same_origin else None)
        if fetched is None:
            raise NotFoundError(f"{location} sent no content")
        return fetched

    async def _related_file(self, location: str) -> Fetched:
        if self._tree is None:
            raise RefusedError(f"A document from the network may not refer to the file {location}")
        path = await anyio.Path(location).resolve()
        in_sibling = path.is_relative_to(self._tree.parent) and path.suffix in _SIBLING_SUFFIXES
        if not in_sibling and not path.is_relative_to(self._tree):
            raise RefusedError(f"{location} lies outside the document's directory {self._tree}")
        return await self._file(Path(path))

    async def _web(self, url: str, extra: Mapping[str, str] | None) -> Fetched | None:
        headers = {"Accept": "application/json, application/yaml;q=0.9, */*;q=0.5"}
        if extra is not None:
            headers |= dict(extra)
        try:
            async with self._client.stream("GET", url, headers=headers) as answer:
                if answer.status_code == httpx2.codes.NOT_MODIFIED:
                    return None
                if answer.is_error:
                    raise UpstreamError(f"{url} answered HTTP {answer.status_code}", status=answer.status_code)
                body = await answer.aread()
                media = answer.headers.get("content-type", "").split(";")[0].strip().lower()
                return Fetched(url, body, media, dict(answer.headers))
        except TooLargeError as error:
            raise RefusedError(f"{url} sends more than {_MAX_BYTES} bytes") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise UpstreamError(f"Cannot fetch {url}: {error or type(error).__name__}", url=url) from error

    async def _file(self, path: Path) -> Fetched:
        try:
            return Fetched(str(path), await anyio.Path(path).read_bytes())
        except OSError as error:
            raise NotFoundError(f"Cannot read {path}: {error.strerror or error}", path=str(path)) from error


def is_url(location: str) -> bool:
    """Return whether a location is an HTTP URL rather than a path."""
    return location.startswith(("http://", "https://"))


def join(base: str, reference: str) -> str:
    """Resolve the file part of a reference against the file that contains it.

    Raises:
        RefusedError: the reference has a scheme other than HTTP.
    """
    if is_url(base):
        return str(httpx2.URL(base).join(reference))
    if is_url(reference):
        return reference
    if "://" in reference:
        raise RefusedError(f"References may not use {reference.split('://', maxsplit=1)[0]}:")
    return str((Path(base).parent / unquote(reference)).resolve())
