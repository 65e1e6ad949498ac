"""Names of tools as clients see them: `source__tool`, safe characters, at most 64, never silently changing meaning."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import sha256

LIMIT = 64
SEPARATOR = "__"
_CUT = LIMIT - 9
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]+")
_LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Unnamed:
    """A tool before naming: the words it wants, and what makes it unlike any other of its source."""

    wanted: str
    identity: str


def clean(text: str) -> str:
    """Replace each run of characters a tool name may not have by one underscore."""
    return _FOREIGN.sub("_", text).strip("_") if _FOREIGN.search(text) else text


def source_name(text: str) -> str:
    """Make a prefix of `text` that holds no double underscore, so the first one always separates."""
    name = re.sub(r"_+", "_", _FOREIGN.sub("_", text)).strip("_-")
    if not name:
        return f"s_{_digest(text)}"
    return name if name[0].isalpha() else f"s_{name}"


def is_legal(name: str) -> bool:
    """Say whether `name` may be listed as it is."""
    return _LEGAL.fullmatch(name) is not None


def tool_names(source: str, tools: Sequence[Unnamed]) -> list[str]:
    """Name the tools of one source; every member of a group that would share a name gets a suffix of its own."""
    plain = [f"{source}{SEPARATOR}{clean(tool.wanted) or 'tool'}" for tool in tools]
    uses = Counter(plain)
    return [
        name if uses[name] == 1 and len(name) <= LIMIT else f"{name[:_CUT]}_{_digest(source, tool.identity)}"
        for name, tool in zip(plain, tools, strict=True)
    ]


def closest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Return the known names most like `name`."""
    return get_close_matches(name, list(known), n=count, cutoff=0.4)


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()[:8]
