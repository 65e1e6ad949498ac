"""The actions an agent may ask for, and the neutral names of keys."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from ui_mcp.errors import UiActionFailedError
from ui_mcp.introspect.requests import ActionTarget, Request
from ui_mcp.jsontypes import Json, JsonObject

ActionType = Literal[
    "focus", "click", "doubleClick", "typeText", "setText", "pressKey", "scroll", "hover", "mousePressed",
    "mouseReleased", "drag", "select", "setChecked", "expand", "collapse", "setFiles", "dialog",
]  # fmt: skip

_MODIFIERS = {
    "CTRL": "CONTROL", "CONTROL": "CONTROL", "SHIFT": "SHIFT", "ALT": "ALT", "META": "META", "CMD": "META",
    "COMMAND": "META", "SHORTCUT": "SHORTCUT",
}  # fmt: skip

_NAMED_KEYS = frozenset({
    "ENTER", "TAB", "ESCAPE", "SPACE", "BACK_SPACE", "DELETE", "INSERT", "HOME", "END", "PAGE_UP", "PAGE_DOWN", "UP",
    "DOWN", "LEFT", "RIGHT", "SHIFT", "CONTROL", "ALT", "META", "COMMA", "PERIOD", "SLASH", "SEMICOLON", "EQUALS",
    "MINUS", "QUOTE", "BACK_QUOTE", "BACK_SLASH", "OPEN_BRACKET", "CLOSE_BRACKET", "CONTEXT_MENU",
    *(f"F{number}" for number in range(1, 13)),
})  # fmt: skip
_SPELLINGS = {
    "RETURN": "ENTER", "ESC": "ESCAPE", "BACKSPACE": "BACK_SPACE", "DEL": "DELETE", "PAGEUP": "PAGE_UP",
    "PAGEDOWN": "PAGE_DOWN", "ARROWUP": "UP", "ARROWDOWN": "DOWN", "ARROWLEFT": "LEFT", "ARROWRIGHT": "RIGHT",
    " ": "SPACE", "CTRL": "CONTROL",
}  # fmt: skip


class Action(Request):
    """One thing to do. `target` is a ref, `{ref}`, `{uid}` or a bare uid."""

    type: ActionType
    target: ActionTarget | None = None
    x: float | None = Field(None, description="Screen coordinate (viewport for pages), instead of a target.")
    y: float | None = None
    text: str | None = Field(None, description="For typeText, setText and dialog.")
    key: str | None = Field(None, description="ENTER, TAB, ESCAPE, F5, A, …")
    modifiers: list[str] = Field(default_factory=list, description="CTRL, SHIFT, ALT, META, SHORTCUT.")
    delta_x: float = 0
    delta_y: float = Field(0, description="Pixels; negative scrolls down.")
    to_index: int | None = Field(None, description="Row to scroll to.")
    index: int | None = None
    column_id: str | None = None
    value: str | None = Field(None, description="Option to select.")
    checked: bool | None = None
    button: Literal["primary", "secondary", "middle"] = "primary"
    click_count: int = Field(1, ge=1, le=3)
    from_: ActionTarget | None = Field(None, alias="from")
    to: ActionTarget | None = None
    paths: list[str] | None = None
    accept: bool | None = None
    force: bool = Field(False, description="Act although something covers the node or it is off-screen.")
    native: bool = Field(False, description="JavaFX: move the real pointer.")

    def wire(self) -> JsonObject:
        """Return the action for a backend, names made neutral.

        Raises:
            UiActionFailedError: an unknown key or modifier, or a field this type needs is missing.
        """
        written = self.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True) | {"type": self.type}
        for part in ("target", "from", "to"):
            if part in written:
                written[part] = {"uid": written[part].get("uid"), "path": written[part].get("path")}
        if self.key is not None:
            written["key"] = key_name(self.key)
        if self.modifiers:
            written["modifiers"] = [modifier_name(name) for name in self.modifiers]
        self._require_fields()
        return written

    def _require_fields(self) -> None:
        missing = [name for name in _NEEDED.get(self.type, ()) if getattr(self, name) is None]
        pointed = self.type in {"click", "doubleClick", "mousePressed", "mouseReleased", "hover"}
        if pointed and self.target is None and (self.x is None or self.y is None):
            missing.append("target, or x and y")
        if missing:
            raise UiActionFailedError(f"{self.type} needs {', '.join(missing)}", reason="MISSING_FIELD")


_NEEDED: dict[str, tuple[str, ...]] = {
    "focus": ("target",),
    "typeText": ("text",),
    "setText": ("target", "text"),
    "pressKey": ("key",),
    "drag": ("from_", "to"),
    "select": ("target",),
    "setChecked": ("target", "checked"),
    "expand": ("target",),
    "collapse": ("target",),
    "setFiles": ("target", "paths"),
}


def _one_or_many(value: Json) -> Json:
    return [value] if isinstance(value, dict) else value


Actions = Annotated[list[Action], BeforeValidator(_one_or_many), Field(min_length=1, max_length=100)]


def key_name(given: str) -> str:
    """Return the neutral name of a key.

    Raises:
        UiActionFailedError: no such key.
    """
    name = given.upper() if len(given) > 1 or given.isalpha() else given
    name = _SPELLINGS.get(name, name)
    if name in _NAMED_KEYS or (len(name) == 1 and name.isalnum() and name.isascii()):
        return name
    raise UiActionFailedError(
        f"Unknown key {given!r}\nUse names like ENTER, TAB, ESCAPE, PAGE_DOWN, F5, A.", reason="INVALID_KEY_CODE"
    )


def modifier_name(given: str) -> str:
    """Return the neutral name of a modifier.

    Raises:
        UiActionFailedError: no such modifier.
    """
    name = _MODIFIERS.get(given.upper())
    if name is None:
        known = ", ".join(sorted(_MODIFIERS))
        raise UiActionFailedError(f"Unknown modifier {given!r}\nUse one of {known}.", reason="INVALID_KEY_CODE")
    return name
