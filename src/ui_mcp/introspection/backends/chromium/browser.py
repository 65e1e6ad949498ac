"""Backend for Chromium through Playwright: our own headless browser, or one with an open debugging port."""

import itertools
import os
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from ui_mcp.errors import UiActionFailedError, UiArgumentError, UiNodeNotFoundError, UiNoStagesError, UiNotEnabledError
from ui_mcp.introspection.backend import ScreenshotRequest
from ui_mcp.introspection.backends.chromium.input import real_input
from ui_mcp.introspection.backends.chromium.launch import executable, open_closed_shadows, require_debugger
from ui_mcp.introspection.backends.chromium.page import DialogOpenError, DrivenPage, prefix_of
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.introspection.person_pages import is_person_page, person_page_refused, refuse_person_pages, resolver_rules
from ui_mcp.introspection.tree import uid_prefixes
from ui_mcp.jsontypes import JsonObject
from ui_mcp.person import listener_ports

ARGUMENTS = (
    "--no-first-run", "--disable-quic", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-gpu",
)  # fmt: skip

READY_MS = 10_000
DRIVEN = "ui-mcp-eyes"
"""Word in our user agent, by which our server knows that no person uses the page."""


class BrowserBackend:
    """The pages of one browser context; each page is a stage, ordered by title."""

    kind = "browser"

    def __init__(self, playwright: Playwright, browser: Browser, context: BrowserContext) -> None:
        self._playwright = playwright
        self._browser = browser
        self._context = context
        self._pid: int | None = None
        self._unreachable: frozenset[int] | None = None
        """Ports of a person's listeners that our own browser was started without access to; None for other browsers."""
        self._prefixes = uid_prefixes()
        self._pages: list[DrivenPage] = []
        """In order of opening; the last one has the focus."""
        self._acted: DrivenPage | None = None
        self._downloads: TemporaryDirectory[str] | None = None
        self.wait_rendered: Callable[[], Awaitable[None]] | None = None
        """Waits until pages of our own server have rendered its replies to everything they sent."""
        context.on("page", self._on_page)

    @classmethod
    async def launch(cls, url: str, *, path: str | None = None, ready: str | None = None) -> "BrowserBackend":
        """Start a headless Chromium and open `url`; wait up to 10 s for the CSS selector `ready`.

        Raises:
            UiNotEnabledError: no Chromium is installed, or the page is the person's own.
        """
        refuse_person_pages([url])
        playwright = await async_playwright().start()
        found = executable(path, playwright.chromium.executable_path)
        if found is None:
            await playwright.stop()
            raise UiNotEnabledError(
                "No Chromium found\nInstall chromium or Google Chrome, or set UI_MCP_CHROMIUM to its path.",
                reason="NO_BROWSER",
            )
        unreachable = listener_ports()
        arguments = [*ARGUMENTS, *_sandbox(), *resolver_rules(unreachable)]
        browser = await playwright.chromium.launch(executable_path=found, args=arguments)
        agent = await _user_agent(browser)
        context = await browser.new_context(viewport={"width": 1280, "height": 800}, user_agent=agent)
        await context.add_init_script(open_closed_shadows())
        backend = cls(playwright, browser, context)
        backend._unreachable = unreachable
        backend._downloads = TemporaryDirectory(prefix="ui-mcp-downloads-")
        await backend.open(url)
        if ready:
            with suppress(PlaywrightError):
                await (await backend._focused()).page.wait_for_selector(ready, state="attached", timeout=READY_MS)
        return backend

    @classmethod
    async def connect(cls, url: str) -> "BrowserBackend":
        """Connect to a running browser at its debugging address.

        Raises:
            UiNotEnabledError: no browser answers there.
        """
        await require_debugger(url)
        playwright = await async_playwright().start()
        try:
            browser = await playwright.chromium.connect_over_cdp(url, timeout=30_000)
        except PlaywrightError as error:
            await playwright.stop()
            raise UiNotEnabledError(
                f"The browser at {url} refuses the connection\n{error}", reason="NO_BROWSER"
            ) from error
        context = browser.contexts[0] if browser.contexts else await browser.new_context()
        backend = cls(playwright, browser, context)
        for page in context.pages:
            await backend._add(page)
        return backend

    async def open(self, url: str) -> None:
        """Open `url` in a new page, which gets the focus."""
        page = await self._context.new_page()
        await self._add(page)
        await self.visit(url)

    async def visit(self, url: str) -> None:
        """Load `url` in the focused page.

        Raises:
            UiActionFailedError: the page cannot be loaded.
            UiNotEnabledError: it is the person's own page.
        """
        refuse_person_pages([url])
        try:
            await self._open_pages()[-1].page.goto(url, wait_until="domcontentloaded", timeout=10_000)
        except PlaywrightError as error:
            raise UiActionFailedError(f"Cannot open {url}\n{error.message}", reason="NAVIGATION") from error

    async def describe(self) -> str:
        page = (await self._focused()).page
        return f"{page.url} in Chromium {self._browser.version}"

    async def capture(self, request: CaptureRequest) -> JsonObject:
        chosen = await self._chosen(request)
        captured: list[tuple[int, DrivenPage, JsonObject]] = []
        for index, driven in chosen:
            captured.append((index, driven, await driven.capture(request)))
        stages: list[JsonObject] = []
        focus: JsonObject = {"stage": None, "uid": None}
        front = self._open_pages()[-1]
        for index, driven, content in captured:
            stages.append(_numbered(index, driven, content["stage"]) | {"focused": driven is front})
            if driven is front:
                focus = {**content["focus"], "stage": index}
        dialogs = [
            driven.dialog_stage(len(self._pages) + at) for at, (_, driven, _) in enumerate(captured) if driven.dialog
        ]
        return {"app": await self._app(), "focus": focus, "stages": stages + dialogs}

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
        await real_input(self._acted, action)

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
        driven = await self._focused() if acted is None or acted.page.is_closed() else acted
        await driven.idle()
        if self.wait_rendered is not None:
            with suppress(DialogOpenError):
                await driven.unless_dialog(self.wait_rendered())

    async def screenshot(self, request: ScreenshotRequest) -> bytes:
        driven = await self._owner(request.ref.json()) if request.ref else await self._stage(request.stage)
        return await driven.screenshot(request)

    async def mark_changes(self, before: bytes, after: bytes) -> bytes:
        given = {"before": b64encode(before).decode(), "after": b64encode(after).decode()}
        return b64decode((await (await self._focused()).call({"op": "compare", **given}))["png"])

    def problems(self) -> list[str]:
        """Return console errors and failed requests since the last call."""
        return [problem for driven in self._pages for problem in driven.drain()]

    def alive(self) -> bool:
        """Return whether the browser runs and has a page."""
        # A browser that could reach a newly opened listener of a person must be replaced.
        if self._unreachable is not None and not listener_ports() <= self._unreachable:
            return False
        return self._browser.is_connected() and any(not driven.page.is_closed() for driven in self._pages)

    async def close(self) -> None:
        """Close our own browser, or disconnect from a browser that we connected to."""
        try:
            await self._browser.close()
        finally:
            await self._playwright.stop()
            if self._downloads is not None:
                self._downloads.cleanup()

    async def _app(self) -> JsonObject:
        if self._pid is None:
            session = await self._browser.new_browser_cdp_session()
            facts: dict[str, Any] = await session.send("SystemInfo.getProcessInfo")
            self._pid = next((entry["id"] for entry in facts["processInfo"] if entry["type"] == "browser"), 0)
            await session.detach()
        return {
            "pid": self._pid,
            "javaVersion": None,
            "javafxVersion": None,
            "mainClass": None,
            "debugFlags": ["mcpEnabled"],
            "toolkit": "web",
            "toolkitVersion": f"Chromium {self._browser.version}",
            "name": self._allowed_pages()[-1].page.url,
        }

    def _on_page(self, page: Page) -> None:
        if all(driven.page is not page for driven in self._pages):
            self._pages.append(
                DrivenPage(page, self._prefixes, Path(self._downloads.name) if self._downloads else None)
            )

    async def _add(self, page: Page) -> None:
        self._on_page(page)

    def _open_pages(self) -> list[DrivenPage]:
        self._pages = [driven for driven in self._pages if not driven.page.is_closed()]
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
                first = self._allowed_pages()[0]
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


def _sandbox() -> list[str]:
    # Chromium's sandbox does not work for root, which most containers use.
    return ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


async def _user_agent(browser: Browser) -> str:
    session = await browser.new_browser_cdp_session()
    version: dict[str, Any] = await session.send("Browser.getVersion")
    await session.detach()
    return f"{version['userAgent']} {DRIVEN}"


def _numbered(index: int, driven: DrivenPage, stage: JsonObject) -> JsonObject:
    given = {**stage, "index": index, "uid": f"page-{driven.number}"}
    # Each page numbers itself 0.
    if "rootPath" in given:
        given["rootPath"] = given["rootPath"].replace("/stages[0]", f"/stages[{index}]", 1)
    return given
