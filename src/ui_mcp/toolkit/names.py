"""Tool names as clients see them: `source__tool`, legal characters only, at most 64, unique."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from ui_mcp.discovery import lazy
from ui_mcp.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from difflib import get_close_matches
else:
    get_close_matches = lazy("difflib:get_close_matches")

LIMIT = 64
SEPARATOR = "__"
_CUT = LIMIT - 9  # room for an underscore and the eight digits of `_digest`
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]+")
_LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Unnamed:
    """A tool before naming: the name it asks for, and text that is unique among the tools of its source."""

    wanted: str
    identity: str


def clean(text: str) -> str:
    """Replace each run of characters that are illegal in a tool name by one underscore."""
    return _FOREIGN.sub("_", text).strip("_") if _FOREIGN.search(text) else text


def source_name(text: str) -> str:
    """Return a prefix made from `text` without a double underscore, so that the first one always is the separator."""
    name = re.sub(r"_+", "_", _FOREIGN.sub("_", text)).strip("_-")
    if not name:
        return f"s_{_digest(text)}"
    return name if name[0].isalpha() else f"s_{name}"


def is_legal(name: str) -> bool:
    """Return whether `name` can be listed unchanged."""
    return _LEGAL.fullmatch(name) is not None


def tool_names(source: str, tools: Sequence[Unnamed]) -> list[str]:
    """Return names for the tools of one source, in order."""
    # Every tool of a group that shares a name gets a digest: no name silently changes its meaning later.
    plain = [f"{source}{SEPARATOR}{clean(tool.wanted) or 'tool'}" for tool in tools]
    uses = Counter(plain)
    return [
        name if uses[name] == 1 and len(name) <= LIMIT else f"{name[:_CUT]}_{_digest(source, tool.identity)}"
        for name, tool in zip(plain, tools, strict=True)
    ]


def closest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Return up to `count` known names that are similar to `name`, the most similar first."""
    return get_close_matches(name, list(known), n=count, cutoff=0.4)


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()[:8]
