"""Typed signatures of tools, as short as a model needs them to write a call in a script."""

import re

from ui_mcp.gateway.source import Entry
from ui_mcp.jsontypes import Json, JsonObject, dumps

_MAX_CHARACTERS = 700
_MAX_CHOICES = 8
_NAMES = {"integer": "int", "number": "number", "string": "string", "boolean": "bool", "null": "nil"}
_WORD = re.compile(r"[A-Za-z_]\w*")


def stub(entry: Entry) -> str:
    """Return `call("NAME", {argument: type, optional?: type}) -> type -- what it does`."""
    schema = entry.tool.input_schema
    for depth in (4, 2, 1):  # shorter until it fits
        text = f'call("{entry.name}", {_object(schema, schema, depth)})'
        if len(text) <= _MAX_CHARACTERS:
            break
    output = entry.tool.output_schema
    if output:
        returned = _type(output, output, 2)
        text += f" -> {returned}" if len(returned) <= _MAX_CHARACTERS else " -> {…}"
    about = entry.tool.description.strip().split("\n", maxsplit=1)[0][:120]
    return f"{text} -- {about}" if about else text


def _type(node: Json, root: JsonObject, depth: int) -> str:
    node = _resolved(node, root)
    if not isinstance(node, dict):
        return "any"
    choices = node.get("enum")
    if isinstance(choices, list) and choices:
        shown = "|".join(dumps(choice) for choice in choices[:_MAX_CHOICES])
        return shown + ("|…" if len(choices) > _MAX_CHOICES else "")
    for word in ("oneOf", "anyOf"):
        if isinstance(node.get(word), list):
            return "|".join(dict.fromkeys(_type(branch, root, depth - 1) for branch in node[word][:_MAX_CHOICES]))
    kind = node.get("type")
    if isinstance(kind, list):
        return "|".join(_NAMES.get(str(one), str(one)) for one in kind)
    if kind == "array" or "items" in node:
        return f"[{_type(node.get('items', {}), root, depth)}]"
    if kind == "object" or "properties" in node:
        return _object(node, root, depth)
    return _NAMES.get(str(kind), "any")


def _object(node: JsonObject, root: JsonObject, depth: int) -> str:
    properties = node.get("properties")
    if not isinstance(properties, dict) or not properties:
        return "{}" if node.get("additionalProperties") is False else "{…}"
    if depth <= 0:
        return "{…}"
    required = set(node.get("required") or ())
    # Required ones first: they are what a call cannot do without. Call options of the gateway are left out.
    names = sorted((name for name in properties if not name.startswith("_")), key=lambda name: name not in required)
    members = [
        f"{_key(name)}{'' if name in required else '?'}: {_type(properties[name], root, depth - 1)}" for name in names
    ]
    return "{" + ", ".join(members) + "}"


def _key(name: str) -> str:
    return name if _WORD.fullmatch(name) else f"[{dumps(name)}]"


def _resolved(node: Json, root: JsonObject) -> Json:
    for _ in range(10):  # bounded: references may form a cycle
        reference = node.get("$ref") if isinstance(node, dict) else None
        if not isinstance(reference, str):
            return node
        node = root.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {})
    return {}
