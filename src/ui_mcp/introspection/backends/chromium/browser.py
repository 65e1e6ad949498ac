"""Backend for browsers of the Chrome family: our own headless one, or one with an open debugging port."""

import itertools
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import anyio

from ui_mcp.errors import UiActionFailedError, UiArgumentError, UiNodeNotFoundError, UiNoStagesError, UiNotEnabledError
from ui_mcp.introspection.backend import BrowserRequest, MarkedView, Noticed, ScreenshotRequest
from ui_mcp.introspection.backends.chromium.activity import Downloads, PageActivity
from ui_mcp.introspection.backends.chromium.browsing import browse, load
from ui_mcp.introspection.backends.chromium.debugger import require_debugger
from ui_mcp.introspection.backends.chromium.devtools import Connection, DevToolsError
from ui_mcp.introspection.backends.chromium.emulation import our_setup
from ui_mcp.introspection.backends.chromium.input import real_input
from ui_mcp.introspection.backends.chromium.launch import require_executable
from ui_mcp.introspection.backends.chromium.page import DialogOpenError, DrivenPage, prefix_of
from ui_mcp.introspection.backends.chromium.person_driving import PersonDriving
from ui_mcp.introspection.backends.chromium.pointing import card_commands, enable_card, show_as, words_of
from ui_mcp.introspection.backends.chromium.screenshots import take_screenshot
from ui_mcp.introspection.backends.chromium.stages import stages_of
from ui_mcp.introspection.backends.chromium.tab import TabSetup
from ui_mcp.introspection.backends.chromium.transports import BrowserProcess, connect_websocket
from ui_mcp.introspection.backends.chromium.watching import PersonWatch
from ui_mcp.introspection.contract import CaptureRequest, Ref
from ui_mcp.introspection.person_pages import (
    is_person_page,
    person_page_refused,
    reaches_person,
    refuse_person_pages,
    resolver_rules,
    unreachable_ports,
)
from ui_mcp.introspection.tree import uid_prefixes
from ui_mcp.jsontypes import JsonObject
from ui_mcp.person import listener_ports

READY_SECONDS = 10.0
CONNECT_SECONDS = 30.0
_PREFIXES = uid_prefixes()  # shared, so that no uid means a node of a browser that is started later, too
DRIVEN = "ui-mcp-eyes"
"""Word in our user agent, by which our server knows that no person uses the page."""


class BrowserBackend:
    """The pages of one browser; each page is a stage, ordered by title."""

    kind = "browser"

    def __init__(self, connection: Connection, version: JsonObject) -> None:
        self._connection = connection
        self._version = str(version["product"]).rpartition("/")[2]
        self._process: BrowserProcess | None = None
        self._pid: int | None = None
        self._unreachable: frozenset[int] | None = None
        """Ports of a person's listeners that our own browser was started without access to; None for other browsers."""
        self._setup = TabSetup()
        self._context: str | None = None
        """Profile within our own browser whose pages are ours; None takes all pages of a browser."""
        self._pages: list[DrivenPage] = []
        """In order of opening; the last one has the focus."""
        self._acted: DrivenPage | None = None
        self._downloads = Downloads(connection.browser, self._activity_of_frame)
        self.wait_rendered: Callable[[], Awaitable[None]] | None = None
        """Waits until pages of our own server have rendered its replies to everything they sent."""
        self.person: PersonDriving | None = None
        self._pointed: DrivenPage | None = None
        self._watch = PersonWatch(lambda: [driven for driven in self._pages if not driven.tab.is_closed])
        self.on_pointed: Callable[[str], object] = lambda _: None
        """Called with the words of a person who has pointed at something in a page that is not ours alone."""
        connection.browser.on("Target.attachedToTarget", self._on_target)

    @classmethod
    async def launch(cls, url: str, *, path: str | None = None, ready: str | None = None) -> "BrowserBackend":
        """Start a headless browser and open `url`; wait up to 10 s for the CSS selector `ready`.

        Raises:
            UiNotEnabledError: no browser is installed or it does not start, or the page is the person's own.
        """
        refuse_person_pages([url])
        unreachable = unreachable_ports()
        connection = Connection()
        process = await BrowserProcess.start(require_executable(path), resolver_rules(unreachable), connection)
        try:
            backend = cls(connection, await connection.browser.send("Browser.getVersion"))
            backend._process = process
            backend._unreachable = unreachable
            await backend._own_context()
            await backend.open(url)
            if ready:
                page = backend._open_pages()[-1]
                with anyio.move_on_after(READY_SECONDS), suppress(DevToolsError, DialogOpenError):
                    await page.unless_dialog(page.tab.wait_selector(ready))
        except BaseException:
            await process.end()
            raise
        return backend

    async def _own_context(self) -> None:
        """Make a profile for our pages, in which every new page is prepared before it loads anything."""
        browser = self._connection.browser
        self._setup = our_setup(f"{(await browser.send('Browser.getVersion'))['userAgent']} {DRIVEN}")
        self._context = (await browser.send("Target.createBrowserContext"))["browserContextId"]
        self.person = PersonDriving(browser, self._context, self._open_pages)
        await self._downloads.keep(self._context)
        await self._follow_pages()

    @classmethod
    async def connect(cls, url: str) -> "BrowserBackend":
        """Connect to a running browser at its debugging address.

        Raises:
            UiNotEnabledError: no browser answers there.
        """
        address = await require_debugger(url)
        connection = Connection()
        try:
            with anyio.fail_after(CONNECT_SECONDS):
                await connect_websocket(address, connection)
                backend = cls(connection, await connection.browser.send("Browser.getVersion"))
                backend._setup = TabSetup(everywhere=card_commands())
                await backend._downloads.report()
                await backend._follow_pages()
                for driven in backend._pages:
                    with suppress(DialogOpenError):
                        await driven.unless_dialog(driven.tab.wait_known())
        except (DevToolsError, TimeoutError) as error:
            connection.close()
            raise UiNotEnabledError(
                f"The browser at {url} refuses the connection\n{error}", reason="NO_BROWSER"
            ) from error
        return backend

    async def _follow_pages(self) -> None:
        # Pages that are open already are attached before the answer.
        follow = {"autoAttach": True, "flatten": True, "waitForDebuggerOnStart": self._setup.paused}
        await self._connection.browser.send("Target.setAutoAttach", follow | {"filter": [{"type": "page"}]})

    async def open(self, url: str) -> None:
        """Open `url` in a new page, which gets the focus."""
        refuse_person_pages([url])
        created = {"url": "about:blank"} | ({"browserContextId": self._context} if self._context else {})
        target = (await self._connection.browser.send("Target.createTarget", created))["targetId"]
        driven = next(driven for driven in self._open_pages() if driven.tab.target_id == target)
        await driven.tab.wait_known()
        await load(driven, url, lambda: driven.tab.goto(url))

    async def visit(self, url: str) -> None:
        """Load `url` in the focused page.

        Raises:
            UiActionFailedError: the page cannot be loaded.
            UiNotEnabledError: it is the person's own page.
        """
        refuse_person_pages([url])
        driven = self._open_pages()[-1]
        await load(driven, url, lambda: driven.tab.goto(url))

    async def browse(self, request: BrowserRequest) -> str | bytes:
        """Perform an operation of `browsing` on the browser or one of its pages."""
        answer = await browse(self, request)
        self._acted = None
        return answer

    def allowed(self) -> list[DrivenPage]:
        return self._allowed_pages()

    def focus(self, driven: DrivenPage) -> None:
        """Give a page the focus."""
        self._pages = [*(page for page in self._pages if page is not driven), driven]

    async def describe(self) -> str:
        return f"{(await self._focused()).tab.url} in Chromium {self._version}"

    async def capture(self, request: CaptureRequest) -> JsonObject:
        chosen = await self._chosen(request)
        captured: list[tuple[int, DrivenPage, JsonObject]] = []
        for index, driven in chosen:
            captured.append((index, driven, await driven.capture(request)))
        focus, stages = stages_of(captured, self._open_pages()[-1], len(self._pages))
        return {"app": await self._app(), "focus": focus, "stages": stages}

    async def at(self, x: float, y: float) -> list[JsonObject]:
        """Return the nodes at a point of the focused page's viewport."""
        driven = await self._focused()
        index = list(await self._by_title()).index(driven)
        chain = (await driven.call({"op": "at", "x": x, "y": y}))["chain"]
        return [{**entry, "path": entry["path"].replace("/stages[0]", f"/stages[{index}]", 1)} for entry in chain]

    async def act(self, action: JsonObject) -> None:
        """Perform an action, by real input where a page can distinguish it from a script."""
        given = action.get("target") or action.get("from") or {}
        self._acted = self._asking(given) if action["type"] == "dialog" else await self._owner(given)
        if self._context is not None:
            await real_input(self._acted, action)
            return
        await enable_card(self._acted, on=False)
        try:
            await real_input(self._acted, action)
        finally:
            await enable_card(self._acted, on=True)

    async def tell(self, rows: Sequence[str]) -> None:
        by_prefix: dict[str, list[str]] = {}
        for uid in rows:
            by_prefix.setdefault(prefix_of({"target": {"uid": uid}}), []).append(uid)
        for reported in by_prefix.values():
            owner = await self._owner({"uid": reported[0]})
            with suppress(DialogOpenError):
                await owner.call({"op": "tell", "rows": reported, "target": {"uid": reported[0]}})

    def _asking(self, given: JsonObject) -> DrivenPage:
        """Return the page with an open dialog: the one whose stage is named, else the newest."""
        pages = [driven for driven in reversed(self._open_pages()) if driven.dialog is not None]
        named = [driven for driven in pages if given.get("uid") in {f"dialog-{driven.number}", f"page-{driven.number}"}]
        return self._require_allowed(next(iter([*named, *pages]), self._open_pages()[-1]))

    async def idle(self) -> None:
        """Wait for two frames, and for the requests that the page has just made."""
        acted = self._acted
        driven = await self._focused() if acted is None or acted.tab.is_closed else acted
        await driven.idle()
        if self.wait_rendered is not None:
            with suppress(DialogOpenError):
                await driven.unless_dialog(self.wait_rendered())

    async def screenshot(self, request: ScreenshotRequest) -> bytes:
        named = request.ref or request.mark
        driven = await self._owner(named.json()) if named else await self._stage(request.stage)
        return await take_screenshot(driven, request)

    async def watch(self, noticed: Noticed | None, redact: Sequence[str] = ()) -> None:
        if noticed is None:
            await self._watch.stop()
        elif self._context is None:  # only the agent operates our own browser
            await self._watch.start(noticed, redact)

    async def collect(self) -> None:
        pass  # pages tell at once

    async def pointed(self) -> JsonObject:
        if self._pointed is None:
            raise UiActionFailedError("Nobody has pointed at anything", reason="GONE")
        return await self._require_allowed(self._pointed).call({"op": "pointed"})

    def _on_called(self, driven: DrivenPage, event: JsonObject) -> None:
        self._watch.called(driven, event)
        words = words_of(event)
        if words and not any(map(is_person_page, driven.urls)):
            self._pointed = driven
            self.on_pointed(words)

    async def picture(self, view: MarkedView) -> bytes:
        await self.open(view.url)
        driven = self._open_pages()[-1]
        try:
            await show_as(driven, view, self.wait_rendered)
            return await take_screenshot(driven, ScreenshotRequest(mark=Ref(path=view.path)))
        finally:
            # The agent's own tab has the focus again.
            with anyio.move_on_after(5, shield=True), suppress(DevToolsError):
                await driven.tab.close()

    async def mark_changes(self, before: bytes, after: bytes) -> bytes:
        given = {"before": b64encode(before).decode(), "after": b64encode(after).decode()}
        return b64decode((await (await self._focused()).call({"op": "compare", **given}))["png"])

    def problems(self) -> list[str]:
        """Return console errors and failed requests since the last call."""
        return [problem for driven in self._pages for problem in driven.drain()]

    def alive(self) -> bool:
        """Return whether the browser runs and has a page."""
        # A browser that could reach a newly opened listener of a person must be replaced.
        is_open = self._connection.is_open and not reaches_person(self._unreachable)
        return is_open and any(not driven.tab.is_closed for driven in self._pages)

    def loss(self) -> str | None:
        if self._process is None:
            return None
        if reaches_person(self._unreachable):
            return "it was begun again because it could have reached a page of the person that opened meanwhile"
        return "it ended and was started again"

    async def close(self) -> None:
        """Close our own browser, or disconnect from a browser that we connected to."""
        if self._process is not None:
            await self._process.end()
        self._connection.close()
        await anyio.to_thread.run_sync(self._downloads.delete)

    async def _app(self) -> JsonObject:
        if self._pid is None:
            facts = await self._connection.browser.send("SystemInfo.getProcessInfo")
            self._pid = next((entry["id"] for entry in facts["processInfo"] if entry["type"] == "browser"), 0)
        return {
            "pid": self._pid,
            "javaVersion": None,
            "javafxVersion": None,
            "mainClass": None,
            "debugFlags": ["mcpEnabled"],
            "toolkit": "web",
            "toolkitVersion": f"Chromium {self._version}",
            "name": self._allowed_pages()[-1].tab.url,
        }

    def _on_target(self, event: JsonObject) -> None:
        info = event["targetInfo"]
        ours = self._context is None or info.get("browserContextId") == self._context
        if ours and info.get("subtype") != "prerender" and not info["url"].startswith("devtools:"):
            setup = self._watch.setup(self._setup)
            driven = DrivenPage(self._connection, event, setup, _PREFIXES, self._downloads.new_file)
            driven.tab.session.on("Runtime.bindingCalled", lambda called: self._on_called(driven, called))
            if self.person is not None:
                self.person.prepare(driven)
            self._pages.append(driven)
            return
        self._connection.session(event["sessionId"]).post("Runtime.runIfWaitingForDebugger")
        self._connection.browser.post("Target.detachFromTarget", {"sessionId": event["sessionId"]})

    def _activity_of_frame(self, frame_id: str) -> PageActivity | None:
        return next((driven.activity for driven in reversed(self._pages) if driven.tab.owns_frame(frame_id)), None)

    def _open_pages(self) -> list[DrivenPage]:
        self._pages = [driven for driven in self._pages if not driven.tab.is_closed]
        if not self._pages:
            raise UiNoStagesError("The browser shows no page", reason="NO_PAGE")
        return self._pages

    def _allowed_pages(self) -> list[DrivenPage]:
        """Return the open pages without those of the person, which are not listed either."""
        ports = listener_ports()
        found = [driven for driven in self._open_pages() if not any(is_person_page(url, ports) for url in driven.urls)]
        if not found:
            raise person_page_refused()
        return found

    async def _focused(self) -> DrivenPage:
        return self._require_allowed(self._open_pages()[-1])

    def _require_allowed(self, driven: DrivenPage) -> DrivenPage:
        refuse_person_pages(driven.urls)
        return driven

    async def _by_title(self) -> Sequence[DrivenPage]:
        alive = self._allowed_pages()
        if len(alive) == 1:
            return alive
        titles = [await driven.title() for driven in alive]
        # The counter breaks ties, because pages cannot be compared.
        return [driven for _, _, driven in sorted(zip(titles, itertools.count(), alive, strict=False))]

    async def _chosen(self, request: CaptureRequest) -> list[tuple[int, DrivenPage]]:
        ordered = await self._by_title()
        numbered = list(enumerate(ordered))
        if request.root is not None:
            owner = await self._owner(request.root.json())
            return [(index, driven) for index, driven in numbered if driven is owner]
        match request.stage:
            case "all":
                return numbered
            case int(index):
                if not 0 <= index < len(ordered):
                    raise UiArgumentError(f"There is no stage {index}; valid are 0 to {len(ordered) - 1}")
                return [numbered[index]]
            case "primary":
                first = min(self._allowed_pages(), key=lambda driven: driven.number)
                return [(index, driven) for index, driven in numbered if driven is first]
            case _:
                front = await self._focused()
                return [(index, driven) for index, driven in numbered if driven is front]

    async def _stage(self, index: int | None) -> DrivenPage:
        return (await self._chosen(CaptureRequest(stage="focused" if index is None else index)))[0][1]

    async def _owner(self, ref: JsonObject) -> DrivenPage:
        """Return the page of a reference: by the uid prefix, else by the stage in the path, else the focused page."""
        prefix = prefix_of({"target": ref})
        for driven in self._open_pages():
            if driven.owns(prefix):
                return self._require_allowed(driven)
        path = ref.get("path") or ""
        if path.startswith("/stages["):
            index = int(path[len("/stages[") :].partition("]")[0])
            ordered = await self._by_title()
            if index < len(ordered):
                return ordered[index]
            raise UiNodeNotFoundError(f"There is no stage {index}")
        return await self._focused()


async def launch_browser(url: str, *, path: str | None = None, ready: str | None = None) -> BrowserBackend:
    return await BrowserBackend.launch(url, path=path, ready=ready)


async def connect_browser(url: str) -> BrowserBackend:
    return await BrowserBackend.connect(url)
