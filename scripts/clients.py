"""Creates virtual environments for foreign MCP clients and servers, whose dependencies conflict with ours.

`python scripts/clients.py NAME` creates `.clients/NAME` if it is missing and prints the path of its Python.
"""

import subprocess
import sys
import venv
from pathlib import Path

ENVIRONMENTS = {"mcp1": ["mcp>=1.20,<2"], "fastmcp": ["fastmcp>=4.1,<5"], "sqlite": ["mcp-server-sqlite", "mcp<2"]}
FOLDER = Path(__file__).parents[1] / ".clients"


def python_of(name: str) -> Path:
    """Return the Python of an environment, which is created if it is missing."""
    home = FOLDER / name
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    ready = home / "ready"
    if not ready.exists():
        venv.create(home, with_pip=True, clear=True)
        packages = ENVIRONMENTS[name]
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True, stdout=sys.stderr)
        ready.touch()
    return python


if __name__ == "__main__":
    print(python_of(sys.argv[1]))
