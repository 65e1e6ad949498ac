"""Stand-ins for the programs of others in our texts: each reads its words strictly and starts what is ours in them."""

import json
import os
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "tests/integration/gateway_upstreams/odd_server.py"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
OUR_PORTS = {"8000", "8001", "8002"}


def put_into(folder: Path) -> None:
    """Make the stand-ins programs of a folder for the path."""
    folder.mkdir()
    for name in PROGRAMS:
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" {name} "$@"\n')
        program.chmod(0o755)


def host(*words: str) -> str:
    """`claude` and `codex`: `mcp add NAME -- COMMAND`; the command has to answer a greeting."""
    mcp, add, name, dashes, *command = words
    assert (mcp, add, dashes) == ("mcp", "add", "--"), words
    said = subprocess.run(command, input=json.dumps(INITIALIZE) + "\n", capture_output=True, text=True, check=True)
    server = json.loads(said.stdout)["result"]["serverInfo"]["name"]
    return f"Added {name}: {server} answers"


def pip(*words: str) -> str:
    """`pip install`: this project by its name, or a wheel of it that is there."""
    install, what = words
    assert install == "install"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name, _, extra = what.partition("[")
    if fnmatch(what, "ui_mcp-*.whl"):
        assert Path(what).is_file(), f"{what} is not there"
    else:
        assert name == project["name"]
        assert not extra or extra.rstrip("]") in project["optional-dependencies"]
    return f"Would install {what}"


def ssh(*words: str) -> str:
    """`ssh -L …`: what is forwarded are the ports we listen on."""
    *tunnels, where = words
    assert tunnels[::2] == ["-L"] * (len(tunnels) // 2)
    for tunnel in tunnels[1::2]:
        here, address, there = tunnel.split(":")
        assert (address, here) == ("127.0.0.1", there)
    assert {tunnel.rpartition(":")[2] for tunnel in tunnels[1::2]} == OUR_PORTS
    assert "@" in where
    return "Would forward"


def npx(*words: str) -> None:
    """`npx -y SERVER …`: some MCP server over pipes."""
    yes, *_ = words
    assert yes == "-y"
    os.execv(sys.executable, [sys.executable, str(SERVER), "good"])


PROGRAMS = {"claude": host, "codex": host, "pip": pip, "ssh": ssh, "npx": npx}

if __name__ == "__main__":
    print(PROGRAMS[sys.argv[1]](*sys.argv[2:]))
