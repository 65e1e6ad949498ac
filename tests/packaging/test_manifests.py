"""The manifests by which hosts install ui-mcp."""

import json
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import manifests  # noqa: E402
from version import version  # noqa: E402


@pytest.mark.covers("UI-REL-5")
def test_every_manifest_has_the_version_and_starts_the_server(tmp_path: Path) -> None:
    manifests.write(tmp_path)

    read = {file.name: json.loads(file.read_text()) for file in tmp_path.rglob("*.json")}

    assert {"plugin.json", "marketplace.json", "gemini-extension.json", "server.json"} <= read.keys()
    assert {read[name]["version"] for name in ("plugin.json", "gemini-extension.json", "server.json")} == {version()}
    assert read["plugin.json"]["mcpServers"]["ui"] == {"command": "ui-mcp", "args": ["mcp", "--dir", ".ui"]}


@pytest.mark.covers("UI-REL-5")
def test_skills_of_the_plugin_name_the_directory_that_its_server_uses(tmp_path: Path) -> None:
    manifests.write(tmp_path)

    texts = [skill.read_text() for skill in (tmp_path / "claude-code" / "skills").rglob("SKILL.md")]

    assert texts
    assert not any(".claude/ui" in text for text in texts)


@pytest.mark.covers("UI-REL-5")
def test_the_bundle_contains_the_executable_that_it_starts(tmp_path: Path) -> None:
    executable = tmp_path / "ui-mcp-linux-amd64"
    executable.write_text("#!/bin/sh\n")
    executable.chmod(0o755)

    manifests.pack(executable, tmp_path / "ui-mcp.mcpb")

    with zipfile.ZipFile(tmp_path / "ui-mcp.mcpb") as archive:
        manifest = json.loads(archive.read("manifest.json"))
        entry = archive.getinfo(manifest["server"]["entry_point"])
    assert manifest["server"]["mcp_config"]["command"] == f"${{__dirname}}/{entry.filename}"
    assert entry.external_attr >> 16 & 0o111  # it stays executable
    assert manifest["compatibility"]["platforms"] == ["linux"]
