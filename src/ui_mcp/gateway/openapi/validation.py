"""Checks values against the schemas of a document: without its regular expressions, and never beyond a deadline."""

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
_MOST_UNIQUE = 1000
"""Longer lists are not compared entry by entry."""
_APPLYING = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "items", "contains", "properties")
_deadline: ContextVar[float] = ContextVar("deadline")
_Keyword = Callable[[Any, Any, Json, JsonObject], Iterator[ValidationError]]
_GIVEN: dict[str, Any] = dict(Draft202012Validator.VALIDATORS)


class UncheckableError(Exception):
    """The check cannot be finished, or not in time."""


class Checker:
    """Checks values against one schema; the event loop waits meanwhile, so it takes SECONDS at most."""

    def __init__(self, schema: JsonObject) -> None:
        # An empty registry: references are resolved inside the schema or not at all, never over the network.
        self._validator = _Validator(schema, registry=Registry())

    def errors(self, value: Json) -> list[ValidationError]:
        """Return what does not fit.

        Raises:
            UncheckableError: the schema is too intricate for this value, or refers to what is not there.
        """
        token = _deadline.set(monotonic() + SECONDS)
        try:
            return list(self._validator.iter_errors(value))
        except (RecursionError, Unresolvable) as error:
            raise UncheckableError from error
        finally:
            _deadline.reset(token)


def _in_time(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, value: Any, instance: Json, schema: JsonObject) -> Iterator[ValidationError]:
        if monotonic() > _deadline.get():
            raise UncheckableError
        yield from keyword(validator, value, instance, schema) or ()

    return check


def _no_check(validator: Any, value: Any, instance: Json, schema: JsonObject) -> Iterator[ValidationError]:
    return iter(())


def _additional(validator: Any, value: Any, instance: Json, schema: JsonObject) -> Iterator[ValidationError]:
    # Beside patterns nobody can say which properties are additional without trying them.
    if not schema.get("patternProperties"):
        yield from _GIVEN["additionalProperties"](validator, value, instance, schema) or ()


def _unique(validator: Any, value: Any, instance: Json, schema: JsonObject) -> Iterator[ValidationError]:
    if isinstance(instance, list) and len(instance) <= _MOST_UNIQUE:
        yield from _GIVEN["uniqueItems"](validator, value, instance, schema) or ()


# Documents are often wrong about patterns and formats, and a pattern can take for ever; the API is the better judge.
_Validator: type[Draft202012Validator] = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {
        **{name: _in_time(_GIVEN[name]) for name in _APPLYING},
        **dict.fromkeys(("pattern", "patternProperties", "format", "unevaluatedProperties"), _no_check),
        "additionalProperties": _in_time(_additional),
        "uniqueItems": _unique,
    },
)
