"""Strategies that several borders share: any JSON, real-shaped trees with a few bad places, damaged bytes."""

import copy
import json
from typing import Any

import yaml
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy


def _nested(depth: int, kind: str) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if kind == "[" else {"a": value}
    return value


texts = st.text(max_size=12) | st.sampled_from(
    [
        "",
        "\0",
        "\ud800",
        "\u202e",
        "a" * 3000,
        "${HOME}",
        "../..",
        "http://[",
        "%",
        "{",
        "{id}",
        "#/x",
        "(a+)+$",
        "__",
        "-1",
    ]
)
numbers = (
    st.integers(-3, 300)
    | st.sampled_from(
        [2**31, 2**53 + 1, 2**64, -(2**63), 10**400, 1e308, -0.0, float("inf"), float("-inf"), float("nan")]
    )
    | st.floats()
)
scalars = st.none() | st.booleans() | numbers | texts
deep = st.builds(_nested, st.sampled_from([3, 4, 5, 6, 7, 8, 60, 260, 600]), st.sampled_from("[{"))
trees: SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
any_json: SearchStrategy[Any] = scalars | trees | trees | deep


def text_of(value: Any) -> str:
    """Write JSON as other programs do: numbers beyond 64 bits, NaN and lone surrogates included."""
    return json.dumps(value)


def yaml_of(value: Any) -> bytes:
    """Write YAML, or JSON where that cannot be."""
    try:
        return yaml.dump(value, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), encoding="utf-8")
    except (RecursionError, UnicodeEncodeError):
        return text_of(value).encode()


edits = st.lists(
    st.tuples(
        st.sampled_from(["replace", "replace", "remove", "rename", "repeat", "wrap"]),
        st.integers(0, 2**16),
        any_json,
        texts,
    ),
    min_size=1,
    max_size=3,
)


def mutated(*samples: Any) -> SearchStrategy[Any]:
    """Return trees of these shapes with one to three places changed."""
    return st.builds(_edited, st.sampled_from(samples), edits)


def _edited(sample: Any, changes: list[tuple[str, int, Any, str]]) -> Any:
    tree = copy.deepcopy(sample)
    for kind, at, value, name in changes:
        places = list(_places(tree, 0))
        if not places:
            return value
        holder, key = places[at % len(places)]
        _change(holder, key, kind, value, name)
    return tree


def _places(tree: Any, depth: int) -> Any:
    if depth > 60:
        return
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield tree, key
            yield from _places(value, depth + 1)
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield tree, index
            yield from _places(value, depth + 1)


def _change(holder: Any, key: Any, kind: str, value: Any, name: str) -> None:
    match kind:
        case "remove":
            del holder[key]
        case "rename" if isinstance(holder, dict):
            holder[name] = holder.pop(key)
        case "repeat" if isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        case "wrap":
            holder[key] = {name: holder[key]}
        case _:
            holder[key] = value


damage = st.lists(
    st.tuples(st.sampled_from(["insert", "delete", "cut"]), st.integers(0, 2**16), st.binary(max_size=6)),
    max_size=3,
)


def damaged(data: bytes, changes: list[tuple[str, int, bytes]]) -> bytes:
    """Return bytes with pieces inserted, deleted or cut off."""
    for kind, at, piece in changes:
        where = at % (len(data) + 1)
        match kind:
            case "insert":
                data = data[:where] + piece + data[where:]
            case "delete":
                data = data[:where] + data[where + len(piece) + 1 :]
            case _:
                data = data[:where]
    return data


def messages(*samples: Any) -> SearchStrategy[bytes]:
    """Return JSON bytes of these shapes: with wrong values, sometimes damaged, sometimes anything at all."""
    whole = st.builds(lambda tree: text_of(tree).encode(), mutated(*samples) | any_json)
    return whole | st.builds(damaged, whole, damage) | st.binary(max_size=40)
