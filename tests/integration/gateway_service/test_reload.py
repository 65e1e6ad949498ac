"""nlui.yaml edited while clients are connected."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from agreeing import agree_to_gateway
from integration.gateway_service.nlui_client import NluiClient
from ui_mcp.gateway.config.configuration import GatewayOptions, configuration
from ui_mcp.gateway.runner import connector, follow_file
from ui_mcp.gateway.service import GatewayContext, running_gateway
from ui_mcp.jsontypes import Json, JsonObject

ODD = str(Path(__file__).parents[1] / "gateway_upstreams" / "odd_server.py")


def server(name: str) -> JsonObject:
    return {"name": name, "command": sys.executable, "args": [ODD, "good"]}


def configure(folder: Path, *servers: JsonObject, **more: Json) -> None:
    mcp = {"servers": list(servers), "startup_wait_ms": 60000}
    save(folder, json.dumps({"data_dir": str(folder / "data"), "mcp": mcp, **more}))


def save(folder: Path, text: str) -> None:
    (folder / "nlui.yaml").write_text(text)
    agree_to_gateway(folder / "nlui.yaml")


def until(client: NluiClient, condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < limit
        client.request("ping")
        time.sleep(0.05)


def says(client: NluiClient, tool: str) -> str:
    return str(client.call(tool)["content"][0]["text"])


def health(client: NluiClient) -> str:
    return str(client.request("resources/read", {"uri": "nlui://health"})["contents"][0]["text"])


@pytest.mark.covers("GW-REL-1")
async def test_a_configuration_saved_while_the_gateway_starts_takes_effect(tmp_path: Path) -> None:
    file = tmp_path / "nlui.yaml"
    file.write_text("policy: {mode: guard}\n")
    read = configuration(GatewayOptions(str(file)))
    file.write_text("policy: {mode: host}\n")

    around = GatewayContext(tmp_path / "data", tmp_path / "cache", connector())
    async with running_gateway(read.settings, around) as gateway, anyio.create_task_group() as tasks:
        tasks.start_soon(follow_file, gateway, file, read.stamp)
        with anyio.fail_after(60):
            while gateway.settings.policy.mode != "host":
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()


@pytest.mark.covers("GW-REL-1", "GW-REL-2", "GW-UPS-10")
def test_a_saved_configuration_changes_what_it_concerns_and_a_broken_one_nothing(tmp_path: Path) -> None:
    configure(tmp_path, server("one"), server("two"))
    with NluiClient("--mcp", cwd=tmp_path) as client:
        client.tools()
        before = says(client, "one__pid")
        client.noticed.clear()

        configure(
            tmp_path, server("one"), server("three"), policy={"rules": [{"tool": "write", "decision": "deny_continue"}]}
        )
        until(client, lambda: "three__pid" in client.tools())
        changed = set(client.tools())
        until(client, lambda: "notifications/tools/list_changed" in {one["method"] for one in client.noticed})
        denied = client.call("one__write")

        save(tmp_path, "targets: 3\n")
        until(client, lambda: "should be a list" in health(client))
        kept = set(client.tools())

        configure(tmp_path, server("one"))
        until(client, lambda: "three__pid" not in client.tools())
        repaired = health(client)
        after = says(client, "one__pid")

    assert {"one__pid", "three__pid"} <= changed
    assert "two__pid" not in changed
    assert denied["code"] == -32951
    assert kept == changed
    assert "stays in force" not in repaired
    assert after == before


@pytest.mark.covers("GW-REL-1")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGHUP")
def test_a_hang_up_reads_configuration_and_documents_again(tmp_path: Path) -> None:
    def write(name: str) -> None:
        paths = {f"/{name}": {"get": {"operationId": name}}}
        (tmp_path / "api.json").write_text(
            json.dumps({"openapi": "3.0.3", "info": {"title": "A", "version": "1"}, "paths": paths})
        )
        os.utime(tmp_path / "api.json", (1, 1))  # nothing but the signal tells of it

    write("first")
    configure(tmp_path, targets=[{"name": "api", "spec": "api.json", "base_url": "http://x"}])
    with NluiClient("--mcp", cwd=tmp_path) as client:
        assert "api__first" in client.tools()
        write("second")
        client.process.send_signal(signal.SIGHUP)
        until(client, lambda: "api__second" in client.tools())


@pytest.mark.covers("R-CO-7")
def test_a_server_mounted_at_run_time_is_back_after_a_restart_until_it_is_unmounted(tmp_path: Path) -> None:
    configure(tmp_path, admins=["local"])
    spec = {"name": "late", "spec": {"command": sys.executable, "args": [ODD, "good"]}}
    with NluiClient("--mcp", cwd=tmp_path) as client:
        client.call("compositor__attach_server", spec)
        until(client, lambda: "late__pid" in client.tools())
    with NluiClient("--mcp", cwd=tmp_path) as client:
        listed = client.tools()
        client.call("compositor__detach_server", {"name": "late"})
    with NluiClient("--mcp", cwd=tmp_path) as client:
        gone = client.tools()

    assert "late__pid" in listed
    assert "late__pid" not in gone
    assert (tmp_path / "data" / "mounts.json").stat().st_mode & 0o777 == 0o600
