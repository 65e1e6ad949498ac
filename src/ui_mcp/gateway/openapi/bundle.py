"""Makes schemas self-contained, and shrinks them to a size that clients accept."""

from collections import Counter
from collections.abc import Iterator, Mapping

from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.lazy_dataclass import dataclass

_PREFIX = "#/$defs/"
_DATA = frozenset({"enum", "const", "default", "required", "dependentRequired"})

NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs"})
"""Keywords whose keys are free names, not keywords: a property may be called `default` or `$ref`."""


def bundle(schema: JsonObject, definitions: Mapping[str, JsonObject]) -> JsonObject:
    """Return `schema` with the definitions it needs: those used once are inlined, the others stay in `$defs`."""
    uses = _uses(schema, definitions)
    if not uses:
        return schema
    kept = _recursive(uses, definitions) | {name for name, count in uses.items() if count > 1}
    bundled: JsonObject = _inline(schema, definitions, kept)
    if kept:
        bundled["$defs"] = {name: _inline(definitions[name], definitions, kept) for name in uses if name in kept}
    return bundled


def references(node: Json) -> Iterator[str]:
    """Yield the name of each referenced definition, once per reference."""
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
    """Return a superset of the names that refer to themselves: what is left after removing leaves repeatedly."""
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
        # Where both say something different, both must hold; annotations beside `$ref` simply win.
        clash = (siblings.keys() & target.keys()) - {"description", "title", "default", "deprecated"}
        return {"allOf": [target], **siblings} if clash else {**target, **siblings}
    return {key: _inline_keyword(key, value, definitions, kept) for key, value in node.items()}


def _inline_keyword(key: str, value: Json, definitions: Mapping[str, JsonObject], kept: set[str]) -> Json:
    if key in _DATA:
        return value
    if key in NAMED:
        return {name: _inline(sub, definitions, kept) for name, sub in value.items()}
    return _inline(value, definitions, kept)


_MORE = "… details: nlui__describe"

_LADDER = ((8, 120), (8, 60), (8, 0), (6, 0), (5, 0), (4, 0), (3, 60), (3, 0), (2, 60), (2, 0), (1, 60), (1, 0))
"""Attempts in order: levels that stay, and characters per description below the top-level arguments."""

_STEP = 0.25
"""Depth of an alternative or of array items: less than 1, which a property counts, but not 0: recursion must end."""


class _TooBigError(Exception):
    """The attempt exceeded its budget."""


def shrunk(schema: JsonObject, budget: int) -> JsonObject:
    """Return the most detailed form of `schema` within `budget` bytes; required names stay even if that exceeds it."""
    if len(dumps(schema)) <= budget:
        return schema
    for depth, described in _LADDER:
        try:
            # Twice the budget, because a cut is counted only roughly while it is made.
            cut: JsonObject = _Cutter(schema.get("$defs", {}), depth, described, budget * 2).cut(schema, 0)
        except _TooBigError:
            continue
        cut.pop("$defs", None)
        if len(dumps(cut)) <= budget:
            return cut
    smallest: JsonObject = _Cutter(schema.get("$defs", {}), 1, 0, 10_000_000).cut(schema, 0)
    smallest.pop("$defs", None)
    return smallest


@dataclass(slots=True)
class _Cutter:
    definitions: JsonObject
    depth: int
    described: int
    left: int

    def cut(self, schema: Json, level: float) -> Json:
        """Copy a schema down to the depth, with references replaced by their targets."""
        if not isinstance(schema, dict):
            return schema
        self.left -= 20  # about the bytes of the smallest schema
        if self.left < 0:
            raise _TooBigError
        schema = self._followed(schema)
        if level > self.depth:
            return _stub(schema)
        out: JsonObject = {}
        for key, value in schema.items():
            kept = self._keyword(key, value, level)
            if kept is not None:
                out[key] = kept
        return out

    def _keyword(self, key: str, value: Json, level: float) -> Json:
        if key in {"title", "$defs", "$comment"}:
            return None
        if key == "description":
            return self._shortened(value, level)
        if key in _DATA:
            return _if_short(value) if key == "enum" else value
        if key in NAMED:
            return {name: self.cut(member, level + 1) for name, member in value.items()}
        if isinstance(value, list):
            return [self.cut(member, level + _STEP) for member in value]
        return self.cut(value, level + _STEP) if isinstance(value, dict) else value

    def _shortened(self, text: str, level: float) -> str | None:
        limit = self.described or (60 if level <= 1 and self.depth > 1 else 0)
        if level == 0 or not limit:
            return None
        return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0] + "…"

    def _followed(self, schema: JsonObject) -> JsonObject:
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        target = self.definitions.get(reference.removeprefix(_PREFIX), {})
        siblings = {key: value for key, value in schema.items() if key != "$ref"}
        return self._followed({**target, **siblings}) if target else siblings


def _stub(schema: JsonObject) -> JsonObject:
    kind = schema.get("type") or ("object" if "properties" in schema else None)
    if kind and "object" not in kind and "array" not in kind:
        return {"type": kind}
    return {"type": kind, "description": _MORE} if kind else {"description": _MORE}


def _if_short(choices: list[Json]) -> list[Json] | None:
    return choices if len(choices) <= 30 else None
