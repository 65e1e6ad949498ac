"""Reads actions that are written as lines: `click a12`, `setText a7 Ann`, `pressKey CTRL+A`."""

import re
from collections.abc import Callable

from ui_mcp.errors import UiArgumentError
from ui_mcp.introspection.arguments import Action
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.validation import InvalidDataError, read

MOST = 100
"""Actions of one call."""


_NAVIGATE = "navigate "


def opening(text: str) -> tuple[str | None, str]:
    """Return the URL of a first line `navigate URL`, None without one, and the other lines."""
    first, _, rest = text.strip().partition("\n")
    return (first.removeprefix(_NAVIGATE).strip(), rest) if first.startswith(_NAVIGATE) else (None, text)


def actions_of(text: str) -> list[Action]:
    """Return the actions of a text with one on each line.

    Raises:
        UiArgumentError: a line is no action, or there are none or too many.
    """
    found = [_action(line.strip()) for line in text.splitlines() if line.strip()]
    if not 1 <= len(found) <= MOST:
        raise UiArgumentError(f"Give 1 to {MOST} actions, each on a line, not {len(found)}")
    return found


def _action(line: str) -> Action:
    name, _, rest = line.partition(" ")
    try:
        if name not in _FORMS:
            raise ValueError(f"no such action; there are {', '.join(_FORMS)}")
        return read(Action, {"type": name, **_FORMS[name](rest.strip())})
    except (InvalidDataError, ValueError) as error:
        raise UiArgumentError(f"Not an action: {line!r}: {error}") from error


_TARGET = re.compile(r'(?P<text>"(?:\\.|[^"\\])*")|(?P<word>\S+)')


def _target(rest: str) -> tuple[JsonObject, str]:
    """Return the node that a line begins with, by uid, css or text, and what follows it."""
    found = _TARGET.match(rest)
    if found is None:
        raise ValueError("name a node")
    after = rest[found.end() :].strip()
    if found["text"]:
        return {"text": loads(found["text"])}, after
    word = found["word"]
    return ({"css": word} if word[0] in "#.[" else {"uid": word}), after


def _text(given: str) -> str:
    """Return a text as it is, or without the quotes around it."""
    if len(given) > 1 and given[0] == given[-1] == '"':
        try:
            return str(loads(given))
        except ValueError:
            return given  # quotes that are part of it
    return given


def _on_node(rest: str) -> JsonObject:
    target, more = _target(rest)
    if more:
        raise ValueError(f"{more!r} is too much")
    return {"target": target}


def _with(field: str, convert: Callable[[str], Json] = _text) -> Callable[[str], JsonObject]:
    def form(rest: str) -> JsonObject:
        target, more = _target(rest)
        return {"target": target, field: convert(more)}

    return form


def _key(rest: str) -> JsonObject:
    *modifiers, key = rest.split("+") if len(rest) > 1 else [rest]
    return {"key": key, "modifiers": list(modifiers)}


def _drag(rest: str) -> JsonObject:
    start, more = _target(rest)
    end, _ = _target(more)
    return {"from": start, "to": end}


def _dialog(rest: str) -> JsonObject:
    answer, _, text = rest.partition(" ")
    if answer not in {"accept", "dismiss"}:
        raise ValueError("say accept or dismiss")
    return {"accept": answer == "accept", **({"text": _text(text.strip())} if text else {})}


def _checked(given: str) -> bool:
    if given not in {"", "true", "false"}:
        raise ValueError("say true or false")
    return given != "false"


_FORMS: dict[str, Callable[[str], JsonObject]] = {
    **dict.fromkeys(("click", "doubleClick", "hover", "focus", "expand", "collapse"), _on_node),
    "setText": _with("text"),
    "typeText": lambda rest: {"text": _text(rest)},
    "pressKey": _key,
    "select": _with("value"),
    "setChecked": _with("checked", _checked),
    "scroll": _with("deltaY", float),
    "drag": _drag,
    "dialog": _dialog,
}
