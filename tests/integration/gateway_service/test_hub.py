"""Several `nlui --mcp` on one configuration: one hub, so every mounted server is started once."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from integration.gateway_service.nlui_client import NluiClient

pytestmark = [pytest.mark.slow, pytest.mark.covers("GW-HUB-1")]
SERVER = """
import json, os, sys
open(sys.argv[1], "a").write(f"{os.getpid()}\\n")
tool = {"name": "who", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    message = json.loads(line)
    results = {
        "initialize": {
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}
        },
        "tools/list": {"tools": [tool]},
        "tools/call": {"content": [{"type": "text", "text": os.environ.get("WHO", "nobody")}]},
    }
    if "id" in message:
        result = results.get(message["method"], {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def client(folder: Path, who: str) -> NluiClient:
    return NluiClient("--mcp", str(folder / "nlui.yaml"), cwd=folder, XDG_STATE_HOME=str(folder / "state"), WHO=who)


def asked(agent: NluiClient) -> str:
    """Return the answer of the mounted server."""
    result = agent.request("tools/call", {"name": "s__who", "arguments": {}})
    return str(result["content"][0]["text"])


def configure(folder: Path) -> None:
    (folder / "server.py").write_text(SERVER)
    words = [str(folder / "server.py"), str(folder / "starts")]
    mount = {"name": "s", "command": sys.executable, "args": words, "env": {"WHO": "${WHO}"}}
    settings: dict[str, Any] = {"data_dir": str(folder / "data"), "mcp": {"servers": [mount]}}
    (folder / "nlui.yaml").write_text(json.dumps(settings))


def starts(folder: Path) -> int:
    return len((folder / "starts").read_text().splitlines())


def test_a_mounted_server_is_started_once_for_all_clients(tmp_path: Path) -> None:
    configure(tmp_path)
    with client(tmp_path, "ann") as first, client(tmp_path, "ann") as second:
        answers = [asked(first), asked(second)]
        first.process.kill()
        answers.append(asked(second))

    assert answers == ["ann"] * 3
    assert starts(tmp_path) == 1


def test_clients_with_other_values_of_its_variables_have_a_hub_of_their_own(tmp_path: Path) -> None:
    configure(tmp_path)
    with client(tmp_path, "ann") as first, client(tmp_path, "bob") as second:
        assert [asked(first), asked(second)] == ["ann", "bob"]

    assert starts(tmp_path) == 2


def test_a_killed_hub_is_started_again(tmp_path: Path) -> None:
    configure(tmp_path)
    with client(tmp_path, "ann") as agent:
        asked(agent)
        (lock,) = (tmp_path / "state/ui-mcp/hubs").glob("*.lock")
        os.kill(json.loads(lock.read_text())["pid"], signal.SIGKILL)
        told = agent.request("tools/call", {"name": "s__who", "arguments": {}})

        assert told["content"][0]["text"] == "ann" or "ended unexpectedly" in told["content"][0]["text"]
        assert asked(agent) == "ann"
    assert starts(tmp_path) == 2
