"""What a theme file says about itself: name, description, colours, documented classes."""

import re
from dataclasses import dataclass
from pathlib import Path

from ui_mcp.jsontypes import JsonObject

HEADER = re.compile(r"/\*(.*?)\*/", re.DOTALL)
TAG = re.compile(r"^\s*\*?\s*@(\w+)\s*(.*?)\s*$")
COLOUR = re.compile(r"--term-(accent|bg)\s*:\s*([^;}]+)")
HEX = re.compile(r"#([0-9a-f]{3}|[0-9a-f]{6})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StyleClass:
    """A class that a theme documents for app authors."""

    name: str
    description: str = ""
    usage: str = ""
    elements: str = ""

    def as_json(self) -> JsonObject:
        """Return what `ui_theme` shows."""
        return {"name": self.name, "description": self.description, "usage": self.usage, "elements": self.elements}


@dataclass(frozen=True, slots=True)
class Theme:
    """One theme file."""

    name: str
    file: str
    """File name, below `themes/`."""
    version: int
    """Changes with the file."""
    description: str = ""
    accent: str = ""
    dark: bool = False
    classes: tuple[StyleClass, ...] = ()


def read_theme(path: Path) -> Theme:
    """Read a theme file; one without a header is named after its file."""
    text = path.read_text(encoding="utf-8", errors="replace")
    header = HEADER.search(text)
    lines = (header[1] if header else "").splitlines()
    tags = [(found[1], found[2]) for line in lines if (found := TAG.match(line))]
    colours = {name: value.strip() for name, value in reversed(COLOUR.findall(text))}
    before = tags[: next((at for at, (tag, _) in enumerate(tags) if tag == "class"), len(tags))]
    about = dict(before)
    return Theme(
        name=about.get("theme") or path.stem,
        file=path.name,
        version=int(path.stat().st_mtime),
        description=about.get("description", ""),
        accent=colours.get("accent", ""),
        dark=_is_dark(colours.get("bg", "")),
        classes=tuple(_classes(tags[len(before) :])),
    )


def _classes(tags: list[tuple[str, str]]) -> list[StyleClass]:
    found: list[dict[str, str]] = []
    for tag, text in tags:
        if tag == "class":
            found.append({"name": text})
        elif found and tag in {"description", "usage", "elements"}:
            found[-1][tag] = text
    return [StyleClass(**fields) for fields in found]


def _is_dark(colour: str) -> bool:
    found = HEX.search(colour)
    if not found:
        return False
    digits = found[1] if len(found[1]) == 6 else "".join(2 * digit for digit in found[1])
    red, green, blue = (int(digits[at : at + 2], 16) for at in (0, 2, 4))
    return 0.299 * red + 0.587 * green + 0.114 * blue < 128
