"""Tool names as model vendors accept them, and the way back through one table."""

import re
from collections.abc import Iterable
from hashlib import sha256

LIMIT = 64
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


class VendorNames:
    """Maps names both ways; the same names always map the same."""

    def __init__(self, names: Iterable[str]) -> None:
        self._out: dict[str, str] = {}
        self._back: dict[str, str] = {}
        given = list(names)
        taken = {name for name in given if _accepted(name)}
        for name in given:
            safe = name if name in taken else _safe(name)
            if safe != name and (safe in taken or safe in self._back):
                safe = f"{safe[: LIMIT - 9]}_{sha256(name.encode()).hexdigest()[:8]}"
            self._out[name], self._back[safe] = safe, name

    def out(self, name: str) -> str:
        """Return the name to show to the vendor."""
        return self._out.get(name, _safe(name))

    def back(self, safe: str) -> str:
        """Return the real name; a name that was never shown comes back as it is."""
        return self._back.get(safe, safe)


def _accepted(name: str) -> bool:
    return 0 < len(name) <= LIMIT and not _FOREIGN.search(name)


def _safe(name: str) -> str:
    return _FOREIGN.sub("_", name)[:LIMIT] or "_"
