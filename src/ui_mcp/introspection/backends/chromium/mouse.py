"""The real mouse in a page, native drag and drop included."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

import anyio

from ui_mcp.introspection.backends.chromium.devtools import DevToolsError, Session
from ui_mcp.introspection.backends.chromium.keyboard import Keyboard
from ui_mcp.introspection.backends.chromium.tab import Frame, Tab
from ui_mcp.jsontypes import JsonObject

Button = Literal["left", "right", "middle"]
_BITS: dict[Button, int] = {"left": 1, "right": 2, "middle": 4}
DRAG_STEPS = 8

# After the move in which a page begins a native drag, the browser sends an event instead of further mouse events to
# the page. It comes at its own time, so these scripts tell whether to wait for it.
_LISTEN = """globalThis.began = null;
globalThis.note = (event) => { globalThis.began = event; };
addEventListener("dragstart", note, true);"""
_HAS_BEGUN = "new Promise((done) => setTimeout(() => done(Boolean(began) && !began.defaultPrevented)))"
_STOP = 'removeEventListener("dragstart", note, true)'
DRAG_SECONDS = 2.0


class Mouse:
    """Moves, presses and drags in coordinates of the viewport."""

    def __init__(self, tab: Tab, keyboard: Keyboard) -> None:
        self._tab = tab
        self._session: Session = tab.session
        self._keyboard = keyboard
        self._x = 0.0
        self._y = 0.0
        self._button: Button | None = None
        self._dragged: asyncio.Future[JsonObject] | None = None
        self._session.on("Input.dragIntercepted", self._on_drag)

    async def move(self, x: float, y: float) -> None:
        self._x, self._y = x, y
        await self._event("mouseMoved", self._button)

    async def down(self, button: Button = "left", *, count: int = 1) -> None:
        self._button = button
        await self._event("mousePressed", button, count)

    async def up(self, button: Button = "left", *, count: int = 1) -> None:
        self._button = None
        await self._event("mouseReleased", button, count)

    async def click(self, x: float, y: float, button: Button = "left", *, count: int = 1) -> None:
        """Click one or several times at a point."""
        await self.move(x, y)
        for number in range(1, count + 1):
            await self.down(button, count=number)
            await self.up(button, count=number)

    async def drag(self, x: float, y: float) -> None:
        """Move to a point with the left button held and release it there, also where the page drags natively."""
        data = await self._drag_to(x, y)
        if data is None:
            await self.up()
            return
        self._button = None  # the page gets `drop` and `dragend`, but no `mouseup`
        for kind in ("dragEnter", "dragOver", "drop"):
            event = {"type": kind, "x": x, "y": y, "data": data, "modifiers": self._keyboard.modifiers}
            await self._session.send("Input.dispatchDragEvent", event)

    async def _drag_to(self, x: float, y: float) -> JsonObject | None:
        """Move in steps to a point; return what the page drags natively, if it begins to."""
        self._dragged = asyncio.get_running_loop().create_future()
        listening = [entry for entry in [await _isolated(frame) for frame in self._tab.frames] if entry is not None]
        for session, context in listening:
            session.post("Runtime.evaluate", {"expression": _LISTEN, "contextId": context})
        await self._session.send("Input.setInterceptDrags", {"enabled": True})
        try:
            from_x, from_y = self._x, self._y
            for step in range(1, DRAG_STEPS + 1):
                done = step / DRAG_STEPS
                await self.move(from_x + (x - from_x) * done, from_y + (y - from_y) * done)
                if await _has_begun(listening):
                    self._x, self._y = x, y
                    return await self._drag_data()
            return None
        finally:
            self._session.post("Input.setInterceptDrags", {"enabled": False})
            for session, context in listening:
                session.post("Runtime.evaluate", {"expression": _STOP, "contextId": context})

    async def _drag_data(self) -> JsonObject | None:
        assert self._dragged is not None
        with anyio.move_on_after(DRAG_SECONDS):
            return dict((await self._dragged)["data"])
        return None  # nothing of it can be dragged

    def _on_drag(self, event: JsonObject) -> None:
        if self._dragged is not None and not self._dragged.done():
            self._dragged.set_result(event)

    async def _event(self, kind: str, button: Button | None, count: int = 0) -> None:
        held = _BITS[self._button] if self._button else 0
        await self._session.send(
            "Input.dispatchMouseEvent",
            {
                "type": kind, "x": self._x, "y": self._y, "button": button or "none", "buttons": held,
                "clickCount": count, "modifiers": self._keyboard.modifiers, "force": 0.5 if held else 0,
            },
        )  # fmt: skip


async def _isolated(frame: Frame) -> tuple[Session, int] | None:
    isolated = {"frameId": frame.id, "worldName": "ui-mcp-drag"}
    with suppress(DevToolsError):  # the frame is gone
        return frame.session, (await frame.session.send("Page.createIsolatedWorld", isolated))["executionContextId"]
    return None


async def _has_begun(listening: Sequence[tuple[Session, int]]) -> bool:
    asked = {"expression": _HAS_BEGUN, "awaitPromise": True, "returnByValue": True}
    answers = await asyncio.gather(
        *[session.post("Runtime.evaluate", asked | {"contextId": context}) for session, context in listening],
        return_exceptions=True,
    )
    return any(isinstance(answer, dict) and answer["result"].get("value") is True for answer in answers)
