"""Writes a recording as a test for Playwright."""

from collections.abc import Sequence

from ui_mcp.introspection.recording.recorder import VARIABLE, Recording
from ui_mcp.jsontypes import JsonObject, dumps

_ROLES = frozenset({
    "alert", "alertdialog", "article", "button", "cell", "checkbox", "columnheader", "combobox", "dialog", "grid",
    "gridcell", "heading", "img", "link", "list", "listbox", "listitem", "menu", "menuitem", "menuitemcheckbox",
    "menuitemradio", "option", "progressbar", "radio", "radiogroup", "region", "row", "rowheader", "searchbox",
    "slider", "spinbutton", "status", "switch", "tab", "table", "tablist", "tabpanel", "textbox", "toolbar", "tree",
    "treeitem",
})  # fmt: skip
_ROWS = "tr, li, [role=row], [role=listitem], [role=option], [role=treeitem]"
_KEYS = {
    "ENTER": "Enter", "ESCAPE": "Escape", "SPACE": "Space", "TAB": "Tab", "UP": "ArrowUp", "DOWN": "ArrowDown",
    "LEFT": "ArrowLeft", "RIGHT": "ArrowRight", "PAGE_UP": "PageUp", "PAGE_DOWN": "PageDown", "HOME": "Home",
    "END": "End", "DELETE": "Delete", "BACK_SPACE": "Backspace",
}  # fmt: skip
_MODIFIERS = {"CTRL": "Control", "CONTROL": "Control", "SHIFT": "Shift", "ALT": "Alt", "META": "Meta"}


def code(recording: Recording) -> str:
    """Return the test as TypeScript."""
    lines = [line for step in recording.steps for line in _step(step)]
    opening = [f"await page.goto({dumps(recording.url)});"] if recording.url else []
    notes = [f"// {note}" for note in recording.notes]
    body = "\n".join(f"  {line}" for line in [*notes, *opening, *lines])
    head = 'import { expect, test } from "@playwright/test";\n\ntest("recording", async ({ page }) => {'
    return f"{head}\n{body}\n}});\n"


def _step(step: JsonObject) -> Sequence[str]:
    if "expect" in step:
        return [_expectation(step["expect"])]
    at = _locator(step["target"]) if "target" in step else ""
    match step["type"]:
        case "click" | "doubleClick" | "hover" | "focus" as kind:
            return [f"await {at}.{_METHODS[kind]}({_click_options(step)});"] if at else [_at_point(step)]
        case "setText":
            return [f"await {at}.fill({_text(step)});"]
        case "typeText":
            return [
                f"await {at}.pressSequentially({_text(step)});" if at else f"await page.keyboard.type({_text(step)});"
            ]
        case "pressKey":
            keys = [*(_MODIFIERS.get(name, name) for name in step.get("modifiers", ())), _key(step["key"])]
            return [f"await page.keyboard.press({dumps('+'.join(keys))});"]
        case "setChecked":
            return [f"await {at}.setChecked({dumps(step['checked'])});"]
        case "select" if "value" in step:
            return [f"await {at}.selectOption({dumps(step['value'])});"]
        case "drag" if "role" in step["from"] or "text" in step["from"] or "css" in step["from"]:
            return [f"await {_locator(step['from'])}.dragTo({_locator(step['to'])});"]
        case "dialog":
            answer = "accept" if step.get("accept", True) else "dismiss"
            return [f"// before the step above: page.once('dialog', (dialog) => dialog.{answer}());"]
    return [f"// not written: {dumps(step)}"]


_METHODS = {"click": "click", "doubleClick": "dblclick", "hover": "hover", "focus": "focus"}


def _at_point(step: JsonObject) -> str:
    method = {"doubleClick": "dblclick", "hover": "move"}.get(step["type"], "click")
    return f"await page.mouse.{method}({step.get('x', 0)}, {step.get('y', 0)});"


def _click_options(step: JsonObject) -> str:
    options: JsonObject = {}
    if step.get("button", "left") != "left":
        options["button"] = step["button"]
    if step.get("modifiers"):
        options["modifiers"] = [_MODIFIERS.get(name, name) for name in step["modifiers"]]
    return dumps(options) if options else ""


def _text(step: JsonObject) -> str:
    text = str(step.get("text", ""))
    if text.startswith(f"${{{VARIABLE}") and text.endswith("}"):
        return f"process.env.{text[2:-1]}!"
    return dumps(text)


def _key(name: str) -> str:
    return _KEYS.get(name, name if len(name) > 1 else name.lower())


def _locator(given: JsonObject) -> str:
    inside = "page"
    if "row" in given:
        inside = f"page.locator({dumps(_ROWS)}).filter({{ hasText: {dumps(given['row'])} }})"
    found = _inner(given)
    nth = f".nth({given['nth']})" if "nth" in given else ".first()"
    return f"{inside}{'.' if found else ''}{found}{nth}"


def _inner(given: JsonObject) -> str:
    role, text = given.get("role"), given.get("text")
    if "css" in given:
        return f"locator({dumps(given['css'])})"
    if role in _ROLES:
        named = f", {{ name: {dumps(text)}, exact: true }}" if text is not None else ""
        return f"getByRole({dumps(role)}{named})"
    if role is not None:
        having = f", {{ hasText: {dumps(text)} }}" if text is not None else ""
        return f"locator({dumps(role)}{having})"
    return f"getByText({dumps(text)}, {{ exact: true }})" if text is not None else ""


def _expectation(expected: JsonObject) -> str:
    selector, text = expected["selector"], expected.get("text")
    if expected.get("count") is not None:
        return f"await expect(page.getByText({dumps(selector.get('text', ''))})).toHaveCount({expected['count']});"
    if "css" not in selector:
        shown = f"await expect(page.getByText({dumps(selector['text'])}).first()).toBeVisible();"
        field = f"await expect(page.getByLabel({dumps(selector['text'])}).first()).toHaveValue({dumps(text)});"
        return shown if text is None else field
    at = f"page.locator({dumps(selector['css'])}).first()"
    # A field has its text as its value.
    return f"await expect.poll(() => {at}.evaluate((e: any) => e.value ?? e.textContent)).toContain({dumps(text)});"
