"""Converts the schemas of any OpenAPI version to JSON Schema 2020-12, and reads response schemas."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Literal

from ui_mcp.errors import NotFoundError, UiMcpError
from ui_mcp.gateway.config.notes import Notes
from ui_mcp.gateway.openapi import model
from ui_mcp.gateway.openapi.bundle import bundle
from ui_mcp.gateway.openapi.document import Document, Place, reference_of
from ui_mcp.gateway.openapi.keywords import compiles, nullable, plain_keywords
from ui_mcp.gateway.openapi.validation import Checker, UncheckableError
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.names import clean

Direction = Literal["request", "response"]

# Keywords whose value is one schema, a list of schemas, or schemas by name.
_SINGLE = (
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
)

_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "dependentSchemas")
_ANNOTATIONS = frozenset({"title", "description", "default", "deprecated"})
_MERGEABLE = _ANNOTATIONS | {"type", "properties", "required"}
"""Keywords of an object that can be merged into the schema around its `allOf`."""
_DEPENDENT = frozenset({"if", "then", "else", "contains", "minContains", "maxContains"})
"""Keywords that mean something else beside the keywords of another schema."""
_PREFIX = "#/$defs/"


class Schemas:
    """Converts the schemas of one document; requests lack `readOnly` properties, responses `writeOnly` ones."""

    def __init__(self, document: Document, direction: Direction, notes: Notes) -> None:
        self.definitions: dict[str, JsonObject] = {}
        self._document = document
        self._hidden = "readOnly" if direction == "request" else "writeOnly"
        self._modern = document.version.startswith(("3.1", "3.2"))
        self._notes = notes
        self._names: dict[tuple[str, str], str] = {}
        self._taken: Counter[str] = Counter()
        self._pending: list[tuple[str, Place]] = []
        self._merging: set[tuple[str, str]] = set()

    def convert(self, place: Place) -> JsonObject:
        """Return the converted schema at `place`, and add what it refers to to `definitions`."""
        converted = self._schema(place)
        # A queue instead of recursion: schemas may refer to themselves.
        while self._pending:
            name, target = self._pending.pop()
            self.definitions[name] = self._schema(target)
        return converted

    def _schema(self, place: Place) -> JsonObject:
        match place.value:
            case dict():
                reference = reference_of(place.value)
                return self._object(place) if reference is None else self._reference(place, reference)
            case False:
                return {"not": {}}
            case True | None:
                return {}
            case other:
                self._notes.add(place.pointer, "bad_schema", f"{type(other).__name__} where a schema should be")
                return {}

    def _reference(self, place: Place, reference: str) -> JsonObject:
        try:
            target = self._document.follow(place)
        except (UiMcpError, ValueError) as error:
            self._notes.add(place.pointer, "dangling_reference", str(error) or reference)
            return {}
        siblings = self._siblings(place)
        return {"$ref": _PREFIX + self._define(target), **siblings}

    def _siblings(self, place: Place) -> JsonObject:
        if len(place.value) == 1:
            return {}
        if self._modern:
            rest = {key: value for key, value in place.value.items() if key != "$ref"}
            return self._object(Place(place.file, place.pointer, rest))
        # Before 3.1 siblings of `$ref` are ignored, but a description beside it is common and useful.
        described = place.value.get("description")
        return {"description": described} if isinstance(described, str) else {}

    def _define(self, target: Place) -> str:
        key = (target.file, target.pointer)
        if key not in self._names:
            word = clean(target.pointer.rpartition("/")[2] or target.file.rpartition("/")[2].split(".")[0]) or "schema"
            self._taken[word] += 1
            name = word if self._taken[word] == 1 else f"{word}_{self._taken[word]}"
            self._names[key] = name
            self.definitions[name] = {}
            self._pending.append((name, target))
        return self._names[key]

    def _object(self, place: Place) -> JsonObject:
        schema: JsonObject = place.value
        out = plain_keywords(schema, lambda code, message: self._notes.add(place.pointer, code, message))
        for key in _SINGLE:
            if key in schema:
                self._convert_single(place.at(key), key, out)
        for key in _NAMED:
            if isinstance(schema.get(key), dict):
                out[key] = dict(self._convert_members(place.at(key), key, out))
        for key in _LISTS:
            parts = schema.get(key)
            if isinstance(parts, list) and parts:
                self._convert_list(place.at(key), key, out)
        if isinstance(schema.get("discriminator"), dict):
            self._apply_discriminator(place, out)
        return nullable(schema, out)

    def _convert_single(self, sub: Place, key: str, out: JsonObject) -> None:
        if isinstance(sub.value, list) and key == "items":
            out["prefixItems"] = [self._schema(part) for part in sub.values()] or [{}]
        elif isinstance(sub.value, bool) and key in {"additionalProperties", "unevaluatedProperties"}:
            if sub.value is False:
                out[key] = False
        elif isinstance(sub.value, dict | bool):
            converted = self._schema(sub)
            if converted or key != "additionalProperties":
                out[key] = converted

    def _convert_members(self, group: Place, key: str, out: JsonObject) -> Iterator[tuple[str, JsonObject]]:
        for name, member in group.items():
            if key == "patternProperties" and not compiles(name):
                self._notes.add(member.pointer, "bad_pattern", f"Pattern {name!r} does not compile and is left out")
                continue
            if key == "properties":
                if self._is_hidden(member):
                    _not_required(out, name)
                    if out.get("additionalProperties") is not False:
                        continue
                # Some documents write `required: true` in the property instead of in the object's list.
                if isinstance(member.value, dict) and member.value.get("required") is True:
                    out["required"] = list(dict.fromkeys([*out.get("required", []), name]))
            yield name, self._schema(member)

    def _is_hidden(self, member: Place) -> bool:
        try:
            value = self._document.follow(member).value
        except (NotFoundError, ValueError, UiMcpError):
            return False
        return isinstance(value, dict) and value.get(self._hidden) is True

    def _convert_list(self, group: Place, key: str, out: JsonObject) -> None:
        parts = list(group.values())
        if key != "allOf":
            out[key] = [self._schema(part) for part in parts]
            return
        rest: list[JsonObject] = []
        for part in parts:
            merged = self._plain_object(part) if len(parts) > 1 or "properties" in out else None
            if merged is None or not _merge(out, merged):
                rest.append(self._schema(part))
        for name in self._hidden_names(parts):
            _not_required(out, name)
        if len(rest) == 1 and not rest[0].keys() & (out.keys() | _DEPENDENT):
            out |= rest[0]
        elif rest:
            out["allOf"] = rest

    def _plain_object(self, part: Place) -> JsonObject | None:
        try:
            target = self._document.follow(part)
        except (UiMcpError, ValueError):
            return None
        key = (target.file, target.pointer)
        if key in self._merging or not isinstance(target.value, dict):
            return None
        self._merging.add(key)  # `allOf` may be circular
        try:
            converted = self._object(target)
        finally:
            self._merging.discard(key)
        return converted if converted.keys() <= _MERGEABLE and converted.get("type", "object") == "object" else None

    def _hidden_names(self, parts: Sequence[Place]) -> Iterator[str]:
        """Yield the properties that parts of an `allOf` hide: the schema around it may require them."""
        for part in parts:
            with suppress(UiMcpError, ValueError):
                for name, member in self._document.follow(part).at("properties").items():
                    if self._is_hidden(member):
                        yield name

    def _apply_discriminator(self, place: Place, out: JsonObject) -> None:
        tag = place.value["discriminator"].get("propertyName")
        mapping = place.value["discriminator"].get("mapping")
        branches = out.get("oneOf") or out.get("anyOf")
        if not isinstance(tag, str) or not isinstance(mapping, dict) or not branches:
            return
        values: dict[str, list[Json]] = {}
        for value, reference in mapping.items():
            name = self._mapped_definition(str(reference), place.file)
            if name:
                values.setdefault(name, []).append(value)
        for branch in branches:
            found = values.get(str(branch.get("$ref", "")).removeprefix(_PREFIX))
            if found and "properties" not in branch:
                branch["properties"] = {tag: {"const": found[0]} if len(found) == 1 else {"enum": found}}

    def _mapped_definition(self, reference: str, file: str) -> str | None:
        spelled = reference if "/" in reference or "." in reference else f"#/components/schemas/{reference}"
        try:
            target = self._document.target(spelled, file)
            return self._names.get((target.file, target.pointer))
        except (UiMcpError, ValueError):
            return None


def _not_required(out: JsonObject, name: str) -> None:
    if name in out.get("required", []):
        out["required"] = [other for other in out["required"] if other != name]
        if not out["required"]:
            del out["required"]


def _merge(out: JsonObject, part: JsonObject) -> bool:
    """Merge an object schema or annotations into `out`; return False, without a change, if that would alter either."""
    mine, theirs = out.get("properties", {}), part.get("properties", {})
    if any(mine[name] != theirs[name] for name in mine.keys() & theirs.keys()):
        return False
    if "type" in part and out.get("type", "object") != "object":
        return False
    required = list(dict.fromkeys([*out.get("required", []), *part.get("required", [])]))
    for key in ("type", *_ANNOTATIONS):
        if key in part:
            out.setdefault(key, part[key])
    if theirs or mine:
        out["properties"] = mine | theirs
    if required:
        out["required"] = required
    return True


_MAX_MISMATCHES = 5


def read_output(document: Document, operation: Place, schemas: Schemas) -> JsonObject | None:
    """Return the schema of the first successful JSON response; None if there is none."""
    for status, place in sorted(operation.at("responses").items()):
        if not status.startswith(("2", "d")):
            continue
        try:
            response = document.follow(place)
        except (UiMcpError, ValueError):
            continue
        found = response.at("schema")
        for kind, content in response.at("content").items():
            if model.is_json(kind):
                found = content.at("schema")
                break
        if isinstance(found.value, dict):
            return bundle(schemas.convert(found), schemas.definitions)
    return None


def loosened(schema: JsonObject) -> JsonObject:
    """Return a schema that names the fields of a response and requires nothing, because documents are often wrong."""
    known = _resolved(schema, schema)
    properties = known.get("properties")
    fields = properties if isinstance(properties, dict) else {"result": known}
    return {
        "type": "object",
        "properties": {name: _field_hint(_resolved(part, schema)) for name, part in fields.items()},
    }


def schema_mismatch(schema: JsonObject, value: Json) -> list[str]:
    """Return the first few differences between a response and its schema."""
    try:
        found = Checker(schema).errors(value)
    except UncheckableError:
        return []
    problems = sorted(found, key=lambda error: list(map(str, error.path)))
    return [
        f"{'.'.join(map(str, error.path)) or 'answer'}: {error.message[:200]}" for error in problems[:_MAX_MISMATCHES]
    ]


def _resolved(part: Json, root: JsonObject) -> JsonObject:
    if not isinstance(part, dict):
        return {}
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith(_PREFIX):
        found = root.get("$defs", {}).get(reference[len(_PREFIX) :])
        return found if isinstance(found, dict) else {}
    return part


def _field_hint(part: JsonObject) -> JsonObject:
    kind = part.get("type")
    type_name = kind if isinstance(kind, str) else " or ".join(kind) if isinstance(kind, list) else ""
    described = part.get("description")
    text = (
        f"{type_name}: {described}"
        if type_name and isinstance(described, str)
        else type_name or (described if isinstance(described, str) else "")
    )
    return {"description": text[:200]} if text else {}
