"""Real mouse and keyboard input for driven pages; what the DOM does as well is left to the page script."""

from collections.abc import Awaitable, Callable
from typing import Literal

from ui_mcp.errors import UiActionFailedError
from ui_mcp.introspection.backends.chromium_page import DialogOpenError, DrivenPage
from ui_mcp.jsontypes import JsonObject

TYPED_AT_ONCE = 8
"""Letters between two looks at where the page is."""
_BUTTONS: dict[str, Literal["left", "right", "middle"]] = {"primary": "left", "secondary": "right", "middle": "middle"}
_KEYS = {
    "ENTER": "Enter", "TAB": "Tab", "ESCAPE": "Escape", "SPACE": "Space", "BACK_SPACE": "Backspace",
    "DELETE": "Delete", "INSERT": "Insert", "HOME": "Home", "END": "End", "PAGE_UP": "PageUp",
    "PAGE_DOWN": "PageDown", "UP": "ArrowUp", "DOWN": "ArrowDown", "LEFT": "ArrowLeft", "RIGHT": "ArrowRight",
    "CONTROL": "Control", "SHIFT": "Shift", "ALT": "Alt", "META": "Meta", "SHORTCUT": "ControlOrMeta",
    "COMMA": "Comma", "PERIOD": "Period", "SLASH": "Slash", "SEMICOLON": "Semicolon", "EQUALS": "Equal",
    "MINUS": "Minus", "QUOTE": "Quote", "BACK_QUOTE": "Backquote", "BACK_SLASH": "Backslash",
    "OPEN_BRACKET": "BracketLeft", "CLOSE_BRACKET": "BracketRight", "CONTEXT_MENU": "ContextMenu",
}  # fmt: skip


async def real_input(lens: DrivenPage, action: JsonObject) -> None:
    """Do one action on a page.

    Raises:
        UiActionFailedError: the page or a native dialog is in the way.
        UiNotEnabledError: it is the person's own page.
    """
    await lens.expect_allowed()
    if action["type"] == "dialog":
        await lens.answer_dialog(accept=action.get("accept", True), text=action.get("text"))
        return
    if lens.dialog is not None:
        raise UiActionFailedError(
            f"A native {lens.dialog.type} is open: {lens.dialog.message}\nAnswer it with the dialog action.",
            reason="BEHIND_MODAL",
            stage=f"dialog-{lens.number}",
        )
    try:
        await _DOERS.get(action["type"], _by_script)(lens, action)
    except DialogOpenError:
        return  # the action opened it: done, and the next look shows it


async def _by_script(lens: DrivenPage, action: JsonObject) -> None:
    answer = await lens.call({"op": "act", "action": action})
    if "click" in answer:
        await _click(lens, {"target": {"uid": answer["click"]}})


async def _click(lens: DrivenPage, action: JsonObject) -> None:
    x, y = await _spot(lens, action)
    count = 2 if action.get("type") == "doubleClick" else action.get("clickCount", 1)
    button = _BUTTONS[action.get("button", "primary")]
    mouse = lens.page.mouse
    await _held(lens, action, lambda: mouse.click(x, y, button=button, click_count=count))


async def _type(lens: DrivenPage, action: JsonObject) -> None:
    if "target" in action:
        await lens.call({"op": "act", "action": {"type": "focus", "target": action["target"]}})
    text = action["text"]
    for start in range(0, len(text), TYPED_AT_ONCE):
        # The first letter may have sent the page elsewhere.
        await lens.expect_allowed()
        await lens.unless_dialog(lens.page.keyboard.type(text[start : start + TYPED_AT_ONCE]))


async def _press(lens: DrivenPage, action: JsonObject) -> None:
    keys = [_KEYS[name] for name in action.get("modifiers", ())]
    key = action["key"]
    keys.append(_KEYS.get(key, key if len(key) > 1 else _letter(key, shifted="SHIFT" in action.get("modifiers", ()))))
    await lens.unless_dialog(lens.page.keyboard.press("+".join(keys)))


async def _hover(lens: DrivenPage, action: JsonObject) -> None:
    x, y = await _spot(lens, action)
    await lens.unless_dialog(lens.page.mouse.move(x, y))


async def _down(lens: DrivenPage, action: JsonObject) -> None:
    await _hover(lens, action)
    await lens.unless_dialog(lens.page.mouse.down(button=_BUTTONS[action.get("button", "primary")]))


async def _up(lens: DrivenPage, action: JsonObject) -> None:
    await _hover(lens, action)
    await lens.unless_dialog(lens.page.mouse.up(button=_BUTTONS[action.get("button", "primary")]))


async def _drag(lens: DrivenPage, action: JsonObject) -> None:
    await _down(lens, {"target": action["from"]})
    x, y = await _spot(lens, {"target": action["to"], "force": True})
    await lens.unless_dialog(lens.page.mouse.move(x, y, steps=8))
    await lens.unless_dialog(lens.page.mouse.up())


async def _set_files(lens: DrivenPage, action: JsonObject) -> None:
    await lens.set_files(action["target"], action["paths"])


async def _spot(lens: DrivenPage, action: JsonObject) -> tuple[float, float]:
    if "target" not in action:
        return float(action["x"]), float(action["y"])
    found = await lens.call({"op": "spot", "target": action["target"], "force": action.get("force", False)})
    return found["x"], found["y"]


async def _held(lens: DrivenPage, action: JsonObject, work: Callable[[], Awaitable[None]]) -> None:
    keys = [_KEYS[name] for name in action.get("modifiers", ())]
    for key in keys:
        await lens.page.keyboard.down(key)
    try:
        await lens.unless_dialog(work())
    finally:
        if lens.dialog is None:
            for key in reversed(keys):
                await lens.page.keyboard.up(key)


def _letter(key: str, *, shifted: bool) -> str:
    if not key.isalpha():
        return f"Digit{key}" if key.isdigit() else key
    return key if shifted else key.lower()


_DOERS: dict[str, Callable[[DrivenPage, JsonObject], Awaitable[None]]] = {
    "click": _click,
    "doubleClick": _click,
    "typeText": _type,
    "pressKey": _press,
    "hover": _hover,
    "mousePressed": _down,
    "mouseReleased": _up,
    "drag": _drag,
    "setFiles": _set_files,
}
