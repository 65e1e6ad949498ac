"""The gateway in front of the gateway: HTTP and SSE upstreams, relayed subscriptions, and the ui server's own list."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx2
import pytest

from agreeing import agree, agree_to_gateway
from gateway.gateways import gateway
from integration.gateway_service.nlui_client import NluiClient
from integration.lineclient import LineClient
from integration.test_serve import serve
from ui_mcp.gateway.mcp import MountedResources
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.tool import Call, Relayed

ODD = str(Path(__file__).parents[1] / "gateway_upstreams" / "odd_server.py")
NLUI = "from ui_mcp.cli.entry import nlui_main; raise SystemExit(nlui_main())"


def configured(folder: Path, *, listener: JsonObject | None = None, **more: Json) -> Path:
    folder.mkdir(exist_ok=True)
    server = {"name": "good", "command": sys.executable, "args": [ODD, "good"]}
    mcp: JsonObject = {"servers": [server], "startup_wait_ms": 60000, "server": listener or {}}
    file = folder / "nlui.yaml"
    file.write_text(json.dumps({"data_dir": str(folder / "data"), "mcp": mcp, **more}))
    return file


@contextmanager
def listening(folder: Path, **more: JsonObject) -> Iterator[str]:
    """Run `nlui --mcp-http` and yield its address."""
    words = [sys.executable, "-c", NLUI, "--mcp-http", "--mcp-port", "0", str(configured(folder, **more))]
    with subprocess.Popen(words, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        try:
            address = None
            while address is None:
                line = process.stderr.readline().decode()
                assert line, "nlui ended"
                address = re.search(r"MCP at (http://\S+)/sse", line)
            yield address[1]
        finally:
            process.terminate()
            process.wait(60)


@pytest.mark.covers("GW-SRV-5", "MCP-APP-9")
def test_only_pages_of_allowed_origins_may_use_the_gateway(tmp_path: Path) -> None:
    host, other = "http://localhost:8080", "http://localhost:9090"
    wanted = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type,mcp-session-id"}
    with listening(tmp_path, listener={"allowed_origins": [host]}) as address:
        asked = {one: httpx2.options(f"{address}/mcp", headers={**wanted, "Origin": one}) for one in (host, other)}
        called = {one: httpx2.get(f"{address}/api/health", headers={"Origin": one}) for one in (host, other)}

    assert [answer.is_success for answer in asked.values()] == [True, False]
    assert [answer.status_code for answer in called.values()] == [200, 403]
    assert called[host].headers["access-control-allow-origin"] == host
    assert called[host].headers["access-control-expose-headers"] == "mcp-session-id"


@pytest.mark.covers("GW-UPS-2")
@pytest.mark.parametrize(("path", "transport"), [("/mcp", "auto"), ("/mcp", "http"), ("/sse", "sse"), ("/sse", "auto")])
async def test_servers_behind_an_address_are_mounted_by_either_transport(
    path: str, transport: str, tmp_path: Path
) -> None:
    with listening(tmp_path / "upstream") as address:
        mount = {"name": "far", "url": address + path, "transport": transport}
        rules = {"rules": [{"decision": "allow"}]}
        async with gateway(tmp_path, mcp={"servers": [mount], "startup_wait_ms": 60000}, policy=rules) as found:
            with anyio.fail_after(120):
                while not found.sources.mounts["far"].connection:
                    await anyio.sleep(0.05)
            result = await found.enforcer.call("far__good__pid", {}, Call())
            read = await MountedResources(found).read("odd://thing", Call())

    assert isinstance(result.content[0], Relayed)
    assert result.content[0].block["text"].isdigit()
    assert read[0].body == "from good"


@pytest.mark.covers("R-CO-9")
def test_a_client_that_subscribes_hears_of_a_mounted_servers_resource(tmp_path: Path) -> None:
    file = configured(tmp_path)
    with NluiClient("--mcp", str(file), cwd=tmp_path) as client:
        client.tools()
        client.request("resources/subscribe", {"uri": "odd://thing"})
        client.call("good__touch")
        updated: list[JsonObject] = []
        limit = time.monotonic() + 60
        while not updated and time.monotonic() < limit:
            client.request("ping")
            updated = [one for one in client.noticed if one["method"] == "notifications/resources/updated"]
        read = client.request("resources/read", {"uri": "odd://thing"})

    assert updated[0]["params"]["uri"] == "odd://thing"
    assert read["contents"][0]["text"] == "from good"


@pytest.mark.covers("GW-UPS-10")
def test_the_ui_server_offers_the_gateways_tools_by_configuration(tmp_path: Path) -> None:
    file = configured(tmp_path / "gateway")
    base = tmp_path / ".claude" / "ui"
    (base / "config").mkdir(parents=True)
    (base / "config" / "config.toml").write_text(f'[gateway]\nconfig = "{file}"\n')
    agree(base)
    with LineClient(cwd=tmp_path) as client:
        names = {tool["name"] for tool in client.request("tools/list")["tools"]}
        answer = client.call("good__pid")

    assert {"ui_status", "good__pid"} <= names
    assert isinstance(answer, int)


@pytest.mark.covers("GW-UPS-10")
def test_a_gateway_that_cannot_start_takes_no_tool_of_the_ui_server_away(tmp_path: Path) -> None:
    base = tmp_path / ".claude" / "ui"
    (base / "config").mkdir(parents=True)
    (base / "config" / "config.toml").write_text('[gateway]\nconfig = "nlui.yaml"\n')
    agree(base)
    with LineClient(cwd=tmp_path) as client:
        before = {tool["name"] for tool in client.request("tools/list")["tools"]}
        assert client.process.stderr is not None
        warned = client.process.stderr.readline().decode()
        configured(tmp_path)
        agree(base)
        after = {tool["name"] for tool in client.request("tools/list")["tools"]}

    assert str(tmp_path / "nlui.yaml") in warned
    assert after - before >= {"good__pid"}
    assert "ui_status" in before


ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class HttpAgent:
    """Speaks either era over streamable HTTP."""

    def __init__(self, mcp: str, *, modern: bool) -> None:
        self._http = httpx2.Client(base_url=mcp, headers={"accept": "application/json, text/event-stream"}, timeout=60)
        self._modern = modern
        self._http.headers["mcp-protocol-version"] = "2026-07-28" if modern else "2025-06-18"
        if not modern:
            self._http.headers["mcp-session-id"] = self._post("initialize", HELLO).headers["mcp-session-id"]

    def _post(self, method: str, params: JsonObject) -> httpx2.Response:
        headers = {"mcp-method": method, **({"mcp-name": params["name"]} if "name" in params else {})}
        meta = {"_meta": ENVELOPE} if self._modern else {}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, **meta}}
        answer = self._http.post("/mcp", json=message, headers=headers if self._modern else {})
        answer.raise_for_status()
        return answer

    def ask(self, method: str, **params: Json) -> Json:
        return self._post(method, params).json()["result"]


@pytest.mark.covers("GW-UPS-10")
@pytest.mark.parametrize("modern", [False, True])
def test_the_ui_server_on_a_port_lists_and_calls_mounts_and_apis(modern: bool, tmp_path: Path) -> None:
    (tmp_path / "api.json").write_text(
        json.dumps(
            {
                "openapi": "3.0.3",
                "info": {"title": "A", "version": "1"},
                "servers": [{"url": "http://127.0.0.1:1"}],
                "paths": {"/boats": {"get": {"operationId": "boats"}}},
            }
        )
    )
    file = configured(tmp_path / "gateway", targets=[{"name": "far", "spec": str(tmp_path / "api.json")}])
    with serve(tmp_path, config=f'[gateway]\nconfig = "{file}"\n') as (_, mcp):
        agent = HttpAgent(mcp, modern=modern)
        names = {tool["name"] for tool in agent.ask("tools/list")["tools"]}
        told = agent.ask("tools/call", name="good__pid", arguments={})
        shown = agent.ask("tools/call", name="far__boats", arguments={"_dry_run": True})

    assert {"ui_status", "good__pid", "far__boats"} <= names
    assert told["content"][0]["text"].isdigit()
    assert shown["structuredContent"]["url"] == "http://127.0.0.1:1/boats"


@pytest.mark.covers("GW-REL-1", "GW-REL-2")
def test_an_edited_document_changes_the_list_while_the_client_is_connected(tmp_path: Path) -> None:
    document = tmp_path / "api.json"

    def write(*names: str) -> None:
        paths = {f"/{name}": {"get": {"operationId": name}} for name in names}
        info = {"title": "Live", "version": "1"}
        document.write_text(json.dumps({"openapi": "3.0.3", "info": info, "paths": paths}))

    write("one")
    settings = {
        "data_dir": str(tmp_path / "data"),
        "targets": [{"name": "live", "spec": "api.json", "base_url": "http://x"}],
    }
    (tmp_path / "nlui.yaml").write_text(json.dumps(settings))
    agree_to_gateway(tmp_path / "nlui.yaml")
    with NluiClient("--mcp", cwd=tmp_path) as client:
        before = client.tools()
        client.noticed.clear()
        write("one", "two")
        announced = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        limit = time.monotonic() + 60
        while "live__two" not in client.tools() or announced not in client.noticed:
            assert time.monotonic() < limit, client.noticed
            time.sleep(0.05)

    assert "live__two" not in before


@pytest.mark.covers("GW-CAT-6")
def test_the_list_comes_in_pages_where_the_configuration_wants_it(tmp_path: Path) -> None:
    whole = configured(tmp_path / "whole")
    paged = configured(tmp_path / "paged", catalogue={"page_size": 3})
    with NluiClient("--mcp", str(whole), cwd=tmp_path) as client:
        every = list(client.tools())
        refused = client.request("tools/list", {"cursor": "3"})
    with NluiClient("--mcp", str(paged), cwd=tmp_path) as client:
        names: list[str] = []
        cursor: JsonObject = {}
        while True:
            page = client.request("tools/list", cursor)
            assert len(page["tools"]) <= 3
            names += [tool["name"] for tool in page["tools"]]
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}

    assert names == every
    assert refused["code"] == -32602
