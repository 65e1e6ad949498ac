"""Chromium through Playwright: pages we open, or those of a browser that listens for a debugger."""

import itertools
import os
import string
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from ui_mcp.errors import UiActionFailedError, UiArgumentError, UiNodeNotFoundError, UiNoStagesError, UiNotEnabledError
from ui_mcp.introspection.backend import ScreenshotRequest
from ui_mcp.introspection.backends.chromium_input import real_input
from ui_mcp.introspection.backends.chromium_launch import executable, open_closed_shadows, require_debugger
from ui_mcp.introspection.backends.chromium_page import DialogOpenError, DrivenPage
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.introspection.person_pages import is_person_page, person_page_refused, refuse_person_pages, resolver_rules
from ui_mcp.introspection.tree import all_letters
from ui_mcp.jsontypes import JsonObject
from ui_mcp.person import listener_ports

ARGUMENTS = (
    "--no-first-run", "--disable-quic", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-gpu",
)  # fmt: skip

READY_MS = 10_000
DRIVEN = "ui-mcp-eyes"
"""Word in our user agent, by which a server of ours knows that nobody sits before the page."""


class BrowserBackend:
    """The pages of one browser context; each is a stage."""

    kind = "browser"

    def __init__(self, playwright: Playwright, browser: Browser, context: BrowserContext) -> None:
        self._playwright = playwright
        self._browser = browser
        self._context = context
        self._pid: int | None = None
        self._unreachable: frozenset[int] | None = None
        """Ports of person's listeners that a browser of our own was started without a way to."""
        self._prefixes = all_letters()
        self._lenses: list[DrivenPage] = []
        self.shown: Callable[[], Awaitable[None]] | None = None
        """Returns when pages of our own server show what came of everything they have sent to it."""
        context.on("page", self._joined)

    @classmethod
    async def launch(cls, url: str, *, path: str | None = None, ready: str | None = None) -> "BrowserBackend":
        """Start a headless Chromium and open `url`; wait a little for the css selector `ready`.

        Raises:
            UiNotEnabledError: there is no Chromium on this machine, or the page is the person's own.
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
        await backend.open(url)
        if ready:
            with suppress(PlaywrightError):
                await (await backend._focused()).page.wait_for_selector(ready, state="attached", timeout=READY_MS)
        return backend

    @classmethod
    async def connect(cls, url: str) -> "BrowserBackend":
        """Join a running browser by its debugging address.

        Raises:
            UiNotEnabledError: no browser answers there.
        """
        await require_debugger(url)
        playwright = await async_playwright().start()
        try:
            browser = await playwright.chromium.connect_over_cdp(url, timeout=30_000)
        except PlaywrightError as error:
            await playwright.stop()
            raise UiNotEnabledError(f"The browser at {url} lets nobody in\n{error}", reason="NO_BROWSER") from error
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
            await self._alive()[-1].page.goto(url, wait_until="domcontentloaded", timeout=10_000)
        except PlaywrightError as error:
            raise UiActionFailedError(f"Cannot open {url}\n{error.message}", reason="NAVIGATION") from error

    async def describe(self) -> str:
        """Name the focused page."""
        page = (await self._focused()).page
        return f"{page.url} in Chromium {self._browser.version}"

    async def capture(self, ask: CaptureRequest) -> JsonObject:
        """Read the chosen pages."""
        chosen = await self._chosen(ask)
        captured: list[tuple[int, DrivenPage, JsonObject]] = []
        for index, lens in chosen:
            captured.append((index, lens, await lens.capture(ask)))
        stages: list[JsonObject] = []
        focus: JsonObject = {"stage": None, "uid": None}
        front = self._alive()[-1]
        for index, lens, seen in captured:
            stages.append(_numbered(index, lens, seen["stage"]) | {"focused": lens is front})
            if lens is front:
                focus = {**seen["focus"], "stage": index}
        dialogs = [lens.dialog_stage(len(self._lenses) + at) for at, (_, lens, _) in enumerate(captured) if lens.dialog]
        return {"app": await self._app(), "focus": focus, "stages": stages + dialogs}

    async def at(self, x: float, y: float) -> list[JsonObject]:
        """Name what is at a point of the focused page's viewport."""
        lens = await self._focused()
        index = list(await self._sorted()).index(lens)
        chain = (await lens.call({"op": "at", "x": x, "y": y}))["chain"]
        return [{**entry, "path": entry["path"].replace("/stages[0]", f"/stages[{index}]", 1)} for entry in chain]

    async def act(self, action: JsonObject) -> None:
        """Act by real input where the page could tell the difference."""
        given = action.get("target") or action.get("from") or {}
        await real_input(await self._owner(given), action)

    async def idle(self) -> None:
        """Wait for two frames and the requests the page has just made."""
        lens = await self._focused()
        await lens.idle()
        if self.shown is not None:
            with suppress(DialogOpenError):
                await lens.unless_dialog(self.shown())

    async def screenshot(self, photo: ScreenshotRequest) -> bytes:
        """Photograph a page or one element of it."""
        lens = await self._owner(photo.ref.json()) if photo.ref else await self._stage(photo.stage)
        return await lens.screenshot(photo)

    def problems(self) -> list[str]:
        """Return console errors and failed requests since the last call."""
        return [problem for lens in self._lenses for problem in lens.drain()]

    def alive(self) -> bool:
        """Say whether the browser runs and has a page; one that could reach a new person's listener counts as gone."""
        if self._unreachable is not None and not listener_ports() <= self._unreachable:
            return False
        return self._browser.is_connected() and any(not lens.page.is_closed() for lens in self._lenses)

    async def close(self) -> None:
        """Close what we opened; a browser we only joined stays."""
        try:
            await self._browser.close()
        finally:
            await self._playwright.stop()

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
            "name": self._allowed()[-1].page.url,
        }

    def _joined(self, page: Page) -> None:
        if all(lens.page is not page for lens in self._lenses):
            self._lenses.append(DrivenPage(page, self._prefixes))

    async def _add(self, page: Page) -> None:
        self._joined(page)

    def _alive(self) -> list[DrivenPage]:
        self._lenses = [lens for lens in self._lenses if not lens.page.is_closed()]
        if not self._lenses:
            raise UiNoStagesError("The browser shows no page", reason="NO_PAGE")
        return self._lenses

    def _allowed(self) -> list[DrivenPage]:
        """Return the pages that are not the person's; those are not even listed."""
        ports = listener_ports()
        found = [lens for lens in self._alive() if not any(is_person_page(url, ports) for url in lens.urls)]
        if not found:
            raise person_page_refused()
        return found

    async def _focused(self) -> DrivenPage:
        return self._expected(self._alive()[-1])

    def _expected(self, lens: DrivenPage) -> DrivenPage:
        refuse_person_pages(lens.urls)
        return lens

    async def _sorted(self) -> Sequence[DrivenPage]:
        alive = self._allowed()
        if len(alive) == 1:
            return alive
        titles = [await lens.title() for lens in alive]
        return [lens for _, _, lens in sorted(zip(titles, itertools.count(), alive, strict=False))]

    async def _chosen(self, ask: CaptureRequest) -> list[tuple[int, DrivenPage]]:
        ordered = await self._sorted()
        numbered = list(enumerate(ordered))
        if ask.root is not None:
            owner = await self._owner(ask.root.json())
            return [(index, lens) for index, lens in numbered if lens is owner]
        match ask.stage:
            case "all":
                return numbered
            case int(index):
                if not 0 <= index < len(ordered):
                    raise UiArgumentError(f"There is no stage {index}; valid are 0 to {len(ordered) - 1}")
                return [numbered[index]]
            case "primary":
                first = self._allowed()[0]
                return [(index, lens) for index, lens in numbered if lens is first]
            case _:
                front = await self._focused()
                return [(index, lens) for index, lens in numbered if lens is front]

    async def _stage(self, index: int | None) -> DrivenPage:
        return (await self._chosen(CaptureRequest(stage="focused" if index is None else index)))[0][1]

    async def _owner(self, ref: JsonObject) -> DrivenPage:
        """Return the page a reference belongs to: the one whose letters begin the uid, else the path's stage."""
        letters = (ref.get("uid") or "").rstrip(string.digits + ":r")
        for lens in self._alive():
            if letters and lens.prefix == letters:
                return self._expected(lens)
        path = ref.get("path") or ""
        if path.startswith("/stages["):
            index = int(path[len("/stages[") :].partition("]")[0])
            ordered = await self._sorted()
            if index < len(ordered):
                return ordered[index]
            raise UiNodeNotFoundError(f"There is no stage {index}")
        return await self._focused()


def _sandbox() -> list[str]:
    # Chromium refuses its sandbox to root, which is what containers run as.
    return ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


async def _user_agent(browser: Browser) -> str:
    session = await browser.new_browser_cdp_session()
    version: dict[str, Any] = await session.send("Browser.getVersion")
    await session.detach()
    return f"{version['userAgent']} {DRIVEN}"


def _numbered(index: int, lens: DrivenPage, stage: JsonObject) -> JsonObject:
    given = {**stage, "index": index, "uid": f"page-{lens.number}"}
    if "rootPath" in given:
        given["rootPath"] = given["rootPath"].replace("/stages[0]", f"/stages[{index}]", 1)
    return given
