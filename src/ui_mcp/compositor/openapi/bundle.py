"""Makes a schema self-contained: `$defs` holds what is shared or recursive, everything used once stands in place."""

from collections import Counter
from collections.abc import Iterator, Mapping

from ui_mcp.jsontypes import Json, JsonObject

_PREFIX = "#/$defs/"
_DATA = frozenset({"enum", "const", "default", "required", "dependentRequired"})
NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs"})
"""Keywords whose keys are names and whose values are schemas: a property may be called `default` or `$ref`."""


def bundle(schema: JsonObject, definitions: Mapping[str, JsonObject]) -> JsonObject:
    """Return `schema` with the definitions it reaches, and no others."""
    uses = _uses(schema, definitions)
    if not uses:
        return schema
    kept = _recursive(uses, definitions) | {name for name, count in uses.items() if count > 1}
    bundled: JsonObject = _inline(schema, definitions, kept)
    if kept:
        bundled["$defs"] = {name: _inline(definitions[name], definitions, kept) for name in uses if name in kept}
    return bundled


def references(node: Json) -> Iterator[str]:
    """Yield the name of every definition a schema refers to, as often as it does."""
    stack = [node]
    while stack:
        value = stack.pop()
        if type(value) is dict:
            reference = value.get("$ref")
            if type(reference) is str and reference.startswith(_PREFIX):
                yield reference[len(_PREFIX) :]
            for key, child in value.items():
                if key in NAMED:
                    stack.extend(child.values())
                elif key not in _DATA:
                    stack.append(child)
        elif type(value) is list:
            stack.extend(value)


def _uses(schema: JsonObject, definitions: Mapping[str, JsonObject]) -> Counter[str]:
    uses = Counter(references(schema))
    pending = list(uses)
    while pending:
        for name in references(definitions[pending.pop()]):
            if name not in uses:
                pending.append(name)
            uses[name] += 1
    return uses


def _recursive(names: Counter[str], definitions: Mapping[str, JsonObject]) -> set[str]:
    """Return the names that reach themselves, by removing what does not until nothing changes."""
    edges = {name: {other for other in references(definitions[name]) if other in names} for name in names}
    changed = True
    while changed:
        leaves = {name for name, targets in edges.items() if not targets}
        edges = {name: targets - leaves for name, targets in edges.items() if name not in leaves}
        changed = bool(leaves)
    return set(edges)


def _inline(node: Json, definitions: Mapping[str, JsonObject], kept: set[str]) -> Json:
    if type(node) is list:
        return [_inline(item, definitions, kept) for item in node]
    if type(node) is not dict:
        return node
    reference = node.get("$ref")
    if type(reference) is str and reference.startswith(_PREFIX) and reference[len(_PREFIX) :] not in kept:
        target = _inline(definitions[reference[len(_PREFIX) :]], definitions, kept)
        siblings = {key: _inline_keyword(key, value, definitions, kept) for key, value in node.items() if key != "$ref"}
        clash = (siblings.keys() & target.keys()) - {"description", "title", "default", "deprecated"}
        return {"allOf": [target], **siblings} if clash else {**target, **siblings}
    return {key: _inline_keyword(key, value, definitions, kept) for key, value in node.items()}


def _inline_keyword(key: str, value: Json, definitions: Mapping[str, JsonObject], kept: set[str]) -> Json:
    if key in _DATA:
        return value
    if key in NAMED:
        return {name: _inline(sub, definitions, kept) for name, sub in value.items()}
    return _inline(value, definitions, kept)
