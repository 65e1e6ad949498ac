"""The client that the Tasks extension publishes waits for a person while the server is killed."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.node import NODE, npm
from person_client import person

HERE = Path(__file__).parent
PACKAGES = ("@modelcontextprotocol/client@^2.4.0", "@modelcontextprotocol/ext-tasks@^0.2.2", "zod@^4")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def free_ports() -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    try:
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()


@contextmanager
def served(folder: Path, ports: list[int]) -> Iterator[int]:
    """Run `ui-mcp serve` at these ports and provide its process id."""
    names = ("--port", "--mcp-port", "--person-port")
    words = [word for name, port in zip(names, ports, strict=True) for word in (name, str(port))]
    with subprocess.Popen(
        [sys.executable, "-m", "ui_mcp", "serve", *words], cwd=folder, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert all(server.stdout.readline() for _ in range(3))
        try:
            yield server.pid
        finally:
            server.kill()


def answer_question(url: str) -> None:
    until = time.monotonic() + 60
    with person(url) as browser:
        while not (waiting := browser.get("/inbox").json()["questions"]):
            assert time.monotonic() < until, "no question waits"
            time.sleep(0.1)
        body = {"decision": "answer", "values": {"1": "green"}}
        assert browser.post(f"/inbox/{waiting[0]['id']}/answer", json=body).status_code == 200


@pytest.mark.covers("GW-TASK-1", "INBOX-2", "MCP-TASK-1")
def test_a_task_of_the_extensions_own_client_outlives_a_kill_between_create_and_result(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}')
    npm("install", "--no-audit", "--no-fund", *PACKAGES, cwd=tmp_path)
    (tmp_path / "with_tasks.mjs").write_bytes((HERE / "with_tasks.mjs").read_bytes())
    ports = free_ports()
    url = f"http://127.0.0.1:{ports[1]}/mcp"
    with served(tmp_path, ports) as first:
        client = subprocess.Popen([NODE, "with_tasks.mjs", url], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        assert client.stdout is not None
        begun = json.loads(client.stdout.readline())
        os.kill(first, signal.SIGKILL)
    with client, served(tmp_path, ports):
        answer_question(f"http://127.0.0.1:{ports[2]}")
        report = json.loads(client.stdout.readline())

    assert begun["task"]
    assert (report["answer"]["status"], report["answer"]["answers"]) == ("answered", ["green"])
    assert report["cancelled"] == "cancelled"
    assert report["checked"]["tools/call"] == 2
    assert report["checked"]["tasks/cancel"] == 1
