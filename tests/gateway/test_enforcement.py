"""What was approved is what runs: dry runs, changed requests, rules of changed operations, callers of one principal."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.conftest import Recorder, document, json_reply
from gateway.gateways import THINGS, gateway
from stores import opened
from ui_mcp.errors import DeniedError, InvalidArgumentsError
from ui_mcp.gateway.approvals.model import Approval, Scope
from ui_mcp.gateway.approvals.service import ApprovalService, Decision
from ui_mcp.gateway.approvals.store import open_store
from ui_mcp.gateway.config.settings import BackendSettings, GatewaySettings, Rule
from ui_mcp.gateway.mcp import OwnResources
from ui_mcp.gateway.mount_connection import MountHandlers
from ui_mcp.gateway.service import GatewayContext, GatewayService, running_gateway
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.mcp_server.connection import ClientConnection
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.versions import Client
from ui_mcp.toolkit.tool import Call, Tool, ToolResult, text_result
from ui_mcp.validation import read

ADD: JsonObject = {"body": {"name": "boat"}}
JSON_BODY = {"content": {"application/json": {"schema": {"type": "object"}}}}
A, B = Call(connection="session:a"), Call(connection="session:b")


def told(result: ToolResult) -> JsonObject:
    return result.structured or {}


async def asked(found: GatewayService, tool: str, arguments: JsonObject, call: Call = A) -> Approval:
    """Call a tool that must ask, and return the question."""
    answer = told(await found.enforcer.call(tool, arguments, call))
    assert answer["status"] == "awaiting_approval"
    return await found.approvals.get(answer["approval_id"])


async def yes(found: GatewayService, row: Approval, **more: Any) -> Approval:
    return await found.approvals.decide(row.id, Decision("approve", row.digest, "ann", **more))


async def outcome(found: GatewayService, row: Approval, call: Call = A) -> ToolResult:
    return await found.enforcer.outcome(row.id, 120, call)


async def changed(found: GatewayService, row: Approval) -> Approval:
    """Wait for the question that takes the place of an approved one."""
    with anyio.fail_after(120):
        while (await found.approvals.get(row.id)).successor is None:
            await anyio.sleep(0.01)
    return await found.approvals.get((await found.approvals.get(row.id)).successor or "")


def lines(folder: Path) -> list[JsonObject]:
    return [loads(line) for line in (folder / "data" / "audit.jsonl").read_text().splitlines()]


def outcomes(folder: Path) -> list[str]:
    return [line["outcome"] for line in lines(folder)]


def write(folder: Path, paths: Json) -> None:
    (folder / "shop.json").write_text(dumps(document(paths)))


def operation(path: str, method: str, **more: Json) -> Json:
    return {path: {method: {"operationId": "addThing", "requestBody": JSON_BODY, "responses": {}, **more}}}


def query(name: str, **schema: Json) -> JsonObject:
    return {"name": name, "in": "query", "schema": schema}


EVERYTHING = operation("/everything", "delete")


@pytest.mark.covers("GW-REL-4")
async def test_a_dry_run_that_contradicts_itself_is_refused_and_names_both(recorder: Recorder, tmp_path: Path) -> None:
    deny = {"rules": [{"tool": "addThing", "decision": "deny_abort"}]}
    async with gateway(tmp_path, recorder, policy=deny) as found:
        with pytest.raises(InvalidArgumentsError) as caught:
            await found.enforcer.call("shop__addThing", {**ADD, "_dry_run": True}, Call(meta={"ui-mcp/dry_run": False}))

    assert "_dry_run says true" in caught.value.message
    assert '_meta["ui-mcp/dry_run"] says false' in caught.value.message
    assert recorder.requests == []
    assert outcomes(tmp_path) == ["invalid"]


@pytest.mark.covers("GW-REL-4", "R-AP-1")
@pytest.mark.parametrize("value", [True, "false"])
async def test_a_parameter_named_like_the_option_never_switches_policy_off(
    value: Json, recorder: Recorder, tmp_path: Path
) -> None:
    deny = {"rules": [{"tool": "addThing", "decision": "deny_abort"}]}
    async with gateway(tmp_path, recorder, policy=deny) as found:
        write(tmp_path, operation("/things", "post", parameters=[query("_dry_run")]))
        await found.sources.refresh_targets()
        with pytest.raises(DeniedError):
            await found.enforcer.call("shop__addThing", {**ADD, "_dry_run": value}, Call())

    assert recorder.requests == []
    assert outcomes(tmp_path) == ["policy_deny_abort"]


@pytest.mark.covers("GW-AUD-1", "GW-REL-4")
async def test_every_call_has_a_line_dry_denied_invalid_or_given_up(recorder: Recorder, tmp_path: Path) -> None:
    deny = {"rules": [{"tool": "deleteThing", "decision": "deny_continue"}]}
    async with gateway(tmp_path, recorder, policy=deny) as found:
        dry = await found.enforcer.call("shop__addThing", ADD, Call(meta={"ui-mcp/dry_run": True}))
        for tool, arguments in (("shop__deleteThing", {"id": 1}), ("shop__addThing", {"body": 1})):
            with pytest.raises((DeniedError, InvalidArgumentsError)):
                await found.enforcer.call(tool, arguments, Call())
        with anyio.CancelScope() as left:
            left.cancel()
            await found.enforcer.call("shop__listThings", {}, Call())

    assert told(dry)["method"] == "POST"
    assert recorder.requests == []
    assert outcomes(tmp_path) == ["dry_run", "policy_deny_continue", "invalid", "policy_allow"]


@pytest.mark.covers("GW-REL-4", "R-AP-1")
async def test_a_preview_fetches_neither_a_token_nor_a_file(recorder: Recorder, tmp_path: Path) -> None:
    form = {
        "content": {"multipart/form-data": {"schema": {"properties": {"f": {"type": "string", "format": "binary"}}}}}
    }
    auth = {"type": "oauth2_client_credentials", "client_id": "i", "client_secret": "s3cret", "token_url": recorder.url}
    target = {"name": "up", "spec": str(tmp_path / "up.json"), "base_url": recorder.url, "auth": auth}
    (tmp_path / "up.json").write_text(
        dumps(document({"/up": {"post": {"operationId": "send", "requestBody": form, "responses": {}}}}))
    )
    async with gateway(tmp_path, targets=[target]) as found:
        given = {"body": {"f": {"url": f"{recorder.url}/cat.png"}}}
        shown = told(await found.enforcer.call("up__send", {**given, "_dry_run": True}, Call()))
        row = await asked(found, "up__send", given)

    assert recorder.requests == []
    assert shown["headers"]["Authorization"] == "•••"
    assert f"(the file at {recorder.url}/cat.png" in (row.preview or {})["body"]


@pytest.mark.covers("R-AP-5", "R-AP-15")
async def test_an_operation_replaced_after_the_question_is_shown_again_instead_of_run(
    recorder: Recorder, tmp_path: Path
) -> None:
    async with gateway(tmp_path, recorder) as found:
        row = await asked(found, "shop__addThing", ADD)
        write(tmp_path, EVERYTHING)
        await found.sources.refresh_targets()
        await yes(found, row)
        again = await changed(found, row)
        waiting = told(await found.enforcer.outcome(row.id, 0, A))
        before = list(recorder.requests)
        await yes(found, again)
        await outcome(found, row)

    assert before == []
    assert (waiting["status"], waiting["approval_id"]) == ("awaiting_approval", again.id)
    assert waiting["reason"] == "it changed since it was approved"
    assert (again.preview or {})["method"] == "DELETE"
    assert [request.line for request in recorder.requests] == ["DELETE /everything HTTP/1.1"]
    assert "changed" in outcomes(tmp_path)


@pytest.mark.covers("R-AP-3", "R-AP-15")
async def test_an_operation_replaced_while_nothing_ran_is_shown_again(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as before:
        row = await asked(before, "shop__addThing", ADD)
        before.approvals.changed = anyio.Event()
    await answered_elsewhere(tmp_path, row)
    other = Recorder()
    other.url = f"{recorder.url}/elsewhere"
    async with gateway(tmp_path, other) as after:
        again = await changed(after, row)

    assert recorder.requests == []
    assert (again.preview or {})["url"] == f"{recorder.url}/elsewhere/things"


async def answered_elsewhere(folder: Path, row: Approval, **more: Any) -> None:
    """Answer in a process of its own, which knows no tools."""
    async with opened(open_store, str(folder / "data" / "approvals.db")) as store:
        await ApprovalService(store).decide(
            row.id, Decision(**{"decision": "approve", "digest": row.digest, "by": "ann", **more})
        )


@pytest.mark.covers("R-AP-15")
async def test_a_file_that_changed_since_it_was_approved_is_not_sent(recorder: Recorder, tmp_path: Path) -> None:
    file = tmp_path / "in" / "note.bin"
    file.parent.mkdir()
    file.write_bytes(b"harmless")
    raw = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
    spec = tmp_path / "up.json"
    spec.write_text(dumps(document({"/up": {"post": {"operationId": "send", "requestBody": raw, "responses": {}}}})))
    target = {"name": "up", "spec": str(spec), "base_url": recorder.url, "files": {"roots": [str(file.parent)]}}
    async with gateway(tmp_path, targets=[target]) as found:
        given: JsonObject = {"body": {"path": str(file)}}
        row = await asked(found, "up__send", given)
        file.write_bytes(b"the keys")
        await yes(found, row)
        again = await changed(found, row)
        before = list(recorder.requests)
        await yes(found, again)
        await outcome(found, again)

    assert before == []
    assert (again.preview or {})["body"] == "the keys"
    assert recorder.last.body == b"the keys"


@pytest.mark.covers("R-AP-5", "R-AP-15")
async def test_edited_arguments_are_bound_to_the_request_they_mean(recorder: Recorder, tmp_path: Path) -> None:
    ship: JsonObject = {"body": {"name": "ship"}}
    async with gateway(tmp_path, recorder) as found:
        row = await asked(found, "shop__addThing", ADD)
        with pytest.raises(InvalidArgumentsError):
            await found.approvals.decide(
                row.id, Decision("approve_with_edit", row.digest, "ann", arguments={"body": 1})
            )
        edited = await found.approvals.decide(row.id, Decision("approve_with_edit", row.digest, "ann", arguments=ship))
        await outcome(found, row)
        other = await asked(found, "shop__addThing", ADD)
        await answered_elsewhere(tmp_path, other, decision="approve_with_edit", arguments=ship)
        again = await changed(found, other)

    assert (edited.preview or {})["body"] == '{"name":"ship"}'
    assert edited.request not in ("", row.request)
    assert (again.preview or {})["body"] == '{"name":"ship"}'
    assert [loads(request.body) for request in recorder.requests] == [{"name": "ship"}]


@pytest.mark.covers("R-AP-15")
async def test_credentials_may_rotate_between_question_and_answer(recorder: Recorder, tmp_path: Path) -> None:
    def target(token: str) -> Json:
        auth = {"type": "bearer", "token": token}
        return {"name": "own", "spec": str(tmp_path / "own.json"), "base_url": recorder.url, "auth": auth}

    (tmp_path / "own.json").write_text(dumps(THINGS))
    async with gateway(tmp_path, targets=[target("old-token")]) as before:
        row = await asked(before, "own__addThing", ADD)
    async with gateway(tmp_path, targets=[target("new-token")]) as after:
        await yes(after, row)
        await outcome(after, row)

    assert [request.headers["authorization"] for request in recorder.requests] == ["Bearer new-token"]


@pytest.mark.covers("R-AP-7", "R-AP-15")
@pytest.mark.parametrize("scope", ["session", "always"])
async def test_a_yes_for_longer_ends_when_its_name_means_another_operation(
    scope: Scope, recorder: Recorder, tmp_path: Path
) -> None:
    async with gateway(tmp_path, recorder) as found:
        row = await asked(found, "shop__addThing", ADD)
        await yes(found, row, scope=scope)
        await outcome(found, row)
        covered = told(await found.enforcer.call("shop__addThing", ADD, A))
        write(tmp_path, EVERYTHING)
        await found.sources.refresh_targets()
        again = await asked(found, "shop__addThing", ADD)

    assert covered == {}
    assert [request.line.split()[0] for request in recorder.requests] == ["POST", "POST"]
    assert scope == "session" or "is another operation now" in again.reason


@pytest.mark.covers("R-AP-7", "R-AP-15")
async def test_a_rule_of_before_asks_once_more_and_is_renewed(recorder: Recorder, tmp_path: Path) -> None:
    old = Rule(
        source="shop", tool="shop__addThing", args={"body": "*"}, other_args=False, decision="allow",
        reason="always allowed by ann",
    )  # fmt: skip
    async with gateway(tmp_path, recorder) as found:
        await found.store.add_rule(old, "ann", "1")
        await found.refresh_rules()
        row = await asked(found, "shop__addThing", ADD)
        await yes(found, row, scope="always")
        await outcome(found, row)
        renewed = told(await found.enforcer.call("shop__addThing", ADD, B))

    assert "answer once more for always to renew it" in row.reason
    assert renewed == {}


@pytest.mark.covers("R-AP-7", "R-AP-15")
async def test_an_accepted_proposal_ends_when_its_name_means_another_operation(
    recorder: Recorder, tmp_path: Path
) -> None:
    rule = {"source": "shop", "tool": "addThing", "decision": "allow"}
    async with gateway(tmp_path, recorder) as found:
        offered = GatewayToolset(found)
        proposed = told(await offered.call("policy__propose", {"rule": rule, "rationale": "often"}, A))
        await found.proposals.settle(proposed["id"], "accepted", "ann")
        await found.refresh_rules()
        allowed = told(await found.enforcer.call("shop__addThing", ADD, A))
        write(tmp_path, EVERYTHING)
        await found.sources.refresh_targets()
        await asked(found, "shop__addThing", ADD)

    assert allowed == {}
    assert len(recorder.requests) == 1


@pytest.mark.covers("R-AP-7")
@pytest.mark.parametrize(("given", "others"), [(1234, ["1234", True]), (1, ["1", True]), (None, ["", "null"])])
async def test_a_yes_for_a_value_covers_no_other_json_value(
    given: Json, others: list[Json], recorder: Recorder, tmp_path: Path
) -> None:
    async with gateway(tmp_path, recorder) as found:
        write(tmp_path, operation("/things", "post", parameters=[query("n")]))
        await found.sources.refresh_targets()
        row = await asked(found, "shop__addThing", {"n": given})
        await yes(found, row, scope="session", pattern={"n": pattern_shown(given)})
        await outcome(found, row)
        same = told(await found.enforcer.call("shop__addThing", {"n": given}, A))
        for other in others:
            await asked(found, "shop__addThing", {"n": other})
        await asked(found, "shop__addThing", {})

    assert same == {}


@pytest.mark.covers("R-AP-7")
@pytest.mark.parametrize("pattern", [None, {"a.b": "*"}])
async def test_a_yes_for_a_name_with_dots_covers_nothing_inside_of_another(
    pattern: dict[str, str] | None, recorder: Recorder, tmp_path: Path
) -> None:
    async with gateway(tmp_path, recorder) as found:
        write(tmp_path, operation("/things", "post", parameters=[query("a.b"), query("a")]))
        await found.sources.refresh_targets()
        row = await asked(found, "shop__addThing", {"a.b": 1})
        await yes(found, row, scope="session", pattern=pattern)
        await outcome(found, row)
        same = told(await found.enforcer.call("shop__addThing", {"a.b": 1}, A))
        await asked(found, "shop__addThing", {"a.b": 1, "a": "other"})
        if pattern is None:
            await asked(found, "shop__addThing", {"a": {"b": 1, "c": "other"}})

    assert same == {}


@pytest.mark.covers("R-AP-1")
@pytest.mark.parametrize("part", ["args", "exact"])
async def test_no_second_argument_of_the_same_path_hides_the_one_a_rule_denies(
    part: str, recorder: Recorder, tmp_path: Path
) -> None:
    denied = {"tool": "addThing", part: {"body.name": "boat"}, "decision": "deny_abort"}
    async with gateway(tmp_path, recorder, policy={"rules": [denied, {"tool": "*", "decision": "allow"}]}) as found:
        write(tmp_path, operation("/things", "post", parameters=[query("body.name")]))
        await found.sources.refresh_targets()
        for arguments in ({**ADD, "body.name": "x"}, {"body": {"name": "x"}, "body.name": "boat"}):
            with pytest.raises(DeniedError):
                await found.enforcer.call("shop__addThing", arguments, A)

    assert recorder.requests == []


def pattern_shown(value: Json) -> str:
    """The pattern that the page shows, and sends back when the person leaves it as it is."""
    return "" if value is None else str(value)


@pytest.mark.covers("R-AP-7")
async def test_a_glob_of_a_persons_own_still_goes_by_the_text(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as found:
        write(tmp_path, operation("/things", "post", parameters=[query("n")]))
        await found.sources.refresh_targets()
        row = await asked(found, "shop__addThing", {"n": "boat-1"})
        await yes(found, row, scope="session", pattern={"n": "boat-*"})
        await outcome(found, row)
        covered = told(await found.enforcer.call("shop__addThing", {"n": "boat-2"}, A))
        await asked(found, "shop__addThing", {"n": "ship-2"})

    assert covered == {}


@pytest.mark.covers("GW-RES-5", "R-AP-15")
async def test_pages_are_followed_only_where_nothing_changes(recorder: Recorder, tmp_path: Path) -> None:
    recorder.default = json_reply([{"id": 1}, {"id": 2}])
    search = operation("/search", "post", parameters=[query("page", type="integer")])
    (tmp_path / "read.json").write_text(dumps(document(search)))
    said = {
        "name": "read",
        "spec": str(tmp_path / "read.json"),
        "base_url": recorder.url,
        "overrides": {"addThing": {"annotations": {"readOnlyHint": True}}},
    }
    async with gateway(tmp_path, recorder, targets=[said]) as found:
        write(tmp_path, search)
        await found.sources.refresh_targets()
        for call in (A, replace(A, meta={"ui-mcp/pages": 5})):
            with pytest.raises(InvalidArgumentsError, match=r"_pages: POST /search(.|\n)*readOnlyHint: true"):
                await found.enforcer.call("shop__addThing", {"page": 1, **({} if call.meta else {"_pages": 5})}, call)
        row = await asked(found, "read__addThing", {"page": 1, "_pages": 2})
        await yes(found, row)
        joined = told(await outcome(found, row))

    assert joined["pages"] == 2
    assert [request.target for request in recorder.requests] == ["/search?page=1", "/search?page=2"]


@pytest.mark.covers("R-AP-16")
async def test_clients_of_one_principal_share_neither_questions_nor_results_nor_a_yes(
    recorder: Recorder, tmp_path: Path
) -> None:
    async with gateway(tmp_path, recorder) as found:
        mine = await asked(found, "shop__addThing", ADD, A)
        theirs = await asked(found, "shop__addThing", ADD, B)
        await yes(found, mine, scope="session")
        await outcome(found, mine, A)
        with pytest.raises(DeniedError, match="belongs to another client"):
            await outcome(found, mine, B)
        covered = told(await found.enforcer.call("shop__addThing", ADD, A))
        await asked(found, "shop__addThing", {"body": {"name": "raft"}}, B)
        resources = OwnResources(found)
        seen = loads((await resources.read("approvals://pending", B))[0].body)["approvals"]
        others = loads((await resources.read(f"approvals://{mine.id}", B))[0].body)

    assert mine.id != theirs.id
    assert covered == {}
    assert [row["id"] for row in seen if "digest" in row] == [theirs.id, seen[-1]["id"]]
    assert not {"digest", "result", "arguments", "preview"} & others.keys()


@pytest.mark.covers("R-AP-16")
async def test_over_another_connection_the_digest_proves_whose_result_it_is(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as found:
        row = await asked(found, "shop__addThing", ADD, A)
        edited = {"body": {"name": "ship"}}
        await found.approvals.decide(row.id, Decision("approve_with_edit", row.digest, "ann", arguments=edited))
        with pytest.raises(DeniedError):
            await found.enforcer.outcome(row.id, 0, B, "0" * 64)
        with pytest.raises(DeniedError):
            await found.enforcer.outcome(row.id, 0, replace(B, principal="eve"), row.digest)
        proof = {"approval_id": row.id, "digest": row.digest, "wait_s": 120}
        result = await GatewayToolset(found).call("approvals__result", proof, B)

    assert "ann changed the arguments" in str(result.content)


def nested(depth: int) -> Json:
    value: Json = 1
    for _ in range(depth):
        value = [value]
    return value


async def ignored(message: JsonObject) -> None:
    """Take what belongs to a request and say nothing."""


@pytest.mark.covers("GW-POL-6")
@pytest.mark.parametrize("tool", ["shop__addThing", "shop__listThings", "nlui__search", "nlui__call", "policy__decide"])
@pytest.mark.parametrize("depth", [150, 300, 900])
async def test_arguments_nested_too_deeply_are_invalid_parameters(
    tool: str, depth: int, recorder: Recorder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with gateway(tmp_path, recorder) as found:
        definition = ServerDefinition("nlui", "nlui", "1", GatewayToolset(found))
        arguments: JsonObject = {"body": nested(depth)}
        if tool == "nlui__call":
            arguments = {"name": "shop__addThing", "arguments": arguments}
        connection = ClientConnection(McpServer(definition), client=Client("2025-11-25"))
        params = {"name": tool, "arguments": arguments}
        answer = await connection.answer({"id": 1, "method": "tools/call", "params": params}, ignored)

    assert answer["error"]["code"] == -32602
    assert "arguments are nested too deeply (limit 100)" in answer["error"]["message"]
    assert len(lines(tmp_path)) == 1
    assert not [record for record in caplog.records if record.exc_info]


async def test_a_number_that_json_cannot_hold_is_an_invalid_argument(recorder: Recorder, tmp_path: Path) -> None:
    async with gateway(tmp_path, recorder) as found:
        with pytest.raises(InvalidArgumentsError, match="cannot be written as JSON"):
            await found.enforcer.call("shop__listThings", {"page": 2**64}, Call())

    assert len(lines(tmp_path)) == 1


class Shifty:
    """A mounted server whose tool comes to mean something else."""

    def __init__(self) -> None:
        self.lost = anyio.Event()
        self.name, self.instructions, self.notes = "shifty", None, ()
        self.schema: JsonObject = {"type": "object", "properties": {"to": {"type": "string"}}}
        self.description = "Send a note."
        self.answer = text_result("sent")
        self.calls: list[JsonObject] = []
        self.listeners: MountHandlers | None = None

    @asynccontextmanager
    async def connect(self, settings: BackendSettings, listeners: MountHandlers) -> AsyncIterator[Any]:
        self.listeners = listeners
        yield self

    def offers(self, kind: str) -> bool:
        return False

    async def tools(self, call: Call) -> list[Tool]:
        return [Tool("send", "", self.description, self.schema)]

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        self.calls.append(arguments)
        return self.answer

    async def relisted(self, found: GatewayService, is_there: Callable[[Tool], bool]) -> None:
        assert self.listeners is not None
        self.listeners.list_changed("tools")
        with anyio.fail_after(120):
            while not is_there(found.catalog.entry("far__send").tool):
                await anyio.sleep(0.01)


@asynccontextmanager
async def mounted(folder: Path, server: Shifty) -> AsyncIterator[GatewayService]:
    around = GatewayContext(folder / "data", folder / "cache", server.connect, mode="guard")
    settings = {
        "approvals": {"sync_wait_s": 0.3},
        "mcp": {"servers": [{"name": "far", "command": "far"}]},
        "policy": {"pin_tools": False},
    }
    async with running_gateway(read(GatewaySettings, settings), around) as found:
        await found.sources.ready()
        yield found


@pytest.mark.covers("R-AP-15")
async def test_a_mounted_tool_with_another_schema_is_asked_about_again(tmp_path: Path) -> None:
    server = Shifty()
    async with mounted(tmp_path, server) as found:
        first = await asked(found, "far__send", {"to": "ann"})
        server.description = "Send a note. It is Tuesday."
        await server.relisted(found, lambda tool: "Tuesday" in tool.description)
        await yes(found, first, scope="always")
        await outcome(found, first)
        row = await asked(found, "far__send", {"to": "bob"})
        server.schema = {"type": "object", "properties": {"to": {"type": "string"}, "delete": {"type": "boolean"}}}
        await server.relisted(found, lambda tool: "delete" in tool.input_schema["properties"])
        await yes(found, row)
        again = await changed(found, row)
        outdated = await asked(found, "far__send", {"to": "ann"})

    assert server.calls == [{"to": "ann"}]
    assert again.reason == "it changed since it was approved"
    assert "is another operation now" in outdated.reason


@pytest.mark.covers("GW-POL-6")
async def test_a_mounted_servers_answer_that_is_nested_too_deeply_is_its_error(tmp_path: Path) -> None:
    server = Shifty()
    server.answer = ToolResult((), structured={"x": nested(600)})
    async with mounted(tmp_path, server) as found:
        row = await asked(found, "far__send", {"to": "ann"})
        await yes(found, row)
        result = await outcome(found, row)

    assert result.is_error
    assert "nested too deeply" in str(result.content)
