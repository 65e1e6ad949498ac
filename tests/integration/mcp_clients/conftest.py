"""The real program to be driven by foreign clients: over a pipe, and on ports."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = [sys.executable, "-m", "ui_mcp", "mcp"]


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project folder of its own."""
    return tmp_path_factory.mktemp("project")


@pytest.fixture(scope="session")
def mcp_base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run `ui-mcp serve` and return the address of its MCP port."""
    command = [sys.executable, "-m", "ui_mcp", "serve", "--port", "0", "--mcp-port", "0"]
    home = tmp_path_factory.mktemp("served")
    with subprocess.Popen(command, cwd=home, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        _, _, mcp = (server.stdout.readline() for _ in range(3))
        try:
            yield mcp.split()[1].removesuffix("/mcp")
        finally:
            server.terminate()
            server.wait(timeout=60)


@pytest.fixture(params=["stdio", "sse", "http"])
def target(request: pytest.FixtureRequest) -> list[str]:
    """Return what a client needs to reach the program: a transport, then an address or a command."""
    if request.param == "stdio":
        folder = request.getfixturevalue("project")
        return ["stdio", *PROGRAM, "--dir", str(folder / "ui")]
    base = request.getfixturevalue("mcp_base")
    return [request.param, f"{base}/sse" if request.param == "sse" else f"{base}/mcp"]
