"""An agent whose chat server's notifications are dropped, doubled and delayed on their way."""

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from agent.test_loop import ToolContext, post
from ui_mcp.agent.inbox import McpInbox, Open
from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.agent.loop import Loop, LoopSettings
from ui_mcp.agent.models.scripted import ScriptedModel, read_script
from ui_mcp.agent.orchestrator import Orchestrator, PollSettings
from ui_mcp.app.agent_runner import inbox_opener
from ui_mcp.chat.identity import principal
from ui_mcp.chat.message import Draft
from ui_mcp.chat.service import open_chat
from ui_mcp.mcp_client.client import McpClient
from ui_mcp.toolkit.functions import FunctionToolset
from ui_mcp.workspace import Workspace

HUMAN = principal("human", "human")
MESSAGES = 40
SCRIPT = [
    {"when": {"user": "."}, "emit": [{"call": "chat_assistant_post", "args": {"content": "re: {{user}}"}}]},
    {"emit": [{"call": "loop_yield_turn"}]},
]


class FaultyLine:
    """Passes each notification on never, once, twice or late."""

    def __init__(self, opener: Open, seed: int) -> None:
        self._opener = opener
        self._chance = random.Random(seed)
        self.faults: list[str] = []

    @asynccontextmanager
    async def open(self, hinted: Callable[[str], None]) -> AsyncIterator[McpClient]:
        async with anyio.create_task_group() as tasks:

            async def late(uri: str) -> None:
                await anyio.sleep(0.1)
                hinted(uri)

            def on_updated(uri: str) -> None:
                fault = self._chance.choice(["dropped", "doubled", "delayed", "passed"])
                self.faults.append(fault)
                if fault == "delayed":
                    tasks.start_soon(late, uri)
                for _ in range({"doubled": 2, "passed": 1}.get(fault, 0)):
                    hinted(uri)

            async with self._opener(on_updated) as server:
                yield server
            tasks.cancel_scope.cancel()


@pytest.mark.slow
@pytest.mark.covers("R-OR-13")
@pytest.mark.parametrize("seed", [1, 2])
async def test_every_message_is_taken_and_answered_once_whatever_becomes_of_notifications(
    tmp_path: Path, seed: int
) -> None:
    base = tmp_path / ".claude/ui"
    store, journal, context = Workspace.at(base).state_dir, JournalStore(tmp_path / "journal.db"), ToolContext()
    line = FaultyLine(inbox_opener(str(base)), seed)
    inbox = McpInbox(line.open)
    tools = FunctionToolset(context, [post])
    running = Orchestrator(
        "default",
        journal,
        inbox,
        lambda writer: Loop(ScriptedModel(read_script(SCRIPT)), tools, writer, LoopSettings()),
        poll=PollSettings(poll_seconds=0.2, max_batch=1),
    )
    texts = [f"message {number}" for number in range(MESSAGES)]

    async with open_chat(f"sqlite:///{store / 'runtime.db'}") as chat, anyio.create_task_group() as tasks:
        tasks.start_soon(inbox.run)
        tasks.start_soon(running.run)
        for number, text in enumerate(texts, 1):
            await chat.post(HUMAN, "user", "default", [Draft(text)])
            with anyio.fail_after(60):
                while len(context.posted) < number:
                    await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()

    events = await journal.events("default")
    await journal.close()
    assert [event.data["text"] for event in events if event.type == "user_text"] == texts
    assert context.posted == [f"re: {text}" for text in texts]
    assert {"dropped", "doubled", "delayed"} <= set(line.faults)
