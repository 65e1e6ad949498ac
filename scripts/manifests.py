"""Writes the manifests by which hosts install ui-mcp into release/manifests; `make release` runs it.

A plugin and marketplace for Claude Code, a bundle for Claude Desktop (.mcpb), an extension for Gemini CLI, and the
server.json of the MCP registry. All but the bundle start the command `ui-mcp`; the bundle contains the executable.
"""

import json
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

from version import version

ROOT = Path(__file__).parents[1]
NAME = "ui-mcp"
WHAT = "A live browser UI, chat, UI automation and an API gateway for AI agents"
AUTHOR = {"name": "The ui-mcp authors"}
SKILLS = ROOT / "src" / "ui_mcp" / "bundle" / "claude" / "skills"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
PLATFORMS = {"linux": "linux", "darwin": "darwin", "windows": "win32"}
"""What the bundle calls the systems that executables are named after."""


def server(*arguments: str) -> dict[str, Any]:
    return {"command": NAME, "args": ["mcp", *arguments]}


def plugin() -> dict[str, Any]:
    """Return the manifest of the plugin for Claude Code, which guards .claude/."""
    head = {"name": NAME, "version": version(), "description": WHAT, "author": AUTHOR, "license": "MIT"}
    return {**head, "keywords": ["mcp", "ui"], "mcpServers": {"ui": server("--dir", ".ui")}}


def marketplace() -> dict[str, Any]:
    """Return the manifest of a marketplace that offers the plugin beside it."""
    offered = {"name": NAME, "source": "./", "version": version(), "description": WHAT}
    return {"name": NAME, "owner": AUTHOR, "metadata": {"description": WHAT}, "plugins": [offered]}


def extension() -> dict[str, Any]:
    """Return the manifest of the extension for Gemini CLI."""
    return {"name": NAME, "version": version(), "description": WHAT, "mcpServers": {"ui": server()}}


def registry() -> dict[str, Any]:
    """Return the entry for the MCP registry."""
    package = {
        "registryType": "pypi",
        "identifier": NAME,
        "version": version(),
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "mcp"}],
    }
    name = f"io.github.{NAME}/{NAME}"
    return {"$schema": SCHEMA, "name": name, "description": WHAT, "version": version(), "packages": [package]}


def bundle(executable: str) -> dict[str, Any]:
    """Return the manifest of the bundle for Claude Desktop, which asks for the project's directory."""
    folder = {
        "type": "directory",
        "title": "Project",
        "description": "Directory whose apps are shown; they are kept in its folder .ui.",
        "required": True,
    }
    start = {"command": f"${{__dirname}}/server/{executable}", "args": ["mcp", "--dir", "${user_config.project}/.ui"]}
    system = executable.removeprefix("ui-mcp-").partition("-")[0]
    return {
        "manifest_version": "0.3",
        "name": NAME,
        "display_name": "ui-mcp",
        "version": version(),
        "description": WHAT,
        "author": AUTHOR,
        "license": "MIT",
        "server": {"type": "binary", "entry_point": f"server/{executable}", "mcp_config": {**start, "env": {}}},
        "user_config": {"project": folder},
        "compatibility": {"platforms": [PLATFORMS[system]]},
    }


def write(folder: Path) -> None:
    """Write all manifests but the bundle's below a folder, with the skills for those that take them."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, manifest in {
        "claude-code/.claude-plugin/plugin.json": plugin(),
        "claude-code/.claude-plugin/marketplace.json": marketplace(),
        "gemini/gemini-extension.json": extension(),
        "server.json": registry(),
    }.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    shutil.copytree(SKILLS, folder / "gemini" / "skills")
    shutil.copytree(SKILLS, folder / "claude-code" / "skills")
    for skill in (folder / "claude-code" / "skills").rglob("*.md"):  # they name the directory that its server uses
        skill.write_text(skill.read_text(encoding="utf-8").replace(".claude/ui", ".ui"), encoding="utf-8")


def pack(executable: Path, place: Path) -> None:
    """Write the bundle for Claude Desktop: the executable and its manifest in one archive."""
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(bundle(executable.name), indent=2))
        archive.write(executable, f"server/{executable.name}")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
