"""Compares paths with the places of `[lua.permissions]`; pure, and name by name."""

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

ANY_DEPTH = "**"


class Place(NamedTuple):
    """A file or directory, or a pattern of them: `*` stays within a name, `**` stands for any number of names."""

    path: str
    parts: tuple[str, ...]
    folded: bool = False
    """Compare without regard to case: what is denied stays denied on disks that ignore case."""

    @classmethod
    def of(cls, path: str, *, folded: bool = False) -> "Place":
        """Read a path or pattern; `NAME/**` means the same as `NAME`."""
        parts = parts_of(path.casefold() if folded else path)
        while parts and parts[-1] == ANY_DEPTH:
            parts = parts[:-1]
        return cls(path, parts, folded)

    def holds(self, path: str) -> bool:
        """Say whether `path` is this place or lies below it."""
        return _holds(self.parts, self._read(path))

    def lies_below(self, path: str) -> bool:
        """Say whether this place lies inside the directory `path`; where `**` begins, only looking there can tell."""
        return _reaches(self.parts, self._read(path))

    def _read(self, path: str) -> tuple[str, ...]:
        return parts_of(path.casefold() if self.folded else path)


def parts_of(path: str) -> tuple[str, ...]:
    """Split a path into its names."""
    return tuple(part for part in path.replace(os.sep, "/").split("/") if part)


def inside(path: str, folder: str) -> bool:
    """Say whether a real path is `folder` or lies below it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _holds(pattern: Sequence[str], path: Sequence[str]) -> bool:
    """Match the whole pattern against the beginning of the path."""
    for at, part in enumerate(pattern):
        if part == ANY_DEPTH:
            return any(_holds(pattern[at + 1 :], path[skip:]) for skip in range(at, len(path) + 1))
        if at >= len(path) or not _same(path[at], part):
            return False
    return True


def _reaches(pattern: Sequence[str], path: Sequence[str]) -> bool:
    """Match the whole path against the beginning of a longer pattern."""
    before = pattern[: len(path)]
    if len(pattern) <= len(path) or ANY_DEPTH in before:
        return False
    return all(_same(name, part) for name, part in zip(path, before, strict=True))


def _same(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) if "*" in pattern else name == pattern
