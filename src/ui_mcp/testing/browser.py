"""A simulated browser, connected in process or over a WebSocket."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Protocol
from urllib.parse import urlsplit

from anyio import fail_after
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from ui_mcp.http_client import open_client
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.testing.view import NotShownError, Template, View
from ui_mcp.ui.sessions.pages import Connection
from ui_mcp.ui.sessions.session import Session
from ui_mcp.wire import MessageType, Property


class Page:
    """Everything that the server has sent to one connection."""

    def __init__(self) -> None:
        self.root: View | None = None
        self.views: dict[int, View] = {}
        self.variables: dict[int, JsonObject] = {}
        """Variables outside views: id → `value` and properties."""
        self.errors: list[JsonObject] = []
        self.notices: list[JsonObject] = []
        self.frames: list[str] = []
        """Every frame as received."""
        self.saved = 0
        """How many of the page's frames have effects that are saved."""
        self.viewdefs: dict[str, Template] = {}
        self.history: dict[int, JsonObject] = {}
        """Answers about the history, by the number of the request."""

    def apply(self, frame: str) -> None:
        self.frames.append(frame)
        content = loads(frame)
        # A frame holds one message or a list of them, and the update of a binding is itself a list.
        single = isinstance(content, dict) or (content and not isinstance(content[0], dict | list))
        for message in [content] if single else content:
            self._apply(message)

    def _apply(self, message: Json) -> None:
        match message:
            case [int(number), int(position), value]:
                self._set(self.views[number], position, value)
            case {"type": MessageType.VIEW, "data": data}:
                self._put(data)
            case {"type": MessageType.UPDATE, "data": data}:
                self._update(data)
            case {"type": MessageType.ERROR, "data": data}:
                self._fail(data)
            case {"type": MessageType.DESTROY, "data": data}:
                self.variables.pop(data["varId"], None)
            case {"type": MessageType.SAVED, "data": {"frames": int(frames)}}:
                self.saved = frames
            case {"type": MessageType.HISTORY, "data": {"id": int(number), **answer}}:
                self.history[number] = {str(name): value for name, value in answer.items()}
            case _:
                raise AssertionError(f"The server sent something unknown: {message!r}")

    def _update(self, data: JsonObject) -> None:
        properties = dict(data.get("properties") or {})
        for key, html in loads(properties.pop(Property.VIEWDEFS, "{}")).items():
            self.viewdefs[key] = Template(html)
        if Property.NOTICE in properties:
            self.notices.append(loads(properties.pop(Property.NOTICE)))
        variable = self.variables.setdefault(data["varId"], {})
        if "value" in data:
            variable["value"] = data["value"]
            variable.pop("error", None)
        variable.update(properties)

    def _fail(self, data: JsonObject) -> None:
        self.errors.append(data)
        if "view" in data:
            self.views[data["view"]].errors[data["pos"]] = data
        elif data.get("varId") in self.variables:
            self.variables[data["varId"]]["error"] = data

    def _put(self, data: JsonObject) -> None:
        view = self._view(data["view"], data["key"], data.get("values", [])) if data["key"] else None
        parent, slot = data["parent"], data["slot"]
        if parent == 0:
            self.root = view
        elif "index" in data:
            rows = self.views[parent].lists.setdefault(slot, [])
            rows.extend([None] * (data["index"] + 1 - len(rows)))
            rows[data["index"]] = view
        else:
            self.views[parent].nested[slot] = view
        self._drop_hidden_views()

    def _view(self, number: int, key: str, values: list[Json]) -> View:
        assert key in self.viewdefs, f"viewdef {key} was never delivered"
        view = self.views[number] = View(number, key, self.viewdefs[key])
        for position, value in enumerate(values):
            self._set(view, position, value)
        return view

    def _set(self, view: View, position: int, value: Json) -> None:
        view.errors.pop(position, None)
        match view.template.bindings[position].attribute, value:
            case "ui-view", [int(number), str(key), list(values)]:
                view.nested[position] = self._view(number, key, values)
            case "ui-view", _:
                view.nested[position] = None
            case "ui-viewlist", int(length):
                rows = view.lists.setdefault(position, [])
                del rows[length:]
                rows.extend([None] * (length - len(rows)))
            case "ui-viewlist", {"splice": [int(at), int(removed), int(added)]}:
                view.lists[position][at : at + removed] = [None] * added
            case "ui-viewlist", list(rows):
                view.lists[position] = self._rows(rows)
            case "ui-viewlist", {"length": _, "rows": list(rows)}:
                view.lists[position] = self._rows(rows)
                view.values[position] = value
            case "ui-viewlist", _:
                view.lists[position] = []
            case _:
                view.values[position] = value

    def _rows(self, rows: list[Json]) -> list[View | None]:
        found: list[View | None] = []
        last = ""
        for row in rows:
            if isinstance(row, int):
                found.append(self.views[row])
            elif row is None:
                found.append(None)
            else:
                number, key, values = row
                last = key or last
                found.append(self._view(number, last, values))
        return found

    def _drop_hidden_views(self) -> None:
        shown = {view.number for view in self.root.below()} if self.root else set()
        self.views = {number: view for number, view in self.views.items() if number in shown}


TIMEOUT = 30.0
"""Seconds; long, so that tests do not fail on a busy machine."""

WATCH = {"type": MessageType.WATCH, "data": {"varId": 1, "expand": True}}


class Transport(Protocol):
    """Carries frames to a server and back."""

    async def send(self, frame: str) -> None: ...

    async def take(self) -> list[str]:
        """Wait for frames; return an empty list once the connection is closed."""
        ...

    def waiting(self) -> list[str]:
        """Return the frames that have arrived, without waiting."""
        ...


class Browser:
    """A page that a test can read and operate; paths name bindings as written in the viewdefs."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.page = Page()
        self.over = False

    @property
    def app(self) -> View:
        """The view of the displayed app."""
        if self.page.root is None:
            raise NotShownError("The page is empty")
        shells = (path for path in ("pageApp()", "value") if self.page.root.has(path))  # ours, and those of others
        found = next(shells, None)
        return self.page.root if found is None else self.page.root.view(found)

    @property
    def text(self) -> str:
        """The visible text of the displayed app; `page.root.text` is that of the whole page."""
        try:
            return self.app.text
        except NotShownError:
            return ""

    def value(self, path: str) -> Json:
        """Return the value at `path` in the first view that binds it."""
        return self.find(path).value(path)

    def rows(self, path: str) -> list[View]:
        """Return the rows of the list at `path` in the first view that binds it."""
        return self.find(path).rows(path)

    def find(self, path: str) -> View:
        """Return the first view that binds something to `path`, in document order: in the app, else in the page.

        Raises:
            NotShownError: no view does.
        """
        whole = self.page.root.below() if self.page.root else iter(())
        views: list[View] = [*self._app_views(), *whole]
        for view in views:
            if view.has(path):
                return view
        raise NotShownError(f"Nothing on the page is bound to {path!r}; it reads: {self.text[:200]!r}")

    def _app_views(self) -> Iterator[View]:
        try:
            yield from self.app.below()
        except NotShownError:
            return

    async def click(self, path: str, view: View | None = None) -> None:
        """Press what `ui-action` or `ui-event-…` binds to `path`."""
        view = view or self.find(path)
        await self.send([view.number, view.binding(path).position])

    async def type(self, path: str, value: Json, view: View | None = None) -> None:
        """Enter `value` into the input bound to `path`."""
        view = view or self.find(path)
        position = view.binding(path, actions=False).position
        view.values[position] = value
        await self.send([view.number, position, value])

    async def scroll(self, path: str, first: int, count: int, view: View | None = None) -> None:
        """Request other rows of a windowed list."""
        view = view or self.find(path)
        await self.send([view.number, view.binding(path, kinds=("ui-viewlist",)).position, [first, count]])

    async def history(self, action: str, **asked: Json) -> JsonObject:
        """Do what a person does with the history (`list`, `undo`, `redo`, `look`, `return`, `fork`); return the result.

        Raises:
            AssertionError: the server refused; the message says why.
        """
        number = len(self.page.history) + 1
        await self.send_text(dumps({"type": MessageType.HISTORY, "data": {"id": number, "action": action, **asked}}))
        await self.until(lambda: number in self.page.history)
        answer = self.page.history[number]
        assert "error" not in answer, answer["error"]
        return dict(answer["result"])

    async def send(self, *messages: Json, user: bool = True) -> None:
        """Send messages as one batch and apply the frames that arrive at once."""
        await self.send_text(dumps({"userEvent": user, "messages": list(messages)}))

    async def send_text(self, frame: str) -> None:
        """Send one frame with any text."""
        await self._transport.send(frame)
        self.catch_up()

    def catch_up(self) -> None:
        """Apply the frames that have arrived."""
        for frame in self._transport.waiting():
            self.page.apply(frame)

    async def until(self, shown: Callable[[], object], seconds: float = TIMEOUT) -> None:
        """Apply frames until `shown` returns true; a `NotShownError` that it raises counts as false.

        Raises:
            TimeoutError: it did not in time.
            ConnectionError: the server closed the connection.
        """
        with fail_after(seconds):
            while not _true(shown):
                frames = await self._transport.take()
                if not frames:
                    self.over = True
                    raise ConnectionError("The server closed the connection")
                for frame in frames:
                    self.page.apply(frame)

    async def until_closed(self, seconds: float = TIMEOUT) -> None:
        """Apply frames until the server closes the connection."""
        with fail_after(seconds):
            while frames := await self._transport.take():
                for frame in frames:
                    self.page.apply(frame)
        self.over = True


def _true(shown: Callable[[], object]) -> bool:
    try:
        return bool(shown())
    except NotShownError:
        return False


class InProcess:
    """Passes frames directly to a session; replies are available as soon as `send` returns."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def send(self, frame: str) -> None:
        await self._connection.receive(frame)

    async def take(self) -> list[str]:
        return await self._connection.take()

    def waiting(self) -> list[str]:
        return self._connection.outbox.take_now()


@asynccontextmanager
async def open_page(session: Session, *, expand: bool = True, driven: bool = False) -> AsyncIterator[Browser]:
    """Open a page on a session of this process; a `driven` one is not taken for that of a person."""
    async with session.attach(driven=driven) as connection:
        browser = Browser(InProcess(connection))
        if expand:
            await browser.send(WATCH, user=False)
        yield browser


class Socket:
    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def send(self, frame: str) -> None:
        await self._connection.send(frame)

    async def take(self) -> list[str]:
        try:
            return [str(await self._connection.recv(decode=True))]
        except ConnectionClosed:
            return []

    def waiting(self) -> list[str]:
        """Return an empty list: frames can only be awaited."""
        return []


async def visit(url: str, cookies: Mapping[str, str] | None = None) -> tuple[dict[str, str], str]:
    """Load a page as a browser with these cookies; return its cookies then, and the session that it redirects to."""
    async with open_client(timeout=TIMEOUT, follow_redirects=True, cookies=dict(cookies or {})) as client:
        page = await client.get(url, headers={"Accept": "text/html"})
        # Not `items()`: a cookie that was given and set again is there twice.
        found = {cookie.name: cookie.value or "" for cookie in client.cookies.jar}
    first = urlsplit(str(page.url)).path.strip("/").partition("/")[0]
    return found, first or "1"


@asynccontextmanager
async def open_socket(
    url: str, *, expand: bool = True, cookies: Mapping[str, str] | None = None
) -> AsyncIterator[Browser]:
    """Open a page on a running server as a visitor; `url` is http://HOST:PORT/ or a session's URL with a code."""
    held, session = await visit(url, cookies)
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in held.items())} if held else {}
    parts = urlsplit(url)
    address = f"ws://{parts.netloc}/ws/{session}"
    # Unlimited queue: at its own limit the library stops reading, and would not notice the close frame.
    limits = {"max_size": None, "max_queue": None, "compression": None, "open_timeout": TIMEOUT}
    async with connect(address, origin=f"http://{parts.netloc}", additional_headers=headers, **limits) as connection:  # type: ignore[arg-type]
        browser = Browser(Socket(connection))
        if expand:
            await browser.send(WATCH, user=False)
            await browser.until(lambda: browser.page.root)
        yield browser
