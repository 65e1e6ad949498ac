"""A FastAPI service through the real `nlui` command: found by its address, with a key, uploads, pages and pictures."""

import json
import re
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.gateway_service.nlui_client import NluiClient
from ui_mcp.app.commands.approvals import ApprovalCommand, act

SERVICE = Path(__file__).parent / "service.py"
KEY = "k3y-for-boats"


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """The running service's address."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    listener.set_inheritable(True)
    process = subprocess.Popen([sys.executable, str(SERVICE), str(listener.fileno())], pass_fds=[listener.fileno()])
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        with urllib.request.urlopen(f"{address}/openapi.json", timeout=120):  # it is up
            pass
        yield address
    finally:
        process.terminate()
        process.wait(60)
        listener.close()


def configured(folder: Path, service: str, **more: object) -> Path:
    auth = {"schemes": {"APIKeyHeader": {"type": "header", "token": "${SHOP_KEY}"}}}
    target = {"name": "shop", "base_url": service, "auth": auth, "files": {"roots": [str(folder)]}}
    file = folder / "nlui.yaml"
    settings = {"data_dir": str(folder / "data"), "targets": [target], "mcp": {"startup_wait_ms": 60000}, **more}
    file.write_text(json.dumps(settings))
    return file


@pytest.mark.covers("GW-CLI-1", "GW-CLI-4", "GW-SRV-1")
def test_one_command_turns_an_address_into_tools(service: str, tmp_path: Path) -> None:
    with NluiClient("--mcp", service, cwd=tmp_path, HOME=str(tmp_path), XDG_DATA_HOME=str(tmp_path)) as client:
        tools = client.tools()
        found = client.call(
            "127_0_0_1__get_boat" if "127_0_0_1__get_boat" in tools else "s_127_0_0_1__get_boat", {"boat_id": 7}
        )

    assert client.hello["protocolVersion"] == "2024-11-05"
    assert found["structuredContent"] == {"id": 7, "name": "boat 7", "length": 10.5}


@pytest.mark.covers("GW-RES-1", "GW-RES-5", "GW-AUT-1", "GW-REQ-7", "GW-CFG-2", "GW-SRV-4")
def test_the_whole_service_is_usable(service: str, tmp_path: Path) -> None:
    (tmp_path / "cat.png").write_bytes(b"\x89PNG1234")
    file = configured(tmp_path, service)
    with NluiClient("--mcp", str(file), cwd=tmp_path, SHOP_KEY=KEY) as client:
        tools = client.tools()
        created = client.call("shop__create_boat", {"body": {"name": "new", "length": "12.5"}})
        wrong = client.call("shop__create_boat", {"body": {"name": "", "length": 1}})
        missing = client.call("shop__get_boat", {"boat_id": 9999})
        pages = client.call("shop__list_boats", {"per_page": 100, "_pages": 5, "_fields": ["result[].id", "pages"]})
        photo = client.call(
            "shop__upload_photo", {"boat_id": 1, "body": {"photo": {"path": str(tmp_path / "cat.png")}}}
        )
        picture = client.call("shop__get_photo", {"boat_id": 1})
        unknown = client.call("shop__get_boatt")
        gone = client.call("shop__delete_boat", {"boat_id": 3})

    assert set(tools) >= {"shop__list_boats", "shop__create_boat", "shop__upload_photo", "nlui__describe", "nlui__more"}
    assert tools["shop__delete_boat"]["annotations"]["destructiveHint"] is True
    assert created["structuredContent"]["length"] == 12.5
    assert wrong["isError"]
    assert "body.name" in wrong["content"][0]["text"]
    assert missing["isError"]
    assert missing["content"][0]["text"].startswith("HTTP 404")
    assert "no boat 9999" in missing["content"][0]["text"]
    assert [row["id"] for row in pages["structuredContent"]["result"]][:2] == [1, 2]
    assert pages["structuredContent"]["pages"] == 3
    assert photo["structuredContent"] == {"boat": 1, "bytes": 8, "filename": "cat.png", "type": "image/png"}
    assert picture["content"][0]["type"] == "image"
    assert unknown["code"] == -32602
    assert "shop__get_boat" in unknown["message"]
    assert gone["structuredContent"] == {"status": 204}


@pytest.mark.covers("GW-POL-4", "R-PC-1", "R-AP-3", "R-AP-8")
def test_under_guard_a_person_answers_from_a_terminal_even_after_a_restart(service: str, tmp_path: Path) -> None:
    file = configured(tmp_path, service, approvals={"sync_wait_s": 0.2})
    store = str(tmp_path / "data" / "approvals.db")
    call = {"body": {"name": "asked", "length": 3}}
    with NluiClient("--mcp", "--policy", "guard", str(file), cwd=tmp_path, SHOP_KEY=KEY) as client:
        client.tools()
        read = client.call("shop__get_boat", {"boat_id": 1})
        waiting = client.call("shop__create_boat", call)["structuredContent"]
        other = client.call("shop__delete_boat", {"boat_id": 5})["structuredContent"]
    lines = act(store, ApprovalCommand("list"))
    act(store, ApprovalCommand("deny", (other["approval_id"],), "keep it", abort=True))
    with NluiClient("--mcp", "--policy", "guard", str(file), cwd=tmp_path, SHOP_KEY=KEY) as client:
        client.tools()
        act(store, ApprovalCommand("approve", (waiting["approval_id"],)))
        result = client.call("approvals__result", {"approval_id": waiting["approval_id"], "wait_s": 60})
        denied = client.call("shop__delete_boat", {"boat_id": 5})

    assert read["structuredContent"]["id"] == 1
    assert waiting["status"] == other["status"] == "awaiting_approval"
    assert len(lines) == 2
    assert KEY not in "".join(lines)
    assert result["structuredContent"]["name"] == "asked"
    assert (denied["code"], denied["message"], denied["data"]["reason"]) == (-32950, "policy_denied", "keep it")


@pytest.mark.covers("R-AP-11", "GW-POL-4")
@pytest.mark.parametrize("decision", ["approve", "deny_abort"])
def test_a_client_with_elicitation_asks_its_own_user(decision: str, service: str, tmp_path: Path) -> None:
    file = configured(tmp_path, service)
    client = NluiClient("--mcp", "--policy", "guard", str(file), cwd=tmp_path, SHOP_KEY=KEY)
    client.capabilities = {"elicitation": {}}
    client.answers["elicitation/create"] = {"action": "accept", "content": {"decision": decision}}
    with client:
        client.tools()
        result = client.call("shop__create_boat", {"body": {"name": "elicited", "length": 2}})
    asked = [one for one in client.noticed if one["method"] == "elicitation/create"]

    assert f"POST {service}/boats" in asked[0]["params"]["message"]
    assert KEY not in json.dumps(asked)
    if decision == "approve":
        assert result["structuredContent"]["name"] == "elicited"
    else:
        assert result["code"] == -32950


@pytest.mark.covers("GW-CLI-2", "GW-SRV-2", "GW-SRV-3")
@pytest.mark.parametrize("spelling", [["--mcp-sse", "--mcp-port", "0"], ["--mcp-sse", "0"], ["--mcp-sse=0"]])
def test_sse_speaks_as_documented(spelling: list[str], service: str, tmp_path: Path) -> None:
    file = configured(tmp_path, service)
    code = "from ui_mcp.cli.entry import nlui_main; raise SystemExit(nlui_main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *spelling, str(file)],
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env={"SHOP_KEY": KEY, "PATH": ""},
    )
    try:
        assert process.stderr is not None
        address = None
        while address is None:
            line = process.stderr.readline().decode()
            assert line
            address = re.search(r"MCP at (\S+)/sse", line)
        base = address[1]
        stream = urllib.request.urlopen(f"{base}/sse", timeout=60)
        events = iter(lambda: stream.readline().decode(), "")
        endpoint = next(line for line in events if line.startswith("data:"))[5:].strip()
        hello = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        _post(base + endpoint, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
        first = json.loads(next(line for line in events if line.startswith("data:"))[5:])
        _post(base + endpoint, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        _post(base + endpoint, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        listed = json.loads(next(line for line in events if line.startswith("data:") and '"id":2' in line)[5:])
        health = json.load(urllib.request.urlopen(f"{base}/api/health", timeout=60))
        threading.Thread(target=stream.close, daemon=True).start()
    finally:
        process.terminate()
        process.wait(60)
        if process.stderr:
            process.stderr.close()

    assert re.fullmatch(r"/messages\?sessionId=[\w-]+", endpoint)
    assert first["result"]["protocolVersion"] == "2024-11-05"
    assert "shop__list_boats" in {tool["name"] for tool in listed["result"]["tools"]}
    assert health["sources"][0]["state"] == "active"


def _post(url: str, message: dict[str, object]) -> None:
    request = urllib.request.Request(url, json.dumps(message).encode(), {"Content-Type": "application/json"})
    assert urllib.request.urlopen(request, timeout=60).status == 202


@pytest.mark.covers("GW-CAT-1")
def test_compact_mode_lists_little_and_reaches_everything(service: str, tmp_path: Path) -> None:
    file = configured(tmp_path, service)
    with NluiClient("--mcp", "--compact", str(file), cwd=tmp_path, SHOP_KEY=KEY) as client:
        tools = client.tools()
        found = client.call("nlui__search", {"query": "upload a photo"})["structuredContent"]["tools"]
        described = client.call("nlui__describe", {"name": "shop__create_boat"})["structuredContent"]
        called = client.call("nlui__call", {"name": "shop__get_boat", "arguments": {"boat_id": 2}})
        direct = client.call("shop__get_boat", {"boat_id": 2})

    assert set(tools) == {"nlui__search", "nlui__describe", "nlui__call", "nlui__more", "nlui__run"}
    assert len(json.dumps(tools)) < 8000
    assert found[0]["name"] == "shop__upload_photo"
    assert described["method"] == "POST"
    assert called["structuredContent"] == direct["structuredContent"]


@pytest.mark.covers("GW-CLI-6")
def test_the_terminal_commands(service: str, tmp_path: Path) -> None:
    file = configured(tmp_path, service)

    def nlui(*words: str) -> tuple[int, str]:
        code = "from ui_mcp.cli.entry import nlui_main; raise SystemExit(nlui_main())"
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env={"SHOP_KEY": KEY},
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    code, report = nlui("check", str(file))
    assert (code, "6 ok, 0 degraded, 0 skipped" in report) == (0, True), report
    code, shown = nlui("call", "shop__get_boat", "--arg", "boat_id=4", "--config", str(file))
    assert (code, json.loads(shown)["name"]) == (0, "boat 4")
    code, shown = nlui(
        "call", "shop__create_boat", "--arg", 'body={"name":"x","length":1}', "--dry-run", "--config", str(file)
    )
    assert (code, json.loads(shown)["headers"]["X-Key"]) == (0, "•••")
    assert nlui("call", "shop__get_boat", "--arg", "boat_id=9999", "--config", str(file))[0] == 5
    code, shown = nlui("tools", str(file), "--format", "mcp")
    listed = {tool["name"]: tool for tool in json.loads(shown)["tools"]}
    assert (code, listed["shop__get_boat"]["annotations"]["readOnlyHint"]) == (0, True)
    assert listed["shop__get_boat"]["title"]
    assert nlui("tools", "missing.yaml")[0] == 3
    assert nlui("init", "fresh.yaml")[0] == 0
    assert nlui("init", "fresh.yaml")[0] == 3
    assert (tmp_path / "fresh.yaml").stat().st_mode & 0o777 == 0o600
