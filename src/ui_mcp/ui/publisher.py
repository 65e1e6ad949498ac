"""The publisher: hands data that bookmarklets and programs post under a topic to the apps that subscribed to it.

One server of this machine listens on the fixed port, the others are its clients; when it ends, another takes over.
"""

import re
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from socket import socket

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream

from ui_mcp.config import PublisherSettings
from ui_mcp.errors import ConfigError
from ui_mcp.http_client import open_client
from ui_mcp.jsontypes import loads
from ui_mcp.log import logger
from ui_mcp.webserver.server import App, bind, listening, port_of

HOST = "127.0.0.1"
POLL_SECONDS = 60.0
MAX_BYTES = 1024 * 1024
MAX_TOPICS = 200
KEPT = 20
"""Messages kept per topic for clients that are between two polls."""
RETRY_SECONDS = 0.02
AGAIN_SECONDS = 1.0
SEQUENCE = "X-Sequence"
"""Header of an answer: the number to poll on from."""
TOPIC = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_FAVICON = re.compile(r"data:image/[a-z+.-]{1,20};base64,[A-Za-z0-9+/=]{1,40000}")
_log = logger("publisher")

Deliver = Callable[[str, str], Awaitable[int]]
"""Hands JSON text to the sessions that subscribed to a topic, and returns how many did."""


@dataclass(slots=True)
class _Topic:
    favicon: str = ""
    sequence: int = 0
    messages: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=KEPT))
    waiting: int = 0
    news: anyio.Event = field(default_factory=anyio.Event)


class Hub:
    """The topics of this machine: messages for our own sessions, and for clients that poll."""

    def __init__(self, own: Callable[[], Mapping[str, str]], deliver: Deliver) -> None:
        self._own = own
        self._deliver = deliver
        self._topics: dict[str, _Topic] = {}

    def topics(self) -> dict[str, str]:
        """Return the favicon of every topic by its name."""
        polled = {name: topic.favicon for name, topic in self._topics.items()}
        return dict(sorted({**polled, **self._own()}.items()))

    async def publish(self, topic: str, text: str) -> int:
        """Hand out a message and return how many listen; a client may be between two polls, so none are asked twice."""
        count = await self._send(topic, text)
        if count == 0:
            await anyio.sleep(RETRY_SECONDS)
            count = await self._send(topic, text)
        return count

    async def poll(self, name: str, after: int | None, favicon: str) -> tuple[int, str] | None:
        """Return the next message after a number, or the next at all; None after a minute without one."""
        topic = self._polled(name)
        if topic is None:
            return None
        if is_favicon(favicon):
            topic.favicon = favicon
        after = topic.sequence if after is None or after > topic.sequence else after
        topic.waiting += 1
        try:
            with anyio.move_on_after(POLL_SECONDS):
                while True:
                    for number, text in topic.messages:
                        if number > after:
                            return number, text
                    await topic.news.wait()
        finally:
            topic.waiting -= 1
        return None

    def _polled(self, name: str) -> _Topic | None:
        if name not in self._topics and len(self._topics) >= MAX_TOPICS:
            return None
        return self._topics.setdefault(name, _Topic())

    async def _send(self, name: str, text: str) -> int:
        count = await self._deliver(name, text) if name in self._own() else 0
        topic = self._topics.get(name)
        if topic is not None and topic.waiting:
            count += topic.waiting
            topic.sequence += 1
            topic.messages.append((topic.sequence, text))
            topic.news.set()
            topic.news = anyio.Event()
        return count


class Publisher:
    """Serves or follows the publisher of this machine from the first subscription on."""

    def __init__(
        self, settings: PublisherSettings, serve: Callable[[Hub, int], App], allowed_users: tuple[int | str, ...] = ()
    ) -> None:
        self._settings = settings
        self._serve_app = serve
        self._users = allowed_users
        self._topics: dict[str, str] = {}
        self._news = anyio.Event()

    def subscribe(self, text: str) -> None:
        """Take the note of a worker, `{topic, favicon}`, that an app subscribed."""
        said = loads(text)
        topic, favicon = str(said.get("topic")), str(said.get("favicon") or "")
        if not self._settings.enabled:
            _log.warning("publisher.enabled is false: nothing will be published under %s", topic)
        elif not TOPIC.fullmatch(topic):
            _log.warning("A topic has 1 to 100 letters, digits, . _ and -, not %r", topic[:120])
        elif topic in self._topics or len(self._topics) < MAX_TOPICS:
            self._topics[topic] = favicon if is_favicon(favicon) else self._topics.get(topic, "")
            self._news.set()

    async def run(self, deliver: Deliver, subscriptions: MemoryObjectReceiveStream[str]) -> None:
        """Serve until cancelled, or follow another server's publisher for as long as that one runs."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._take, subscriptions)
            await self._news.wait()
            while True:
                try:
                    listener = bind(HOST, self._settings.port)
                except ConfigError:
                    await self._follow(deliver)
                    await anyio.sleep(AGAIN_SECONDS)
                else:
                    await self._serve(listener, deliver)

    async def _take(self, subscriptions: MemoryObjectReceiveStream[str]) -> None:
        async for text in subscriptions:
            self.subscribe(text)

    async def _serve(self, listener: socket, deliver: Deliver) -> None:
        with listener:
            app = self._serve_app(Hub(lambda: self._topics, deliver), port_of(listener))
            async with listening(app, listener, self._users):
                _log.info("publisher at http://%s:%s", HOST, port_of(listener))
                await anyio.sleep_forever()

    async def _follow(self, deliver: Deliver) -> None:
        """Poll every topic at the server that holds the port, until it ends."""
        followed: set[str] = set()
        async with (
            open_client(limit=2 * MAX_BYTES, timeout=POLL_SECONDS + 30, base_url=self._address) as client,
            anyio.create_task_group() as tasks,
        ):
            while not tasks.cancel_scope.cancel_called:
                for topic in self._topics.keys() - followed:
                    followed.add(topic)
                    tasks.start_soon(self._poll, client, topic, deliver, tasks.cancel_scope)
                self._news = anyio.Event()
                await self._news.wait()

    async def _poll(self, client: httpx2.AsyncClient, topic: str, deliver: Deliver, ended: anyio.CancelScope) -> None:
        asked: dict[str, str] = {"favicon": self._topics[topic]} if self._topics[topic] else {}
        while True:
            try:
                answer = await client.get(f"/subscribe/{topic}", params=asked)
            except httpx2.HTTPError:
                ended.cancel()  # the server is gone: try to take its place
                return
            if answer.status_code == 200:
                asked["after"] = answer.headers.get(SEQUENCE, "")
                await deliver(topic, answer.text)
            elif answer.status_code != 204:
                _log.warning("%s is not a publisher (status %s)", self._address, answer.status_code)
                await anyio.sleep(POLL_SECONDS)

    @property
    def _address(self) -> str:
        return f"http://{HOST}:{self._settings.port}"


def is_favicon(text: str) -> bool:
    """Return whether a text is a picture as a data URL of acceptable size; pure."""
    return _FAVICON.fullmatch(text) is not None
