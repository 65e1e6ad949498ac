"""The manifests by which hosts install ui-mcp."""

import json
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

import needs

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import manifests  # noqa: E402
from version import version  # noqa: E402

REPOSITORY = "https://github.com/example/ui-mcp"


@pytest.mark.covers("UI-REL-5")
def test_every_manifest_has_the_version_and_starts_the_server(tmp_path: Path) -> None:
    manifests.write(tmp_path, REPOSITORY)

    files = [file for file in tmp_path.rglob("*.json") if "codex" not in file.parts or file.name == ".mcp.json"]
    read = {file.name: json.loads(file.read_text()) for file in files}

    assert {"plugin.json", "marketplace.json", "gemini-extension.json", "server.json"} <= read.keys()
    assert {read[name]["version"] for name in ("plugin.json", "gemini-extension.json", "server.json")} == {version()}
    assert read["plugin.json"]["mcpServers"]["ui"] == {"command": "ui-mcp", "args": ["mcp", "--dir", ".ui"]}
    assert read[".mcp.json"]["mcpServers"]["ui"] == {"command": "ui-mcp", "args": ["mcp"]}


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


@pytest.mark.covers("UI-REL-5")
@pytest.mark.parametrize("part", [".", "codex"])
def test_published_schemas_accept_the_registry_entry_and_the_plugin_for_codex(part: str, tmp_path: Path) -> None:
    if find_spec("skillsaw") is None:
        needs.missing("skillsaw, which contains the schema of the MCP registry")
    manifests.write(tmp_path, REPOSITORY)

    done = subprocess.run(
        [sys.executable, "-m", "skillsaw", "lint", "--strict", "--format", "json", tmp_path / part],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    found = json.loads(done.stdout)
    assert (done.returncode, found["violations"]) == (0, []), done.stdout + done.stderr
    assert ("mcp-registry" if part == "." else "codex-plugin") in found["stats"]["repo_types"]


@pytest.mark.covers("UI-REL-5")
def test_the_name_in_the_registry_follows_from_the_repository() -> None:
    assert manifests.registry(REPOSITORY)["name"] == "io.github.example/ui-mcp"
    with pytest.raises(ValueError, match="give https://github"):
        manifests.registry("https://example.org/code")


@pytest.mark.covers("UI-REL-5")
@pytest.mark.parametrize(
    "variables",
    [
        {"REPOSITORY": f"{REPOSITORY}.git"},
        {"GITHUB_REPOSITORY": "example/ui-mcp", "GITHUB_SERVER_URL": "https://github.com"},
    ],
)
def test_a_release_takes_the_repository_from_its_variables(variables: dict[str, str]) -> None:
    assert manifests.repository(variables) == REPOSITORY


@pytest.mark.covers("UI-REL-5")
def test_without_a_repository_no_entry_for_the_registry_is_guessed(tmp_path: Path) -> None:
    assert manifests.repository({}) == ""
    manifests.write(tmp_path)

    assert not (tmp_path / "server.json").exists()
