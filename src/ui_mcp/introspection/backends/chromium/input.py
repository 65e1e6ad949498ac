"""Performs actions on driven pages by real mouse and keyboard input, or by the page script where that is equal."""

from collections.abc import Awaitable, Callable
from typing import Literal

from ui_mcp.errors import UiActionFailedError
from ui_mcp.introspection.backends.chromium.page import DialogOpenError, DrivenPage
from ui_mcp.jsontypes import JsonObject

TYPED_AT_ONCE = 8
"""Characters typed between two checks that the page is allowed."""
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


async def real_input(driven: DrivenPage, action: JsonObject) -> None:
    """Perform one action on a page.

    Raises:
        UiActionFailedError: the page refuses it, or a native dialog is open.
        UiNotEnabledError: it is the person's own page.
    """
    await driven.require_allowed()
    if action["type"] == "dialog":
        await driven.answer_dialog(accept=action.get("accept", True), text=action.get("text"))
        return
    if driven.dialog is not None:
        raise UiActionFailedError(
            f"A native {driven.dialog.type} is open: {driven.dialog.message}\nAnswer it with the dialog action.",
            reason="BEHIND_MODAL",
            stage=f"dialog-{driven.number}",
        )
    try:
        await _HANDLERS.get(action["type"], _by_script)(driven, action)
    except DialogOpenError:
        return  # the action itself opened the dialog, so it succeeded


async def _by_script(driven: DrivenPage, action: JsonObject) -> None:
    answer = await driven.call({"op": "act", "action": action})
    # The script answers with the node whose click has the wanted effect.
    if "click" in answer:
        await _click(driven, {"target": {"uid": answer["click"]}})


async def _click(driven: DrivenPage, action: JsonObject) -> None:
    x, y = await _point(driven, action)
    count = 2 if action.get("type") == "doubleClick" else action.get("clickCount", 1)
    button = _BUTTONS[action.get("button", "primary")]
    mouse = driven.page.mouse
    await _with_modifiers(driven, action, lambda: mouse.click(x, y, button=button, click_count=count))


async def _type(driven: DrivenPage, action: JsonObject) -> None:
    if "target" in action:
        await driven.call({"op": "act", "action": {"type": "focus", "target": action["target"]}})
    text = action["text"]
    for start in range(0, len(text), TYPED_AT_ONCE):
        # A keystroke may have made the page navigate to a person's page.
        await driven.require_allowed()
        await driven.unless_dialog(driven.page.keyboard.type(text[start : start + TYPED_AT_ONCE]))


async def _press(driven: DrivenPage, action: JsonObject) -> None:
    keys = [_KEYS[name] for name in action.get("modifiers", ())]
    key = action["key"]
    keys.append(_KEYS.get(key, key if len(key) > 1 else _key_of(key, shifted="SHIFT" in action.get("modifiers", ()))))
    await driven.unless_dialog(driven.page.keyboard.press("+".join(keys)))


async def _hover(driven: DrivenPage, action: JsonObject) -> None:
    x, y = await _point(driven, action)
    await driven.unless_dialog(driven.page.mouse.move(x, y))


async def _mouse_down(driven: DrivenPage, action: JsonObject) -> None:
    await _hover(driven, action)
    await driven.unless_dialog(driven.page.mouse.down(button=_BUTTONS[action.get("button", "primary")]))


async def _mouse_up(driven: DrivenPage, action: JsonObject) -> None:
    await _hover(driven, action)
    await driven.unless_dialog(driven.page.mouse.up(button=_BUTTONS[action.get("button", "primary")]))


async def _drag(driven: DrivenPage, action: JsonObject) -> None:
    await _mouse_down(driven, _end(action["from"]))
    x, y = await _point(driven, {**_end(action["to"]), "force": True})
    await driven.unless_dialog(driven.page.mouse.move(x, y, steps=8))
    await driven.unless_dialog(driven.page.mouse.up())


def _end(given: JsonObject) -> JsonObject:
    """Return an end of a drag, a node or a point, as the target of an action."""
    return given if "x" in given else {"target": given}


async def _set_files(driven: DrivenPage, action: JsonObject) -> None:
    await driven.set_files(action["target"], action["paths"])


async def _point(driven: DrivenPage, action: JsonObject) -> tuple[float, float]:
    if "target" not in action:
        return float(action["x"]), float(action["y"])
    found = await driven.call({"op": "spot", "target": action["target"], "force": action.get("force", False)})
    return found["x"], found["y"]


async def _with_modifiers(driven: DrivenPage, action: JsonObject, work: Callable[[], Awaitable[None]]) -> None:
    keys = [_KEYS[name] for name in action.get("modifiers", ())]
    for key in keys:
        await driven.page.keyboard.down(key)
    try:
        await driven.unless_dialog(work())
    finally:
        if driven.dialog is None:  # else the call would block until the dialog is answered
            for key in reversed(keys):
                await driven.page.keyboard.up(key)


def _key_of(key: str, *, shifted: bool) -> str:
    if not key.isalpha():
        return f"Digit{key}" if key.isdigit() else key
    return key if shifted else key.lower()


_HANDLERS: dict[str, Callable[[DrivenPage, JsonObject], Awaitable[None]]] = {
    "click": _click,
    "doubleClick": _click,
    "typeText": _type,
    "pressKey": _press,
    "hover": _hover,
    "mousePressed": _mouse_down,
    "mouseReleased": _mouse_up,
    "drag": _drag,
    "setFiles": _set_files,
}
