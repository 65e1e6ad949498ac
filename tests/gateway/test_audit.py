"""The audit log read back: by the command, by time, as a table; and by what tries proposed rules."""

import csv
import json
from pathlib import Path

import pytest

from gateway.conftest import Recorder
from gateway.gateways import gateway
from ui_mcp.cli.nlui.audit import printed
from ui_mcp.errors import ConfigError, DeniedError, InvalidArgumentsError
from ui_mcp.gateway.audit import rotated
from ui_mcp.gateway.config.settings import GatewaySettings, Rule
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.toolkit.tool import Call


@pytest.mark.covers("GW-AUD-1", "GW-AUD-2")
async def test_the_log_is_printed_by_time_and_as_a_table(recorder: Recorder, tmp_path: Path) -> None:
    settings = GatewaySettings(data_dir=str(tmp_path / "data"))
    async with gateway(tmp_path, recorder, audit={"level": "args"}, policy={"mode": "host"}) as found:
        for number in range(3):
            await found.enforcer.call("shop__deleteThing", {"id": number}, Call(client_name="=cmd()"))
    file = tmp_path / "data" / "audit.jsonl"
    old = {"ts": "2020-01-01T00:00:00Z", "tool": "ancient", "outcome": "policy_allow", "id": "0"}
    rotated(file).write_text(json.dumps(old) + '\n{"cut by a crash')

    everything = [json.loads(line) for line in printed(settings, "", "jsonl", None)]
    recent = [json.loads(line) for line in printed(settings, "1h", "jsonl", None)]
    last = [json.loads(line) for line in printed(settings, "2020-06-01", "jsonl", 1)]
    table = list(csv.DictReader(printed(settings, "", "csv", None)))

    assert [line["tool"] for line in everything] == ["ancient"] + ["shop__deleteThing"] * 3
    assert [line["args"] for line in recent] == [{"id": 0}, {"id": 1}, {"id": 2}]
    assert last == recent[-1:]
    assert (last[0]["method"], last[0]["status"], last[0]["url"]) == ("DELETE", 200, f"{recorder.url}/things/2")
    assert [row["tool"] for row in table] == [line["tool"] for line in everything]
    assert table[1]["client"] == "'=cmd()"


@pytest.mark.covers("GW-AUD-1")
async def test_a_line_is_there_before_the_answer(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder, policy={"mode": "host"}) as found:
        await found.enforcer.call("shop__listThings", {}, Call())
        kept = (tmp_path / "data" / "audit.jsonl").read_text()

    assert [json.loads(line)["tool"] for line in kept.splitlines()] == ["shop__listThings"]


@pytest.mark.covers("R-PC-4")
async def test_the_gateways_own_tools_need_no_permission_and_are_noted(recorder: Recorder, tmp_path: Path) -> None:
    rules = [{"decision": "deny_continue", "tool": "*"}]
    async with gateway(tmp_path, recorder, policy={"mode": "guard", "rules": rules}) as found:
        offered = GatewayToolset(found)
        await offered.call("nlui__search", {"query": "things"}, Call(principal="agent"))
        with pytest.raises(InvalidArgumentsError):
            await offered.call("nlui__describe", {}, Call(principal="agent"))
        with pytest.raises(DeniedError):
            await offered.call("nlui__call", {"name": "shop__listThings"}, Call(principal="agent"))
        replayed = await found.replay(Rule(decision="ask", tool="*"))

    told = [json.loads(line) for line in (tmp_path / "data" / "audit.jsonl").read_text().splitlines()]
    assert [(line["source"], line["tool"], line["outcome"], line["is_error"]) for line in told] == [
        ("nlui", "nlui__search", "policy_allow", False),
        ("nlui", "nlui__describe", "policy_allow", True),
        ("shop", "shop__listThings", "policy_deny_continue", False),
    ]
    assert replayed["calls"] == 1


def test_a_missing_log_and_a_bad_time_are_named(tmp_path: Path) -> None:
    settings = GatewaySettings(data_dir=str(tmp_path))
    with pytest.raises(ConfigError, match=r"audit\.jsonl"):
        printed(settings, "", "jsonl", None)
    (tmp_path / "audit.jsonl").write_text("")
    with pytest.raises(InvalidArgumentsError, match="yesterday"):
        printed(settings, "yesterday", "jsonl", None)


@pytest.mark.covers("R-PC-5")
async def test_asking_what_policy_says_calls_nothing_and_asks_nobody(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as found:
        offered = GatewayToolset(found)
        said = [
            (await offered.call("policy__decide", {"name": name, "arguments": {"id": 1}}, Call())).structured
            for name in ("shop__deleteThing", "shop__listThings")
        ]
        pending = await found.approvals.store.rows("open")

    assert [answer and answer["decision"] for answer in said] == ["ask", "allow"]
    assert [request for request in recorder.requests if "/things" in request.line] == []
    assert list(pending) == []
