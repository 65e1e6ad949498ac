"""The code blocks of our texts, with the file a block belongs to when the line before names one."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXTS = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?:^`([^`\n]+)`:\n+)?^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """One block of code."""

    text: Path
    language: str
    code: str
    file: str | None

    def __str__(self) -> str:
        """Name it for a test's id."""
        return f"{self.text.relative_to(ROOT)}:{self.code.strip().splitlines()[0][:40]}"


def blocks(text: Path) -> list[Block]:
    """Return the blocks of one text in order."""
    found = BLOCK.findall(text.read_text(encoding="utf-8"))
    return [Block(text, language, code, file or None) for file, language, code in found]


def every(*languages: str) -> list[Block]:
    """Return all blocks of all texts in the given languages."""
    return [block for text in TEXTS if text.exists() for block in blocks(text) if block.language in languages]
