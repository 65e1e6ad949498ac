"""One question to the person, and the rules for its answers."""

import math
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import field
from typing import Literal

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass

Kind = Literal["form", "permission"]
Status = Literal["pending", "answered", "declined", "expired", "withdrawn"]
FieldKind = Literal["text", "number", "integer", "yes_no", "choice", "choices", "file"]
Decision = Literal["answer", "decline", "allow", "allow_always", "deny", "deny_stop"]

DECISIONS: dict[Kind, frozenset[Decision]] = {
    "form": frozenset({"answer", "decline"}),
    "permission": frozenset({"allow", "allow_always", "deny", "deny_stop"}),
}
ACCEPTING: frozenset[Decision] = frozenset({"answer", "allow", "allow_always"})
MAX_TEXT = 100_000


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a field."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Field:
    """One part of a form."""

    name: str
    label: str
    kind: FieldKind = "text"
    options: tuple[Option, ...] = ()
    required: bool = True
    other: bool = False
    """Whether a choice may be a text of the person's own."""
    help: str = ""
    default: Json = None
    """What the form shows at first."""

    def to_json(self) -> JsonObject:
        return {
            "name": self.name,
            "label": self.label,
            "kind": self.kind,
            "options": [{"value": one.value, "label": one.label} for one in self.options],
            "required": self.required,
            "other": self.other,
            "help": self.help,
            "default": self.default,
        }


@dataclass(frozen=True, slots=True)
class Question:
    """A row of the store; times are seconds since the epoch."""

    id: str
    created_at: float
    expires_at: float
    kind: Kind
    source: str
    """Where it comes from: `ui_ask`, `elicitation`, or the name of a host."""
    agent: str
    """Who asks, in the words that the person reads."""
    title: str
    """The whole question in plain words."""
    body: JsonObject = field(default_factory=dict)
    """Of a form its `fields`; of a permission `tool`, `arguments`, `cwd` and the rules that the host suggests."""
    status: Status = "pending"
    answer: JsonObject | None = None
    """What the person said: `decision`, with `values` or a `reason`."""
    decided_by: str | None = None
    decided_at: float | None = None
    lease: str = ""
    """The process that waits for the answer, as `pid:host`; empty if the answer is fetched later."""

    def outline(self) -> JsonObject:
        """Return what apps may see: that an agent waits, but neither the words nor the arguments."""
        return {"id": self.id, "kind": self.kind, "agent": self.agent, "created_at": self.created_at}

    def to_json(self) -> JsonObject:
        """Return what the person sees."""
        return {
            "id": self.id,
            "kind": self.kind,
            "source": self.source,
            "agent": self.agent,
            "title": self.title,
            "body": self.body,
            "status": self.status,
            "answer": self.answer,
            "decided_by": self.decided_by,
            "decided_at": self.decided_at,
            "created_at": self.created_at,
            "expires_at": self.expires_at,
        }


def fields_of(question: Question) -> tuple[Field, ...]:
    """Return the fields of a form as they were stored."""
    return tuple(
        Field(**{**one, "options": tuple(Option(**option) for option in one["options"])})
        for one in question.body.get("fields", ())
    )


def checked(fields: Sequence[Field], values: JsonObject) -> JsonObject:
    """Return the values that the fields have; pure.

    Raises:
        InvalidArgumentsError: a value is missing or does not fit its field.
    """
    found = {one.name: _checked(one, values.get(one.name)) for one in fields}
    return {name: value for name, value in found.items() if value is not None}


def _checked(one: Field, value: Json) -> Json:
    if value in (None, "", []):
        if one.required:
            raise InvalidArgumentsError(f"“{one.label}” has no answer yet")
        return None
    fits = {
        "text": lambda: isinstance(value, str) and len(value) <= MAX_TEXT,
        "number": lambda: _is_number(value),
        "integer": lambda: _is_number(value) and float(value).is_integer(),
        "yes_no": lambda: isinstance(value, bool),
        "choice": lambda: _is_choice(one, value),
        "choices": lambda: isinstance(value, list) and all(_is_choice(one, item) for item in value),
        "file": lambda: _is_file(value),
    }
    if not fits[one.kind]():
        raise InvalidArgumentsError(f"The answer to “{one.label}” does not fit")
    return int(value) if one.kind == "integer" else value


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_choice(one: Field, value: Json) -> bool:
    known = any(option.value == value for option in one.options)
    return known or (one.other and isinstance(value, str) and len(value) <= MAX_TEXT)


def _is_file(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    name, data = value.get("name"), value.get("data")
    if not isinstance(name, str) or not isinstance(data, str):
        return False
    try:
        b64decode(data, validate=True)
    except ValueError:
        return False
    return True


ASKED = "ui_ask"
"""The source of questions that agents ask with the tool of this name."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of `ui_ask`."""

    text: str
    choices: list[str] | None = None
    multiple: bool = False
    file: bool = False

    def field(self, number: int) -> Field:
        """Return the part of the form that asks this."""
        options = tuple(Option(one, one) for one in self.choices or ())
        kind: FieldKind = "file" if self.file else "text"
        if options:
            kind = "choices" if self.multiple else "choice"
        # A person whose answer is missing from the choices would otherwise have to pick a wrong one.
        return Field(str(number), self.text, kind, options, other=bool(options))


def answer_json(question: Question) -> JsonObject:
    """Return a question of `ui_ask` as the agent sees it; answers stand in the order of the questions."""
    shown: JsonObject = {"id": question.id, "status": question.status}
    said = question.answer or {}
    if question.status == "answered":
        values: JsonObject = said.get("values", {})
        shown["answers"] = [values.get(one["name"]) for one in question.body["fields"]]
    if reason := said.get("reason"):
        shown["reason"] = reason
    return shown
