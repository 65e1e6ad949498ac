"""Writes the manifests by which hosts install ui-mcp into release/manifests; `make release` runs it.

Plugins and marketplaces for Claude Code and Codex, a bundle for Claude Desktop (.mcpb), an extension for Gemini CLI,
and the server.json of the MCP registry. All but the bundle start the command `ui-mcp`; the bundle contains it.

Names in the registry belong to the owner of a repository, so server.json is only written when the repository is known:
from the variable REPOSITORY (https://github.com/OWNER/NAME), from GitHub's own variables in a workflow, or from
`project.urls.Repository` in pyproject.toml.
"""

import json
import os
import re
import shutil
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from version import version

ROOT = Path(__file__).parents[1]
NAME = "ui-mcp"
WHAT = "A live browser UI, chat, UI automation and an API gateway for AI agents"
AUTHOR = {"name": "The ui-mcp authors"}
CATEGORY = "Developer Tools"
"""Where Codex shows the plugin."""
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


def codex_plugin() -> dict[str, Any]:
    """Return the manifest of the plugin for Codex, whose server is in the file .mcp.json beside it."""
    head = {"name": NAME, "version": version(), "description": WHAT, "author": AUTHOR, "license": "MIT"}
    shown = {"displayName": NAME, "shortDescription": WHAT, "developerName": AUTHOR["name"], "category": CATEGORY}
    parts = {"skills": "./skills/", "mcpServers": "./.mcp.json"}
    return {**head, "keywords": ["mcp", "ui"], **parts, "interface": shown}


def codex_marketplace() -> dict[str, Any]:
    """Return the manifest of a Codex marketplace, which names folders from its own root."""
    policy = {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
    offered = {"name": NAME, "source": {"source": "local", "path": f"./plugins/{NAME}"}, "policy": policy}
    return {"name": NAME, "interface": {"displayName": NAME}, "plugins": [{**offered, "category": CATEGORY}]}


def extension() -> dict[str, Any]:
    """Return the manifest of the extension for Gemini CLI."""
    return {"name": NAME, "version": version(), "description": WHAT, "mcpServers": {"ui": server()}}


def repository(variables: Mapping[str, str] = os.environ) -> str:
    """Return the address of the project's repository, "" if nothing tells it."""
    if given := variables.get("REPOSITORY"):
        return given.removesuffix("/").removesuffix(".git")
    if name := variables.get("GITHUB_REPOSITORY"):
        return f"{variables.get('GITHUB_SERVER_URL', 'https://github.com')}/{name}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project.get("urls", {}).get("Repository", ""))


def registry(address: str) -> dict[str, Any]:
    """Return the entry for the MCP registry, in the namespace that the owner of a repository on GitHub may publish to.

    Raises:
        ValueError: it is no repository on GitHub.
    """
    found = re.fullmatch(r"https://github\.com/([A-Za-z0-9-]+)/[\w.-]+", address)
    if found is None:
        raise ValueError(f"No namespace of the MCP registry follows from {address}; give https://github.com/OWNER/NAME")
    package = {
        "registryType": "pypi",
        "identifier": NAME,
        "version": version(),
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "mcp"}],
    }
    head = {"$schema": SCHEMA, "name": f"io.github.{found[1]}/{NAME}", "description": WHAT, "version": version()}
    return {**head, "repository": {"url": address, "source": "github"}, "packages": [package]}


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


def write(folder: Path, address: str = "") -> None:
    """Write all manifests but the bundle's below a folder, with the skills for those that take them."""
    shutil.rmtree(folder, ignore_errors=True)
    codex = f"codex/plugins/{NAME}"
    files = {
        "claude-code/.claude-plugin/plugin.json": plugin(),
        "claude-code/.claude-plugin/marketplace.json": marketplace(),
        "codex/.agents/plugins/marketplace.json": codex_marketplace(),
        f"{codex}/.codex-plugin/plugin.json": codex_plugin(),
        f"{codex}/.mcp.json": {"mcpServers": {"ui": server()}},
        "gemini/gemini-extension.json": extension(),
        **({"server.json": registry(address)} if address else {}),
    }
    for name, manifest in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    for place in ("gemini", codex, "claude-code"):
        shutil.copytree(SKILLS, folder / place / "skills")
    for skill in (folder / "claude-code" / "skills").rglob("*.md"):  # they name the directory that its server uses
        skill.write_text(skill.read_text(encoding="utf-8").replace(".claude/ui", ".ui"), encoding="utf-8")


def pack(executable: Path, place: Path) -> None:
    """Write the bundle for Claude Desktop: the executable and its manifest in one archive."""
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(bundle(executable.name), indent=2))
        archive.write(executable, f"server/{executable.name}")


if __name__ == "__main__":
    write(Path(sys.argv[1]), repository())
