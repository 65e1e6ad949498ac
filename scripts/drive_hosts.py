"""Installs MCP hosts from npm and drives them through tests/hosts; `make hosts` runs it.

`python scripts/drive_hosts.py [NAME…]` installs the newest version of the named hosts, by default of all, below
`.clients/hosts`, at most once a day.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import assets

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".clients" / "hosts"
DAY = 24 * 60 * 60
PACKAGES = {
    "claude-code": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
    "qwen": "@qwen-code/qwen-code",
    "cline": "cline",
}
TOOLS = {"mcpb": "@anthropic-ai/mcpb", "inspector": "@modelcontextprotocol/inspector"}
"""What judges manifests and shows MCP Apps, beside the hosts themselves."""


def main(names: list[str]) -> int:
    """Install and drive hosts; return pytest's exit code."""
    unknown = set(names) - PACKAGES.keys()
    if unknown:
        print(f"No host {', '.join(sorted(unknown))}; there are: {', '.join(PACKAGES)}")
        return 2
    chosen = names or list(PACKAGES)
    for name in [*chosen, "mcpb"]:
        install(name)
    tests = [f"tests/hosts/test_loop.py::test_a_host_goes_through_the_whole_loop[{name}]" for name in chosen]
    tests += ["tests/hosts/test_manifests.py"] if chosen == list(PACKAGES) else []
    environment = {**os.environ, "UI_MCP_HOSTS": str(FOLDER)}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *tests], cwd=ROOT, env=environment, check=False
    ).returncode


def install(name: str) -> None:
    """Install one host with npm, unless that was done within a day."""
    folder = FOLDER / name
    lock = folder / "package-lock.json"
    if lock.is_file() and time.time() - lock.stat().st_mtime < DAY:
        return
    began = time.monotonic()
    npm_install(folder, name, "latest")
    print(f"{time.monotonic() - began:7.1f} s  install {name}", flush=True)


def npm_install(folder: Path, name: str, version: str) -> None:
    """Install a version of a host into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    # A package of its own, else npm takes a name like "cline" for the folder.
    (folder / "package.json").write_text(f'{{"name": "with-{name}", "private": true}}')
    npm, environment = assets.node_tools()
    options = ["--no-fund", "--no-audit", "--loglevel=error"]
    command = [*npm, "install", *options, f"{(PACKAGES | TOOLS)[name]}@{version}"]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    (folder / "package-lock.json").touch()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
