"""Reads the `**Version: X.Y.Z**` line of a README and orders versions by the rules of semantic versioning."""

import re
from functools import total_ordering
from pathlib import Path

from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.workspace import BUNDLE

UNKNOWN = "dev"
_NUMBER = r"(?:0|[1-9]\d*)"
_VERSION = re.compile(rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")
_LINE = re.compile(r"^\*\*Version: v?([^*\s]+)\*\*[ \t]*$", re.MULTILINE)
_CLONE_README = BUNDLE.parents[2] / "README.md"


@total_ordering
@dataclass(frozen=True, slots=True)
class Version:
    """A semantic version; `0.9.0 < 0.10.0-rc.1 < 0.10.0`."""

    numbers: tuple[int, int, int]
    pre: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Version | None":
        """Parse `X.Y.Z` with an optional pre-release; `None` for anything else."""
        found = _VERSION.fullmatch(text)
        if found is None:
            return None
        major, minor, patch, pre = found.groups()
        return cls((int(major), int(minor), int(patch)), tuple(pre.split(".")) if pre else ())

    def __lt__(self, other: "Version") -> bool:
        return self._key() < other._key()

    def __str__(self) -> str:
        text = ".".join(str(number) for number in self.numbers)
        return f"{text}-{'.'.join(self.pre)}" if self.pre else text

    def _key(self) -> tuple[tuple[int, int, int], bool, list[tuple[bool, int, str]]]:
        # A release comes after its pre-releases; numeric identifiers come before words.
        parts = [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in self.pre]
        return self.numbers, not self.pre, parts


def version_line(readme: str) -> str | None:
    """Return the version named in a README, or `None` if it has no version line."""
    found = _LINE.search(readme)
    return found[1] if found else None


def version_in(file: Path) -> Version | None:
    """Return the version of an installed or bundled README; `None` if it is missing or unreadable."""
    try:
        line = version_line(file.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    return Version.parse(line) if line else None


def bundled_readme() -> Path:
    """Return the README packaged with this program; in a clone, the README of the repository."""
    packed = BUNDLE / "base" / "README.md"
    return packed if packed.is_file() else _CLONE_README


def bundled_version() -> str:
    """Return the version of this program, `dev` if its README has none."""
    return str(version_in(bundled_readme()) or UNKNOWN)
