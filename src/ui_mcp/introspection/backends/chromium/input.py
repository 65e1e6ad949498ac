"""Performs actions on driven pages by real mouse and keyboard input, or by the page script where that is equal."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

from ui_mcp.errors import IntrospectError, UiActionFailedError
from ui_mcp.introspection.backends.chromium.devtools import DevToolsError
from ui_mcp.introspection.backends.chromium.mouse import Button
from ui_mcp.introspection.backends.chromium.page import DialogOpenError, DrivenPage
from ui_mcp.jsontypes import JsonObject

TYPED_AT_ONCE = 8
"""Characters typed between two checks that the page is allowed."""
_BUTTONS: dict[str, Button] = {"primary": "left", "secondary": "right", "middle": "middle"}


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
    except DevToolsError as error:
        if not driven.tab.is_closed:
            raise UiActionFailedError(f"The browser refused the action: {error}", reason="REFUSED") from error
        # The action itself may have closed the page, as a button "Close" does.


async def _by_script(driven: DrivenPage, action: JsonObject) -> None:
    answer = await driven.call({"op": "act", "action": action})
    # The script answers with the node whose click has the wanted effect.
    if "click" in answer:
        await _click(driven, {"target": {"uid": answer["click"]}})


async def _click(driven: DrivenPage, action: JsonObject) -> None:
    x, y = await _hovered_point(driven, action)
    count = 2 if action.get("type") == "doubleClick" else action.get("clickCount", 1)
    button = _BUTTONS[action.get("button", "primary")]
    await _with_modifiers(driven, action, lambda: driven.mouse.click(x, y, button, count=count))


async def _type(driven: DrivenPage, action: JsonObject) -> None:
    if "target" in action:
        await driven.call({"op": "act", "action": {"type": "focus", "target": action["target"]}})
    text = action["text"]
    for start in range(0, len(text), TYPED_AT_ONCE):
        # A keystroke may have made the page navigate to a person's page.
        await driven.require_allowed()
        await driven.unless_dialog(driven.keyboard.type(text[start : start + TYPED_AT_ONCE]))


async def _press(driven: DrivenPage, action: JsonObject) -> None:
    await driven.unless_dialog(driven.keyboard.press(action["key"], action.get("modifiers", ())))


async def _hover(driven: DrivenPage, action: JsonObject) -> None:
    x, y = await _point(driven, action)
    await driven.unless_dialog(driven.mouse.move(x, y))


async def _mouse_down(driven: DrivenPage, action: JsonObject) -> None:
    await _hover(driven, action)
    await driven.unless_dialog(driven.mouse.down(_BUTTONS[action.get("button", "primary")]))


async def _mouse_up(driven: DrivenPage, action: JsonObject) -> None:
    await _hover(driven, action)
    await driven.unless_dialog(driven.mouse.up(_BUTTONS[action.get("button", "primary")]))


async def _drag(driven: DrivenPage, action: JsonObject) -> None:
    await _mouse_down(driven, _end(action["from"]))
    x, y = await _point(driven, {**_end(action["to"]), "force": True})
    await driven.unless_dialog(driven.mouse.drag(x, y))


def _end(given: JsonObject) -> JsonObject:
    """Return an end of a drag, a node or a point, as the target of an action."""
    return given if "x" in given else {"target": given}


async def _set_files(driven: DrivenPage, action: JsonObject) -> None:
    await driven.set_files(action["target"], action["paths"])


async def _hovered_point(driven: DrivenPage, action: JsonObject) -> tuple[float, float]:
    """Return where to click; the pointer rests there already, since its arrival may change or move the node."""
    x, y = await _point(driven, action)
    if "target" in action:
        await driven.unless_dialog(driven.mouse.move(x, y))
        with suppress(IntrospectError):  # what only shows while the pointer is there may cover it
            x, y = await _point(driven, action | {"hovered": True})
    return x, y


async def _point(driven: DrivenPage, action: JsonObject) -> tuple[float, float]:
    if "target" not in action:
        return float(action["x"]), float(action["y"])
    options = {"force": action.get("force", False), "hovered": action.get("hovered", False)}
    if action.get("type") == "hover":
        options["passive"] = True  # a disabled node may have a tooltip
    found = await driven.call({"op": "spot", "target": action["target"], **options})
    return found["x"], found["y"]


async def _with_modifiers(driven: DrivenPage, action: JsonObject, work: Callable[[], Awaitable[None]]) -> None:
    held = action.get("modifiers", ())
    driven.keyboard.hold(held)
    try:
        await driven.unless_dialog(work())
    finally:
        driven.keyboard.release(held)  # not awaited: while a dialog is open, no answer comes


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
