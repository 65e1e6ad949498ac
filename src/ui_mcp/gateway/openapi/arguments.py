"""Validates the arguments of a call before anything is sent, and repairs what is safe to repair."""

import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.gateway.openapi.model import Operation
from ui_mcp.gateway.openapi.validation import Checker, UncheckableError, leaf_errors
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.toolkit.names import closest

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

OPTIONS = ("_fields", "_pages", "_max_rows", "_dry_run", "_raw")
DRY_RUN = "_dry_run"
META = "ui-mcp/"
Strictness = Literal["strict", "warn", "off"]
_MAX_PROBLEMS = 20
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Checked:
    """Arguments ready to send, without the call options; `remarks` tells the caller what was changed or suspect."""

    arguments: JsonObject
    options: JsonObject = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


class ArgumentCheck:
    """Validates the arguments of one operation."""

    def __init__(self, operation: Operation, strictness: Strictness = "strict") -> None:
        self._operation = operation
        self._strictness = strictness
        self._schema = operation.input_schema
        self._known: JsonObject = self._schema["properties"]
        self._checker = Checker(self._schema)

    def check(self, given: JsonObject, meta: JsonObject) -> Checked:
        """Return the arguments to send; call options come from `_name` arguments or from `ui-mcp/name` keys of `meta`.

        Raises:
            InvalidArgumentsError: strictness is "strict" and something does not fit; lists every problem by path.
        """
        # An operation may have a parameter of its own called `_fields`; then it is an argument, not an option.
        options = {name: given[name] for name in OPTIONS if name in given and name not in self._known}
        by_meta = {f"_{key.removeprefix(META)}": value for key, value in meta.items() if key.startswith(META)}
        options |= {name: value for name, value in by_meta.items() if name in OPTIONS}
        arguments = {name: value for name, value in given.items() if name not in options or name in self._known}
        arguments, remarks = self._gather_body_fields(arguments)
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
        """Return whether a call asks for its preview only; a parameter of the API called `_dry_run` does not count.

        Raises:
            InvalidArgumentsError: the value is not a boolean, or argument and `meta` contradict each other.
        """
        by_argument = None if DRY_RUN in self._known else _flag(DRY_RUN, given.get(DRY_RUN))
        key = f"{META}{DRY_RUN[1:]}"
        by_meta = _flag(f'_meta["{key}"]', meta.get(key))
        if by_argument is not None and by_meta is not None and by_argument != by_meta:
            said = f'{DRY_RUN} says {_word(by_argument)} and _meta["{key}"] says {_word(by_meta)}'
            raise InvalidArgumentsError(f"{said}; nothing was sent\nGive only one of them, or the same in both.")
        return bool(by_argument or by_meta)

    def _gather_body_fields(self, arguments: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
        """Move body fields that were given as top-level arguments into the body."""
        body = arguments.get("body", {})
        fields = _fields(self._known.get("body"), self._schema)
        misplaced = [name for name in arguments if name not in self._known and name in fields]
        if not misplaced or not isinstance(body, dict) or any(name in body for name in misplaced):
            return arguments, ()
        kept = {name: value for name, value in arguments.items() if name not in misplaced}
        kept["body"] = body | {name: arguments[name] for name in misplaced}
        return kept, (f"Moved into body: {', '.join(misplaced)}",)

    def _validated(self, arguments: JsonObject) -> tuple[JsonObject, list[str]]:
        errors = self._errors(arguments)
        if errors:
            # All or nothing: a half-repaired call would report errors about values that the caller never gave.
            repaired = _coerced(arguments, errors)
            if repaired != arguments and not self._checker.errors(repaired):
                return repaired, self._unknown(repaired)
        problems = list(dict.fromkeys(_describe(error) for error in errors))
        hidden = len(problems) - _MAX_PROBLEMS
        problems = [*problems[:_MAX_PROBLEMS], f"{hidden} more"] if hidden > 0 else problems
        return arguments, [*self._unknown(arguments), *problems]

    def _errors(self, arguments: JsonObject) -> "list[ValidationError]":
        branch = self._body_branch(arguments)
        return [
            leaf
            for error in self._checker.errors(arguments)
            for leaf in leaf_errors(error, branch if list(error.absolute_path) == ["body"] else None)
        ]

    def _body_branch(self, arguments: JsonObject) -> int | None:
        """Return which alternative of the body's schema belongs to the media type that would be sent."""
        body = self._operation.body
        if body is None or len(body.schemas) == 1:
            return None
        kind = arguments.get("content_type")
        return body.schemas.index(body.variant(kind if isinstance(kind, str) else None).schema)

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
    """Drop optional parameters given as null, which means absent everywhere but in a body."""
    required = schema.get("required", ())
    return {name: value for name, value in arguments.items() if value is not None or name == "body" or name in required}


def _fields(body: Json, root: JsonObject) -> frozenset[str]:
    """Return the names of the fields that a body may have, in any of its alternatives."""
    found: set[str] = set()
    visited: set[str] = set()  # definitions may refer to each other in a circle
    pending = [body]
    while pending:
        part = pending.pop()
        if not isinstance(part, dict):
            continue
        reference = part.get("$ref")
        if not isinstance(reference, str):
            found.update(part.get("properties", ()))
            pending += [one for key in ("anyOf", "oneOf", "allOf") for one in part.get(key, ())]
        elif reference not in visited:
            visited.add(reference)
            pending.append(root.get("$defs", {}).get(reference.removeprefix("#/$defs/")))
    return frozenset(found)


def _coerced(arguments: JsonObject, errors: "Sequence[ValidationError]") -> JsonObject:
    repaired = deepcopy(arguments)
    for found in errors:
        if found.validator != "type" or not found.absolute_path:
            continue
        *path, last = found.absolute_path
        node: Json = repaired
        for key in path:
            node = node[key]
        wanted: Json = found.validator_value
        node[last] = _coerce(node[last], wanted if isinstance(wanted, list) else [wanted])
    return repaired


def _coerce(value: Json, kinds: Sequence[str]) -> Json:
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


def _describe(found: "ValidationError") -> str:
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
        return f"{where}: {_shorten(repr(found.instance))} is not one of {_shorten(', '.join(choices))}{hint}"
    return f"{where}: {_shorten(found.message)}"


def _shorten(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:300]}…"
