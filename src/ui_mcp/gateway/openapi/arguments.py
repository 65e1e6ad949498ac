"""Checks the arguments of a call before anything is sent, mends what is safe to mend, and says how to mend the rest."""

import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Literal

from jsonschema.exceptions import ValidationError, best_match

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.gateway.openapi.model import Operation
from ui_mcp.gateway.openapi.validation import Checker, UncheckableError
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.toolkit.names import closest

OPTIONS = ("_fields", "_pages", "_max_rows", "_dry_run", "_raw")
DRY_RUN = "_dry_run"
META = "ui-mcp/"
Strictness = Literal["strict", "warn", "off"]
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Checked:
    """Arguments ready to send, with the call options taken out and what was mended said."""

    arguments: JsonObject
    options: JsonObject = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


class ArgumentCheck:
    """Checks the calls of one operation."""

    def __init__(self, operation: Operation, strictness: Strictness = "strict") -> None:
        self._operation = operation
        self._strictness = strictness
        self._schema = operation.input_schema
        self._known: JsonObject = self._schema["properties"]
        self._checker = Checker(self._schema)

    def check(self, given: JsonObject, meta: JsonObject) -> Checked:
        """Return what to send.

        Raises:
            InvalidArgumentsError: lists every problem with its place.
        """
        options = {name: given[name] for name in OPTIONS if name in given and name not in self._known}
        by_meta = {f"_{key.removeprefix(META)}": value for key, value in meta.items() if key.startswith(META)}
        options |= {name: value for name, value in by_meta.items() if name in OPTIONS}
        arguments = {name: value for name, value in given.items() if name not in options or name in self._known}
        arguments, remarks = self._body_gathered(arguments)
        if self._strictness == "off":
            return Checked(arguments, options, remarks)
        try:
            arguments, problems = self._validated(_without_nulls(arguments, self._schema))
        except UncheckableError:
            return Checked(arguments, options, (*remarks, "Sent unchecked: the schema is too intricate"))
        if problems and self._strictness == "strict":
            raise InvalidArgumentsError(self._message(problems), problems=problems)
        return Checked(arguments, options, (*remarks, *problems))

    def is_dry_run(self, given: JsonObject, meta: JsonObject) -> bool:
        """Say whether a call asks for its preview only; a parameter of the operation's own never does.

        Raises:
            InvalidArgumentsError: it is neither yes nor no, or both.
        """
        by_argument = None if DRY_RUN in self._known else _flag(DRY_RUN, given.get(DRY_RUN))
        key = f"{META}{DRY_RUN[1:]}"
        by_meta = _flag(f'_meta["{key}"]', meta.get(key))
        if by_argument is not None and by_meta is not None and by_argument != by_meta:
            said = f'{DRY_RUN} says {_word(by_argument)} and _meta["{key}"] says {_word(by_meta)}'
            raise InvalidArgumentsError(f"{said}; nothing was sent\nGive only one of them, or the same in both.")
        return bool(by_argument or by_meta)

    def _body_gathered(self, arguments: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
        """Move fields of the body that were given beside it into it."""
        body = arguments.get("body", {})
        fields = _fields(self._known.get("body"), self._schema)
        strays = [name for name in arguments if name not in self._known and name in fields]
        if not strays or not isinstance(body, dict) or any(name in body for name in strays):
            return arguments, ()
        kept = {name: value for name, value in arguments.items() if name not in strays}
        kept["body"] = body | {name: arguments[name] for name in strays}
        return kept, (f"Moved into body: {', '.join(strays)}",)

    def _validated(self, arguments: JsonObject) -> tuple[JsonObject, list[str]]:
        errors = self._checker.errors(arguments)
        if errors:
            mended = _coerced(arguments, errors)
            if mended != arguments and not self._checker.errors(mended):
                return mended, self._unknown(mended)
        return arguments, [*self._unknown(arguments), *(_sentence(error) for error in errors)]

    def _unknown(self, arguments: JsonObject) -> list[str]:
        problems = []
        for name in arguments:
            if name not in self._known:
                near = closest(name, self._known, 1)
                problems.append(f"{name}: no such argument" + (f"; did you mean {near[0]!r}?" if near else ""))
        return problems

    def _message(self, problems: Sequence[str]) -> str:
        required = set(self._schema.get("required", ()))
        known = ", ".join(f"{name} (required)" if name in required else name for name in self._known)
        lines = "\n".join(f"- {problem}" for problem in problems)
        where = f"{self._operation.method} {self._operation.path}"
        return f"The arguments do not fit {where}; nothing was sent\n{lines}\nKnown arguments: {known or 'none'}"


def _flag(name: str, value: Json) -> bool | None:
    match value:
        case None | bool():
            return value
        case "true" | "false":
            return bool(value == "true")
        case _:
            raise InvalidArgumentsError(f"{name}: must be true or false; nothing was sent")


def _word(flag: bool) -> str:
    return "true" if flag else "false"


def _without_nulls(arguments: JsonObject, schema: JsonObject) -> JsonObject:
    """Drop parameters given as null: that means absent everywhere but in a body."""
    required = schema.get("required", ())
    return {name: value for name, value in arguments.items() if value is not None or name == "body" or name in required}


def _fields(body: Json, root: JsonObject) -> frozenset[str]:
    """Return the names of the fields a body may have, each part looked at once however often it is referred to."""
    found: set[str] = set()
    known: set[str] = set()
    left = [body]
    while left:
        part = left.pop()
        if not isinstance(part, dict):
            continue
        reference = part.get("$ref")
        if not isinstance(reference, str):
            found.update(part.get("properties", ()))
            left += [one for key in ("anyOf", "oneOf", "allOf") for one in part.get(key, ())]
        elif reference not in known:
            known.add(reference)
            left.append(root.get("$defs", {}).get(reference.removeprefix("#/$defs/")))
    return frozenset(found)


def _coerced(arguments: JsonObject, errors: Sequence[ValidationError]) -> JsonObject:
    mended = deepcopy(arguments)
    for error in errors:
        found = error if error.validator == "type" else best_match([error])
        if found is None or found.validator != "type" or not found.absolute_path:
            continue
        *path, last = found.absolute_path
        node: Json = mended
        for key in path:
            node = node[key]
        wanted: Json = found.validator_value
        node[last] = _as(node[last], wanted if isinstance(wanted, list) else [wanted])
    return mended


def _as(value: Json, kinds: Sequence[str]) -> Json:
    if isinstance(value, str):
        if "integer" in kinds or "number" in kinds:
            if _NUMBER.fullmatch(value.strip()):
                return loads(value.strip())
        elif "boolean" in kinds and value.lower() in {"true", "false"}:
            return value.lower() == "true"
        elif ("object" in kinds or "array" in kinds) and value.lstrip()[:1] in {"{", "["}:
            try:
                return loads(value)
            except ValueError:
                return value
    if "array" in kinds and not isinstance(value, list | dict):
        return [value]
    if "string" in kinds and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _sentence(error: ValidationError) -> str:
    found = best_match([error]) or error
    where = ".".join(str(part) for part in found.absolute_path) or "arguments"
    wanted: Json = found.validator_value
    if found.validator == "required":
        instance: Json = found.instance
        missing = [name for name in wanted if name not in instance]
        return f"{where}: missing {', '.join(missing)}" if where != "arguments" else f"{', '.join(missing)}: required"
    if found.validator == "enum":
        choices = [str(choice) for choice in wanted]
        near = closest(str(found.instance), choices, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"{where}: {_short(repr(found.instance))} is not one of {_short(', '.join(choices))}{hint}"
    return f"{where}: {_short(found.message)}"


def _short(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:300]}…"
