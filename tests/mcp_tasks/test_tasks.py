"""Calls that become tasks: created durably, asked about, answered, cancelled, and continued by another server."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_server.wire import ENVELOPE, Message, Wire, wired
from ui_mcp.errors import DeniedError
from ui_mcp.mcp_server.connection import ClientConnection
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_tasks.store import TaskFile, TaskStore
from ui_mcp.mcp_tasks.tasks import Tasks
from ui_mcp.toolkit.functions import FunctionToolset, NoArgs, tool
from ui_mcp.toolkit.tool import Annotations, Call, InputNeeded, ToolResult, text_result

pytestmark = pytest.mark.covers("MCP-TASK-1")
EXTENSION: Message = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
FORMS: Message = {**EXTENSION, "elicitation": {"form": {}}}


class Gate:
    """What the tools below wait for, and what they have seen."""

    def __init__(self) -> None:
        self.opened = anyio.Event()
        self.called = 0
        self.resumed: list[Any] = []
        self.cancelled: list[bool] = []


@tool("slow", NoArgs, title="Slow")
async def slow(gate: Gate, args: NoArgs, call: Call) -> str:
    """Wait for the gate."""
    gate.called += 1
    try:
        await gate.opened.wait()
    finally:
        gate.cancelled.append(call.task is not None and call.task.is_cancelled)
    return "done"


@tool("marked", NoArgs, title="Marked")
async def marked(gate: Gate, args: NoArgs, call: Call) -> str:
    """Write down how to go on, then wait."""
    assert call.task is not None
    gate.resumed.append(call.task.resumed)
    await call.task.checkpoint({"at": 7})
    await call.progress(1, None, "at seven")
    await gate.opened.wait()
    return "went on"


@tool("curious", NoArgs, title="Curious")
async def curious(gate: Gate, args: NoArgs, call: Call) -> str:
    """Ask the person's name."""
    assert call.ask_user is not None
    given = await call.ask_user("Who?", {"type": "object", "properties": {"name": {"type": "string"}}})
    return f"hello {given['content']['name']}"


@tool("twice", NoArgs, title="Twice")
async def twice(gate: Gate, args: NoArgs, call: Call) -> ToolResult:
    """Ask by a result, after the client has got a task."""
    await gate.opened.wait()
    if call.given is None:
        return ToolResult((), needs=InputNeeded({"q": {"method": "elicitation/create", "params": {}}}, "state"))
    return text_result(f"{call.given.state} {call.given.responses['q']['action']}")


@tool("polite", NoArgs, title="Polite")
async def polite(gate: Gate, args: NoArgs, call: Call) -> str:
    """Wait for the gate, or until the client leaves."""
    gate.called += 1
    said = "left early"

    async def leave() -> None:
        await call.closing()
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(leave)
        await gate.opened.wait()
        said = "done"
        group.cancel_scope.cancel()
    return said


@tool("denied", NoArgs, title="Denied")
async def denied(gate: Gate, args: NoArgs, call: Call) -> str:
    """Fail with an error of the protocol."""
    await gate.opened.wait()
    raise DeniedError("no", rpc_code=-32951, rpc_message="policy_denied_continue", data={"reason": "no"})


def definition(gate: Gate, folder: Path, after: float = 0.0) -> ServerDefinition:
    tools = FunctionToolset(gate, [slow, marked, curious, twice, polite, denied, waiting])
    tasks = Tasks(TaskStore(TaskFile(lambda: folder / "tasks.db")), after)
    return ServerDefinition("tasks", "Tasks", "1", tools, tasks=tasks)


@tool("waiting", NoArgs, title="Waiting", annotations=Annotations(read_only=True))
async def waiting(gate: Gate, args: NoArgs, call: Call) -> str:
    """Wait for the gate, changing nothing."""
    gate.called += 1
    await gate.opened.wait()
    return "read"


class Client:
    """Asks as a client that takes tasks does."""

    def __init__(self, wire: Wire, capabilities: Message = FORMS) -> None:
        self.wire = wire
        self._meta = {**ENVELOPE, "io.modelcontextprotocol/clientCapabilities": capabilities}

    async def ask(self, method: str, **params: Any) -> Message:
        answer = await self.wire.ask(method, {**params, "_meta": self._meta})
        found: Message = answer.get("result") or answer["error"]
        return found

    async def begin(self, name: str) -> str:
        made = await self.ask("tools/call", name=name, arguments={})
        assert made["resultType"] == "task", made
        return str(made["taskId"])

    async def get(self, task: str) -> Message:
        return await self.ask("tasks/get", taskId=task)

    async def until(self, task: str, is_so: Callable[[Message], bool]) -> Message:
        with anyio.fail_after(60):
            while not is_so(found := await self.get(task)):
                await anyio.sleep(0.01)
        return found

    async def ended(self, task: str) -> Message:
        return await self.until(task, lambda found: found["status"] in {"completed", "failed", "cancelled"})


@asynccontextmanager
async def serving(gate: Gate, folder: Path, after: float = 0.0) -> AsyncIterator[Client]:
    served = definition(gate, folder, after)
    assert served.tasks is not None
    async with served.tasks.paused(), wired(served) as wire:
        yield Client(wire)


async def test_a_call_that_takes_long_becomes_a_task_whose_result_is_fetched_later(tmp_path: Path) -> None:
    gate = Gate()
    async with serving(gate, tmp_path) as client:
        task = await client.begin("slow")
        working = await client.get(task)
        gate.opened.set()
        done = await client.ended(task)

    assert (working["resultType"], working["status"]) == ("complete", "working")
    assert "result" not in working
    content = [{"type": "text", "text": "done"}]
    assert done["result"] == {"resultType": "complete", "content": content, "isError": False}
    assert done["ttlMs"] >= 86_400_000


async def test_a_quick_call_is_answered_as_ever(tmp_path: Path) -> None:
    gate = Gate()
    gate.opened.set()
    async with serving(gate, tmp_path, after=60) as client:
        answer = await client.ask("tools/call", name="slow", arguments={})

    assert answer["resultType"] == "complete"
    assert answer["content"][0]["text"] == "done"
    assert not (tmp_path / "tasks.db").exists()


async def test_a_client_without_the_extension_waits_and_may_not_ask_about_tasks(tmp_path: Path) -> None:
    gate = Gate()
    async with serving(gate, tmp_path) as client:
        task = await client.begin("slow")
        gate.opened.set()
        plain = Client(client.wire, {})
        answer = await plain.ask("tools/call", name="slow", arguments={})
        refused = [
            await plain.ask(f"tasks/{verb}", taskId=task, inputResponses={}) for verb in ("get", "update", "cancel")
        ]
        listening = await plain.ask("subscriptions/listen", notifications={"taskIds": [task]})

    assert answer["content"][0]["text"] == "done"
    needed = {"requiredCapabilities": EXTENSION}
    assert [(one["code"], one["data"]) for one in (*refused, listening)] == [(-32021, needed)] * 4


async def test_a_question_is_asked_through_the_task_at_once_and_answered_by_an_update(tmp_path: Path) -> None:
    async with serving(Gate(), tmp_path, after=60) as client:
        task = await client.begin("curious")
        asked = await client.get(task)
        (key,) = asked["inputRequests"]
        other = await client.ask("tasks/update", taskId=task, inputResponses={"unknown": {"action": "accept"}})
        still = await client.get(task)
        await client.ask(
            "tasks/update", taskId=task, inputResponses={key: {"action": "accept", "content": {"name": "ann"}}}
        )
        done = await client.ended(task)

    assert asked["status"] == still["status"] == "input_required"
    assert asked["inputRequests"][key]["params"]["message"] == "Who?"
    assert other["resultType"] == "complete"
    assert done["result"]["content"][0]["text"] == "hello ann"
    assert "inputRequests" not in done


async def test_a_result_that_asks_becomes_questions_of_the_task(tmp_path: Path) -> None:
    gate = Gate()
    async with serving(gate, tmp_path) as client:
        task = await client.begin("twice")
        gate.opened.set()
        asked = await client.until(task, lambda found: found["status"] == "input_required")
        await client.ask(
            "tasks/update", taskId=task, inputResponses={next(iter(asked["inputRequests"])): {"action": "decline"}}
        )
        done = await client.ended(task)

    assert done["result"]["content"][0]["text"] == "state decline"


async def test_a_cancelled_task_ends_its_call(tmp_path: Path) -> None:
    gate = Gate()
    async with serving(gate, tmp_path) as client:
        task = await client.begin("slow")
        acknowledged = await client.ask("tasks/cancel", taskId=task)
        ended = await client.ended(task)
        again = await client.ask("tasks/cancel", taskId=task)

    assert acknowledged["resultType"] == again["resultType"] == "complete"
    assert ended["status"] == "cancelled"
    assert gate.cancelled == [True]


async def test_an_error_of_the_protocol_is_a_failed_task(tmp_path: Path) -> None:
    gate = Gate()
    async with serving(gate, tmp_path) as client:
        task = await client.begin("denied")
        gate.opened.set()
        ended = await client.ended(task)

    assert ended["status"] == "failed"
    assert ended["error"] == {"code": -32951, "message": "policy_denied_continue", "data": {"reason": "no"}}


async def test_a_task_goes_on_when_its_client_has_left(tmp_path: Path) -> None:
    gate = Gate()
    served = definition(gate, tmp_path)
    assert served.tasks is not None
    async with served.tasks.paused():
        async with wired(served) as wire:
            task = await Client(wire).begin("polite")
        async with wired(served) as wire:
            still = await Client(wire).get(task)
            gate.opened.set()
            done = await Client(wire).ended(task)

    assert still["status"] == "working"
    assert done["result"]["content"][0]["text"] == "done"
    assert gate.called == 1


async def test_another_server_goes_on_from_the_checkpoint(tmp_path: Path) -> None:
    gate = Gate()
    async with serving(gate, tmp_path) as client:
        task = await client.begin("marked")
        told = await client.until(task, lambda found: found.get("statusMessage") == "at seven")
    async with serving(gate, tmp_path) as client:
        again = await client.get(task)
        gate.opened.set()
        done = await client.ended(task)

    assert told["status"] == again["status"] == "working"
    assert gate.resumed == [None, {"at": 7}]
    assert done["result"]["content"][0]["text"] == "went on"


async def test_another_server_repeats_what_only_reads_and_nothing_else(tmp_path: Path) -> None:
    gate = Gate()
    async with serving(gate, tmp_path) as client:
        reads, changes = await client.begin("waiting"), await client.begin("slow")
    async with serving(gate, tmp_path) as client:
        gate.opened.set()
        read, lost = await client.ended(reads), await client.ended(changes)

    assert read["result"]["content"][0]["text"] == "read"
    assert lost["status"] == "completed"
    assert lost["result"]["isError"]
    assert "Whether it took effect is not known" in lost["result"]["content"][0]["text"]
    assert gate.called == 3


async def test_a_server_stays_for_tasks_that_no_other_could_continue(tmp_path: Path) -> None:
    served = definition(Gate(), tmp_path)
    tasks = served.tasks
    assert tasks is not None
    async with tasks.paused(), wired(served) as wire:
        client = Client(wire)
        await client.begin("marked")
        await client.begin("waiting")
        before = tasks.busy
        await client.begin("slow")
        after = tasks.busy

    assert (before, after) == (False, True)


async def test_a_task_of_another_principal_does_not_exist(tmp_path: Path) -> None:
    gate, served = Gate(), definition(Gate(), tmp_path)
    assert served.tasks is not None

    async def ignored(message: Message) -> None:
        """Take what belongs to a request and say nothing."""

    async with serving(gate, tmp_path) as client, served.tasks.paused():
        task = await client.begin("slow")
        meta = {**ENVELOPE, "io.modelcontextprotocol/clientCapabilities": EXTENSION}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": task, "_meta": meta}}
        theirs = await ClientConnection(McpServer(served), principal="eve").answer(message, ignored)
        unknown = await client.get("never")

    assert theirs["error"] == unknown
    assert unknown["code"] == -32602


async def test_a_stream_is_told_of_each_change_of_a_task(tmp_path: Path) -> None:
    gate = Gate()
    async with serving(gate, tmp_path) as client:
        task = await client.begin("slow")
        meta = {**ENVELOPE, "io.modelcontextprotocol/clientCapabilities": EXTENSION}
        params = {"notifications": {"taskIds": [task, "never"]}, "_meta": meta}
        await client.wire.send({"jsonrpc": "2.0", "id": "s", "method": "subscriptions/listen", "params": params})
        acknowledged = await client.wire.receive()
        gate.opened.set()
        told = await client.wire.receive()

    assert acknowledged["params"]["notifications"] == {"taskIds": [task]}
    assert told["method"] == "notifications/tasks"
    assert (told["params"]["taskId"], told["params"]["status"]) == (task, "completed")
    assert told["params"]["result"]["content"][0]["text"] == "done"


async def test_the_extension_is_announced_to_the_modern_era_only(tmp_path: Path) -> None:
    async with serving(Gate(), tmp_path) as client:
        found = await client.ask("server/discover")
        hello = await client.wire.shake_hands()
        unknown = await client.wire.ask("tasks/get", {"taskId": "x"})

    assert "io.modelcontextprotocol/tasks" in found["capabilities"]["extensions"]
    assert "tasks" not in str(hello["result"]["capabilities"])
    assert unknown["error"]["code"] == -32601
