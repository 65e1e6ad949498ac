"""One page of a browser: its frames in all processes, where it is, and scripts in it."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import anyio

from ui_mcp.introspection.backends.chromium.devtools import CLOSED, Connection, DevToolsError, Session, on_result
from ui_mcp.jsontypes import Json, JsonObject, dumps

Command = tuple[str, JsonObject]


@dataclass(slots=True, eq=False)
class Frame:
    """One frame; those of another site have a session of their own, the others use that of their parent."""

    id: str
    parent: "Frame | None"
    session: Session
    url: str


@dataclass(frozen=True, slots=True)
class TabSetup:
    """Commands that every new page of a browser gets before its first script runs."""

    page: Sequence[Command] = ()
    """For the page alone, such as the size of its window."""
    everywhere: Sequence[Command] = ()
    """For the page and every frame with a process of its own."""
    paused: bool = False
    """Whether pages and frames wait for these commands before they load anything."""


class Tab:
    """A page target with the sessions of its frames; `watch` is called with each new session."""

    def __init__(
        self,
        connection: Connection,
        attached: JsonObject,
        setup: TabSetup,
        watch: Callable[[Session], None],
    ) -> None:
        info = attached["targetInfo"]
        self.target_id: str = info["targetId"]
        self.session = connection.session(attached["sessionId"])
        self._connection = connection
        self._setup = setup
        self._watch = watch
        # The target of a page has the id of its main frame.
        self._main = Frame(self.target_id, None, self.session, info["url"])
        self._frames: dict[str, Frame] = {self._main.id: self._main}
        self._loader = ""
        self._loaders: deque[str] = deque(maxlen=20)
        """Of the last documents; a page may have gone on before we hear that a navigation has begun."""
        self._has_document = False
        self._moves = 0
        """How often the page has got another document or another place in its document."""
        self._changed = anyio.Event()
        self.session.on(CLOSED, lambda _: self._announce())
        self.session.on("Inspector.targetCrashed", lambda _: connection.fail(self.session, "the page has crashed"))
        self.session.on("Page.domContentEventFired", lambda _: self._document_read(self._loader))
        self._tree = self._begin(self._main)

    @property
    def url(self) -> str:
        return self._main.url

    @property
    def is_closed(self) -> bool:
        return self.session.is_closed

    @property
    def frames(self) -> list[Frame]:
        """The frames of the page, the main frame first."""
        return list(self._frames.values())

    def owns_frame(self, frame_id: str) -> bool:
        return frame_id in self._frames

    async def goto(self, url: str) -> None:
        """Load `url`, up to the end of the document's text.

        Raises:
            DevToolsError: it cannot be loaded.
        """
        answer = await self.session.send("Page.navigate", {"url": url})
        if answer.get("errorText"):
            raise DevToolsError(f"{answer['errorText']} at {url}")
        loader = answer.get("loaderId")
        if loader is not None:  # else it is another place in the same document
            await self._until(lambda: loader in self._loaders)
            await self.wait_document()

    async def reload(self) -> None:
        """Load the document again, without the cache."""
        before = self._moves
        await self.session.send("Page.reload", {"ignoreCache": True})
        await self._until(lambda: self._moves > before)
        await self.wait_document()

    async def travel(self, steps: int) -> bool:
        """Go back (negative) or forward in the history; return False if there is no such entry."""
        history = await self.session.send("Page.getNavigationHistory")
        at = history["currentIndex"] + steps
        if not 0 <= at < len(history["entries"]):
            return False
        before = self._moves
        await self.session.send("Page.navigateToHistoryEntry", {"entryId": history["entries"][at]["id"]})
        await self._until(lambda: self._moves > before)
        await self.wait_document()
        return True

    async def wait_document(self) -> None:
        """Wait until the text of the document has been read, however often the page navigates meanwhile.

        Raises:
            DevToolsError: the page is closed.
        """
        await self._until(lambda: self._has_document)

    async def wait_selector(self, css: str) -> None:
        """Wait until an element matches."""
        found = f"""new Promise((done) => {{
          const look = () => document.querySelector({dumps(css)}) && (observer.disconnect(), done(true));
          const observer = new MutationObserver(look);
          observer.observe(document, {{ childList: true, subtree: true, attributes: true }});
          look();
        }})"""
        while not self.is_closed:
            with suppress(DevToolsError):  # the page has navigated
                await self.evaluate(found)
                return
            await self.wait_document()

    async def evaluate(self, expression: str) -> Json:
        """Return the value of an expression in the page's own context; a promise is awaited.

        Raises:
            DevToolsError: the page navigated or is closed, or the expression failed.
        """
        params = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = await self.session.send("Runtime.evaluate", params)
        if "exceptionDetails" in answer:
            raise DevToolsError(thrown(answer["exceptionDetails"]))
        return answer["result"].get("value")

    async def title(self) -> str:
        return str(await self.evaluate("document.title"))

    async def close(self) -> None:
        """Close the page, without asking it."""
        await self._connection.browser.send("Target.closeTarget", {"targetId": self.target_id})
        await self._until(lambda: self.is_closed)

    def _begin(self, frame: Frame) -> "asyncio.Future[JsonObject]":
        """Follow a frame with a session of its own; return the future of its frame tree."""
        session = frame.session
        session.on("Page.frameAttached", lambda event: self._attached(event, session))
        session.on("Page.frameNavigated", lambda event: self._navigated(event, session))
        session.on("Page.navigatedWithinDocument", self._moved_within)
        session.on("Page.frameDetached", self._detached)
        session.on("Target.attachedToTarget", self._has_process)
        session.on("Target.detachedFromTarget", self._lost_process)
        self._watch(session)
        follow = {"autoAttach": True, "flatten": True, "filter": [{"type": "iframe"}]}
        commands: list[Command] = [
            ("Page.enable", {}), ("Runtime.enable", {}), ("Network.enable", {}), ("Log.enable", {}),
            ("WebMCP.enable", {}), *self._setup.everywhere, *(self._setup.page if frame is self._main else ()),
            ("Target.setAutoAttach", follow | {"waitForDebuggerOnStart": self._setup.paused}),
        ]  # fmt: skip
        for method, params in commands:
            session.post(method, params)
        tree = session.post("Page.getFrameTree")
        on_result(tree, lambda answer: self._read_tree(answer["frameTree"], session))
        session.post("Runtime.runIfWaitingForDebugger")
        return tree

    async def wait_known(self) -> None:
        """Wait until the frames of the page are known."""
        with suppress(DevToolsError):
            await self._tree

    def _read_tree(self, tree: JsonObject, session: Session) -> None:
        for entry in _entries(tree):
            known = self._frames.get(entry["id"])
            if known is None or known.session is session:
                self._place(entry, session)
        if session is self.session:
            loader = tree["frame"].get("loaderId", "")
            self._loader = self._loader or loader
            state = session.post("Runtime.evaluate", {"expression": "document.readyState !== 'loading'"})
            on_result(state, lambda answer: self._document_read(loader) if answer["result"].get("value") else None)

    def _place(self, entry: JsonObject, session: Session) -> None:
        frame = self._frames.get(entry["id"])
        url = entry["url"] + entry.get("urlFragment", "")
        if frame is None:
            parent = self._frames.get(entry.get("parentId", ""), self._main)
            self._frames[entry["id"]] = Frame(entry["id"], parent, session, url)
        else:
            frame.url, frame.session = url, session

    def _attached(self, event: JsonObject, session: Session) -> None:
        if event["frameId"] not in self._frames:
            self._place({"id": event["frameId"], "parentId": event["parentFrameId"], "url": ""}, session)

    def _navigated(self, event: JsonObject, session: Session) -> None:
        entry = event["frame"]
        for child in [frame for frame in self.frames if frame.parent is not None and frame.parent.id == entry["id"]]:
            self._remove(child)
        self._place(entry, session)
        if entry["id"] == self._main.id:
            self._loader = entry["loaderId"]
            self._loaders.append(self._loader)
            self._moves += 1
            # A document from the back/forward cache has been read already.
            self._has_document = event.get("type") == "BackForwardCacheRestore"
        self._announce()

    def _moved_within(self, event: JsonObject) -> None:
        if frame := self._frames.get(event["frameId"]):
            frame.url = event["url"]
            if frame is self._main:
                self._moves += 1
                self._announce()

    def _detached(self, event: JsonObject) -> None:
        frame = self._frames.get(event["frameId"])
        if frame is not None and event.get("reason") != "swap":  # else it continues in another process
            self._remove(frame)

    def _remove(self, frame: Frame) -> None:
        self._frames.pop(frame.id, None)
        for child in [child for child in self.frames if child.parent is frame]:
            self._remove(child)

    def _has_process(self, event: JsonObject) -> None:
        """Take the session of a frame that has got a process of its own."""
        info, session = event["targetInfo"], self._connection.session(event["sessionId"])
        self._place({"id": info["targetId"], "parentId": info.get("parentFrameId", ""), "url": info["url"]}, session)
        self._begin(self._frames[info["targetId"]])

    def _lost_process(self, event: JsonObject) -> None:
        for frame in self.frames:
            if frame.session.id == event["sessionId"] and frame.parent is not None:
                frame.session = frame.parent.session

    def _document_read(self, loader: str) -> None:
        if loader == self._loader:
            self._has_document = True
            self._announce()

    def _announce(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def _until(self, reached: Callable[[], bool]) -> None:
        while not reached():
            if self.is_closed:
                raise DevToolsError("the page is closed")
            await self._changed.wait()


def thrown(details: JsonObject) -> str:
    """Return what a script threw, in one line."""
    exception = details.get("exception") or {}
    text = exception.get("description") or exception.get("value") or details.get("text", "")
    return str(text).partition("\n")[0].removeprefix("Error: ")


def _entries(tree: JsonObject) -> Iterator[JsonObject]:
    yield tree["frame"]
    for child in tree.get("childFrames", ()):
        yield from _entries(child)
