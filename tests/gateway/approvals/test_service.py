"""Approvals: asked, answered once, bound to the exact call, lasting over restarts."""

import os
import sqlite3
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.requests import Request

from gateway.conftest import Recorded, Recorder, json_reply
from gateway.conftest import Reply as HttpReply
from gateway.gateways import gateway
from stores import opened
from ui_mcp import account_seal
from ui_mcp.errors import (
    AlreadyDecidedError,
    DeniedError,
    DigestMismatchError,
    ExpiredError,
    GatewayError,
    InvalidArgumentsError,
    NotFoundError,
)
from ui_mcp.gateway.approvals.model import Answer, Approval
from ui_mcp.gateway.approvals.rules import rule_for
from ui_mcp.gateway.approvals.service import ApprovalService, CallOutcome, Decision
from ui_mcp.gateway.approvals.store import open_store
from ui_mcp.gateway.config.settings import Rule
from ui_mcp.gateway.policy import Question, matches
from ui_mcp.gateway.service import GatewayService
from ui_mcp.gateway.source import Entry
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.gateway.web.api import ForwardedTokens
from ui_mcp.jsontypes import JsonObject, canonical, loads
from ui_mcp.storage import sqlite
from ui_mcp.toolkit.tool import Call, Tool, ToolResult
from ui_mcp.validation import to_json

ADD: JsonObject = {"body": {"name": "boat"}}


async def asked(found: GatewayService, arguments: JsonObject = ADD, tool: str = "shop__addThing") -> Approval:
    """Call a tool that must ask, and return the question."""
    result = await found.enforcer.call(tool, arguments, Call())
    assert (result.structured or {})["status"] == "awaiting_approval"
    return await found.approvals.get((result.structured or {})["approval_id"])


async def yes(found: GatewayService, row: Approval, by: str = "ann", **more: Any) -> Approval:
    return await found.approvals.decide(row.id, Decision("approve", row.digest, by, **more))


async def outcome(found: GatewayService, row: Approval) -> ToolResult:
    return await found.enforcer.outcome(row.id, 120, Call())


@pytest.mark.covers("GW-POL-2", "R-AP-1")
async def test_reading_goes_through_and_writing_asks(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as found:
        read = await found.enforcer.call("shop__listThings", {}, Call())
        await asked(found)
        await asked(found, {"id": 1}, "shop__deleteThing")

    assert read.structured == {}
    assert [request.line for request in recorder.requests] == ["GET /things HTTP/1.1"]


@pytest.mark.covers("R-AP-2", "R-AP-11")
async def test_a_yes_runs_the_call_once_and_the_result_is_fetched(recorder: Recorder, tmp_path: Path) -> None:
    recorder.default = json_reply({"id": 7})
    async with gateway(tmp_path, recorder) as found:
        row = await asked(found)
        await yes(found, row)
        first = await outcome(found, row)
        settled = await found.approvals.get(row.id)

    assert first.structured == {"id": 7}
    assert len(recorder.requests) == 1
    assert (settled.status, settled.execution, settled.decided_by) == ("approved", "completed", "ann")


@pytest.mark.covers("R-AP-11")
async def test_a_waiting_caller_gets_the_result_as_its_own(recorder: Recorder, tmp_path: Path) -> None:
    recorder.default = json_reply({"id": 7})
    results: list[ToolResult] = []
    async with gateway(tmp_path, recorder, approvals={"sync_wait_s": 30}) as found:

        async def caller() -> None:
            results.append(await found.enforcer.call("shop__addThing", ADD, Call()))

        async with anyio.create_task_group() as group:
            group.start_soon(caller)
            with anyio.fail_after(120):
                while not await found.approvals.pending():
                    await anyio.lowlevel.checkpoint()
            await yes(found, (await found.approvals.pending())[0])

    assert results[0].structured == {"id": 7}


@pytest.mark.covers("R-AP-11")
async def test_the_same_call_joins_the_open_question_until_its_outcome_was_delivered(
    recorder: Recorder, tmp_path: Path
) -> None:
    async with gateway(tmp_path, recorder) as found:
        first, second = await asked(found), await asked(found)
        await yes(found, first)
        await outcome(found, first)
        third = await asked(found)

    assert first.id == second.id != third.id


@pytest.mark.covers("R-AP-11")
async def test_the_same_call_made_several_times_at_once_is_one_question(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as found:
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(asked, found)
        open_questions = await found.approvals.pending()

    assert len(open_questions) == 1


@pytest.mark.covers("R-AP-8")
@pytest.mark.parametrize(("decision", "code"), [("deny_continue", -32951), ("deny_abort", -32950)])
async def test_a_no_keeps_its_meaning_and_its_reason(
    decision: Answer, code: int, recorder: Recorder, tmp_path: Path
) -> None:
    async with gateway(tmp_path, recorder) as found:
        row = await asked(found)
        await found.approvals.decide(row.id, Decision(decision, row.digest, "ann", "not today"))
        with pytest.raises(DeniedError) as caught:
            await outcome(found, row)

    assert caught.value.details["rpc_code"] == code
    assert "not today" in caught.value.message
    assert recorder.requests == []


@pytest.mark.covers("R-AP-4")
async def test_of_two_people_answering_at_once_one_wins(recorder: Recorder, tmp_path: Path) -> None:
    losers: list[AlreadyDecidedError] = []
    async with gateway(tmp_path, recorder) as found:
        row = await asked(found)

        async def answer(by: str, decision: Answer) -> None:
            try:
                await found.approvals.decide(row.id, Decision(decision, row.digest, by))
            except AlreadyDecidedError as error:
                losers.append(error)

        async with anyio.create_task_group() as group:
            group.start_soon(answer, "ann", "approve")
            group.start_soon(answer, "bob", "approve")
        await outcome(found, row)

    assert len(losers) == 1
    assert len(recorder.requests) == 1


@pytest.mark.covers("R-AP-5")
async def test_an_answer_about_another_call_is_refused(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as found:
        row = await asked(found)
        with pytest.raises(DigestMismatchError):
            await found.approvals.decide(row.id, Decision("approve", "0" * 64, "ann"))

        assert (await found.approvals.get(row.id)).status == "pending"


@pytest.mark.covers("R-AP-5")
async def test_edited_arguments_are_what_runs_and_the_caller_is_told(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as found:
        row = await asked(found)
        edited = {"body": {"name": "ship"}}
        decided = await found.approvals.decide(
            row.id, Decision("approve_with_edit", row.digest, "ann", arguments=edited)
        )
        result = await outcome(found, row)

    assert loads(recorder.last.body) == {"name": "ship"}
    assert decided.args_version == 2
    assert decided.digest != row.digest
    assert "ann changed the arguments" in str(result.content[-1])


@pytest.mark.covers("R-AP-6")
async def test_an_expired_question_is_a_no(recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with gateway(tmp_path, recorder) as found:
        row = await asked(found)
        monkeypatch.setattr(found.approvals, "_now", lambda: row.expires_at)
        with pytest.raises(DeniedError, match="expired"):
            await outcome(found, row)
        with pytest.raises(ExpiredError):
            await yes(found, row)

    assert recorder.requests == []


@pytest.mark.covers("R-AP-3")
async def test_a_question_outlives_a_restart_and_its_yes_still_runs(recorder: Recorder, tmp_path: Path) -> None:
    recorder.default = json_reply({"id": 7})
    async with gateway(tmp_path, recorder) as before:
        row = await asked(before)
    async with gateway(tmp_path, recorder) as after:
        await yes(after, row)
        result = await outcome(after, row)

    assert result.structured == {"id": 7}
    assert len(recorder.requests) == 1


@pytest.mark.covers("R-AP-3")
async def test_an_approved_call_waits_for_its_source_before_anybody_claims_it(
    recorder: Recorder, tmp_path: Path
) -> None:
    async with gateway(tmp_path, recorder) as before:
        row = await asked(before)
    up, ran = anyio.Event(), anyio.Event()

    async def started(tool: str) -> None:
        await up.wait()

    async def run(row: Approval) -> CallOutcome:
        ran.set()
        return CallOutcome(succeeded=True, result={})

    async with opened(open_store, str(tmp_path / "data" / "approvals.db")) as store:
        service = ApprovalService(store)
        await service.decide(row.id, Decision("approve", row.digest, "ann"))
        async with anyio.create_task_group() as group:
            group.start_soon(service.run_approved, run, started)
            for _ in range(3):  # whatever changes meanwhile
                service.notify(row.id)
                await anyio.wait_all_tasks_blocked()
            waiting = (await service.get(row.id)).execution
            up.set()
            with anyio.fail_after(30):
                await ran.wait()
            group.cancel_scope.cancel()

    assert (waiting, ran.is_set()) == ("none", True)


@pytest.mark.covers("R-AP-3")
async def test_a_yes_given_while_nothing_runs_is_carried_out_at_the_next_start(
    recorder: Recorder, tmp_path: Path
) -> None:
    async with gateway(tmp_path, recorder) as before:
        row = await asked(before)
        await before.approvals.store.swap(row, row)
    base = sqlite3.connect(tmp_path / "data" / "approvals.db")
    base.execute("UPDATE approvals SET status = 'approved', decision = 'approve', decided_by = 'ann', decided_at = 1")
    base.commit()
    base.close()
    async with gateway(tmp_path, recorder) as after:
        await outcome(after, row)

    assert len(recorder.requests) == 1


@pytest.mark.covers("R-AP-4")
async def test_what_ran_when_the_process_died_is_never_run_again(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as before:
        row = await asked(before)
    base = sqlite3.connect(tmp_path / "data" / "approvals.db")
    base.execute("UPDATE approvals SET status = 'approved', execution = 'executing', lease = '4194999:x'")
    base.commit()
    base.close()
    async with gateway(tmp_path, recorder) as after:
        result = await outcome(after, row)

    assert result.is_error
    assert recorder.requests == []
    assert "interrupted" in str(result.content)


@pytest.mark.covers("R-AP-10")
async def test_a_caller_that_leaves_does_not_take_its_question_along(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder, approvals={"sync_wait_s": 30}) as found:
        async with anyio.create_task_group() as group:
            group.start_soon(found.enforcer.call, "shop__addThing", ADD, Call())
            with anyio.fail_after(120):
                while not await found.approvals.pending():
                    await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        row = (await found.approvals.pending())[0]
        await yes(found, row)
        await outcome(found, row)

    assert len(recorder.requests) == 1


@pytest.mark.covers("R-AP-7")
async def test_a_yes_for_longer_covers_the_same_arguments_and_any_body(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as found:
        row = await asked(found)
        await yes(found, row, scope="session")
        await outcome(found, row)
        again = await found.enforcer.call("shop__addThing", {"body": {"name": "other"}}, Call())
        stranger = await found.enforcer.call("shop__addThing", ADD, Call(principal="eve"))
        other = await asked(found, {"id": 1}, "shop__deleteThing")
        await yes(found, other, scope="session")
        await outcome(found, other)
        same = await found.enforcer.call("shop__deleteThing", {"id": 1}, Call())
        await asked(found, {"id": 2}, "shop__deleteThing")
    async with gateway(tmp_path, recorder) as restarted:
        await asked(restarted)

    assert (again.structured, same.structured) == ({}, {})
    assert (stranger.structured or {})["status"] == "awaiting_approval"


@pytest.mark.covers("R-AP-7")
async def test_a_yes_for_always_is_a_rule_as_wide_as_the_person_says_and_can_be_removed(
    recorder: Recorder, tmp_path: Path
) -> None:
    async with gateway(tmp_path, recorder) as found:
        row = await asked(found, {"id": 11}, "shop__deleteThing")
        await yes(found, row, scope="always", pattern={"id": "1?"})
        await outcome(found, row)
    async with gateway(tmp_path, recorder) as restarted:
        always = await restarted.enforcer.call("shop__deleteThing", {"id": 12}, Call())
        await asked(restarted, {"id": 2}, "shop__deleteThing")
        number, rule = (await restarted.store.rules())[0]
        await restarted.store.remove_rule(number)
        await restarted.refresh_rules()
        await asked(restarted, {"id": 13}, "shop__deleteThing")

    assert always.structured == {}
    assert to_json(rule) == {
        "source": "shop",
        "tool": "shop__deleteThing",
        "args": {"id": "1?"},
        "other_args": False,
        "operation": row.operation,
        "decision": "allow",
        "reason": "always allowed by ann",
    }


@pytest.mark.covers("R-AP-2", "R-AP-7")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
async def test_answers_and_rules_of_another_process_are_heard_without_looking_for_them(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pause in ("NOTIFIED_SECONDS", "POLL_SECONDS"):
        monkeypatch.setattr(sqlite, pause, 1e6)
    recorder.default = json_reply({"id": 7})
    async with gateway(tmp_path, recorder) as found:
        row = await asked(found)
        async with opened(open_store, str(tmp_path / "data" / "approvals.db")) as elsewhere:
            await ApprovalService(elsewhere).decide(row.id, Decision("approve", row.digest, "ann", scope="always"))
            with anyio.fail_after(60):
                ran = await outcome(found, row)
                await heard(found, rules=1)
                await elsewhere.remove_rule((await elsewhere.rules())[0][0])
                await heard(found, rules=0)

    assert ran.structured == {"id": 7}


async def heard(found: GatewayService, rules: int) -> None:
    while len(found.policy(Call()).rules) != len(found.settings.policy.rules) + rules:
        await anyio.sleep(0.01)


@pytest.mark.covers("R-AP-7")
@pytest.mark.covers("R-AP-6")
async def test_an_answer_of_another_process_is_announced_however_early_it_comes(tmp_path: Path) -> None:
    heard: list[str] = []
    async with opened(open_store, str(tmp_path / "approvals.db")) as store:
        approvals = ApprovalService(store, announce=heard.append)
        row = await approvals.ask(approvals.new(principal="p", server="s", tool="t", arguments={}, lifetime=60))
        await ApprovalService(store).decide(row.id, Decision("deny_continue", row.digest, "ann"))
        heard.clear()

        await approvals.settled(row.id, 60)

    assert f"approvals://{row.id}" in heard


def test_the_narrow_pattern_means_exactly_what_was_asked() -> None:
    row = Approval("1", 0, 1, "agent", "fs", "fs__rm", {"path": "/a/*[x]?", "deep": {"b": 1, "a": [2]}}, "", "", "")
    rule = rule_for(row, "")
    entry = Entry(Tool("fs__rm", "", "", {}), "fs", "backend", "rm")

    def covered(**arguments: object) -> bool:
        return matches(rule, Question(entry, arguments, "agent"))

    assert covered(path="/a/*[x]?", deep={"a": [2], "b": 1})
    assert not covered(path="/a/b[x]c", deep={"a": [2], "b": 1})
    assert not covered(path="/a/*[x]?", deep={"a": [2, 3], "b": 1})
    assert not covered(path="/a/*[x]?", deep={"a": [2], "b": 1}, recursive=True)


@pytest.mark.covers("R-AP-5")
async def test_a_rule_that_denies_meanwhile_wins_over_the_yes(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as before:
        row = await asked(before)
    deny = {"tool": "addThing", "decision": "deny_continue", "reason": "closed"}
    async with gateway(tmp_path, recorder, policy={"rules": [deny]}) as after:
        await yes(after, row)
        result = await outcome(after, row)

    assert result.is_error
    assert "closed" in str(result.content)
    assert recorder.requests == []


@pytest.mark.covers("GW-POL-5")
async def test_the_question_shows_the_real_request(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as found:
        row = await asked(found)

    assert row.preview is not None
    assert (row.preview["method"], row.preview["url"]) == ("POST", f"{recorder.url}/things")
    assert row.preview["body"] == '{"name":"boat"}'


async def test_arguments_that_do_not_fit_are_refused_before_anyone_is_asked(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as found:
        with pytest.raises(InvalidArgumentsError):
            await found.enforcer.call("shop__deleteThing", {"id": "x"}, Call())

        assert await found.approvals.pending() == []


@pytest.mark.covers("GW-REL-4")
async def test_a_dry_run_asks_nobody(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as found:
        result = await found.enforcer.call("shop__addThing", {**ADD, "_dry_run": True}, Call())

        assert (result.structured or {})["method"] == "POST"
        assert await found.approvals.pending() == []


@pytest.mark.covers("R-AP-11")
async def test_a_client_that_can_ask_its_user_is_asked_first(recorder: Recorder, tmp_path: Path) -> None:
    shown: list[str] = []

    async def ask_user(message: str, form: JsonObject) -> JsonObject:
        shown.append(message)
        return {"action": "accept", "content": {"decision": "approve"}}

    async with gateway(tmp_path, recorder, approvals={"sync_wait_s": 120}) as found:
        result = await found.enforcer.call("shop__addThing", ADD, Call(client_name="approvals", ask_user=ask_user))
        row = (await found.approvals.history())[0]

    assert result.structured == {}
    assert shown[0].startswith("approvals wants to call shop__addThing (writes).\nPOST ")
    assert row.decided_by == "user of approvals"


@pytest.mark.covers("R-AP-14", "GW-AUD-1")
async def test_the_audit_tells_a_persons_yes_from_the_policys(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as found:
        await found.enforcer.call("shop__listThings", {}, Call())
        row = await asked(found)
        await yes(found, row)
        await outcome(found, row)

    file = tmp_path / "data" / "audit.jsonl"
    lines = [loads(line) for line in file.read_text().splitlines()]
    assert [(line["tool"], line["outcome"]) for line in lines] == [
        ("shop__listThings", "policy_allow"),
        ("shop__addThing", "asked"),
        ("shop__addThing", "user_approve"),
    ]
    assert [line["approval_id"] for line in lines] == [None, row.id, row.id]
    assert file.stat().st_mode & 0o777 == 0o600
    assert "boat" not in file.read_text()


@pytest.mark.covers("R-PC-6", "R-AP-9")
async def test_a_proposal_is_replayed_over_the_calls_of_the_past_and_waits_for_a_person(
    recorder: Recorder, tmp_path: Path
) -> None:
    rule = {"source": "shop", "tool": "deleteThing", "args": {"id": "[12]"}, "decision": "allow"}
    async with gateway(tmp_path, recorder) as before:
        await before.enforcer.call("shop__listThings", {}, Call())
    async with gateway(tmp_path, recorder) as found:
        offered = GatewayToolset(found)
        await found.enforcer.call("shop__listThings", {}, Call())
        answers: tuple[Answer, ...] = ("approve", "deny_continue", "approve")
        for number, decision in enumerate(answers, 1):
            row = await asked(found, {"id": number}, "shop__deleteThing")
            await found.approvals.decide(row.id, Decision(decision, row.digest, "ann"))
            with suppress(DeniedError):
                await outcome(found, row)
        proposed = (await offered.call("policy__propose", {"rule": rule, "rationale": "old"}, Call())).structured or {}
        await asked(found, {"id": 1}, "shop__deleteThing")
        await found.proposals.settle(proposed["id"], "accepted", "ann")
        await found.refresh_rules()
        after = await found.enforcer.call("shop__deleteThing", {"id": 2}, Call())
        with pytest.raises(NotFoundError):
            await found.proposals.settle(proposed["id"], "refused", "bob")
        with pytest.raises(InvalidArgumentsError):
            await offered.call("policy__propose", {"rule": {"decision": "allow"}, "rationale": "x"}, Call())

    against = proposed["replay"].pop("would_have_allowed_what_was_denied")
    assert proposed["replay"] == {"calls": 5, "allow": 3, "ask": 1, "unknown": 1, "changed": {"allow": 2}}
    assert len(against) == 1
    assert after.structured == {}


@pytest.mark.covers("GW-AUT-6")
async def test_a_secret_argument_is_sent_but_stored_nowhere(recorder: Recorder, tmp_path: Path) -> None:
    login: JsonObject = {"body": {"user": "ann", "password": "hunter2-canary"}}
    async with gateway(tmp_path, recorder, audit={"level": "full"}) as found:
        row = await asked(found, login)
        edited = {"body": {"user": "bob", "password": "•••"}}
        await found.approvals.decide(row.id, Decision("approve_with_edit", row.digest, "ann", arguments=edited))
        await outcome(found, row)
        lost = await asked(found, login)
    async with gateway(tmp_path, recorder) as restarted:
        await yes(restarted, lost)
        refused = await outcome(restarted, lost)

    assert [loads(request.body) for request in recorder.requests] == [{"user": "bob", "password": "hunter2-canary"}]
    assert row.preview is not None
    assert row.preview["body"] == '{"user":"ann","password":"•••"}'
    stored = [path.name for path in (tmp_path / "data").rglob("*") if path.is_file()]
    held = [name for name in stored if b"hunter2-canary" in (tmp_path / "data" / name).read_bytes()]
    assert held == []
    assert refused.is_error


def test_equal_calls_are_written_equally() -> None:
    assert canonical({"b": 1.0, "a": [True, None, "é"]}) == canonical({"a": [True, None, "é"], "b": 1})
    assert canonical({"\U0001f600": 1, "\ufb01": 2}) == '{"\U0001f600":1,"\ufb01":2}'


@pytest.mark.covers("GW-AUT-7")
@pytest.mark.parametrize(("has_token", "header"), [(False, "Authorization"), (True, "X-Target-Authorization")])
async def test_a_persons_token_goes_with_the_calls_of_their_conversation_alone(
    has_token: bool, header: str, recorder: Recorder, tmp_path: Path
) -> None:
    async with gateway(tmp_path, recorder) as found:
        carried = ForwardedTokens(partial(found.forward_token, "agent"), has_token=has_token)
        for name, value in (("Authorization", "Bearer wrong-one"), (header, "Bearer persons-own")):
            carried.take(Request({"type": "http", "headers": [(name.lower().encode(), value.encode())]}), "talk")
        mine = Call(principal="agent", agent="talk", call_id="1")
        await found.enforcer.call("shop__listThings", {}, mine)
        await found.enforcer.call("shop__listThings", {}, Call(principal="agent", agent="other", call_id="1"))
        await found.enforcer.call("shop__listThings", {}, Call(principal="local", agent="talk", call_id="1"))
        asked_for = (await found.enforcer.call("shop__addThing", ADD, mine)).structured or {}
        row = await found.approvals.get(asked_for["approval_id"])
        await yes(found, row)
        await found.enforcer.outcome(row.id, 120, mine)

    sent = [request.headers.get("authorization") for request in recorder.requests]
    assert sent == ["Bearer persons-own", None, None, "Bearer persons-own"]
    assert "persons-own" not in (row.preview or {}).__repr__()


@pytest.mark.covers("GW-AUT-7")
async def test_of_several_apis_only_those_that_say_so_get_a_persons_token(recorder: Recorder, tmp_path: Path) -> None:
    spec = {"spec": str(tmp_path / "shop.json"), "base_url": recorder.url}
    targets = [{"name": "open", **spec, "auth": {"passthrough": True}}, {"name": "closed", **spec}]
    async with gateway(tmp_path, recorder, targets=targets) as found:
        found.forward_token("agent", "talk", "persons-own")
        for name in ("open", "closed", "shop"):
            await found.enforcer.call(f"{name}__listThings", {}, Call(principal="agent", agent="talk", call_id="1"))

    assert [request.headers.get("authorization") for request in recorder.requests] == ["Bearer persons-own", None, None]


def read_only(found: GatewayService, *, on: bool) -> None:
    """Let SQLite itself refuse every write of the approvals, as it does on a disk that is read-only."""
    found.store._database._writer._connection.execute(f"PRAGMA query_only = {on:d}")  # type: ignore[attr-defined]


_NO_START = """
CREATE TRIGGER no_start BEFORE UPDATE ON approvals WHEN new.execution = 'executing'
BEGIN SELECT raise(ABORT, 'disk I/O error'); END
"""
"""Lets an answer be written, but not that its call begins."""


@pytest.mark.covers("R-AP-2")
async def test_a_store_that_cannot_be_written_holds_up_an_approved_call_and_its_result_but_loses_neither(
    recorder: Recorder, tmp_path: Path
) -> None:
    async with gateway(tmp_path, recorder) as found:

        def reply(request: Recorded) -> HttpReply:
            read_only(found, on=True)
            return json_reply({"id": 7})

        recorder.default = reply
        row = await asked(found)
        found.store._database._writer._connection.execute(_NO_START)  # type: ignore[attr-defined]
        await yes(found, row)
        waiting = (await found.enforcer.outcome(row.id, 0.5, Call())).structured or {}
        assert waiting["status"] == "awaiting_approval"
        assert recorder.requests == []

        found.store._database._writer._connection.execute("DROP TRIGGER no_start")  # type: ignore[attr-defined]
        while not recorder.requests:
            await anyio.sleep(0.01)
        with pytest.raises(GatewayError, match=r"approvals\.db failed(.|\n)*make the disk writable"):
            await found.enforcer.call("shop__addThing", {"body": {"name": "raft"}}, Call())
        read_only(found, on=False)
        result = await outcome(found, row)

    assert result.structured == {"id": 7}
    assert len(recorder.requests) == 1


@pytest.mark.covers("UI-TRUST-1")
async def test_a_store_that_somebody_else_made_answers_no_question(
    recorder: Recorder, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with gateway(tmp_path, recorder) as found:
        waiting = await asked(found)
    async with opened(open_store, str(tmp_path / "data/approvals.db")) as shipped:
        await shipped.swap(waiting, replace(waiting, status="approved", decision="approve", decided_by="them"))
        await shipped.add_rule(Rule(tool="shop__deleteThing", decision="allow"), "them", waiting.id)
        seal = await shipped.key()
        assert len(await shipped.rules()) == 1

    monkeypatch.setattr(account_seal, "key_file", lambda: tmp_path / "another account/seal.key")
    async with gateway(tmp_path, recorder) as found:
        question = await asked(found, {"id": 1}, "shop__deleteThing")
        assert await found.store.rows("runnable") == []
        assert await found.store.key() != seal
        await yes(found, question, scope="always")
        await outcome(found, question)
    assert "was not made by this account" in caplog.text
    assert [request.line for request in recorder.requests] == ["DELETE /things/1 HTTP/1.1"]

    async with gateway(tmp_path, recorder) as found:
        again = await found.enforcer.call("shop__deleteThing", {"id": 1}, Call())
    assert again.structured == {}
