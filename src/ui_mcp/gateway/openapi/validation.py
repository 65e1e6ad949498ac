"""Validates values against the schemas of a document, and says what is wrong with the alternative that was meant."""

from typing import TYPE_CHECKING

from ui_mcp.discovery import lazy
from ui_mcp.jsontypes import Json, JsonObject

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

    from ui_mcp.gateway.openapi.json_schema import TimedValidator
else:  # tools are listed without jsonschema
    TimedValidator = lazy("ui_mcp.gateway.openapi.json_schema:TimedValidator")


_ALTERNATIVES = frozenset({"anyOf", "oneOf"})
_WRONG_TYPE, _WRONG_TAG = 100, 20
"""How far a branch is from a value, in problems, if the value has another type or names another branch by its tag."""


class UncheckableError(Exception):
    """The validation cannot be completed, or not in time."""


class Checker:
    """Validates values against one schema; blocks the event loop for at most half a second."""

    def __init__(self, schema: JsonObject) -> None:
        self._schema = schema
        self._validator: TimedValidator | None = None

    def errors(self, value: Json) -> "list[ValidationError]":
        """Return the validation errors of a value.

        Raises:
            UncheckableError: the schema is too complex for this value, or has a reference without target.
        """
        self._validator = self._validator or TimedValidator(self._schema)
        found = self._validator.errors(value)
        if found is None:
            raise UncheckableError
        return found


def leaf_errors(error: "ValidationError", branch: int | None = None) -> "list[ValidationError]":
    """Return what is wrong in the alternative that came nearest, or in the given one; other errors as they are."""
    if error.validator not in _ALTERNATIVES or not error.context:
        return [error]
    branches: dict[int, list[ValidationError]] = {}
    for inner in error.context:
        branches.setdefault(int(inner.relative_schema_path[0]), []).append(inner)
    chosen = branches.get(branch) if branch is not None else None
    nearest = chosen or min(branches.values(), key=lambda inner: sum(map(_distance, inner)))
    return [leaf for inner in nearest for leaf in leaf_errors(inner)]


def _distance(error: "ValidationError") -> int:
    """Return how much an error says that its alternative was not meant."""
    if error.validator == "type" and not error.relative_path:
        return _WRONG_TYPE
    if error.validator in {"const", "enum"} and len(error.relative_path) <= 1:
        return _WRONG_TAG
    if error.validator in _ALTERNATIVES and error.context:
        return sum(map(_distance, leaf_errors(error)))
    return 1
