"""Writes down what a journey does, as the page a reader sees; `UI_MCP_WRITE_DOCS=1` puts it into docs/journeys."""

import json
import os
import re
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "journeys"
WRITING = "UI_MCP_WRITE_DOCS" in os.environ
WIDEST = 600
# What differs from run to run, and what the reader sees in its place.
CHANGING = (
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r'"(ui_port|mcp_port|pid)": ?\d+', r'"\1": N'),
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "2026-01-01T12:00:00Z"),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b", "ID"),
    (r"snapshot [0-9a-f]{10}", "snapshot 0123456789"),
    (r"\b[0-9A-Za-z_-]{22,}\b(?=[\"'&#])", "TOKEN"),
)


class Story:
    """One page of docs/journeys, growing while its journey runs."""

    def __init__(self, name: str, home: Path) -> None:
        self.name = name
        self._home = str(home)
        self._parts: list[str] = []
        self._changing: list[tuple[str, str | Callable[[re.Match[str]], str]]] = list(CHANGING)

    def steady(self, pattern: str, shown: str | Callable[[re.Match[str]], str]) -> None:
        """Name something else that differs from run to run."""
        self._changing.insert(0, (pattern, shown))

    def say(self, markdown: str) -> None:
        """Add a heading or a paragraph."""
        self._parts.append(markdown.strip())

    def shell(self, command: str, output: str = "") -> None:
        """Show a command and what it printed."""
        self._block("console", f"$ {command}\n{output}")

    def file(self, path: Path | str, language: str, text: str) -> None:
        """Show a file the person or the agent wrote."""
        self._parts.append(f"`{path}`:")
        self._block(language, text)

    def call(self, tool: str, arguments: dict[str, Any], answer: str) -> None:
        """Show a tool call and its answer."""
        given = json.dumps(arguments, ensure_ascii=False)
        cut = answer if len(answer) <= WIDEST else f"{answer[:WIDEST]}…"
        self._block("text", f"→ {tool} {given}\n← {cut}")

    def image(self, png: bytes, name: str, shows: str) -> None:
        """Keep a picture the agent took."""
        file = PAGES / "images" / f"{name}.png"
        if WRITING:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(png)
        assert file.is_file(), f"{file} is missing: UI_MCP_WRITE_DOCS=1 pytest {Path(__file__).parent} makes it"
        self._parts.append(f"![{shows}](images/{name}.png)")

    def picture(self, page: Page, name: str, shows: str) -> None:
        """Keep what the browser shows."""
        file = PAGES / "images" / f"{name}.png"
        if WRITING:
            file.parent.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=file, animations="disabled")
        assert file.is_file(), f"{file} is missing: UI_MCP_WRITE_DOCS=1 pytest {Path(__file__).parent} makes it"
        self._parts.append(f"![{shows}](images/{name}.png)")

    def film(self, name: str, shows: str) -> None:
        """Show what `make media` filmed of this journey; the scene of the same name plays it."""
        files = [f"{name}-{view}.webp" for view in ("light-still", "dark", "light")]
        missing = [file for file in files if not (PAGES / "images" / file).is_file()]
        assert missing == [], f"make media MEDIA={name} makes them"
        still, dark, light = files
        self._parts.append(
            f"<picture>\n"
            f'<source media="(prefers-reduced-motion: reduce)" srcset="images/{still}">\n'
            f'<source media="(prefers-color-scheme: dark)" srcset="images/{dark}">\n'
            f'<img src="images/{light}" alt="{shows}">\n'
            f"</picture>"
        )

    def finish(self) -> None:
        """Write the page, or check that it still says what happened."""
        file = PAGES / f"{self.name}.md"
        text = self._unchanging("\n\n".join(self._parts)) + "\n"
        if WRITING:
            file.write_text(text, encoding="utf-8")
        told = file.read_text(encoding="utf-8")
        changes = "\n".join(unified_diff(told.splitlines(), text.splitlines(), "told", "happens", n=0, lineterm=""))
        assert told == text, (
            f"{file.name} no longer tells what happens; if that is intended, run `make records`\n{changes}"
        )

    def _block(self, language: str, text: str) -> None:
        self._parts.append(f"```{language}\n{text.rstrip()}\n```")

    def _unchanging(self, text: str) -> str:
        text = text.replace(self._home, "~/project")
        for pattern, replacement in self._changing:
            text = re.sub(pattern, replacement, text)
        return text
