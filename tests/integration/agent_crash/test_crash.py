"""Kill -9 at every step of a conversation of fifty messages with calls and questions: nothing is lost or doubled."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agreeing import agree_to_gateway
from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.agent.journal_writer import ReadProgress
from ui_mcp.agent.timeline import StoredEvent, UiState, reduce_ui_state, replay
from ui_mcp.chat.identity import principal
from ui_mcp.chat.message import Draft, id_text
from ui_mcp.chat.service import Chat, ReadRequest, open_chat
from ui_mcp.gateway.approvals.service import ApprovalService, Decision
from ui_mcp.gateway.approvals.store import open_store
from ui_mcp.jsontypes import dumps
from ui_mcp.webserver.server import bind, listening, port_of
from ui_mcp.workspace import Workspace

MOST = {"agent": 2, "gateway": 1, "chat": 1}
"""How often a process dies at each kind of step; UI_MCP_CRASHES=1000 means at every single step of the conversation."""
PATIENCE = 900 if "UI_MCP_CRASHES" in os.environ else 240
"""Seconds until a message must be answered."""
HERE = Path(__file__).parent
HUMAN = principal("human", "human")
SHAPES = ("say", "note", "order", "order", "note")
"""Plain words; a call through the mounted gateway; a call that a person must allow."""
SPEC = {
    "openapi": "3.1.0",
    "info": {"title": "Counter", "version": "1"},
    "paths": {
        "/count/{key}": {
            "post": {
                "operationId": "count",
                "summary": "Count.",
                "parameters": [{"name": "key", "in": "path", "required": True, "schema": {"type": "string"}}],
                "responses": {"200": {"description": "ok"}},
            }
        }
    },
}
SCRIPT = [
    {"when": {"user": r"note (\d+)"}, "emit": [{"call": "gw__counter__count", "args": {"key": "note-{{match.1}}"}}]},
    {"when": {"user": r"order (\d+)"}, "emit": [{"call": "counter__count", "args": {"key": "order-{{match.1}}"}}]},
    {"when": {"user": "."}, "emit": [{"call": "chat_assistant_post", "args": {"content": "re: {{user}}"}}]},
    {"when": {"tool": "count"}, "emit": [{"call": "chat_assistant_post", "args": {"content": "settled: {{user}}"}}]},
    {"emit": [{"call": "loop_yield_turn"}]},
]


class Deployment:
    """A folder with an agent's configuration, the API it uses, and what the API has seen."""

    def __init__(self, folder: Path, url: str, victim: str) -> None:
        self.folder = folder
        self.victim = victim
        self.seen: Counter[str] = Counter()
        (folder / "pids").mkdir()
        (folder / "counter.json").write_text(dumps({**SPEC, "servers": [{"url": url}]}))
        (folder / "gateway.yaml").write_text(
            dumps({"data_dir": "./gateway", "targets": [{"name": "counter", "spec": "counter.json"}]})
        )
        gateway = {"name": "gw", "command": str(folder / "launcher"), "args": ["nlui", "--mcp", "gateway.yaml"]}
        (folder / "nlui.yaml").write_text(
            dumps(
                {
                    "data_dir": "./data",
                    "targets": [{"name": "counter", "spec": "counter.json"}],
                    "mcp": {"servers": [gateway]},
                    "policy": {"rules": [{"source": "gw", "decision": "allow"}]},
                    "llm": {"provider": "scripted", "script": SCRIPT},
                }
            )
        )
        agree_to_gateway(folder / "nlui.yaml")
        self.storage = Workspace.at(".claude/ui", cwd=folder).state_dir

    async def count(self, request: Request) -> Response:
        key = request.path_params["key"]
        self.seen[key] += 1
        if self.victim == "gateway" and key.startswith("note") and len(self.seen) % 3 == 0:
            for file in (self.folder / "pids").glob("gateway.*"):  # it has acted and cannot tell any more
                kill(file)
        return JSONResponse({"counted": key})

    @contextmanager
    def zygote(self) -> Iterator[None]:
        command = [sys.executable, str(HERE / "zygote.py"), str(self.folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=self.folder) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            try:
                yield
            finally:
                process.kill()

    async def keep_running(self) -> None:
        """Start the agent again whenever it has died."""
        while True:
            process = await anyio.open_process(
                [str(self.folder / "launcher"), "agent"], cwd=self.folder, stdin=None, stdout=subprocess.DEVNULL,
                stderr=None,
            )  # fmt: skip
            await process.wait()

    def end_all(self) -> None:
        """End the zygote's children that still run."""
        for file in (self.folder / "pids").iterdir():
            kill(file)


def kill(file: Path) -> None:
    """End the process that a file is named after, unless it has ended and its number is another's by now."""
    number = int(file.suffix[1:])
    with suppress(OSError):
        if str(file.parent.parent).encode() in Path(f"/proc/{number}/cmdline").read_bytes():
            os.kill(number, 9)


@asynccontextmanager
async def deployment(folder: Path, victim: str) -> AsyncIterator[Deployment]:
    (folder / "victim").write_text(f"{victim} {os.environ.get('UI_MCP_CRASHES', MOST[victim])}")
    socket = bind("127.0.0.1", 0)
    made = Deployment(folder, f"http://127.0.0.1:{port_of(socket)}", victim)
    app = Starlette(routes=[Route("/count/{key}", made.count, methods=["POST"])])
    async with listening(app, socket):
        with made.zygote():
            try:
                yield made
            finally:
                made.end_all()


async def answer_questions(file: Path) -> None:
    """Be the person who answers: every third question gets a no."""
    store = open_store(str(file))
    approvals = ApprovalService(store)
    try:
        while True:
            for row in await approvals.pending():
                number = int(row.arguments["key"].removeprefix("order-"))
                decision: Any = "deny_continue" if number % 3 == 0 else "approve"
                await approvals.decide(row.id, Decision(decision, row.digest, by="ann"))
            await anyio.sleep(0.02)
    finally:
        store.close()


class Journal:
    """Follows what the agent writes."""

    def __init__(self, file: Path) -> None:
        self._journal = JournalStore(file)
        self.events: list[StoredEvent] = []
        self.progress = ReadProgress()

    async def until_answered(self, messages: int) -> None:
        """Wait until so many messages have been taken and the last turn has ended."""
        await self._until(
            lambda: sum(event.type == "user_text" for event in self.events) >= messages and not self.progress.turn
        )

    async def until_settled(self) -> None:
        """Wait for what became of calls that the conversation went on without, and for the answers to questions."""
        await self._until(
            lambda: not [item for item in replay(self.events).items if item.get("status") in {"running", "pending"}]
        )

    async def _until(self, condition: Callable[[], bool]) -> None:
        with anyio.fail_after(PATIENCE):
            while True:
                for event in await self._journal.events("default", len(self.events)):
                    self.events.append(event)
                    self.progress.take(event)
                if condition():
                    return
                await anyio.sleep(0.02)

    async def close(self) -> None:
        await self._journal.close()


async def talk(chat: Chat, journal: Journal, messages: int) -> list[str]:
    """Say one thing after the other; every seventh comes while the one before is being dealt with."""
    texts = [f"{SHAPES[number % len(SHAPES)]} {number}" for number in range(messages)]
    for number, text in enumerate(texts):
        await chat.post(HUMAN, "user", "default", [Draft(text)])
        if number % 7 != 6:
            await journal.until_answered(number + 1)
    await journal.until_answered(messages)
    await journal.until_settled()
    return texts


@pytest.mark.slow
@pytest.mark.timeout(7200 if "UI_MCP_CRASHES" in os.environ else 900)
@pytest.mark.covers("R-OR-4", "R-OR-5", "R-LO-13", "R-ST-5", "R-AP-3", "R-AP-4")
@pytest.mark.parametrize(("victim", "messages"), [("agent", 50), ("gateway", 50), ("chat", 50)])
async def test_a_kill_at_every_step_loses_nothing_and_repeats_nothing(
    tmp_path: Path, victim: str, messages: int
) -> None:
    async with deployment(tmp_path, victim) as made, open_chat(f"sqlite:///{made.storage / 'runtime.db'}") as chat:
        journal = Journal(made.storage / "agent.db")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(made.keep_running)
            tasks.start_soon(answer_questions, tmp_path / "data" / "approvals.db")
            texts = await talk(chat, journal, messages)
            tasks.cancel_scope.cancel()
        await journal.close()
        inbox = (await chat.read(HUMAN, ReadRequest())).messages

    died = (tmp_path / "died").read_text().splitlines()
    print(f"{victim}: {len(died)} kills, {len({name.partition('@')[0] for name in died})} kinds of step")
    check(journal.events, inbox, texts, made.seen)
    answers = Counter(message.content for message in inbox if message.author == "assistant")
    assert [text for text, times in answers.items() if times > 1] == []
    if victim == "agent":  # a post that fails because its server died is an answer that the model gives up
        assert unanswered(texts, answers) == []
    assert len(died) > 30
    if "UI_MCP_CRASHES" not in os.environ:  # killed at every single step, no call ever gets through
        assert {"note", "order"} <= {key.partition("-")[0] for key in made.seen}


def unanswered(texts: list[str], answers: Counter[str]) -> list[str]:
    """Return the messages without an answer, except those that were followed at once by another."""
    alone = [text for number, text in enumerate(texts) if number % 7 != 6]
    return [text for text in alone if f"re: {text}" not in answers and f"settled: {text}" not in answers]


def check(events: list[StoredEvent], inbox: Any, texts: list[str], seen: Counter[str]) -> None:
    """Compare what the journal says with the inbox and with what the API saw."""
    state = UiState()
    for event in events:
        state = reduce_ui_state(state, event)
    assert state == replay(events)
    shown = [item for item in state.items if item["kind"] in {"user_message", "assistant_markdown"}]
    assert [item["text"] for item in shown if item["kind"] == "user_message"] == texts
    assert [message.content for message in inbox if message.author == "user"] == texts
    assert sorted(item["message_id"] for item in shown) == [id_text(message.id) for message in inbox]

    tools = [item for item in state.items if item["kind"] == "tool"]
    assert {item["status"] for item in tools} <= {"done", "denied", "error", "aborted"}
    assert {key: times for key, times in seen.items() if times > 1} == {}
    for item in tools:
        if item["status"] == "done":
            assert seen[item["args"]["key"]] == 1, item
        if item["status"] == "denied":
            assert seen[item["args"]["key"]] == 0, item
    assert not [item for item in state.items if item["kind"] == "approval" and item["status"] == "pending"]
    called = [event.data["call_id"] for event in events if event.type == "tool_call"]
    ended = [event.data["call_id"] for event in events if event.type == "function_call_output"]
    assert sorted(called) == sorted(ended)
    assert len(set(called)) == len(called)
