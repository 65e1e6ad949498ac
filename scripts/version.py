"""Determines the version to build: the README's `**Version: X.Y.Z**` line, or the environment's `VERSION`.

Run as a program, it writes the version to the file given as its argument, but only if it changed, so that make
can depend on it.
"""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINE = re.compile(r"^\*\*Version: ([^*\s]+)\*\*[ \t]*$", re.MULTILINE)
SHAPE = re.compile(r"\d+\.\d+\.\d+")


def version() -> str:
    """Return the version to build.

    Raises:
        ValueError: there is none, or it is not of the form X.Y.Z.
    """
    found = LINE.search((ROOT / "README.md").read_text(encoding="utf-8"))
    chosen = os.environ.get("VERSION", "").removeprefix("v") or (found[1] if found else "")
    if not SHAPE.fullmatch(chosen):
        raise ValueError(f"README.md or VERSION must give a version of the form X.Y.Z, not {chosen!r}")
    return chosen


def stamped(readme: str, chosen: str) -> str:
    """Return the text of a README with `chosen` on its version line."""
    return LINE.sub(f"**Version: {chosen}**", readme, count=1)


def _write_if_changed(target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.is_file() or target.read_text() != version():
        target.write_text(version())


if __name__ == "__main__":
    _write_if_changed(Path(sys.argv[1]))
