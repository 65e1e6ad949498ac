"""One page that we drive: script in an isolated context, native dialogs, uploads."""

import asyncio
import itertools
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import anyio

from ui_mcp.errors import (
    IntrospectError,
    UiActionFailedError,
    UiArgumentError,
    UiNodeNotFoundError,
    UiNoStagesError,
    UiStaleRefError,
    UiTimeoutError,
)
from ui_mcp.introspection.backends.chromium.activity import PageActivity
from ui_mcp.introspection.backends.chromium.devtools import Connection, DevToolsError, Session
from ui_mcp.introspection.backends.chromium.emulation import Emulation
from ui_mcp.introspection.backends.chromium.frames import ForeignFrames, FrameScript, spliced
from ui_mcp.introspection.backends.chromium.keyboard import Keyboard
from ui_mcp.introspection.backends.chromium.launch import listening_elements
from ui_mcp.introspection.backends.chromium.mouse import Mouse
from ui_mcp.introspection.backends.chromium.page_tools import PageTools
from ui_mcp.introspection.backends.chromium.tab import Tab, TabSetup
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.introspection.person_pages import guarded, person_page_refused, refuse_person_pages
from ui_mcp.jsontypes import JsonObject

R = TypeVar("R")
_numbers = itertools.count(1)  # module level, so that the stage uids of all browsers differ
_REQUEST_SECONDS = 0.5
_ERRORS: dict[str, type[IntrospectError]] = {
    kind.code: kind
    for kind in (UiActionFailedError, UiArgumentError, UiNodeNotFoundError, UiStaleRefError, UiTimeoutError)
}


def prefix_of(request: JsonObject) -> str:
    """Return the prefix of the uid that a request names: letters before the first digit."""
    given = request.get("target") or (request.get("action") or {}).get("target") or {}
    found = re.match("[a-z]+(?=\\d)", given.get("uid") or "")
    return found[0] if found else ""


class DialogOpenError(Exception):
    """A native dialog blocks the page."""


@dataclass(frozen=True, slots=True)
class Dialog:
    """An open native dialog."""

    type: str
    message: str
    default_value: str
    session: Session


class DrivenPage:
    """One page of a browser, with what it reported."""

    def __init__(
        self,
        connection: Connection,
        attached: JsonObject,
        setup: TabSetup,
        prefixes: Iterator[str],
        new_file: Callable[[str], Path],
    ) -> None:
        self.number = next(_numbers)
        self.new_file = new_file
        """Returns the path of a new file with a given name."""
        self.tools = PageTools()
        self.private_cookies: set[str] = set()
        """Keys of the cookies that were set while the person operated the browser."""
        self.picture: bytes | None = None
        """The last screenshot of the window, to compare the next one with."""
        self.prefix = ""
        self.dialog: Dialog | None = None
        self._dialog_opened = asyncio.Event()
        self.activity = PageActivity(lambda: self.tab.url)
        self.tab = Tab(connection, attached, setup, self._watch)
        self.emulation = Emulation(self.tab.session, sized=bool(setup.page))
        self.keyboard = Keyboard(self.tab.session)
        self.mouse = Mouse(self.tab, self.keyboard)
        self._prefixes = prefixes
        self._script: FrameScript | None = None
        self._frames = ForeignFrames(self.tab, prefixes)
        self._size: JsonObject = {"width": 0, "height": 0}
        self._last_capture: tuple[CaptureRequest, JsonObject] | None = None
        self._failed_bindings: list[str] = []
        """Problems with bindings that the last capture reported."""
        self._blocked: set[asyncio.Future[Any]] = set()
        """Calls that wait for a dialog to be answered; referenced here so that they are not garbage collected."""

    def _watch(self, session: Session) -> None:
        self.activity.watch(session)
        self.tools.watch(session)
        session.on("Page.javascriptDialogOpening", lambda event: self._on_dialog(event, session))
        session.on("Page.javascriptDialogClosed", lambda _: self._on_dialog_closed())

    @property
    def urls(self) -> list[str]:
        """The URLs of the page and its frames."""
        return [frame.url for frame in self.tab.frames]

    async def require_allowed(self) -> None:
        """Check that neither the page nor a frame in it is a person's page.

        Raises:
            UiNotEnabledError: one is; the reason is `PERSON_PAGE`.
        """
        refuse_person_pages(self.urls)
        if self.dialog is not None:
            return  # while a dialog is open, scripts do not run
        with suppress(DialogOpenError):
            if await self.unless_dialog(self._is_persons()):
                raise person_page_refused()

    async def _is_persons(self) -> bool:
        await self.tab.wait_known()
        refuse_person_pages(self.urls)
        check = {"expression": guarded("true"), "returnByValue": True}
        try:
            return (await self.tab.session.send("Runtime.evaluate", check))["result"].get("value") is None
        except DevToolsError as error:
            raise UiNoStagesError("The page is gone", reason="GONE") from error

    async def capture(self, request: CaptureRequest) -> JsonObject:
        """Read the page; while a native dialog is open, return what the same request read last, else no nodes."""
        root = {"target": request.root.json()} if request.root else {}
        try:
            ask = request.json() | await self.unless_dialog(self._listening())
            captured = await self.call({"op": "capture", "ask": ask, **root})
            self._failed_bindings = [str(problem) for problem in captured["problems"]]
            script = self._frames.by_prefix(prefix_of(root)) or await self._main_script()
            captured = await self.unless_dialog(self._with_frames(script, captured, request))
            self._last_capture = (request, captured)
            self._size = {side: captured["stage"][side] for side in ("width", "height")}
            return captured
        except DialogOpenError:
            # Scripts stand still while a dialog is open, so the page still shows that.
            if self._last_capture is not None and self._last_capture[0] == request:
                return self._last_capture[1]
            stage = {"title": self.tab.url, "showing": True, "x": 0, "y": 0, **self._size, "kind": "stage", "nodes": []}
            return {"focus": {"uid": None}, "stage": stage}

    async def _listening(self) -> JsonObject:
        """Return which elements scripts listen to; nothing where a page does not let us count them."""
        params = {"expression": guarded(listening_elements()), "includeCommandLineAPI": True, "returnByValue": True}
        with suppress(DevToolsError):
            if found := (await self.tab.session.send("Runtime.evaluate", params))["result"].get("value"):
                return {"listening": found}
        return {}

    async def call(self, request: JsonObject) -> JsonObject:
        """Send a request to the page script and return its answer.

        Raises:
            DialogOpenError: a native dialog is open.
            IntrospectError: the script reported an error.
        """
        answer = await self.unless_dialog(self._evaluate(request))
        error = answer.get("error")
        if error is not None:
            kind = _ERRORS.get(error["code"], IntrospectError)
            raise kind(error["message"], **error["details"])
        return answer

    async def unless_dialog(self, work: Awaitable[R]) -> R:
        """Return the result of `work`, unless a native dialog opens first.

        Raises:
            DialogOpenError: a dialog is open; `work` continues in the background once it is answered.
        """
        if self.dialog is not None:
            if asyncio.iscoroutine(work):
                work.close()  # else Python warns that it was never awaited
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
        """Return the page's title, or its URL while a dialog is open."""
        try:
            return await self.unless_dialog(self.tab.title())
        except DialogOpenError:
            return self.tab.url

    async def answer_dialog(self, *, accept: bool, text: str | None) -> None:
        """Answer the open native dialog.

        Raises:
            UiActionFailedError: there is none.
        """
        dialog, self.dialog = self.dialog, None
        if dialog is None:
            raise UiActionFailedError("No dialog is open", reason="NO_DIALOG")
        answer = {"accept": accept, "promptText": (text or dialog.default_value) if accept else ""}
        await dialog.session.send("Page.handleJavaScriptDialog", answer)

    def dialog_stage(self, index: int) -> JsonObject:
        """Return the open dialog as a stage without nodes."""
        assert self.dialog is not None
        buttons = ["OK"] if self.dialog.type == "alert" else ["OK", "Cancel"]
        return {
            "index": index, "uid": f"dialog-{self.number}", "title": self.dialog.type, "kind": "dialog", "modal": True,
            "showing": True, "focused": True, "x": 0, "y": 0, "width": 0, "height": 0, "message": self.dialog.message,
            "buttons": buttons, "defaultValue": self.dialog.default_value, "nodes": [],
        }  # fmt: skip

    async def idle(self) -> None:
        """Wait for two frames, and up to 0.5 s for requests that have just begun."""
        try:
            await self.call({"op": "idle"})
            with anyio.move_on_after(_REQUEST_SECONDS):
                await self.activity.requests.wait_recent()
            if self._script is None:
                await self.unless_dialog(self.tab.wait_document())
        except DialogOpenError:
            return

    async def set_files(self, target: JsonObject, paths: Sequence[str]) -> None:
        """Set the files of a file input: of the target, of what is in it, or of what is beside it, as a button is.

        Raises:
            UiActionFailedError: a file does not exist, or there is no file input.
        """
        for path in paths:
            if not await anyio.Path(path).is_file():
                raise UiActionFailedError(f"No such file: {path}", reason="NO_SUCH_FILE")
        await self.call({"op": "box", "target": target})
        script = self._frames.by_prefix(prefix_of({"target": target})) or await self._main_script()
        try:
            handle = {"files": list(paths), "objectId": await script.file_input(target)}
            await script.session.send("DOM.setFileInputFiles", handle)
        except (DevToolsError, KeyError) as error:
            raise UiActionFailedError(
                "The node is not a file input, and there is none in it or beside it", reason="UNSUPPORTED_TARGET_TYPE"
            ) from error

    def drain(self) -> list[str]:
        """Return and clear the problems of the page."""
        failed, self._failed_bindings = self._failed_bindings, []
        return self.activity.drain() + failed

    async def _evaluate(self, request: JsonObject) -> JsonObject:
        foreign = self._frames.by_prefix(prefix_of(request))
        if foreign is not None:
            return await self._evaluate_in_frame(foreign, request)
        for attempt in range(3):
            try:
                return await (await self._main_script()).call(request)
            except (DevToolsError, KeyError) as error:
                # The page has navigated: the isolated context is destroyed, and all uids of that document with it.
                self._script = None
                self._frames.forget()
                if attempt == 2 or self.tab.is_closed:
                    raise UiNoStagesError("The page is gone", reason="GONE") from error
                with suppress(DevToolsError):
                    await self.tab.wait_document()
        raise AssertionError

    async def _evaluate_in_frame(self, frame: FrameScript, request: JsonObject) -> JsonObject:
        """Send a request to a frame's own script; points and boxes are returned in coordinates of the page."""
        try:
            answer = await frame.call(request)
            if "x" in answer and request["op"] in {"spot", "box", "content"}:
                x, y = await frame.offset()
                answer |= {"x": answer["x"] + x, "y": answer["y"] + y}
        except (DevToolsError, KeyError) as error:
            self._frames.forget(frame)
            raise UiNodeNotFoundError("The frame of this node is gone") from error
        return answer

    async def _with_frames(self, script: FrameScript, captured: JsonObject, request: CaptureRequest) -> JsonObject:
        """Return a capture with the content of the frames that the script of the document cannot read."""
        records: list[JsonObject] = captured["stage"]["nodes"]
        holders = [record["u"] for record in records if record.get("e", {}).get("crossOrigin")]
        if not holders:
            return captured
        inner: dict[str, list[JsonObject]] = {}
        offsets: dict[str, tuple[float, float]] = {}
        for holder, frame in (await self._frames.below(script, holders)).items():
            try:
                answer = await frame.call({"op": "capture", "ask": replace(request, root=None).json()})
                if "error" not in answer:
                    inner[holder] = (await self._with_frames(frame, answer, request))["stage"]["nodes"]
                    offsets[holder] = await frame.offset()
            except (DevToolsError, KeyError):
                self._frames.forget(frame)  # it has another document by now
                inner.pop(holder, None)
        nodes = spliced(records, inner, offsets)
        return {**captured, "stage": {**captured["stage"], "nodes": nodes}}

    async def _main_script(self) -> FrameScript:
        if self._script is None:
            self.prefix = next(self._prefixes)
            self._script = await FrameScript.inject(self.tab.session, self.tab.target_id, self.prefix)
        return self._script

    def owns(self, prefix: str) -> bool:
        """Return whether uids of the page or of a frame in it begin with `prefix`."""
        return bool(prefix) and (self.prefix == prefix or self._frames.by_prefix(prefix) is not None)

    def _on_dialog(self, event: JsonObject, session: Session) -> None:
        self.dialog = Dialog(event["type"], event["message"], event.get("defaultPrompt", ""), session)
        self._dialog_opened.set()

    def _on_dialog_closed(self) -> None:
        self.dialog = None  # a person may have answered it

    def _unblocked(self, task: "asyncio.Future[Any]") -> None:
        self._blocked.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as retrieved; no caller waits for it any more
