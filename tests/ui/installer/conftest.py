"""A small bundle and an empty project."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ui_mcp.workspace import Workspace

MakeBundle = Callable[..., Path]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.at(tmp_path / "project" / ".claude" / "ui")


@pytest.fixture
def make_bundle(tmp_path: Path) -> MakeBundle:
    """Make a bundle of the given version; further files are given by their path in it."""

    def make(version: str, files: dict[str, str] | None = None) -> Path:
        root = tmp_path / f"bundle-{version}"
        standard = {
            "base/README.md": f"# ui-mcp\n\n**Version: {version}**\n",
            "base/event": "#!/bin/sh\necho event\n",
            "base/resources/lua.md": f"Lua guide of {version}\n",
            "claude/skills/ui/SKILL.md": f"Skill of {version}\n",
        }
        for path, text in {**standard, **(files or {})}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return root

    return make
