"""A long conversation: resuming gives what is missing, and nothing is read twice."""

from pathlib import Path

import anyio

from agent.test_loop import ToolContext, post
from agent.test_orchestrator import People
from ui_mcp.agent.conversation import Conversation
from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.loop import Loop, LoopSettings
from ui_mcp.agent.models.scripted import ScriptedModel, read_script
from ui_mcp.agent.sampler import Deltas
from ui_mcp.agent.timeline import replay
from ui_mcp.toolkit.functions import FunctionToolset


def make_loop(writer: JournalWriter, deltas: Deltas) -> Loop:
    script = read_script([{"emit": [{"say": "hi"}]}])
    tools = FunctionToolset(ToolContext(), [post])
    return Loop(ScriptedModel(script), tools, writer, LoopSettings(text_policy="implicit_post"), deltas)


async def test_five_thousand_items_resume_exactly(tmp_path: Path) -> None:
    journal = JournalStore(tmp_path / "j.db")
    conversation = Conversation("long", journal, People(), make_loop)
    async with anyio.create_task_group() as tasks:
        await tasks.start(conversation.run)
        notices = [NewEvent("notice", {"level": "info", "text": str(number)}) for number in range(5000)]
        await conversation.journal.write(*notices)

        assert [frame["seq"] for frame in conversation.since(4990)] == list(range(4991, 5001))
        assert conversation.since(0)[0]["type"] == "ui_state_snapshot"
        assert conversation.since(5001)[0]["type"] == "ui_state_snapshot"
        assert conversation.since(5000) == []
        assert replay(await journal.events("long")) == conversation.journal.timeline.state
        tasks.cancel_scope.cancel()
    await journal.close()


async def test_asking_again_wakes_a_sleeping_agent(tmp_path: Path) -> None:
    journal = JournalStore(tmp_path / "j.db")
    conversation = Conversation("again", journal, People("hello"), make_loop)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            await tasks.start(conversation.run)
            await _answers(conversation, 1)
            await conversation.again("u:0001")
            await _answers(conversation, 2)
            tasks.cancel_scope.cancel()

    kinds = [(item["kind"], item.get("superseded", False)) for item in conversation.journal.timeline.state.items]
    assert kinds[:3] == [("user_message", True), ("assistant_markdown", True), ("end_turn", True)]
    assert kinds[3:] == [("user_message", False), ("assistant_markdown", False), ("end_turn", False)]
    await journal.close()


async def _answers(conversation: Conversation, count: int) -> None:
    while sum(item["kind"] == "end_turn" for item in conversation.journal.timeline.state.items) < count:
        await anyio.sleep(0.01)
