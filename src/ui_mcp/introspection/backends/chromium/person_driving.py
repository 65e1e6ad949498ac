"""Lets the person operate a browser of ours: pictures of its focused page go out, their mouse and keyboard come in."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

import anyio

from ui_mcp.errors import IntrospectError, UiArgumentError, UiNoStagesError
from ui_mcp.introspection.backends.chromium.devtools import DevToolsError, Session
from ui_mcp.introspection.backends.chromium.page import DialogOpenError, DrivenPage
from ui_mcp.introspection.backends.chromium.page_operations import cookie_key
from ui_mcp.jsontypes import JsonObject

Send = Callable[[JsonObject], Awaitable[None]]
TICK_SECONDS = 0.25
"""How often it is looked whether another page has got the focus, or a dialog is open."""
MAX_TEXT = 10_000
_CAST = {"format": "jpeg", "quality": 75, "maxWidth": 1600, "maxHeight": 1200}
_MOUSE = frozenset({"mousePressed", "mouseReleased", "mouseMoved", "mouseWheel"})
_KEYS = frozenset({"keyDown", "keyUp"})
_BUTTONS = frozenset({"none", "left", "middle", "right"})


class PersonDriving:
    """Shows the focused page of a browser to one viewer, and passes their input on to it; notes nothing of it."""

    def __init__(self, browser: Session, context: str, pages: Callable[[], Sequence[DrivenPage]]) -> None:
        self._browser = browser
        self._context = context
        self._pages = pages
        self._is_private = False
        self._cookies_before: dict[str, str] = {}
        self._private_cookies: set[str] = set()
        self._shown: DrivenPage | None = None
        self._frame: JsonObject | None = None
        self._arrived = anyio.Event()
        self._watched: set[Session] = set()

    async def show(self, send: Send) -> None:
        """Send pictures and what a picture does not show, until cancelled."""
        told: JsonObject = {}
        try:
            while True:
                await self._follow()
                with anyio.move_on_after(TICK_SECONDS):
                    await self._arrived.wait()
                if self._frame is not None:
                    await self._send_frame(send)
                if (state := self._state()) != told:
                    told = state
                    await send(state)
        finally:
            self._stop()

    def prepare(self, driven: DrivenPage) -> None:
        """Make a new page as private as the others, before anything of it is noted."""
        driven.activity.is_private = self._is_private
        driven.private_cookies = self._private_cookies

    async def begin_private(self) -> None:
        self._cookies_before = await self._cookies()
        self._is_private = True
        for driven in self._pages():
            self.prepare(driven)
            await conceal_fields(driven)

    async def end_private(self) -> None:
        self._private_cookies |= changed_cookies(self._cookies_before, await self._cookies())
        for driven in self._pages():
            await conceal_fields(driven)
        self._is_private = False
        for driven in self._pages():
            driven.picture = None
            self.prepare(driven)

    async def _cookies(self) -> dict[str, str]:
        try:
            found = await self._browser.send("Storage.getCookies", {"browserContextId": self._context})
        except DevToolsError as error:
            raise UiNoStagesError("The browser is gone", reason="GONE") from error
        return {cookie_key(cookie): cookie["value"] for cookie in found["cookies"]}

    def _focused(self) -> DrivenPage:
        return self._pages()[-1]

    async def input(self, event: JsonObject) -> None:
        """Perform one mouse, keyboard, text or dialog event of the person.

        Raises:
            UiArgumentError: it is no such event.
        """
        driven = self._shown or self._focused()
        try:
            if event.get("type") == "dialog":
                await driven.answer_dialog(accept=event.get("accept") is True, text=None)
                return
            method, params = command_of(event)
            # Not awaited: a click that opens a dialog is answered only once the dialog is.
            driven.tab.session.post(method, params)
        except (DevToolsError, IntrospectError) as error:
            if isinstance(error, UiArgumentError):
                raise

    async def _follow(self) -> None:
        """Show the page that has the focus now."""
        driven = self._focused()
        if driven is self._shown:
            return
        self._stop()
        self._shown = driven
        session = driven.tab.session
        if session not in self._watched:
            self._watched.add(session)
            session.on("Page.screencastFrame", lambda event: self._on_frame(session, event))
        with suppress(DevToolsError):
            await session.send("Page.bringToFront")
            await session.send("Page.startScreencast", _CAST)

    def _on_frame(self, session: Session, event: JsonObject) -> None:
        if self._shown is not None and self._shown.tab.session is session:
            self._frame = event
            self._arrived.set()

    async def _send_frame(self, send: Send) -> None:
        frame, self._frame = self._frame, None
        self._arrived = anyio.Event()
        if frame is None or self._shown is None:
            return
        size = frame["metadata"]
        await send(
            {"type": "frame", "data": frame["data"], "width": size["deviceWidth"], "height": size["deviceHeight"]}
        )
        # Only now: the browser sends the next picture once this one has gone out, so a slow viewer gets fewer.
        self._shown.tab.session.post("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})

    def _state(self) -> JsonObject:
        driven = self._shown
        dialog = driven.dialog if driven is not None else None
        shown = None if dialog is None else {"kind": dialog.type, "message": dialog.message}
        return {"type": "state", "url": driven.tab.url if driven is not None else "", "dialog": shown}

    def _stop(self) -> None:
        if self._shown is not None:
            self._shown.tab.session.post("Page.stopScreencast")
        self._shown = self._frame = None


def command_of(event: JsonObject) -> tuple[str, JsonObject]:
    """Return the browser's command for an input event of the person's page; pure.

    Raises:
        UiArgumentError: it is no such event.
    """
    match event.get("type"), event.get("event"):
        case "mouse", str(kind) if kind in _MOUSE and event.get("button", "none") in _BUTTONS:
            numbers = _numbers(event, ("x", "y", "deltaX", "deltaY", "clickCount", "modifiers", "buttons"))
            return "Input.dispatchMouseEvent", {"type": kind, "button": event.get("button", "none"), **numbers}
        case "key", str(kind) if kind in _KEYS:
            named = {name: str(event[name])[:50] for name in ("key", "code", "text") if event.get(name)}
            code = _numbers(event, ("windowsVirtualKeyCode", "modifiers"))
            return "Input.dispatchKeyEvent", {"type": kind, **named, **code}
        case "text", _:
            return "Input.insertText", {"text": str(event.get("text", ""))[:MAX_TEXT]}
    raise UiArgumentError("This is not input from a person")


def _numbers(event: JsonObject, names: tuple[str, ...]) -> JsonObject:
    found = {name: event[name] for name in names if name in event}
    if not all(isinstance(value, int | float) and abs(value) < 100_000 for value in found.values()):
        raise UiArgumentError("Coordinates of input are numbers")
    whole = {"clickCount", "modifiers", "buttons", "windowsVirtualKeyCode"}
    return {name: int(value) if name in whole else value for name, value in found.items()}


async def conceal_fields(driven: DrivenPage) -> None:
    """Leave what has been typed into the fields of a page out of all outlines."""
    with suppress(DialogOpenError, IntrospectError):
        await driven.call({"op": "conceal"})


def changed_cookies(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    """Return the keys of the cookies that are new or have another value; pure."""
    return {key for key, value in after.items() if before.get(key) != value}
