"""Mounted servers that hang, crash, print garbage or lie: the others never notice."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from agreeing import agree_to_gateway
from gateway.gateways import at_its_source, gateway
from integration.gateway_service.nlui_client import NluiClient
from ui_mcp.errors import DeniedError, MountError, UpstreamError
from ui_mcp.gateway.mcp import MountedResources, OwnResources
from ui_mcp.gateway.service import GatewayService
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.inbox.service import Reply, opened
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.toolkit.announcements import ListChanged, ResourceUpdated
from ui_mcp.toolkit.tool import Call, InputGiven, Relayed

ASKED = ("elicit", "sample", "roots", "strange")
SERVER = str(Path(__file__).parent / "odd_server.py")


def odd(kind: str, **more: Json) -> JsonObject:
    return {"name": kind, "command": sys.executable, "args": [SERVER, kind], **more}


def configure(folder: Path, *servers: JsonObject) -> None:
    settings = {"data_dir": str(folder / "data"), "mcp": {"servers": list(servers)}}
    (folder / "nlui.yaml").write_text(dumps(settings))
    agree_to_gateway(folder / "nlui.yaml")


def ended(process: int, seconds: float) -> bool:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


async def said(found: GatewayService, tool: str, call: Call = Call()) -> str:
    result = await at_its_source(found, tool, {}, call)
    block = result.content[0]
    assert isinstance(block, Relayed)
    return str(block.block["text"])


async def until(condition: Callable[[], object], seconds: float = 60) -> None:
    with anyio.fail_after(seconds):
        while not condition():
            await anyio.sleep(0.02)


@pytest.mark.covers("GW-UPS-1", "GW-UPS-6", "R-CO-4")
async def test_a_hanging_and_a_broken_server_delay_nobody(tmp_path: Path) -> None:
    servers = [odd("hang", start_timeout_s=600), odd("broken"), odd("good")]
    async with gateway(tmp_path, mcp={"servers": servers, "startup_wait_ms": 3000}) as found:
        with anyio.fail_after(60):
            await until(lambda: found.sources.mounts["good"].connection is not None)
            tools = {entry.name for entry in found.catalog.entries()}
            answer = await said(found, "good__pid")
            await until(lambda: found.sources.mounts["broken"].health().state == "failed")
        states = {health.name: health.state for health in found.health()}

    assert {"good__pid", "good__write"} <= tools
    assert answer.isdigit()
    assert states == {"hang": "pending", "broken": "failed", "good": "active"}


@pytest.mark.covers("GW-UPS-1")
async def test_a_server_is_greeted_before_its_tools_are_asked_for(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    async with gateway(tmp_path, mcp={"servers": [odd("good", env={"HEARD": str(heard)})]}) as found:
        await said(found, "good__pid")

    methods = heard.read_text().split()
    assert methods[:2] == ["initialize", "notifications/initialized"]
    assert methods.index("tools/list") < methods.index("tools/call")


@pytest.mark.covers("GW-UPS-7")
async def test_the_same_process_serves_every_call(tmp_path: Path) -> None:
    other = {**odd("good"), "name": "other"}
    async with gateway(tmp_path, mcp={"servers": [odd("good"), other]}) as found:
        pids = [{await said(found, f"{name}__pid") for _ in range(3)} for name in ("good", "other")]

    assert [len(one) for one in pids] == [1, 1]
    assert len(pids[0] | pids[1] | {str(os.getpid())}) == 3


@pytest.mark.covers("GW-UPS-7", "GW-UPS-8")
async def test_a_killed_server_is_back_at_the_first_try_and_keeps_its_tools_listed(tmp_path: Path) -> None:
    async with gateway(tmp_path, mcp={"servers": [odd("good")]}) as found:
        first = await said(found, "good__pid")
        os.kill(int(first), signal.SIGKILL)
        await until(lambda: found.sources.mounts["good"].health().state == "stale")
        listed = {entry.name for entry in found.catalog.entries()}
        second = await said(found, "good__pid")
        tries = found.sources.mounts["good"].health().restarts

    assert first != second
    assert "good__pid" in listed
    assert tries == 1


@pytest.mark.covers("GW-UPS-7")
async def test_a_call_in_flight_at_a_crash_is_repeated_only_when_it_reads(tmp_path: Path) -> None:
    async with gateway(tmp_path, mcp={"servers": [odd("crash")]}) as found:
        read = [await said(found, "crash__pid") for _ in range(3)]
        await said(found, "crash__write")
        with pytest.raises(UpstreamError, match="stopped during the call"):
            await said(found, "crash__write")
        after = await said(found, "crash__write")

    assert read[0] == read[1] != read[2]
    assert after not in read
    assert found.sources.mounts["crash"].health().restarts >= 2


@pytest.mark.covers("GW-UPS-4")
async def test_garbage_between_messages_is_passed_over(tmp_path: Path) -> None:
    async with gateway(tmp_path, mcp={"servers": [odd("garbage")]}) as found:
        assert (await said(found, "garbage__pid")).isdigit()
        assert (await said(found, "garbage__pid")).isdigit()


@pytest.mark.covers("R-PC-1", "R-PC-2", "R-AP-9")
async def test_a_server_that_poses_as_the_gateway_is_unmasked(tmp_path: Path) -> None:
    policy = {"rules": [{"source": "good", "decision": "allow"}]}
    async with gateway(tmp_path, mcp={"servers": [odd("good")]}, policy=policy) as found:
        with pytest.raises(DeniedError) as caught:
            await found.enforcer.call("good__spoof", {}, Call())

    assert caught.value.details["rpc_code"] == -32952
    data = caught.value.details["data"]
    assert isinstance(data, dict)
    assert data["backend_code"] == -32950


@pytest.mark.covers("GW-UPS-3")
async def test_a_changed_list_is_read_again_and_announced(tmp_path: Path) -> None:
    news: list[object] = []
    server = odd("good", env={"GROWN": str(tmp_path / "grown")})
    async with gateway(tmp_path, mcp={"servers": [server]}, policy={"pin_tools": False}) as found:
        found.announcements.listen(news.append)
        await said(found, "good__grow")
        await until(lambda: "good__more" in {entry.name for entry in found.catalog.entries()})
        await until(lambda: ListChanged("tools") in news)


@pytest.mark.covers("R-CO-8", "R-CO-9", "GW-UPS-3")
async def test_resources_pass_through_and_a_shared_uri_stays_the_first_ones(tmp_path: Path) -> None:
    news: list[object] = []
    async with gateway(tmp_path, mcp={"servers": [odd("good"), odd("garbage")]}) as found:
        await until(lambda: all(mount.connection for mount in found.sources.mounts.values()))
        found.announcements.listen(news.append)
        mounted = MountedResources(found)
        listed = [resource.uri for resource in await mounted.resources(Call())]
        texts = [(await mounted.read(uri, Call()))[0].body for uri in listed]
        await found.sources.mounts["good"].subscribe("odd://thing")
        await said(found, "good__touch")
        await until(lambda: ResourceUpdated("odd://thing", None) in news)

    assert listed == ["odd://thing", "compositor://garbage/resource/odd%3A%2F%2Fthing"]
    assert texts == ["from good", "from garbage"]


@pytest.mark.covers("R-CO-3", "R-CO-6", "R-CO-10", "GW-AUD-3")
async def test_states_and_instructions_are_told(tmp_path: Path) -> None:
    async with gateway(tmp_path, mcp={"servers": [odd("good"), odd("broken")]}) as found:
        await until(lambda: found.sources.mounts["good"].connection is not None)
        await until(lambda: found.sources.mounts["broken"].health().state == "failed")
        own = OwnResources(found)
        servers = loads((await own.read("compositor://servers", Call()))[0].body)
        good = loads((await own.read("compositor://good/state", Call()))[0].body)
        broken = loads((await own.read("compositor://broken/state", Call()))[0].body)
        told = found.catalog.instructions()

    assert [(entry["name"], entry["state"]) for entry in servers["servers"]] == [
        ("good", "active"),
        ("broken", "failed"),
    ]
    assert good["state"] == "running"
    assert "good__pid" in good["tools"]
    assert good["initialize"]["serverInfo"] == {"name": "good"}
    assert broken["state"] == "failed"
    assert " tools): be kind" in told
    assert "\nbroken: an MCP server" in told


@pytest.mark.covers("R-CO-5", "R-CO-7")
async def test_only_an_administrator_mounts_and_pinned_mounts_stay(tmp_path: Path) -> None:
    spec = {"name": "late", "spec": {"command": sys.executable, "args": [SERVER, "good"]}}
    admin = Call(principal="root")
    async with gateway(tmp_path, mcp={"servers": [odd("good", pinned=True)]}, admins=["root"]) as found:
        offered = GatewayToolset(found)
        with pytest.raises(MountError, match="forbidden"):
            await offered.call("compositor__attach_server", spec, Call(principal="agent"))
        await offered.call("compositor__attach_server", spec, admin)
        await until(lambda: found.sources.mounts["late"].connection is not None)
        answer = await said(found, "late__pid")
        await offered.call("compositor__detach_server", {"name": "late"}, admin)
        with pytest.raises(MountError, match="pinned"):
            await offered.call("compositor__detach_server", {"name": "good"}, admin)
        left = {health.name for health in found.health()}

    assert answer.isdigit()
    assert left == {"good"}


@pytest.mark.covers("GW-UPS-9")
async def test_children_end_with_us(tmp_path: Path) -> None:
    async with gateway(tmp_path, mcp={"servers": [odd("good")]}) as found:
        await until(lambda: found.sources.mounts["good"].connection is not None)
        child = int(await said(found, "good__pid"))

    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


@pytest.mark.covers("GW-UPS-9")
def test_children_end_even_when_we_are_killed(tmp_path: Path) -> None:
    configure(tmp_path, odd("stubborn"))
    client = NluiClient("--mcp", cwd=tmp_path)
    with client:
        child = int(client.call("stubborn__pid")["content"][0]["text"])
        client.process.kill()
        client.process.wait(60)
        assert ended(child, seconds=60)


@pytest.mark.covers("GW-UPS-5")
async def test_what_a_server_asks_goes_to_a_caller_who_can_answer_or_is_declined(tmp_path: Path) -> None:
    asked: list[tuple[str, JsonObject]] = []

    async def ask(method: str, params: JsonObject) -> JsonObject:
        asked.append((method, params))
        return {"action": "accept", "content": {}}

    able = Call(capabilities={"elicitation": {}}, ask_client=ask)
    server = odd("good", roots=[tmp_path.as_uri()])
    async with gateway(tmp_path, mcp={"servers": [server]}) as found:
        told = {tool: loads(await said(found, f"good__{tool}", able)) for tool in ASKED}
        unable = loads(await said(found, "good__elicit", Call()))

    assert told["elicit"]["result"] == {"action": "accept", "content": {}}
    assert told["sample"]["error"]["code"] == -1
    assert told["roots"]["result"] == {"roots": [{"uri": tmp_path.as_uri()}]}
    assert told["strange"]["error"] == {"code": -32601, "message": "Method not found: odd/ask"}
    assert unable["result"] == {"action": "decline"}
    assert asked == [("elicitation/create", {"message": "Sure?"})]


@pytest.mark.covers("GW-UPS-2", "GW-UPS-3", "GW-UPS-5")
async def test_a_server_of_the_modern_era_alone_is_mounted_and_gets_the_input_it_needs(tmp_path: Path) -> None:
    async def ask(method: str, params: JsonObject) -> JsonObject:
        return {"action": "accept", "content": {}}

    asks: JsonObject = {"elicitation": {}}
    grown = tmp_path / "grown"
    servers = [odd("modern", env={"GROWN": str(grown)})]
    async with gateway(tmp_path, mcp={"servers": servers}, policy={"pin_tools": False}) as found:
        server = found.sources.mounts["modern"]
        old = loads(await said(found, "modern__elicit", Call(capabilities=asks, ask_client=ask)))
        none = loads(await said(found, "modern__elicit", Call()))
        new = Call(era="modern", capabilities=asks)
        needed = (await server.call("modern__elicit", {}, new)).needs
        given = Call(era="modern", capabilities=asks, given=InputGiven({"sure": {"action": "cancel"}}, "sealed"))
        last = loads(await said(found, "modern__elicit", given))
        await said(found, "modern__grow")
        await until(lambda: "modern__more" in {entry.name for entry in found.catalog.entries()})

    assert old == [{"sure": {"action": "accept", "content": {}}}, "sealed"]
    assert none == [{"sure": {"action": "decline"}}, "sealed"]
    assert needed is not None
    assert (list(needed.requests), needed.state) == (["sure"], "sealed")
    assert last == [{"sure": {"action": "cancel"}}, "sealed"]


@pytest.mark.covers("GW-CLI-5", "GW-SRV-6")
def test_only_protocol_is_written_and_the_end_of_input_is_the_end(tmp_path: Path) -> None:
    configure(tmp_path, odd("garbage"), odd("stubborn"))
    code = "from ui_mcp.cli.entry import nlui_main; raise SystemExit(nlui_main())"
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = [
        {"id": 1, "method": "initialize", "params": hello},
        {"id": 2, "method": "tools/call", "params": {"name": "garbage__pid", "arguments": {}}},
        {"id": 3, "method": "tools/call", "params": {"name": "stubborn__pid", "arguments": {}}},
    ]
    lines = "".join(dumps({"jsonrpc": "2.0", **message}) + "\n" for message in asked)
    ended_well = subprocess.run(
        [sys.executable, "-c", code, "--mcp"],
        cwd=tmp_path,
        input=lines.encode(),
        capture_output=True,
        timeout=120,
        check=True,
    )
    written = [loads(line) for line in ended_well.stdout.splitlines()]

    assert {message["id"] for message in written if "id" in message} == {1, 2, 3}
    assert all(message["jsonrpc"] == "2.0" for message in written)
    pid = next(message["result"]["content"][0]["text"] for message in written if message.get("id") == 3)
    assert ended(int(pid), seconds=60)


@pytest.mark.covers("GW-UPS-5")
def test_a_mounted_servers_question_reaches_the_gateways_own_client(tmp_path: Path) -> None:
    configure(tmp_path, odd("good"))
    client = NluiClient("--mcp", cwd=tmp_path)
    client.capabilities = {"elicitation": {}, "sampling": {}}
    sampled = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hm"}}
    client.answers = {"elicitation/create": {"action": "cancel"}, "sampling/createMessage": sampled}
    with client:
        told = [loads(client.call(f"good__{tool}")["content"][0]["text"])["result"] for tool in ("elicit", "sample")]

    assert told == [{"action": "cancel"}, sampled]


@pytest.mark.covers("INBOX-6", "GW-UPS-5")
async def test_a_mounted_servers_question_waits_in_the_inbox_for_a_client_without_forms(tmp_path: Path) -> None:
    configure(tmp_path, odd("good", timeout_s=1))
    place, told = str(tmp_path / "data" / "inbox.db"), list[JsonObject]()

    def call() -> None:
        told.append(client.call("good__elicit"))

    with NluiClient("--mcp", cwd=tmp_path) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, call)
            await until(lambda: Path(place).is_file())
            async with opened(place) as inbox:
                with anyio.fail_after(60):
                    while not (waiting := await inbox.pending()):
                        await anyio.sleep(0.05)
                await anyio.sleep(1.5)  # longer than the time limit of a call, which stands still meanwhile
                await inbox.answer(waiting[0].id, Reply("answer", "human"))

    assert waiting[0].title == "The server good asks: Sure?"
    assert loads(told[0]["content"][0]["text"])["result"] == {"action": "accept", "content": {}}


@pytest.mark.covers("GW-NAM-5", "GW-CFG-1")
async def test_a_second_source_of_the_same_name_is_refused_and_an_identical_entry_counts_once(tmp_path: Path) -> None:
    other = odd("good", timeout_s=5)
    async with gateway(tmp_path, mcp={"servers": [odd("good")], "clients": [odd("good"), other]}) as found:
        states = [(health.name, health.state, health.error) for health in found.health()]

    assert [state[1:] for state in states if state[1] == "failed"] == [
        ("failed", "There is already a source named 'good'")
    ]
    assert len(states) == 2
