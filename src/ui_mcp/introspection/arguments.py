"""Argument models of the introspection tools and of UI actions."""

from dataclasses import dataclass, fields
from typing import Annotated, ClassVar, Literal

from ui_mcp.errors import UiActionFailedError
from ui_mcp.fields import Before, Length, Limit, Named, Rules, Schema
from ui_mcp.introspection.contract import Ref, Section
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.validation import to_json


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


@dataclass(frozen=True, slots=True)
class Request:
    """Base of everything an agent sends: camelCase outside, unknown fields ignored."""

    RULES: ClassVar = Rules(unknown="ignore", spelling=_camel)


def _as_ref(value: Json) -> Json:
    return {"uid": value} if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class NodeRef(Request):
    """A node: `uid` as an earlier answer gave it (or `path`)."""

    uid: str | None = None
    path: str | None = None
    """Canonical path, used when the uid is absent or gone."""
    hint: JsonObject | None = None
    """{id?, type?, text?}: helps to name candidates, never changes the result."""

    def __post_init__(self) -> None:
        if not self.uid and not self.path:
            raise ValueError("name the node by uid or path; ui_query finds it by css or text")

    def ref(self) -> Ref:
        return Ref(self.uid, self.path, self.hint)


_UID = Schema({"type": "string"})
"""References are listed as bare uids, which is what answers show; objects are understood as well."""

AnyRef = Annotated[NodeRef, Before(_as_ref), _UID]


WHOLE = Schema({"type": "integer"})
"""A number as it is listed: every conversation would pay for limits that an error names."""


@dataclass(frozen=True, slots=True)
class Include(Request):
    """Which sections to write; absent ones follow the mode."""

    bounds: Annotated[bool | None, "boundsInParent and boundsInScene."] = None
    local_to_screen: Annotated[bool | None, "Screen rectangle, the space of click x and y."] = None
    properties: Annotated[bool | None, "Tooltip and user data."] = None
    virtualization: Annotated[bool | None, "Rows of lists, tables and trees."] = None
    accessibility: Annotated[bool | None, "Role and help."] = None
    internals: Annotated[bool | None, "Parts inside controls as well."] = None
    reach: Annotated[bool | None, "Whether each node is in view, covered, or behind a dialog (off)."] = None
    popups: Annotated[bool | None, "Menus, tooltips and other popups (on)."] = None

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


SECTIONS = Schema(
    {
        "type": "object",
        "properties": {_camel(section.name): {"type": "boolean"} for section in fields(Include)},
    }
)
"""`Include` as it is listed: what each section is, its name says well enough."""


@dataclass(frozen=True, slots=True)
class Predicate(Request):
    """Conditions that must all hold; an unknown one is an error, since dropping it would match the wrong nodes."""

    RULES: ClassVar = Rules(spelling=_camel)

    type_is: list[str] | None = None
    id_equals: str | None = None
    style_class_has: str | None = None
    text_contains: str | None = None
    visible: bool | None = None
    enabled: bool | None = None


@dataclass(frozen=True, slots=True)
class Selector(Request):
    """css, text and predicate; all that are given must hold."""

    css: Annotated[str | None, "#id, .class, Type, A > B, A B."] = None
    text: Annotated[str | None, "Text a person sees."] = None
    match: Literal["contains", "equals", "regex"] = "contains"
    predicate: Predicate | None = None
    role: str | None = None
    """Accessible role, or the type of what has none: `button`, `text_field`, `sl-button`."""
    row: str | None = None
    """Text in the row that the node is in; alone, it means the row itself."""
    nth: Annotated[int, Limit(ge=0)] = 0
    """Which of several visible matches an action means."""


_WORD: JsonObject = {"type": "string"}
_FLAG: JsonObject = {"type": "boolean"}
_PREDICATE: JsonObject = {
    "typeIs": {"type": "array", "items": _WORD},
    **dict.fromkeys(("idEquals", "styleClassHas", "textContains"), _WORD),
    **dict.fromkeys(("visible", "enabled"), _FLAG),
}
LONG_SELECTOR = Schema(
    {
        "type": "object",
        "properties": {
            "css": {**_WORD, "description": "#id, .class, Type, A > B, A B."},
            "text": {**_WORD, "description": "Text a person sees."},
            "match": {**_WORD, "enum": ["contains", "equals", "regex"], "default": "contains"},
            "predicate": {"type": "object", "properties": _PREDICATE, "additionalProperties": False},
        },
    }
)
"""`Selector` as it is listed for searching; role, row and nth are understood as well."""

SHORT_SELECTOR = Schema({"type": "object", "properties": {"css": {"type": "string"}, "text": {"type": "string"}}})
"""`Selector` as the tools list it that are not for searching; the rest is understood as well."""


@dataclass(frozen=True, slots=True)
class ActionNode(Request):
    """A node: `uid` (or `path`), or the first visible one that `css` and `text` match; for drag also a point x, y."""

    uid: str | None = None
    path: str | None = None
    hint: JsonObject | None = None
    css: str | None = None
    text: str | None = None
    match: Literal["contains", "equals", "regex"] = "contains"
    predicate: Predicate | None = None
    role: str | None = None
    row: str | None = None
    nth: Annotated[int, Limit(ge=0)] = 0
    x: float | None = None
    y: float | None = None

    def __post_init__(self) -> None:
        point = self.x is not None and self.y is not None
        if not (self.uid or self.path or self._describes() or point):
            raise ValueError("name the node by uid, path, css or text")

    def ref(self) -> Ref:
        return Ref(self.uid, self.path, self.hint)

    def selector(self) -> Selector | None:
        """Return what to look for, or None if the node is named by uid, path or point."""
        if self.uid or self.path or not self._describes():
            return None
        return Selector(self.css, self.text, self.match, self.predicate, self.role, self.row, self.nth)

    def _describes(self) -> bool:
        return bool(self.css or self.text or self.predicate or self.role or self.row)

    def wire(self) -> JsonObject:
        """Return the reference or point for a backend."""
        if self.uid is None and self.path is None and self.x is not None:
            return {"x": self.x, "y": self.y}
        return {"uid": self.uid, "path": self.path}


def _as_target(value: Json) -> Json:
    if isinstance(value, dict) and "ref" in value:
        return _as_ref(value["ref"])
    return _as_ref(value)


ActionTarget = Annotated[ActionNode, Before(_as_target), _UID]


@dataclass(frozen=True, slots=True)
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


_BUTTONS = {"left": "primary", "right": "secondary", "middle": "middle"}
"""The names that hosts' models know → those of the contract, which are understood as well."""


def _as_button(value: Json) -> Json:
    return next((name for name, of_contract in _BUTTONS.items() if of_contract == value), value)


@dataclass(frozen=True, slots=True)
class Action(Request):
    """One thing to do; `target` is a uid, `{uid}`, `{css}` or `{text}`."""

    type: ActionType
    target: ActionTarget | None = None
    x: Annotated[float | None, "Screen coordinate (viewport for pages), instead of a target."] = None
    y: float | None = None
    text: Annotated[str | None, "For typeText, setText and dialog."] = None
    key: Annotated[str | None, "ENTER, TAB, ESCAPE, F5, A, …"] = None
    modifiers: Annotated[tuple[str, ...], "CTRL, SHIFT, ALT, META, SHORTCUT."] = ()
    delta_x: float = 0
    delta_y: Annotated[float, "Pixels; negative scrolls down."] = 0
    to_index: Annotated[int | None, "Row to scroll to."] = None
    index: int | None = None
    column_id: str | None = None
    value: Annotated[str | None, "Option to select."] = None
    checked: bool | None = None
    button: Annotated[Literal["left", "right", "middle"], Before(_as_button)] = "left"
    click_count: Annotated[int, Limit(ge=1, le=3), WHOLE] = 1
    from_: Annotated[ActionTarget | None, Named("from")] = None
    to: ActionTarget | None = None
    paths: list[str] | None = None
    accept: bool | None = None
    force: Annotated[bool, "Act although it is covered or off-screen."] = False
    native: Annotated[bool, "JavaFX: move the real pointer."] = False

    def wire(self) -> JsonObject:
        """Return the action for a backend, with toolkit-neutral names of keys and modifiers.

        Raises:
            UiActionFailedError: a key or modifier is unknown, or a field that the type requires is missing.
        """
        written = to_json(self, outside=True)
        for part, given in (("target", self.target), ("from", self.from_), ("to", self.to)):
            if given is not None:
                written[part] = given.wire()
        if "button" in written:
            written["button"] = _BUTTONS[self.button]
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


Actions = Annotated[list[Action], Before(_as_list), Length(1, 100)]


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
