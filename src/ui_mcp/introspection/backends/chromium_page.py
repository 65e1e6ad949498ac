"""One driven page: our script in a world of its own, native dialogs, console errors, pictures."""

import asyncio
import base64
import itertools
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import anyio
from playwright.async_api import CDPSession, ConsoleMessage, Dialog, Page, Request, Response
from playwright.async_api import Error as PlaywrightError

from ui_mcp.errors import (
    IntrospectError,
    UiActionFailedError,
    UiArgumentError,
    UiNodeNotFoundError,
    UiNoStagesError,
    UiTimeoutError,
)
from ui_mcp.introspection.backend import ScreenshotRequest
from ui_mcp.introspection.backends.chromium_launch import script
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.introspection.person_pages import guarded, is_person_page, person_page_refused, refuse_person_pages
from ui_mcp.jsontypes import JsonObject, dumps, loads

R = TypeVar("R")
_numbers = itertools.count(1)
_KEPT_PROBLEMS = 50
_REQUEST_SECONDS = 0.5
_YOUNG_SECONDS = 0.05
_ERRORS: dict[str, type[IntrospectError]] = {
    kind.code: kind for kind in (UiActionFailedError, UiArgumentError, UiNodeNotFoundError, UiTimeoutError)
}


class DialogOpenError(Exception):
    """A native dialog blocks the page."""


class DrivenPage:
    """Looks into one page."""

    def __init__(self, page: Page, prefixes: Iterator[str]) -> None:
        self.page = page
        self.number = next(_numbers)
        self.prefix = ""
        self.dialog: Dialog | None = None
        self._prefixes = prefixes
        self._session: CDPSession | None = None
        self._world: int | None = None
        self._problems: list[str] = []
        self._failed: list[str] = []
        """Bindings that had failed at the last look."""
        self._requests: dict[Request, float] = {}
        self._finished = anyio.Event()
        self._dialog_opened = asyncio.Event()
        self._blocked: set[asyncio.Future[Any]] = set()
        page.on("dialog", self._on_dialog)
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self._note(f"error: {error}"))
        page.on("response", self._on_response)
        page.on("request", self._on_request)
        page.on("requestfinished", self._on_finished)
        page.on("requestfailed", self._on_failed)

    @property
    def urls(self) -> list[str]:
        """The addresses of the page and its frames."""
        return [frame.url for frame in self.page.frames]

    async def expect_allowed(self) -> None:
        """Return unless this is, or holds, a page of the person's.

        Raises:
            UiNotEnabledError: it is, with the reason `PERSON_PAGE`.
        """
        refuse_person_pages(self.urls)
        if self.dialog is not None:
            return  # the page answers nothing now
        session = await self._connected()
        asked = session.send("Runtime.evaluate", {"expression": guarded("true"), "returnByValue": True})
        with suppress(DialogOpenError):
            if (await self.unless_dialog(asked))["result"].get("value") is None:
                raise person_page_refused()

    async def capture(self, ask: CaptureRequest) -> JsonObject:
        """Read the page; behind a native dialog only its title is known."""
        try:
            seen = await self.call({"op": "capture", "ask": ask.json()})
            self._failed = [str(problem) for problem in seen["problems"]]
            return seen
        except DialogOpenError:
            size = self.page.viewport_size or {"width": 0, "height": 0}
            stage = {"title": self.page.url, "showing": True, "x": 0, "y": 0, **size, "kind": "stage", "nodes": []}
            return {"focus": {"uid": None}, "stage": stage}

    async def call(self, request: JsonObject) -> JsonObject:
        """Ask the page script.

        Raises:
            DialogOpenError: a native dialog is open.
            IntrospectError: what the script says.
        """
        answer = await self.unless_dialog(self._evaluate(request))
        error = answer.get("error")
        if error is not None:
            kind = _ERRORS.get(error["code"], IntrospectError)
            raise kind(error["message"], **error["details"])
        return answer

    async def unless_dialog(self, work: Awaitable[R]) -> R:
        """Wait for `work`, but no longer than until a native dialog opens.

        Raises:
            DialogOpenError: one is open; the work goes on when it is answered.
        """
        if self.dialog is not None:
            if asyncio.iscoroutine(work):
                work.close()
            raise DialogOpenError
        self._dialog_opened.clear()
        task = asyncio.ensure_future(work)
        opened = asyncio.ensure_future(self._dialog_opened.wait())
        try:
            await asyncio.wait({task, opened}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            opened.cancel()
        if task.done():
            return task.result()
        self._blocked.add(task)
        task.add_done_callback(self._unblocked)
        raise DialogOpenError

    async def title(self) -> str:
        """Return the page's title, or its address behind a dialog."""
        try:
            return await self.unless_dialog(self.page.title())
        except DialogOpenError:
            return self.page.url

    async def answer_dialog(self, *, accept: bool, text: str | None) -> None:
        """Answer the open native dialog.

        Raises:
            UiActionFailedError: there is none.
        """
        dialog, self.dialog = self.dialog, None
        if dialog is None:
            raise UiActionFailedError("No dialog is open", reason="NO_DIALOG")
        if accept:
            await dialog.accept(text or dialog.default_value)
        else:
            await dialog.dismiss()

    def dialog_stage(self, index: int) -> JsonObject:
        """Describe the open dialog as a stage without nodes."""
        assert self.dialog is not None
        buttons = ["OK"] if self.dialog.type == "alert" else ["OK", "Cancel"]
        return {
            "index": index, "uid": f"dialog-{self.number}", "title": self.dialog.type, "kind": "dialog", "modal": True,
            "showing": True, "focused": True, "x": 0, "y": 0, "width": 0, "height": 0, "message": self.dialog.message,
            "buttons": buttons, "defaultValue": self.dialog.default_value, "nodes": [],
        }  # fmt: skip

    async def idle(self) -> None:
        """Wait for two frames, and briefly for requests under way."""
        try:
            await self.call({"op": "idle"})
            with anyio.move_on_after(_REQUEST_SECONDS):
                await self._answered()
            if self._world is None:
                await self.page.wait_for_load_state("domcontentloaded")
        except DialogOpenError:
            return

    async def screenshot(self, photo: ScreenshotRequest) -> bytes:
        """Photograph the viewport, or one element."""
        await self.expect_allowed()
        size = await self.call({"op": "box", "target": photo.ref.json()}) if photo.ref else None
        viewport = self.page.viewport_size or await self.page.evaluate("({width: innerWidth, height: innerHeight})")
        clip = size or {"x": 0, "y": 0, **viewport}
        scale = min(1.0, photo.max_width / clip["width"]) if photo.max_width and clip["width"] else 1.0
        if photo.annotate:
            await self.call({"op": "annotate"})
        try:
            session = await self._connected()
            shot = session.send("Page.captureScreenshot", {"format": "png", "clip": {**clip, "scale": scale}})
            taken = base64.b64decode((await self.unless_dialog(shot))["data"])
            await self.expect_allowed()  # it may have gone there meanwhile
            return taken
        except DialogOpenError as error:
            raise UiActionFailedError("A native dialog is open\nAnswer it first.", reason="BEHIND_MODAL") from error
        finally:
            if photo.annotate:
                await self.call({"op": "clear"})

    async def set_files(self, target: JsonObject, paths: Sequence[str]) -> None:
        """Put files into an upload field.

        Raises:
            UiActionFailedError: a file is missing, or the target takes none.
        """
        for path in paths:
            if not await anyio.Path(path).is_file():
                raise UiActionFailedError(f"No such file: {path}", reason="NO_SUCH_FILE")
        await self.call({"op": "box", "target": target})
        session = await self._connected()
        expression = f"__uiMcp.element({dumps(dumps(target))})"
        found = await session.send("Runtime.evaluate", {"expression": expression, "contextId": self._world})
        try:
            handle = {"files": list(paths), "objectId": found["result"]["objectId"]}
            await session.send("DOM.setFileInputFiles", handle)
        except (PlaywrightError, KeyError) as error:
            raise UiActionFailedError("The node takes no files", reason="UNSUPPORTED_TARGET_TYPE") from error

    def drain(self) -> list[str]:
        """Return and forget what went wrong in the page."""
        problems, self._problems, self._failed = self._problems + self._failed, [], []
        return problems

    async def _answered(self) -> None:
        """Wait for requests younger than 50 ms; older ones are polls that may never end."""
        while True:
            now = anyio.current_time()
            ages = [now - begun for begun in self._requests.values() if now - begun < _YOUNG_SECONDS]
            if not ages:
                return
            self._finished = anyio.Event()
            with anyio.move_on_after(_YOUNG_SECONDS - min(ages)):
                await self._finished.wait()

    async def _evaluate(self, request: JsonObject) -> JsonObject:
        for attempt in range(3):
            session = await self._connected()
            try:
                if self._world is None:
                    await self._enter(session)
                answer = await session.send(
                    "Runtime.evaluate",
                    {
                        "expression": guarded(f"__uiMcp.call({dumps(dumps(request))})"),
                        "contextId": self._world,
                        "awaitPromise": True,
                        "returnByValue": True,
                    },
                )
                if answer["result"].get("subtype") == "null":
                    raise person_page_refused()
                return dict(loads(answer["result"]["value"]))
            except (PlaywrightError, KeyError) as error:
                # The page went elsewhere: its world is gone, and with it every uid of that document.
                self._world = None
                if attempt == 2 or self.page.is_closed():
                    raise UiNoStagesError("The page is gone", reason="GONE") from error
                await self.page.wait_for_load_state("domcontentloaded")
        raise AssertionError

    async def _connected(self) -> CDPSession:
        if self._session is None:
            self._session = await self.page.context.new_cdp_session(self.page)
        return self._session

    async def _enter(self, session: CDPSession) -> None:
        frames = await session.send("Page.getFrameTree")
        world = await session.send(
            "Page.createIsolatedWorld", {"frameId": frames["frameTree"]["frame"]["id"], "worldName": "ui-mcp"}
        )
        self._world = world["executionContextId"]
        self.prefix = next(self._prefixes)
        source = f"{script()};globalThis.__uiMcp = uiMcpIntrospect.create({dumps(self.prefix)}); 0"
        await session.send("Runtime.evaluate", {"expression": source, "contextId": self._world})

    def _on_dialog(self, dialog: Dialog) -> None:
        self.dialog = dialog
        self._dialog_opened.set()

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._note(f"console: {message.text}")

    def _on_response(self, response: Response) -> None:
        if response.status >= 400:
            self._note(f"request: {response.status} {response.request.method} {response.url}")

    def _on_request(self, request: Request) -> None:
        self._requests[request] = anyio.current_time()

    def _on_finished(self, request: Request) -> None:
        self._requests.pop(request, None)
        self._finished.set()

    def _on_failed(self, request: Request) -> None:
        self._on_finished(request)
        self._note(f"request: failed {request.method} {request.url} {request.failure or ''}".rstrip())

    def _note(self, problem: str) -> None:
        if is_person_page(self.page.url):
            return
        self._problems = [*self._problems, problem][-_KEPT_PROBLEMS:]

    def _unblocked(self, task: "asyncio.Future[Any]") -> None:
        self._blocked.discard(task)
        if not task.cancelled():
            task.exception()
