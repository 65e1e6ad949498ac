"""Tasks over the real `nlui --mcp`: kept when the hub is killed, relayed from a mounted server; approvals as tasks."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

from integration.gateway_service.nlui_client import NluiClient

pytestmark = [pytest.mark.slow, pytest.mark.covers("GW-TASK-1")]
UPSTREAM = """
import json, sys
from pathlib import Path
folder = Path(sys.argv[1])
META = {"io.modelcontextprotocol/serverInfo": {"name": "far", "version": "1"}}
NOW = "2026-11-17T10:00:00Z"
def task(**more):
    return {"taskId": "far-1", "status": "working", "createdAt": NOW, "lastUpdatedAt": NOW, "ttlMs": None,
            "pollIntervalMs": 50, **more}
def answer(method, params):
    if method == "server/discover":
        extensions = {"io.modelcontextprotocol/tasks": {}}
        return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "extensions": extensions}}
    if method == "tools/list":
        return {"tools": [{"name": "build", "inputSchema": {"type": "object"}}]}
    if method == "tools/call":
        with open(folder / "calls", "a") as file:
            file.write("called\\n")
        return {**task(), "resultType": "task"}
    if method == "tasks/get":
        if (folder / "go").exists():
            text = {"type": "text", "text": "built " + (folder / "name").read_text()}
            return task(status="completed", result={"content": [text], "isError": False})
        if not (folder / "name").exists():
            params = {"mode": "form", "message": "Which name?", "requestedSchema": {"type": "object", "properties": {}}}
            asked = {"n": {"method": "elicitation/create", "params": params}}
            return task(status="input_required", inputRequests=asked)
        return task(statusMessage="building")
    if method == "tasks/update":
        (folder / "name").write_text(params["inputResponses"]["n"]["content"]["name"])
        return {}
    if method == "tasks/cancel":
        (folder / "cancelled").touch()
        return {}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params") or {})
        body = {"error": {"code": -32601, "message": "Method not found"}}
        if result is not None:
            body = {"result": {"resultType": "complete", "_meta": META, **result}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
"""


class TaskClient(NluiClient):
    """A client of the modern era that takes tasks."""

    def __init__(self, folder: Path) -> None:
        super().__init__("--mcp", str(folder / "nlui.yaml"), cwd=folder, XDG_STATE_HOME=str(folder / "state"))
        self._folder = folder

    def __enter__(self) -> Self:
        return self

    def ask(self, method: str, **params: Any) -> Any:
        capabilities: dict[str, Any] = {
            "elicitation": {"form": {}},
            "extensions": {"io.modelcontextprotocol/tasks": {}},
        }
        version = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
        meta = {**version, "io.modelcontextprotocol/clientCapabilities": capabilities}
        return self.request(method, {**params, "_meta": meta})

    def begin(self, tool: str, **arguments: Any) -> str:
        made = self.ask("tools/call", name=tool, arguments=arguments)
        assert made["resultType"] == "task", made
        return str(made["taskId"])

    def until(self, task: str, is_so: Callable[[Any], bool]) -> Any:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            # The first answer after a kill may say so; the next one comes from the new hub.
            found = self.ask("tasks/get", taskId=task)
            if "status" in found and is_so(found):
                return found
            time.sleep(0.05)
        raise AssertionError(found)

    def ended(self, task: str) -> Any:
        return self.until(task, lambda found: found["status"] in {"completed", "failed", "cancelled"})

    def kill_hub(self) -> None:
        (lock,) = (self._folder / "state/ui-mcp/hubs").glob("*.lock")
        os.kill(json.loads(lock.read_text())["pid"], signal.SIGKILL)


def configure(folder: Path, **settings: Any) -> None:
    (folder / "server.py").write_text(UPSTREAM)
    mount = {"name": "far", "command": sys.executable, "args": [str(folder / "server.py"), str(folder)]}
    given = {"data_dir": str(folder / "data"), "mcp": {"servers": [mount]}, **settings}
    (folder / "nlui.yaml").write_text(json.dumps(given))


def test_a_task_of_a_mounted_server_is_relayed_and_kept_when_the_hub_is_killed(tmp_path: Path) -> None:
    configure(tmp_path)
    with TaskClient(tmp_path) as client:
        task = client.begin("far__build")
        asked = client.until(task, lambda found: found["status"] == "input_required")
        client.kill_hub()
        # Until the next hub has taken it over, the task is as the killed one left it.
        again = client.until(task, lambda found: asked["inputRequests"] != found.get("inputRequests", {}) != {})
        (key,) = again["inputRequests"]
        client.ask("tasks/update", taskId=task, inputResponses={key: {"action": "accept", "content": {"name": "ann"}}})
        client.until(task, lambda found: found.get("statusMessage") == "building")
        client.kill_hub()
        (tmp_path / "go").touch()
        done = client.ended(task)

    assert set(asked["inputRequests"]) != {key}
    assert "The server far asks: Which name?" in again["inputRequests"][key]["params"]["message"]
    assert done["result"]["content"][0]["text"] == "built ann"
    assert (tmp_path / "calls").read_text() == "called\n"


def test_a_cancelled_task_is_cancelled_at_the_mounted_server(tmp_path: Path) -> None:
    configure(tmp_path)
    with TaskClient(tmp_path) as client:
        task = client.begin("far__build")
        client.until(task, lambda found: found["status"] == "input_required")
        client.ask("tasks/cancel", taskId=task)
        ended = client.ended(task)

    assert ended["status"] == "cancelled"
    assert (tmp_path / "cancelled").exists()


def test_an_approval_is_a_task_that_asks_and_survives_the_hub(tmp_path: Path) -> None:
    configure(tmp_path, policy={"rules": [{"tool": "*", "decision": "ask"}]})
    (tmp_path / "name").write_text("ben")
    with TaskClient(tmp_path) as client:
        task = client.begin("nlui__call", name="far__build", arguments={})
        client.kill_hub()
        asked = client.until(task, lambda found: "input-2" in found.get("inputRequests", {}))
        (key,) = asked["inputRequests"]
        (tmp_path / "go").touch()
        given = {"action": "accept", "content": {"decision": "approve"}}
        client.ask("tasks/update", taskId=task, inputResponses={key: given})
        done = client.ended(task)

    assert "wants to call far__build" in asked["inputRequests"][key]["params"]["message"]
    assert done["result"]["content"][0]["text"] == "built ben"
    assert (tmp_path / "calls").read_text() == "called\n"


def test_a_script_is_a_task_that_goes_on_after_a_kill(tmp_path: Path) -> None:
    configure(tmp_path)
    (tmp_path / "name").write_text("eve")
    code = 'return call("far__build", {})'
    with TaskClient(tmp_path) as client:
        task = client.begin("nlui__run", code='local a = ask("May I?"); return a.answer')
        client.kill_hub()
        found = client.until(task, lambda one: one["status"] == "working")
        client.ask("tasks/cancel", taskId=task)
        ended = client.ended(task)
        (tmp_path / "go").touch()
        whole = client.ask("tools/call", name="nlui__run", arguments={"code": code})

    assert found["status"] == "working"
    assert ended["status"] == "cancelled"
    assert "built eve" in json.dumps(whole)
