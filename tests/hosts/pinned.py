"""Hosts in fixed versions for every run of the tests: those that npm installs in seconds."""

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from assets import MissingToolError, node_tools
from drive_hosts import FOLDER, npm_install

__all__ = ["VERSIONS", "MissingToolError", "install_pinned", "node_folder", "npm_install"]
VERSIONS = {"claude-code": "2.1.326", "codex": "0.169.0", "gemini": "0.61.0"}


def install_pinned(name: str) -> Path:
    """Install one host in its fixed version, unless it is there; return the folder of these hosts.

    Raises:
        MissingToolError: there is no npm.
        CalledProcessError: npm cannot install it.
    """
    hosts = FOLDER.with_name("pinned-hosts")
    kept = hosts / name / "installed"
    if not kept.is_file() or kept.read_text() != VERSIONS[name]:
        npm_install(hosts / name, name, VERSIONS[name])
        kept.write_text(VERSIONS[name])
    return hosts


def node_folder() -> Path:
    """Return where the Node is that most hosts run on."""
    _, environment = node_tools()
    return Path(shutil.which("node", path=environment.get("PATH")) or "/usr/bin/node").parent
