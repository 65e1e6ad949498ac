"""JSON Schema with a time limit and without regular expressions."""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from time import monotonic
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from ui_mcp.jsontypes import Json, JsonObject

SECONDS = 0.5
"""Time limit of one validation."""
_MAX_UNIQUE = 1000
"""Longer lists are not checked for unique items, which takes quadratic time."""
_TIMED = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "items", "contains", "properties")
"""Keywords that check the deadline: those that apply other schemas, where recursion and fan-out happen."""
_deadline: ContextVar[float] = ContextVar("deadline")
_Keyword = Callable[[Any, Any, Json, JsonObject], Iterator[ValidationError]]
_STANDARD: dict[str, Any] = dict(Draft202012Validator.VALIDATORS)


class TimedValidator:
    """Validates values against one schema."""

    def __init__(self, schema: JsonObject) -> None:
        # The empty registry prevents references from being fetched over the network.
        self._validator = _Validator(schema, registry=Registry())

    def errors(self, value: Json) -> list[ValidationError] | None:
        """Return what is wrong with a value; None if that cannot be found out, or not in time."""
        token = _deadline.set(monotonic() + SECONDS)
        try:
            return list(self._validator.iter_errors(value))
        except (TimeoutError, RecursionError, Unresolvable):
            return None
        finally:
            _deadline.reset(token)


def _with_deadline(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, value: Any, instance: Json, schema: JsonObject) -> Iterator[ValidationError]:
        if monotonic() > _deadline.get():
            raise TimeoutError
        yield from keyword(validator, value, instance, schema) or ()

    return check


def _no_check(validator: Any, value: Any, instance: Json, schema: JsonObject) -> Iterator[ValidationError]:
    return iter(())


def _additional_properties(validator: Any, value: Any, instance: Json, schema: JsonObject) -> Iterator[ValidationError]:
    # With `patternProperties`, only matching the patterns would show which properties are additional.
    if not schema.get("patternProperties"):
        yield from _STANDARD["additionalProperties"](validator, value, instance, schema) or ()


def _unique_items(validator: Any, value: Any, instance: Json, schema: JsonObject) -> Iterator[ValidationError]:
    if isinstance(instance, list) and len(instance) <= _MAX_UNIQUE:
        yield from _STANDARD["uniqueItems"](validator, value, instance, schema) or ()


def _one_of(validator: Any, value: Any, instance: Json, schema: JsonObject) -> Iterator[ValidationError]:
    # A value that fits several alternatives is accepted: documents often describe them with too few constraints.
    yield from _STANDARD["anyOf"](validator, value, instance, schema) or ()


# Patterns and formats are left to the API: documents often get them wrong, and a pattern may backtrack for ever.
_Validator: type[Draft202012Validator] = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {
        **{name: _with_deadline(_STANDARD[name]) for name in _TIMED},
        **dict.fromkeys(("pattern", "patternProperties", "format", "unevaluatedProperties"), _no_check),
        "oneOf": _with_deadline(_one_of),
        "additionalProperties": _with_deadline(_additional_properties),
        "uniqueItems": _unique_items,
    },
)
