"""The one way out over HTTP: answers are unpacked piece by piece up to a limit, credentials stay with their origin.

No other module makes a client of its own, so that these rules hold for documents, APIs, models and servers alike.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2
from anyio.lowlevel import checkpoint

MAX_BYTES = 200 * 1024 * 1024
MAX_EVENT = 16 * 1024 * 1024
"""The longest event of an event stream, which as a whole has no end."""
_READABLE = frozenset({"identity", "gzip", "x-gzip", "deflate", "br", "zstd"})
_BREATH = 1024 * 1024
"""How much is unpacked before others may run."""
_PORTS = {"http": 80, "https": 443}


class TooLargeError(httpx2.RequestError):
    """An answer is larger than it may be."""


class PackedError(httpx2.DecodingError):
    """An answer is packed in a way that cannot be undone."""


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
    """Return a client whose answers stay below `limit` bytes, unpacked.

    With `events` a stream of events may go on for ever, as each event stays below MAX_EVENT: only for who reads it
    event by event, since everybody else gathers the whole.
    The headers of `bound` are sent to the origin of the URL `origin` and nowhere else, whoever redirects. Without a
    `transport` connections are direct, through `proxy`, or as the environment says.
    """
    inner = transport or _Connecting(httpx2.AsyncClient(proxy=proxy, trust_env=trust_env))
    outer: httpx2.AsyncBaseTransport = Bounded(inner, limit, events=events)
    if bound:
        outer = OriginHeaders(outer, origin, bound)
    return httpx2.AsyncClient(transport=outer, trust_env=False, **options)


def origin_of(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port; two URLs share what belongs to an origin when these are equal.

    Raises:
        ValueError: it is no URL.
    """
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    return scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(scheme)


def same_origin(one: str, other: str) -> bool:
    """Say whether two URLs have one origin; what is no URL has none."""
    try:
        return origin_of(one) == origin_of(other)
    except ValueError:
        return False


class Bounded(httpx2.AsyncBaseTransport):
    """Unpacks answers while they are read, and ends those that grow too large."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, limit: int = MAX_BYTES, *, events: bool = False) -> None:
        self._inner = inner
        self._limit = limit
        self._events = events

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request; the answer comes unpacked."""
        packed = await self._inner.handle_async_request(request)
        headers = packed.headers.copy()
        try:
            if _unpacking(packed, request):
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
        """Close the connections."""
        await self._inner.aclose()


class OriginHeaders(httpx2.AsyncBaseTransport):
    """Adds headers to requests for one origin; the request itself never holds them, so no redirect takes them along."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, url: str, headers: Mapping[str, str]) -> None:
        self._inner = inner
        self._origin = origin_of(url)
        self._headers = dict(headers)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request, with the headers where they belong."""
        if origin_of(str(request.url)) != self._origin:
            return await self._inner.handle_async_request(request)
        headers = request.headers.copy()
        headers.update(self._headers)
        complete = httpx2.Request(
            request.method, request.url, headers=headers, stream=request.stream, extensions=request.extensions
        )
        return await self._inner.handle_async_request(complete)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _Connecting(httpx2.AsyncBaseTransport):
    """Another client as a transport: it knows which proxy the environment wants for which host."""

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
        size = unbroken = 0
        tail = b""
        async for chunk in self._packed.aiter_bytes():
            if events:
                size, tail = _since_blank_line(size, tail + chunk, len(chunk))
            else:
                size += len(chunk)
            if size > limit:
                what = "An event" if events else "The answer"
                raise TooLargeError(f"{what} is larger than {limit} bytes", request=self._request)
            unbroken += len(chunk)
            if unbroken > _BREATH:
                unbroken = 0
                await checkpoint()
            yield chunk

    async def aclose(self) -> None:
        await self._packed.aclose()


def _has_events(answer: httpx2.Response) -> bool:
    """Say whether an answer is a stream of events; one that tells of an error is read as a whole."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "text/event-stream" and not answer.is_error


def _since_blank_line(before: int, text: bytes, added: int) -> tuple[int, bytes]:
    """Return how many bytes the unfinished event has now, and the end of the text, where a blank line may begin."""
    ends = [at + len(mark) for mark in (b"\n\n", b"\r\r", b"\n\r\n") if (at := text.rfind(mark)) >= 0]
    return (len(text) - max(ends) if ends else before + added), text[-3:]


def _unpacking(packed: httpx2.Response, request: httpx2.Request) -> bool:
    """Say whether the answer has to be unpacked.

    Raises:
        PackedError: it cannot be.
    """
    named = [way.strip().lower() for way in packed.headers.get("content-encoding", "").split(",") if way.strip()]
    strange = [way for way in named if way not in _READABLE]
    if strange:
        raise PackedError(f"The answer is packed as {strange[0][:40]}, which cannot be read", request=request)
    if "x-gzip" in named:
        packed.headers["content-encoding"] = ", ".join(way.removeprefix("x-") for way in named)
    return bool(named)
