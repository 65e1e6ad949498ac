"""Real key strokes in a page, as a US keyboard makes them."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from ui_mcp.introspection.backends.chromium.devtools import Session
from ui_mcp.jsontypes import JsonObject


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its name in events, its position (`code` in events), its Windows number, and the text it makes."""

    key: str
    position: str
    number: int
    text: str = ""
    location: int = 0


MODIFIERS = {"ALT": 1, "CONTROL": 2, "META": 4, "SHIFT": 8}
_SHORTCUT = "META" if sys.platform == "darwin" else "CONTROL"
_EDITING = {"A": "selectAll", "C": "copy", "V": "paste", "X": "cut", "Z": "undo"}
"""What macOS does for Command and a letter; there the page gets no default action from keys alone."""

_NAMED = {
    "ENTER": Key("Enter", "Enter", 13, "\r"), "TAB": Key("Tab", "Tab", 9), "ESCAPE": Key("Escape", "Escape", 27),
    "SPACE": Key(" ", "Space", 32, " "), "BACK_SPACE": Key("Backspace", "Backspace", 8),
    "DELETE": Key("Delete", "Delete", 46), "INSERT": Key("Insert", "Insert", 45), "HOME": Key("Home", "Home", 36),
    "END": Key("End", "End", 35), "PAGE_UP": Key("PageUp", "PageUp", 33), "PAGE_DOWN": Key("PageDown", "PageDown", 34),
    "LEFT": Key("ArrowLeft", "ArrowLeft", 37), "UP": Key("ArrowUp", "ArrowUp", 38),
    "RIGHT": Key("ArrowRight", "ArrowRight", 39), "DOWN": Key("ArrowDown", "ArrowDown", 40),
    "CONTEXT_MENU": Key("ContextMenu", "ContextMenu", 93), "SHIFT": Key("Shift", "ShiftLeft", 16, location=1),
    "CONTROL": Key("Control", "ControlLeft", 17, location=1), "ALT": Key("Alt", "AltLeft", 18, location=1),
    "META": Key("Meta", "MetaLeft", 91, location=1),
    **{f"F{number}": Key(f"F{number}", f"F{number}", 111 + number) for number in range(1, 13)},
}  # fmt: skip

_PUNCTUATION = {
    "SEMICOLON": (";:", "Semicolon", 186), "EQUALS": ("=+", "Equal", 187), "COMMA": (",<", "Comma", 188),
    "MINUS": ("-_", "Minus", 189), "PERIOD": (".>", "Period", 190), "SLASH": ("/?", "Slash", 191),
    "BACK_QUOTE": ("`~", "Backquote", 192), "OPEN_BRACKET": ("[{", "BracketLeft", 219),
    "BACK_SLASH": ("\\|", "Backslash", 220), "CLOSE_BRACKET": ("]}", "BracketRight", 221),
    "QUOTE": ("'\"", "Quote", 222),
}  # fmt: skip


_DIGITS, _ABOVE_DIGITS = "0123456789", ")!@#$%^&*("


def _characters() -> dict[str, Key]:
    """Return the keys by the characters they make."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    keys = [(letter + letter.upper(), f"Key{letter.upper()}", ord(letter.upper())) for letter in letters]
    keys += [
        (digit + shifted, f"Digit{digit}", ord(digit)) for digit, shifted in zip(_DIGITS, _ABOVE_DIGITS, strict=True)
    ]
    keys += _PUNCTUATION.values()
    made = {char: Key(char, code, number, char) for chars, code, number in keys for char in chars}
    return made | {" ": _NAMED["SPACE"], "\n": _NAMED["ENTER"], "\r": _NAMED["ENTER"]}


_CHARACTERS = _characters()
_SHIFTED = {chars[0]: chars[1] for chars, _, _ in _PUNCTUATION.values()} | dict(
    zip(_DIGITS, _ABOVE_DIGITS, strict=True)
)


class Keyboard:
    """Sends key events to the element with the focus, in whichever frame it is."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.modifiers = 0
        """Bits of the modifier keys that are down."""

    async def type(self, text: str) -> None:
        """Type a text; characters that no key makes are inserted, as an input method does."""
        await asyncio.gather(*[event for character in text for event in self._typed(character)])

    async def press(self, name: str, modifiers: Sequence[str] = ()) -> None:
        """Press and release a key, named as in the contract, while modifiers are held."""
        held = [modifier_key(modifier) for modifier in modifiers]
        key = key_of(name, shifted="SHIFT" in held)
        await asyncio.gather(*self.hold(held), self._down(key, name), self._up(key), *self.release(held))

    def hold(self, modifiers: Sequence[str]) -> "list[asyncio.Future[JsonObject]]":
        """Press modifier keys."""
        sent = []
        for name in modifiers:
            self.modifiers |= MODIFIERS.get(modifier_key(name), 0)
            sent.append(self._down(_NAMED[modifier_key(name)]))
        return sent

    def release(self, modifiers: Sequence[str]) -> "list[asyncio.Future[JsonObject]]":
        """Release modifier keys, the last one first."""
        sent = []
        for name in reversed(modifiers):
            self.modifiers &= ~MODIFIERS.get(modifier_key(name), 0)
            sent.append(self._up(_NAMED[modifier_key(name)]))
        return sent

    def _typed(self, character: str) -> "list[asyncio.Future[JsonObject]]":
        key = _CHARACTERS.get(character)
        if key is None:
            return [self._session.post("Input.insertText", {"text": character})]
        return [self._down(key), self._up(key)]

    def _down(self, key: Key, name: str = "") -> "asyncio.Future[JsonObject]":
        # With Control, Alt or Meta a key makes no text.
        text = "" if self.modifiers & ~MODIFIERS["SHIFT"] else key.text
        event = {"type": "keyDown" if text else "rawKeyDown", "text": text, "unmodifiedText": text}
        if sys.platform == "darwin" and self.modifiers & MODIFIERS["META"] and name in _EDITING:
            event["commands"] = [_EDITING[name]]  # type: ignore[assignment]
        return self._session.post("Input.dispatchKeyEvent", event | self._described(key))

    def _up(self, key: Key) -> "asyncio.Future[JsonObject]":
        return self._session.post("Input.dispatchKeyEvent", {"type": "keyUp"} | self._described(key))

    def _described(self, key: Key) -> JsonObject:
        return {
            "key": key.key, "code": key.position, "windowsVirtualKeyCode": key.number, "location": key.location,
            "modifiers": self.modifiers,
        }  # fmt: skip


def modifier_key(name: str) -> str:
    """Return the key of a modifier; SHORTCUT is Command on macOS and Control elsewhere."""
    return _SHORTCUT if name == "SHORTCUT" else name


def key_of(name: str, *, shifted: bool) -> Key:
    """Return the key of a name of the contract, such as ENTER, COMMA, A or 7."""
    if name in _NAMED:
        return _NAMED[name]
    plain = _PUNCTUATION[name][0][0] if name in _PUNCTUATION else name.lower()
    character = (plain.upper() if plain.isalpha() else _SHIFTED[plain]) if shifted else plain
    return _CHARACTERS[character]
