"""The HTTP client of all outgoing requests: limits the size of decompressed bodies, binds credentials to an origin.

No other module creates a client of its own, so that these rules apply to documents, APIs, models and MCP servers.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2
from anyio.lowlevel import checkpoint

MAX_BYTES = 200 * 1024 * 1024
MAX_EVENT = 16 * 1024 * 1024
"""Size limit in bytes of one event of an event stream, whose total length has no limit."""
_SUPPORTED_ENCODINGS = frozenset({"identity", "gzip", "x-gzip", "deflate", "br", "zstd"})
_YIELD_BYTES = 1024 * 1024
"""Bytes to decompress before other tasks of the event loop may run."""
_PORTS = {"http": 80, "https": 443}


class TooLargeError(httpx2.RequestError):
    """A response exceeds its size limit."""


class PackedError(httpx2.DecodingError):
    """A response has a content encoding that is not supported."""


def open_client(
    transport: httpx2.AsyncBaseTransport | None = None,
    *,
    limit: int = MAX_BYTES,
    events: bool = False,
    bound: Mapping[str, str] | None = None,
    origin: str = "",
    proxy: str | None = None,
    trust_env: bool = False,
    **options: Any,
) -> httpx2.AsyncClient:
    """Return a client whose decompressed response bodies may have at most `limit` bytes.

    With `events`, event streams have no total limit and MAX_EVENT applies to each event; use it only where the stream
    is read event by event, not collected in memory.
    The headers of `bound` are sent to the origin of the URL `origin` only, also after redirects. Without a `transport`
    connections are direct, through `proxy`, or as the environment says.
    """
    inner = transport or _ClientTransport(httpx2.AsyncClient(proxy=proxy, trust_env=trust_env))
    outer: httpx2.AsyncBaseTransport = Bounded(inner, limit, events=events)
    if bound:
        outer = OriginHeaders(outer, origin, bound)
    # Proxies are the business of the inner transport; here they would bypass `outer`.
    return httpx2.AsyncClient(transport=outer, trust_env=False, **options)


def origin_of(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of a URL, with the default port filled in.

    Raises:
        ValueError: the text is not a URL.
    """
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    return scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(scheme)


def same_origin(one: str, other: str) -> bool:
    """Return whether two URLs have the same origin; False if one of them is not a URL."""
    try:
        return origin_of(one) == origin_of(other)
    except ValueError:
        return False


class Bounded(httpx2.AsyncBaseTransport):
    """Decompresses responses while they are read, and aborts those that exceed the limit."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, limit: int = MAX_BYTES, *, events: bool = False) -> None:
        self._inner = inner
        self._limit = limit
        self._events = events

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        packed = await self._inner.handle_async_request(request)
        headers = packed.headers.copy()
        try:
            if _is_packed(packed, request):
                # Both headers describe the compressed body.
                del headers["content-encoding"]
                headers.pop("content-length", None)
        except PackedError:
            await packed.aclose()
            raise
        return httpx2.Response(
            packed.status_code,
            headers=headers,
            stream=_Unpacked(packed, request, self._limit, events=self._events and _has_events(packed)),
            extensions=packed.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class OriginHeaders(httpx2.AsyncBaseTransport):
    """Adds headers to requests for one origin.

    The client's own request never contains them, so a redirect to another origin cannot copy them.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, url: str, headers: Mapping[str, str]) -> None:
        self._inner = inner
        self._origin = origin_of(url)
        self._headers = dict(headers)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if origin_of(str(request.url)) != self._origin:
            return await self._inner.handle_async_request(request)
        headers = request.headers.copy()
        headers.update(self._headers)
        complete = httpx2.Request(
            request.method, request.url, headers=headers, stream=request.stream, extensions=request.extensions
        )
        return await self._inner.handle_async_request(complete)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _ClientTransport(httpx2.AsyncBaseTransport):
    """Uses another client as transport, because only clients select a proxy per host from the environment."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return await self._client.send(request, stream=True, follow_redirects=False)

    async def aclose(self) -> None:
        await self._client.aclose()


class _Unpacked(httpx2.AsyncByteStream):
    def __init__(self, packed: httpx2.Response, request: httpx2.Request, limit: int, *, events: bool) -> None:
        self._packed = packed
        self._request = request
        self._limit = limit
        self._events = events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        events = self._events
        limit = MAX_EVENT if events else self._limit
        size = since_yield = 0
        tail = b""
        async for chunk in self._packed.aiter_bytes():
            if events:
                size, tail = _since_blank_line(size, tail + chunk, len(chunk))
            else:
                size += len(chunk)
            if size > limit:
                what = "An event" if events else "The answer"
                raise TooLargeError(f"{what} is larger than {limit} bytes", request=self._request)
            since_yield += len(chunk)
            if since_yield > _YIELD_BYTES:
                since_yield = 0
                await checkpoint()
            yield chunk

    async def aclose(self) -> None:
        await self._packed.aclose()


def _has_events(answer: httpx2.Response) -> bool:
    """Return whether a response is an event stream; error responses are read as a whole and are not."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "text/event-stream" and not answer.is_error


def _since_blank_line(before: int, text: bytes, added: int) -> tuple[int, bytes]:
    """Return the size of the unfinished event, and the last bytes, in which a blank line may have begun."""
    ends = [at + len(mark) for mark in (b"\n\n", b"\r\r", b"\n\r\n") if (at := text.rfind(mark)) >= 0]
    return (len(text) - max(ends) if ends else before + added), text[-3:]


def _is_packed(packed: httpx2.Response, request: httpx2.Request) -> bool:
    """Return whether a response has a content encoding.

    Raises:
        PackedError: the encoding is not supported.
    """
    encodings = [one.strip().lower() for one in packed.headers.get("content-encoding", "").split(",") if one.strip()]
    unknown = [one for one in encodings if one not in _SUPPORTED_ENCODINGS]
    if unknown:
        raise PackedError(f"The answer is packed as {unknown[0][:40]}, which cannot be read", request=request)
    if "x-gzip" in encodings:  # an alias of gzip (RFC 9110) that httpx2 does not decode
        packed.headers["content-encoding"] = ", ".join(one.removeprefix("x-") for one in encodings)
    return bool(encodings)
