"""Argument models of the introspection tools and of UI actions."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from ui_mcp.errors import UiActionFailedError
from ui_mcp.introspection.contract import Ref, Section
from ui_mcp.jsontypes import Json, JsonObject


class Request(BaseModel):
    """Base of everything an agent sends: camelCase outside, unknown fields ignored."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel, populate_by_name=True)


def _as_ref(value: Json) -> Json:
    return {"uid": value} if isinstance(value, str) else value


class NodeRef(Request):
    """A node: `uid` as an earlier answer gave it (or `path`)."""

    uid: str | None = Field(None, description="Stable id, e.g. the word after the type in the outline.")
    path: str | None = Field(None, description="Canonical path, used when the uid is absent or gone.")
    hint: JsonObject | None = Field(
        None, description="{id?, type?, text?}: helps to name candidates, never changes the result."
    )

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.uid and not self.path:
            raise ValueError("name the node by uid or path; ui_query finds it by css or text")
        return self

    def ref(self) -> Ref:
        return Ref(self.uid, self.path, self.hint)


AnyRef = Annotated[NodeRef, BeforeValidator(_as_ref)]


def _as_target(value: Json) -> Json:
    if isinstance(value, dict) and "ref" in value:
        return _as_ref(value["ref"])
    return _as_ref(value)


ActionTarget = Annotated[NodeRef, BeforeValidator(_as_target)]


class Include(Request):
    """Which sections to write; absent ones follow the mode."""

    bounds: bool | None = Field(None, description="boundsInParent and boundsInScene.")
    local_to_screen: bool | None = Field(None, description="Screen rectangle, the space of click x and y.")
    properties: bool | None = Field(None, description="Tooltip and user data.")
    virtualization: bool | None = Field(None, description="Rows of lists, tables and trees.")
    accessibility: bool | None = Field(None, description="Role and help.")
    internals: bool | None = Field(None, description="Parts inside controls as well.")
    reach: bool | None = Field(None, description="Whether each node is in view, covered, or behind a dialog (off).")
    popups: bool | None = Field(None, description="Menus, tooltips and other popups (on).")

    def sections(self, defaults: frozenset[Section]) -> frozenset[Section]:
        """Return `defaults` with the given choices applied."""
        chosen: dict[Section, bool | None] = {
            "bounds": self.bounds,
            "localToScreen": self.local_to_screen,
            "properties": self.properties,
            "virtualization": self.virtualization,
            "accessibility": self.accessibility,
            "reach": self.reach,
        }
        return frozenset(name for name, given in chosen.items() if (name in defaults if given is None else given))


class Predicate(Request):
    """Conditions that must all hold; an unknown one is an error, since dropping it would match the wrong nodes."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)

    type_is: list[str] | None = Field(None, description="Any of these types.")
    id_equals: str | None = None
    style_class_has: str | None = None
    text_contains: str | None = Field(None, description="Case does not matter.")
    visible: bool | None = Field(None, description="Ancestors count too.")
    enabled: bool | None = None


class Selector(Request):
    """css, text and predicate; all that are given must hold."""

    css: str | None = Field(None, description="#id, .class, Type, A > B, A B.")
    text: str | None = Field(None, description="Text a person sees.")
    match: Literal["contains", "equals", "regex"] = Field("contains", description="How `text` is compared.")
    predicate: Predicate | None = None


class Scope(Request):
    """Where to look."""

    stage: Literal["focused", "index", "all"] = "focused"
    stage_index: int | None = None


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

_KEY_ALIASES = {
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
        """Return the action for a backend, with toolkit-neutral names of keys and modifiers.

        Raises:
            UiActionFailedError: a key or modifier is unknown, or a field that the type requires is missing.
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
        missing = [name for name in _REQUIRED_FIELDS.get(self.type, ()) if getattr(self, name) is None]
        needs_point = self.type in {"click", "doubleClick", "mousePressed", "mouseReleased", "hover"}
        if needs_point and self.target is None and (self.x is None or self.y is None):
            missing.append("target, or x and y")
        if missing:
            raise UiActionFailedError(f"{self.type} needs {', '.join(missing)}", reason="MISSING_FIELD")


_REQUIRED_FIELDS: dict[str, tuple[str, ...]] = {
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


def _as_list(value: Json) -> Json:
    return [value] if isinstance(value, dict) else value


Actions = Annotated[list[Action], BeforeValidator(_as_list), Field(min_length=1, max_length=100)]


def key_name(given: str) -> str:
    """Return the toolkit-neutral name of a key.

    Raises:
        UiActionFailedError: there is no such key.
    """
    name = given.upper() if len(given) > 1 or given.isalpha() else given
    name = _KEY_ALIASES.get(name, name)
    if name in _NAMED_KEYS or (len(name) == 1 and name.isalnum() and name.isascii()):
        return name
    raise UiActionFailedError(
        f"Unknown key {given!r}\nUse names like ENTER, TAB, ESCAPE, PAGE_DOWN, F5, A.", reason="INVALID_KEY_CODE"
    )


def modifier_name(given: str) -> str:
    """Return the toolkit-neutral name of a modifier.

    Raises:
        UiActionFailedError: there is no such modifier.
    """
    name = _MODIFIERS.get(given.upper())
    if name is None:
        known = ", ".join(sorted(_MODIFIERS))
        raise UiActionFailedError(f"Unknown modifier {given!r}\nUse one of {known}.", reason="INVALID_KEY_CODE")
    return name
