"""No text installs ui-mcp by its name alone while that name is not ours on the package index."""

import re
from pathlib import Path

BY_NAME = re.compile(r"\b(?:pip3? install|pipx (?:install|run)|uvx|uv tool install)(?: -\S+)* ['\"]?ui-mcp\b")
"""An option with a value, such as `--from FILE`, comes between and is fine."""
TEXTS = {".md", ".py", ".ts", ".html", ".lua", ".toml", ".yml", ".yaml", ".json", ".sh"}


def test_a_line_to_install_with_names_a_wheel_or_a_checkout(tracked: list[Path], root: Path) -> None:
    texts = [file for file in tracked if file.suffix in TEXTS and not file.is_relative_to(root / "tests")]

    lines = [
        f"{file.relative_to(root)}:{number} {line.strip()[:100]}"
        for file in texts
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if BY_NAME.search(line)
    ]

    assert lines == [], "use a wheel, a checkout or --from"
