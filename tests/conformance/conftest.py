"""The fixture server of the suite, on a free port."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def fixture_url() -> Iterator[str]:
    """Serve the conformance server and return the URL of its `/mcp`."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "conformance.serve"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/mcp"
        finally:
            server.terminate()
