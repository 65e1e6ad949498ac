"""Approvals through real clients of both eras, over pipes and over HTTP; through kills, and on a shared database."""

import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
import mcp_types as types
import pytest
from anyio.streams.text import TextReceiveStream
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from gateway.conftest import Recorder, document, json_reply
from ui_mcp.app.commands.approvals import ApprovalCommand, act
from ui_mcp.errors import AlreadyDecidedError
from ui_mcp.jsontypes import Json

NLUI = "from ui_mcp.cli.entry import nlui_main; raise SystemExit(nlui_main())"
BODY = {"content": {"application/json": {"schema": {"type": "object"}}}}
METHODS = ("get", "post", "put", "patch", "delete")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def configured(folder: Path, recorder: Recorder, **more: Json) -> Path:
    """Write an nlui.yaml for a shop with one operation per method."""
    bodies = {"post", "put", "patch"}
    operations = {
        method: {
            "operationId": f"{method}_thing",
            "responses": {},
            **({"requestBody": BODY} if method in bodies else {}),
        }
        for method in METHODS
    }
    spec = folder / "shop.json"
    spec.write_text(json.dumps(document({"/thing": operations})))
    settings = {
        "data_dir": str(folder / "data"),
        "targets": [{"name": "shop", "spec": str(spec), "base_url": recorder.url}],
        "policy": {"mode": "guard"},
        "approvals": {"sync_wait_s": 0.3},
        **more,
    }
    file = folder / "nlui.yaml"
    file.write_text(json.dumps(settings))
    return file


def by_pipe(file: Path) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=["-c", NLUI, "--mcp", str(file)])


async def read_json(client: Client, uri: str) -> Json:
    content = (await client.read_resource(uri)).contents[0]
    assert isinstance(content, types.TextResourceContents)
    return json.loads(content.text)


@asynccontextmanager
async def by_http(file: Path) -> AsyncIterator[tuple[str, anyio.abc.Process]]:
    """Run `nlui --mcp-http`; yield its address and the process."""
    command = [sys.executable, "-c", NLUI, "--mcp-http", "--mcp-port", "0", str(file)]
    async with await anyio.open_process(command, stdout=None, stderr=-1) as process:
        assert process.stderr is not None
        told = ""
        async for text in TextReceiveStream(process.stderr):
            told += text
            found = re.search(r"MCP at (http://\S+)/sse", told)
            if found:
                break
        else:
            pytest.fail(told)
        try:
            yield found[1], process
        finally:
            if process.returncode is None:
                process.terminate()


class User:
    """Answers what the client asks, and remembers it."""

    def __init__(self, action: str = "accept", **content: str) -> None:
        self.asked: list[str] = []
        self._answer = {"action": action, **({"content": content} if content else {})}

    async def __call__(self, context: Any, params: Any) -> types.ElicitResult:
        self.asked.append(params.message)
        return types.ElicitResult.model_validate(self._answer)


@pytest.mark.covers("R-AP-11", "GW-POL-4", "MCP-ERA-7")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("way", ["pipe", "http"])
async def test_a_client_of_either_era_puts_the_question_to_its_own_user(
    mode: Literal["auto", "legacy"], way: str, recorder: Recorder, tmp_path: Path
) -> None:
    recorder.default = json_reply({"id": 7})
    file = configured(tmp_path, recorder, approvals={"sync_wait_s": 20})
    user = User(decision="approve")

    async def drive(where: Any) -> tuple[str | None, Any]:
        async with Client(where, mode=mode, elicitation_callback=user) as client:
            return client.protocol_version, await client.call_tool("shop__post_thing", {"body": {"name": "boat"}})

    if way == "pipe":
        version, result = await drive(by_pipe(file))
    else:
        async with by_http(file) as (address, _):
            version, result = await drive(f"{address}/mcp")

    assert (version == "2026-07-28") is (mode == "auto")
    assert result.structured_content == {"id": 7}
    assert len(recorder.requests) == len(user.asked) == 1
    assert f"POST {recorder.url}/thing" in user.asked[0]


@pytest.mark.covers("R-AP-8", "R-AP-11")
@pytest.mark.parametrize(
    ("user", "code"),
    [
        (User(decision="deny_abort", reason="never"), -32950),
        (User(decision="deny_continue"), -32951),
        (User("decline"), -32951),
    ],
)
async def test_a_no_of_the_clients_user_keeps_its_meaning(
    user: User, code: int, recorder: Recorder, tmp_path: Path
) -> None:
    async with Client(by_pipe(configured(tmp_path, recorder)), elicitation_callback=user) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("shop__delete_thing", {})

    assert caught.value.code == code
    assert recorder.requests == []


@pytest.mark.covers("R-AP-5", "MCP-ERA-7")
async def test_an_answer_counts_only_with_our_seal_for_exactly_that_call(recorder: Recorder, tmp_path: Path) -> None:
    file = configured(tmp_path, recorder, approvals={"sync_wait_s": 20})
    yes: types.InputResponses = {"approval": types.ElicitResult(action="accept", content={"decision": "approve"})}

    async def call(client: Client, body: Json, state: str | None = None) -> Any:
        answers = yes if state else None
        return await client.session.call_tool(
            "shop__post_thing", {"body": body}, allow_input_required=True, input_responses=answers, request_state=state
        )

    async with Client(by_pipe(file), elicitation_callback=User()) as client:
        first = await call(client, {"name": "boat"})
        forged = await call(client, {"name": "boat"}, "made.up")
        altered = await call(client, {"name": "boat"}, _altered(first.request_state))
        swapped = await call(client, {"name": "bomb"}, first.request_state)
    before = len(recorder.requests)
    async with Client(by_pipe(file), elicitation_callback=User()) as restarted:
        good = await call(restarted, {"name": "boat"}, first.request_state)
        replayed = await call(restarted, {"name": "boat"}, first.request_state)

    again = [answer.result_type for answer in (first, forged, altered, swapped, replayed)]
    assert again == ["input_required"] * 5
    assert before == 0
    assert good.structured_content == {}
    assert len(recorder.requests) == 1


def _altered(seal: str) -> str:
    return seal[:-1] + ("0" if seal[-1] != "0" else "1")


@pytest.mark.covers("GW-POL-1", "GW-POL-2", "R-AP-1", "R-AP-8", "R-AP-13")
async def test_what_changes_something_asks_and_people_answer_several_at_once(
    recorder: Recorder, tmp_path: Path
) -> None:
    store = str(tmp_path / "data" / "approvals.db")
    async with Client(by_pipe(configured(tmp_path, recorder))) as client:
        answers = {}
        for method in METHODS:
            arguments = {"body": {"n": 1}} if method in {"post", "put", "patch"} else {}
            answers[method] = (await client.call_tool(f"shop__{method}_thing", arguments)).structured_content or {}
        waiting = [answers[method]["approval_id"] for method in METHODS[1:]]
        pending = await read_json(client, "approvals://pending")
        told = await anyio.to_thread.run_sync(act, store, ApprovalCommand("approve", tuple(waiting[:3])))
        await anyio.to_thread.run_sync(act, store, ApprovalCommand("deny", (waiting[3],)))
        results = [
            await client.call_tool("approvals__result", {"approval_id": one, "wait_s": 60}) for one in waiting[:3]
        ]

    assert [answers[method].get("status", "ran") for method in METHODS] == ["ran"] + ["awaiting_approval"] * 4
    assert [row["id"] for row in pending["approvals"]] == waiting
    assert [line.split()[1] for line in told] == ["approved"] * 3
    assert [result.structured_content for result in results] == [{}] * 3
    assert sorted(request.line.split()[0] for request in recorder.requests) == ["GET", "PATCH", "POST", "PUT"]


@pytest.mark.covers("R-AP-3", "R-AP-4", "R-AP-10")
async def test_a_question_survives_a_kill_and_a_call_that_ran_then_is_never_repeated(
    recorder: Recorder, tmp_path: Path
) -> None:
    store = str(tmp_path / "data" / "approvals.db")
    hang = anyio.Event()
    arrived = anyio.Event()
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    file = configured(tmp_path, recorder)
    settings = json.loads(file.read_text())
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    settings["targets"].append(
        {"name": "slow", "spec": str(tmp_path / "shop.json"), "base_url": f"http://127.0.0.1:{port}"}
    )
    file.write_text(json.dumps(settings))
    hits: list[int] = []

    async def swallow(stream: anyio.abc.SocketStream) -> None:
        hits.append(1)
        arrived.set()
        await hang.wait()

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, swallow)
        async with by_http(file) as (address, process), Client(f"{address}/mcp", mode="legacy") as client:
            asked = (await client.call_tool("shop__post_thing", {"body": {}})).structured_content or {}
            stuck = (await client.call_tool("slow__delete_thing", {})).structured_content or {}
            await anyio.to_thread.run_sync(act, store, ApprovalCommand("approve", (stuck["approval_id"],)))
            with anyio.fail_after(60):
                await arrived.wait()
            os.kill(process.pid, signal.SIGKILL)
            await process.wait()
        await anyio.to_thread.run_sync(act, store, ApprovalCommand("approve", (asked["approval_id"],)))
        async with Client(by_pipe(file)) as client:

            async def outcome(row: Json) -> Any:
                proof = {name: row[name] for name in ("approval_id", "digest")}
                return await client.call_tool("approvals__result", {**proof, "wait_s": 60})

            ran, lost = await outcome(asked), await outcome(stuck)
        tasks.cancel_scope.cancel()

    assert ran.structured_content == {}
    assert [request.line for request in recorder.requests] == ["POST /thing HTTP/1.1"]
    assert lost.is_error
    assert "interrupted" in lost.content[0].text
    assert len(hits) == 1


@pytest.mark.covers("R-AP-16")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_two_clients_over_http_are_two_callers(mode: str, recorder: Recorder, tmp_path: Path) -> None:
    store = str(tmp_path / "data" / "approvals.db")
    call = ("shop__post_thing", {"body": {"name": "boat"}})
    async with (
        by_http(configured(tmp_path, recorder)) as (address, _),
        Client(f"{address}/mcp", mode=mode) as first,
        Client(f"{address}/mcp", mode=mode) as second,
    ):
        mine = (await first.call_tool(*call)).structured_content or {}
        theirs = (await second.call_tool(*call)).structured_content or {}
        await anyio.to_thread.run_sync(act, store, ApprovalCommand("approve", (mine["approval_id"],), scope="session"))
        proof = {name: mine[name] for name in ("approval_id", "digest")}
        got = await first.call_tool("approvals__result", {**proof, "wait_s": 60})
        with pytest.raises(MCPError, match="belongs to another client"):
            await second.call_tool("approvals__result", {"approval_id": mine["approval_id"]})
        again = (await second.call_tool(*call)).structured_content or {}
        pending = await read_json(second, f"approvals://{mine['approval_id']}")

    assert got.structured_content == {}
    assert mine["approval_id"] != theirs["approval_id"]
    assert again["status"] == "awaiting_approval"
    assert "digest" not in pending
    assert len(recorder.requests) == 1


@pytest.mark.covers("R-AP-16")
async def test_a_client_of_the_modern_era_may_say_which_requests_are_its_own(
    recorder: Recorder, tmp_path: Path
) -> None:
    store = str(tmp_path / "data" / "approvals.db")
    async with by_http(configured(tmp_path, recorder)) as (address, _), Client(f"{address}/mcp") as client:

        async def call(client_id: str | None) -> Json:
            meta: Any = {"ui-mcp/client_id": client_id} if client_id else None  # mypy does not know PEP 728 yet
            answer = await client.session.call_tool("shop__post_thing", {"body": {}}, meta=meta)
            return answer.structured_content or {}

        mine, joined = await call("0123456789abcdef-a"), await call("0123456789abcdef-a")
        others = [await call("0123456789abcdef-b"), await call(None), await call(None)]
        with pytest.raises(MCPError, match="16 to 200 characters"):
            await call("short")
        await anyio.to_thread.run_sync(act, store, ApprovalCommand("approve", (mine["approval_id"],)))
        while (got := await call("0123456789abcdef-a")).get("status"):
            pass

    assert mine["approval_id"] == joined["approval_id"]
    assert len({mine["approval_id"], *(one["approval_id"] for one in others)}) == 4
    assert got == {}
    assert len(recorder.requests) == 1


@pytest.mark.covers("R-AP-3", "R-AP-16")
async def test_over_a_pipe_the_repeated_call_gets_the_result_after_a_restart(
    recorder: Recorder, tmp_path: Path
) -> None:
    recorder.default = json_reply({"id": 7})
    store, file = str(tmp_path / "data" / "approvals.db"), configured(tmp_path, recorder)
    async with Client(by_pipe(file)) as before:
        asked = (await before.call_tool("shop__post_thing", {"body": {}})).structured_content or {}
    await anyio.to_thread.run_sync(act, store, ApprovalCommand("approve", (asked["approval_id"],)))
    async with Client(by_pipe(file)) as after:
        while (got := (await after.call_tool("shop__post_thing", {"body": {}})).structured_content or {}).get("status"):
            pass

    assert got == {"id": 7}
    assert len(recorder.requests) == 1


@pytest.mark.covers("R-ST-6", "R-AP-3", "R-AP-4")
async def test_approvals_on_a_shared_database_are_answered_from_anywhere(
    recorder: Recorder, tmp_path: Path, postgres_url: Callable[[], str]
) -> None:
    url = postgres_url()
    async with Client(by_pipe(configured(tmp_path, recorder, storage={"url": url}))) as client:
        first = (await client.call_tool("shop__post_thing", {"body": {}})).structured_content or {}
        listed = await anyio.to_thread.run_sync(act, url, ApprovalCommand("list"))
        answered: list[str] = []

        async def answer(reason: str) -> None:
            try:
                await anyio.to_thread.run_sync(
                    act, url, ApprovalCommand("approve", (first["approval_id"],), reason, scope="always")
                )
                answered.append(reason)
            except AlreadyDecidedError:
                answered.append("too late")

        async with anyio.create_task_group() as people:
            people.start_soon(answer, "ann")
            people.start_soon(answer, "bob")
        result = await client.call_tool("approvals__result", {"approval_id": first["approval_id"], "wait_s": 60})
        rules = await anyio.to_thread.run_sync(act, url, ApprovalCommand("rules"))

    assert len(listed) == 1
    assert sorted(answered) in (["ann", "too late"], ["bob", "too late"])
    assert result.structured_content == {}
    assert len(recorder.requests) == 1
    assert len(rules) == 1
