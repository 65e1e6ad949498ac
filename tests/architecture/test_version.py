"""One version everywhere."""

import re
import subprocess
import sys
from importlib.metadata import version as metadata_version
from pathlib import Path

import pytest

from ui_mcp.version import bundled_version, version_line


@pytest.mark.covers("UI-REL-1", "UI-CLI-4")
def test_readme_metadata_bundle_changelog_and_command_agree(root: Path) -> None:
    told = version_line((root / "README.md").read_text())
    changelog = re.search(r"^## (\S+)", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    command = subprocess.run(
        [sys.executable, "-m", "ui_mcp", "--version"], capture_output=True, text=True, timeout=180, check=False
    )

    assert told is not None
    assert changelog is not None
    assert metadata_version("ui-mcp") == told, "run `make test`, which installs the package again"
    assert bundled_version() == told
    assert changelog[1] == told
    assert command.stdout == f"ui-mcp v{told}\n"
