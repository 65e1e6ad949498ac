"""The contracts of our elements (`ui-table` and others), collected from `web/src/elements` by `scripts/elements.py`."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from ui_mcp.jsontypes import JsonObject

_FILE = Path(__file__).with_name("elements.json")
_PLAIN = frozenset({"value", "text", "none"})
"""What elements bind that need no data of their own: a field's value, a text, nothing."""


@cache
def contracts() -> Mapping[str, JsonObject]:
    """Return every contract by its tag."""
    found: dict[str, JsonObject] = json.loads(_FILE.read_text("utf-8"))
    return found


def elements_in(html: str) -> frozenset[str]:
    """Return the tags of our elements in a template."""
    return frozenset(re.findall(r"<(ui-[a-z]+)\b", html)) & contracts().keys()


def data_kind(tag: str) -> str | None:
    """Return the kind of data that an element gets through `ui-value`, None if it is a plain value."""
    if not tag.startswith("ui-"):
        return None
    binds = contracts().get(tag, {}).get("binds")
    return binds if isinstance(binds, str) and binds not in _PLAIN else None


_EVERYWHERE = re.compile(r"class|style|id|hidden|slot|title|role|lang|dir|tabindex|part|(?:data|aria|ui)-.+")


def unknown(tag: str, attributes: Iterable[str], parents: Iterable[str] = ()) -> Iterator[str]:
    """Yield what is wrong with a tag of ours: no such element, or attributes that its contract does not name."""
    known = _attributes(tag, parents)
    if known is None:
        if tag.startswith("ui-"):
            yield f"<{tag}> is no element{_meant(tag, _tags())}; ui://components lists them"
        return
    for name in attributes:
        if name not in known and not _EVERYWHERE.fullmatch(name):
            yield f"<{tag}> has no attribute '{name}'{_meant(name, known)}"


def _tags() -> list[str]:
    children = [child for one in contracts().values() for child in _object(one, "children") if child.startswith("ui-")]
    return [*contracts(), *children]


def _attributes(tag: str, parents: Iterable[str]) -> list[str] | None:
    if tag in contracts():
        return list(_object(contracts()[tag], "attributes"))
    for parent in parents:
        child = _object(contracts().get(parent, {}), "children").get(tag)
        if tag.startswith("ui-") and isinstance(child, dict):
            return list(_object(child, "attributes"))
    return None


def _object(one: JsonObject, name: str) -> JsonObject:
    found = one.get(name)
    return found if isinstance(found, dict) else {}


def _meant(word: str, known: Iterable[str]) -> str:
    close = get_close_matches(word, list(known), 1)
    return f"; did you mean {close[0]}?" if close else ""


def server_attributes(tag: str) -> Sequence[str]:
    """Return the attributes of an element that the server must know: rules that hold whatever a page does."""
    names = contracts().get(tag, {}).get("server", [])
    return [str(name) for name in names] if isinstance(names, list) else []
