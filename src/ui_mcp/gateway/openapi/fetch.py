"""Fetches the files of a document, and only those: below its folder, or on its origin."""

import ipaddress
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote, urljoin, urlsplit

import anyio

from ui_mcp.discovery import lazy
from ui_mcp.errors import NotFoundError, RefusedError
from ui_mcp.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from httpx2 import AsyncBaseTransport

    from ui_mcp.gateway.openapi.guarded import WebFiles
else:
    WebFiles = lazy("ui_mcp.gateway.openapi.guarded:WebFiles")


def is_loopback(host: str) -> bool:
    """Return whether a host name or address means this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


_MAX_FILES = 5_000
_MAX_TOTAL = 200 * 1024 * 1024

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
        transport: "AsyncBaseTransport | None" = None,
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
    def _web_files(self) -> "WebFiles":
        # Lazy: documents on disk need no HTTP client.
        return WebFiles({self._host, *self._allow_hosts}, self._headers, self._origin, self._transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        web: WebFiles | None = vars(self).get("_web_files")
        if web is not None:
            await web.aclose()

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
        found = await self._web_files.get(url, extra or {})
        if found is None:
            return None
        body, headers = found
        return Fetched(url, body, headers.get("content-type", "").split(";")[0].strip().lower(), headers)

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
        return _joined(base, reference)
    if is_url(reference):
        return reference
    if "://" in reference:
        raise RefusedError(f"References may not use {reference.split('://', maxsplit=1)[0]}:")
    return str((Path(base).parent / unquote(reference)).resolve())


def _joined(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError as error:
        raise RefusedError(f"{reference} is not a valid URL: {error}") from error
