"""Scripts of the gateway: what they can do, what policy does with their calls, and how they go on after a crash."""

import os
import signal
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import anyio
import pytest

from gateway.conftest import Recorded, Recorder, Reply, json_reply
from gateway.gateways import gateway
from ui_mcp.gateway.approvals.model import Answer, Approval
from ui_mcp.gateway.approvals.service import Decision
from ui_mcp.gateway.scripts.store import ScriptStore, Step
from ui_mcp.gateway.service import GatewayService
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.tool import Call

PATIENCE = 50


async def run(found: GatewayService, code: str, **more: Json) -> JsonObject:
    result = await GatewayToolset(found).call("nlui__run", {"code": code, "wait_s": PATIENCE, **more}, Call())
    assert result.structured is not None
    return result.structured


@pytest.mark.covers("GW-RUN-1")
async def test_a_script_returns_what_it_made_of_many_results(tmp_path: Path, recorder: Recorder) -> None:
    recorder.default = json_reply([{"id": n, "price": n * 2} for n in range(1, 501)])
    code = """
      local sum = 0
      for _, thing in ipairs(call("shop__listThings").result) do sum = sum + thing.price end
      print("summed", sum)
      return {sum = sum, none = array{}, ids = pick({items = {{id = 1}, {id = 2}}}, "items[].id")}
    """
    async with gateway(tmp_path, recorder) as found:
        answer = await run(found, code)

    assert answer["result"] == {"sum": 250500, "none": [], "ids": [1, 2]}
    assert answer["printed"] == ["summed\t250500"]
    assert answer["status"] == "done"


@pytest.mark.covers("GW-RUN-1")
async def test_calls_of_parallel_run_at_the_same_time_and_answer_in_order(tmp_path: Path, recorder: Recorder) -> None:
    recorder.default = lambda request: json_reply({"at": request.target})
    code = """
      local found = parallel{{"shop__listThings"}, function() return call("shop__listThings").at end, function() end}
      return {found[1].at, found[2], found[3] == null}
    """
    async with gateway(tmp_path, recorder) as found:
        answer = await run(found, code)

    assert answer["result"] == ["/things", "/things", True]


@pytest.mark.covers("GW-RUN-1")
@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("return 1 +", "unexpected symbol near"),
        ("error('no stock')", "no stock"),
        ("return call('shop__listThing')", "did you mean shop__listThings"),
        ("return os.getenv('HOME')", "getenv"),
        ("return io.open('/etc/passwd')", "io"),
        ("return function() end", "a function is no JSON"),
        ("while true do end", "ran longer than"),
        ("local t = {} while true do t[#t + 1] = ('x'):rep(1000000) end", "memory"),
    ],
)
async def test_a_script_that_fails_says_why(code: str, part: str, tmp_path: Path, recorder: Recorder) -> None:
    async with gateway(tmp_path, recorder) as found:
        answer = await run(found, code)

    assert answer["status"] == "failed"
    assert part in answer["error"]


@pytest.mark.covers("GW-RUN-1")
async def test_a_failed_call_can_be_caught(tmp_path: Path, recorder: Recorder) -> None:
    recorder.default = Reply(503, b"busy")
    code = "local ok, problem = pcall(call, 'shop__listThings') return {ok, problem.message:match('HTTP %d+')}"
    async with gateway(tmp_path, recorder) as found:
        answer = await run(found, code)

    assert answer["result"] == [False, "HTTP 503"]


@pytest.mark.covers("GW-RUN-2")
async def test_a_call_that_changes_something_waits_for_the_person(tmp_path: Path, recorder: Recorder) -> None:
    async with gateway(tmp_path, recorder) as found:
        tools = GatewayToolset(found)
        started = await run(found, "return call('shop__deleteThing', {id = 7})", wait_s=0.1)
        await _pending(found)
        asked = await tools.call("nlui__run", {"run_id": started["run_id"], "wait_s": 0}, Call())
        await _decide_all(found, "approve")
        result = await tools.call("nlui__run", {"run_id": started["run_id"], "wait_s": PATIENCE}, Call())

    assert asked.structured is not None
    assert asked.structured["status"] == "awaiting_approval"
    assert [waiting["tool"] for waiting in asked.structured["waiting_for"]] == ["shop__deleteThing"]
    assert result.structured is not None
    assert result.structured["status"] == "done"
    assert [request.line.split(" ")[0] for request in recorder.requests] == ["DELETE"]


@pytest.mark.covers("GW-RUN-2")
@pytest.mark.parametrize(("decision", "status"), [("deny_continue", "done"), ("deny_abort", "failed")])
async def test_a_denial_is_an_error_of_the_call_or_ends_the_script(
    decision: Answer, status: str, tmp_path: Path, recorder: Recorder
) -> None:
    code = "local ok, problem = pcall(call, 'shop__deleteThing', {id = 7}) return {ok, problem.denied}"
    async with gateway(tmp_path, recorder) as found:
        asked = await run(found, code, wait_s=0.5)
        await _decide_all(found, decision)
        ended = await (await found.scripts()).outcome(asked["run_id"], "local", PATIENCE)

    assert ended.state == status
    assert ended.outcome is not None
    assert ended.outcome.get("value") == ([False, True] if status == "done" else None)
    assert recorder.requests == []


@pytest.mark.covers("GW-RUN-2")
async def test_a_script_asks_the_person_and_gets_the_answer(tmp_path: Path, recorder: Recorder) -> None:
    async with gateway(tmp_path, recorder) as found:
        asked = await run(found, "return ask('Which colour?').answer", wait_s=0)
        (row,) = await _pending(found)
        edited = {**row.arguments, "answer": "green"}
        await found.approvals.decide(row.id, Decision("approve_with_edit", row.digest, "me", arguments=edited))
        ended = await (await found.scripts()).outcome(asked["run_id"], "local", PATIENCE)

    assert row.arguments["question"] == "Which colour?"
    assert ended.outcome is not None
    assert ended.outcome["value"] == "green"


@pytest.mark.covers("GW-RUN-3")
async def test_another_principal_cannot_see_a_script(tmp_path: Path, recorder: Recorder) -> None:
    async with gateway(tmp_path, recorder) as found:
        answer = await run(found, "return 1")
        with pytest.raises(Exception, match="No script"):
            await (await found.scripts()).outcome(answer["run_id"], "stranger", 0)


@pytest.mark.covers("GW-RUN-3")
async def test_a_stopped_script_makes_no_further_call(tmp_path: Path, recorder: Recorder) -> None:
    code = "ask('go on?') return call('shop__listThings')"
    async with gateway(tmp_path, recorder) as found:
        asked = await run(found, code, wait_s=0.5)
        stop = {"run_id": asked["run_id"], "stop": True}
        stopped = await GatewayToolset(found).call("nlui__run", stop, Call())

    assert stopped.structured is not None
    assert stopped.structured["error"] == "The script was stopped"
    assert recorder.requests == []


@pytest.mark.covers("GW-RUN-4")
async def test_a_killed_worker_is_replaced_without_repeating_a_call(tmp_path: Path, recorder: Recorder) -> None:
    code = """
      math.randomseed(os.time())
      local first = call("shop__listThings")
      local r, t = math.random(1000000), os.time()
      ask("go on?")
      return {r = r, t = t, again = {r, t}, at = first.at}
    """
    recorder.default = json_reply({"at": 5})
    async with gateway(tmp_path, recorder) as found:
        asked = await run(found, code, wait_s=2)
        for pid in _script_processes():
            os.kill(pid, signal.SIGKILL)
        await _decide_all(found, "approve")
        ended = await (await found.scripts()).outcome(asked["run_id"], "local", PATIENCE)

    assert ended.state == "done"
    assert len(recorder.requests) == 1


@pytest.mark.covers("GW-RUN-4")
async def test_a_restarted_gateway_goes_on_with_the_recorded_answers(tmp_path: Path, recorder: Recorder) -> None:
    count = 0

    def counted(request: Recorded) -> Reply:
        nonlocal count
        count += 1
        return json_reply({"n": count})

    recorder.default = counted
    code = "local a = call('shop__listThings').n ask('go on?') local b = call('shop__listThings').n return {a, b}"
    async with gateway(tmp_path, recorder) as found:
        asked = await run(found, code, wait_s=2)
    async with gateway(tmp_path, recorder) as found:
        await _decide_all(found, "approve")
        ended = await (await found.scripts()).outcome(asked["run_id"], "local", PATIENCE)

    assert ended.outcome is not None
    assert ended.outcome["value"] == [1, 2]


@pytest.mark.covers("GW-RUN-5")
async def test_an_interrupted_call_that_must_not_be_repeated_is_not_sent_again(
    tmp_path: Path, recorder: Recorder
) -> None:
    code = "ask('go on?') local ok, p = pcall(call, 'shop__addThing', {body = {a = 1}}) return {ok, p.uncertain}"
    policy = {"rules": [{"tool": "addThing", "decision": "allow"}]}
    async with gateway(tmp_path, recorder, policy=policy) as found:
        asked = await run(found, code, wait_s=1)
        request = '["call",{"arguments":{"body":{"a":1}},"tool":"shop__addThing"}]'
        await _interrupt_after_sending(found, asked["run_id"], request)
    async with gateway(tmp_path, recorder, policy=policy) as found:
        await _decide_all(found, "approve")
        ended = await (await found.scripts()).outcome(asked["run_id"], "local", PATIENCE)

    assert recorder.requests == []
    assert ended.outcome is not None
    assert ended.outcome["value"] == [False, True]
    assert "unknown" in ended.outcome["uncertain"][0]


@pytest.mark.covers("GW-RUN-5")
async def test_a_store_that_came_with_a_repository_runs_no_script(
    tmp_path: Path, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with gateway(tmp_path, recorder) as found:
        asked = await run(found, "ask('go on?') return call('shop__listThings')", wait_s=1)
        await _decide_all(found, "approve")
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    async with gateway(tmp_path, recorder) as found:
        ended = await (await found.scripts()).outcome(asked["run_id"], "local", 2)

    assert ended.state == "running"
    assert recorder.requests == []


@pytest.mark.covers("GW-RUN-6")
async def test_code_mode_lists_three_tools_and_search_gives_signatures(tmp_path: Path, recorder: Recorder) -> None:
    async with gateway(tmp_path, recorder, catalogue={"mode": "code"}, policy={"mode": "host"}) as found:
        tools = GatewayToolset(found)
        names = [tool.name for tool in await tools.tools(Call())]
        result = await tools.call("nlui__search", {"query": "delete a thing"}, Call())

    assert names == ["nlui__search", "nlui__run", "nlui__more"]
    assert result.structured is not None
    assert result.structured["tools"][0].startswith('call("shop__deleteThing", {id: int})')


async def _pending(found: GatewayService) -> Sequence[Approval]:
    """Wait until the script asks: on a busy machine it may start later than `wait_s`."""
    with anyio.fail_after(PATIENCE):
        while not (rows := await found.approvals.pending()):
            await anyio.sleep(0.01)
    return rows


async def _decide_all(found: GatewayService, decision: Answer) -> None:
    for row in await _pending(found):
        await found.approvals.decide(row.id, Decision(decision, row.digest, "me"))


async def _interrupt_after_sending(found: GatewayService, run_id: str, request: str) -> None:
    """Journal a step as if the gateway had been killed after it was sent."""
    store = ScriptStore(found.store.database)
    kept = await store.get(run_id)
    assert kept is not None
    assert await store.write(run_id, kept.lease, Step("2", sha256(request.encode()).hexdigest(), "sending"))


def _script_processes() -> list[int]:
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text, parent = line.read_bytes(), (line.parent / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if b"script_worker" in text and int(parent) == os.getpid():
            found.append(int(line.parent.name))
    return found
