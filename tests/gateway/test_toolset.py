"""What clients of the gateway see as a whole: names, extra tools, instructions, and how a call ends early."""

import re
import sys
from pathlib import Path

import anyio
import pytest

from gateway.conftest import MakeTarget, Recorder, document
from gateway.gateways import gateway
from ui_mcp.errors import DeniedError
from ui_mcp.gateway.config.configuration import GatewayOptions
from ui_mcp.gateway.mcp import gateway_definition
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.toolkit.announcements import Announcement, ListChanged
from ui_mcp.toolkit.tool import Call

ODD = str(Path(__file__).parents[1] / "integration" / "gateway_upstreams" / "odd_server.py")
GOOD: JsonObject = {"name": "good", "command": sys.executable, "args": [ODD, "good"], "start_timeout_s": 120}


@pytest.mark.covers("GW-CAT-5")
@pytest.mark.parametrize("extra", [True, False])
async def test_describe_and_more_stand_beside_a_full_list_unless_told_otherwise(
    extra: bool, tmp_path: Path, recorder: Recorder
) -> None:
    async with gateway(tmp_path, recorder, catalogue={"extra_tools": extra}) as found:
        names = {tool.name for tool in await GatewayToolset(found).tools(Call())}

    assert "shop__listThings" in names
    assert ({"nlui__describe", "nlui__more"} <= names) is extra


@pytest.mark.covers("GW-NAM-3")
async def test_an_operation_without_an_id_is_named_after_method_and_path(make_target: MakeTarget) -> None:
    operations: JsonObject = {"/users/{id}": {"get": {}, "delete": {}}}
    async with make_target(document(operations), base_url="http://x") as target:
        await target.refresh()

    assert [entry.name for entry in target.source.entries()] == ["api__get_users_id", "api__delete_users_id"]


@pytest.mark.covers("GW-SRV-8", "R-CO-10")
async def test_instructions_name_sources_and_options_within_two_kilobytes(tmp_path: Path, recorder: Recorder) -> None:
    many = [{"name": f"t{n}", "spec": str(tmp_path / "shop.json"), "description": "x" * 500} for n in range(9)]
    async with gateway(tmp_path, recorder, targets=many) as found:
        text = GatewayToolset(found, mode="compact").instructions()

    assert "_fields" in text
    assert "nlui__search" in text
    assert len(text) <= 2000


@pytest.mark.covers("GW-SRV-8")
@pytest.mark.parametrize(("mode", "extra"), [("compact", True), ("full", True), ("full", False)])
async def test_instructions_recommend_only_listed_tools(
    mode: str, extra: bool, tmp_path: Path, recorder: Recorder
) -> None:
    async with gateway(tmp_path, recorder, catalogue={"extra_tools": extra}) as found:
        offered = GatewayToolset(found, mode=mode)
        text = offered.instructions()
        listed = {tool.name for tool in await offered.tools(Call())}

    named = set(re.findall(r"nlui__\w+", text))
    assert named <= listed
    assert bool(named) is (mode == "compact" or extra)


@pytest.mark.covers("GW-SRV-9")
async def test_a_burst_of_changes_is_one_notice(tmp_path: Path) -> None:
    async with gateway(tmp_path) as found:
        notices: list[ListChanged] = []
        said = anyio.Event()

        def listener(announcement: Announcement) -> None:
            if isinstance(announcement, ListChanged):
                notices.append(announcement)
                said.set()

        found.announcements.listen(listener)
        for _ in range(40):
            found.catalog.changed()
        with anyio.fail_after(10):
            await said.wait()

    assert notices == [ListChanged("tools")]


async def test_clients_are_told_of_an_apis_tools_once_they_are_known(tmp_path: Path, recorder: Recorder) -> None:
    async with gateway(tmp_path, recorder, ready=False) as found:
        service = McpServer(gateway_definition(found, GatewayOptions()))
        early = service.lifecycle.initialize("2025-11-25")["instructions"]
        await found.sources.ready()
        late = service.lifecycle.initialize("2025-11-25")["instructions"]

    assert "\nshop: an HTTP API" in early
    assert "0 tools" not in early
    assert "\nshop: Ours (3 tools)" in late


@pytest.mark.covers("R-CO-1", "R-CO-2")
async def test_apis_and_servers_are_one_list_and_every_call_passes_the_policy(
    tmp_path: Path, recorder: Recorder
) -> None:
    rules = [{"source": "*", "decision": "deny_continue", "reason": "closed today"}]
    async with gateway(tmp_path, recorder, mcp={"servers": [GOOD]}, policy={"rules": rules}) as found:
        offered = GatewayToolset(found)
        names = {tool.name for tool in await offered.tools(Call())}
        for tool in ("shop__listThings", "good__pid"):
            with pytest.raises(DeniedError, match="closed today"):
                await offered.call(tool, {}, Call())

    assert {"shop__listThings", "good__pid"} <= names
    assert recorder.requests == []


@pytest.mark.covers("GW-REQ-11")
async def test_a_cancelled_call_ends_its_request_and_no_other_is_sent(tmp_path: Path) -> None:
    heard: list[bytes] = []
    asked, gone = anyio.Event(), anyio.Event()

    async def silent(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            try:
                while True:
                    heard.append(await stream.receive())
                    asked.set()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                gone.set()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    quiet = Recorder()
    quiet.url = f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
    async with listener, anyio.create_task_group() as tasks, gateway(tmp_path, quiet) as found:
        tasks.start_soon(listener.serve, silent)
        with anyio.fail_after(120):
            async with anyio.create_task_group() as calls:
                calls.start_soon(found.enforcer.call, "shop__listThings", {}, Call())
                await asked.wait()
                calls.cancel_scope.cancel()
            await gone.wait()
        tasks.cancel_scope.cancel()

    assert len(heard) == 1
    assert heard[0].startswith(b"GET /things HTTP/1.1")
