"""The requests of a page: which were sent, how they ended, how long they took, and their bodies."""

from base64 import b64decode
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

import anyio

from ui_mcp.errors import UiArgumentError
from ui_mcp.introspection.backends.chromium.devtools import DevToolsError, Session
from ui_mcp.introspection.person_pages import is_person_page
from ui_mcp.jsontypes import JsonObject

MAX_REQUESTS = 1000
RECENT_SECONDS = 0.05
MAX_BODY = 20_000
"""Characters of a body that an answer may hold."""
_SECRET_HEADERS = frozenset({"authorization", "cookie", "set-cookie", "proxy-authorization", "x-api-key"})


def is_favicon(url: str) -> bool:
    """Return whether a URL is one that only the browser itself wants."""
    return url.endswith("/favicon.ico")


@dataclass(slots=True, eq=False)
class Request:
    """One request; `number` counts the requests of a page."""

    number: int
    id: str
    session: Session
    kind: str
    sent: JsonObject
    begun: float
    begun_browser: float
    """By the browser's clock, in seconds, as all its events are."""
    response: JsonObject | None = None
    ended: float | None = None
    size: int = 0
    failure: str = ""
    """Why it failed; empty if it did not."""

    @property
    def method(self) -> str:
        return str(self.sent["method"])

    @property
    def url(self) -> str:
        return str(self.sent["url"])

    @property
    def has_failed(self) -> bool:
        return bool(self.failure) or (self.response is not None and self.response["status"] >= 400)

    def line(self) -> str:
        """Return number, method, status, duration, size, kind and URL."""
        status = self.failure or (str(self.response["status"]) if self.response else "pending")
        taken = [] if self.ended is None else [f"{(self.ended - self.begun_browser) * 1000:.0f}ms"]
        size = [_short_size(self.size)] if self.size else []
        return " ".join([str(self.number), self.method, status, *taken, *size, self.kind.lower(), self.url])


class RequestLog:
    """The last requests of a page and its frames."""

    def __init__(self) -> None:
        self._requests: OrderedDict[str, Request] = OrderedDict()
        self._count = 0
        self._private: set[str] = set()
        """Ids of requests that began while the person operated the page; their redirects may come later."""
        self._finished = anyio.Event()

    def begin(self, event: JsonObject, session: Session) -> None:
        """Note a request; a redirect ends the one before it, under the same id."""
        key, redirected = event["requestId"], event.get("redirectResponse")
        if redirected is not None and key in self._requests:
            self.respond({"requestId": key, "response": redirected})
            before = self.end(key, event["timestamp"])
            self._requests[f"{key} {before.number if before else 0}"] = self._requests.pop(key)
        if is_favicon(event["request"]["url"]) or key in self._private:
            return
        self._count += 1
        made = Request(
            self._count, key, session, event.get("type", "Other"), event["request"],
            anyio.current_time(), event["timestamp"],
        )  # fmt: skip
        self._requests[key] = made
        while len(self._requests) > MAX_REQUESTS:
            self._requests.popitem(last=False)

    def leave_out(self, event: JsonObject) -> None:
        """Note nothing of a request, now and later."""
        self._private.add(event["requestId"])

    def respond(self, event: JsonObject) -> Request | None:
        """Note the head of a response and return its request."""
        request = self._requests.get(event["requestId"])
        if request is not None:
            request.response = event["response"]
        return request

    def end(self, key: str, timestamp: float, size: float = 0, failure: str = "") -> Request | None:
        """Note the end of a request and return it."""
        request = self._requests.get(key)
        if request is not None:
            request.ended, request.size, request.failure = timestamp, int(size), failure
        self._finished.set()
        return request

    async def wait_recent(self) -> None:
        """Wait for requests younger than 50 ms; older ones may be long polls that never end."""
        while True:
            now = anyio.current_time()
            ages = [now - request.begun for request in self._pending() if now - request.begun < RECENT_SECONDS]
            if not ages:
                return
            self._finished = anyio.Event()
            with anyio.move_on_after(RECENT_SECONDS - min(ages)):
                await self._finished.wait()

    def listed(self, text: str = "") -> list[Request]:
        """Return the requests whose line contains `text`, oldest first; those to a person's pages are left out."""
        wanted = text.casefold()
        found = (request for request in self._requests.values() if not is_person_page(request.url))
        return sorted((request for request in found if _matches(request, wanted)), key=lambda request: request.number)

    def get(self, number: int) -> Request:
        """Return a request by number.

        Raises:
            UiArgumentError: there is none, or it is no longer kept.
        """
        found = next((request for request in self.listed() if request.number == number), None)
        if found is None:
            raise UiArgumentError(f"No request {number} is kept\nList them with the operation network.")
        return found

    def _pending(self) -> Iterator[Request]:
        return (request for request in self._requests.values() if request.ended is None)


async def details(request: Request) -> str:
    """Return everything about a request as text: its line, headers without credentials, and both bodies."""
    sent = [request.line(), *_headers("> ", request.sent.get("headers", {}))]
    if posted := request.sent.get("postData"):
        sent += ["", _cut(str(posted))]
    if request.response is None:
        return "\n".join(sent)
    received = _headers("< ", request.response.get("headers", {}))
    return "\n".join([*sent, *received, "", await _body(request)])


async def _body(request: Request) -> str:
    try:
        with anyio.fail_after(5):
            answer = await request.session.send("Network.getResponseBody", {"requestId": request.id})
    except (DevToolsError, TimeoutError):
        return "(the browser no longer has the body)"
    if not answer["base64Encoded"]:
        return _cut(str(answer["body"]))
    whole = b64decode(answer["body"])
    try:
        return _cut(whole.decode())
    except UnicodeDecodeError:
        return f"({len(whole)} bytes that are not text)"


def _matches(request: Request, wanted: str) -> bool:
    if wanted == "failed":
        return request.has_failed
    return wanted in request.line().casefold()


def _headers(mark: str, headers: JsonObject) -> list[str]:
    return [
        f"{mark}{name}: {'(not shown)' if name.lower() in _SECRET_HEADERS else value}"
        for name, value in headers.items()
    ]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_BODY else f"{text[:MAX_BODY]}… ({len(text) - MAX_BODY} more characters)"


def _short_size(size: int) -> str:
    return f"{size}B" if size < 1000 else f"{size / 1000:.1f}kB" if size < 1_000_000 else f"{size / 1_000_000:.1f}MB"
