"""`ui-mcp agent` as a process: a person writes, it answers, and kill -9 changes nothing."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from agreeing import agree_to_gateway
from integration.test_nlui_attachments import PNG, configured, vendor
from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.agent.timeline import StoredEvent, replay
from ui_mcp.chat.attachments import AttachmentStore
from ui_mcp.chat.identity import principal
from ui_mcp.chat.message import Draft
from ui_mcp.chat.service import Chat, ReadRequest, open_chat
from ui_mcp.workspace import Workspace

SCRIPT = """
data_dir: ./data
llm:
  provider: scripted
  script:
    - when: {user: "."}
      emit: [{call: chat_assistant_post, args: {content: "re: {{user}}"}}]
    - emit: [{call: loop_yield_turn}]
"""
HUMAN = principal("human", "human")


@contextmanager
def agent(folder: Path, conversation: str = "default") -> Iterator[subprocess.Popen[bytes]]:
    agree_to_gateway(folder / "nlui.yaml")
    command = [sys.executable, "-m", "ui_mcp", "agent", "--conversation", conversation]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert b"serves conversation" in process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nlui.yaml").write_text(SCRIPT)
    return tmp_path


def store_url(folder: Path) -> str:
    return f"sqlite:///{Workspace.at('.claude/ui', cwd=folder).state_dir / 'runtime.db'}"


async def say(chat: Chat, text: str, conversation: str = "default") -> None:
    await chat.post(HUMAN, "user", conversation, [Draft(text)])


async def events_of(folder: Path, conversation: str = "default") -> list[StoredEvent]:
    journal = JournalStore(Workspace.at(".claude/ui", cwd=folder).state_dir / "agent.db")
    try:
        return await journal.events(conversation)
    finally:
        await journal.close()


async def until_quiet(folder: Path, messages: int, conversation: str = "default") -> list[StoredEvent]:
    """Wait until every message has been taken and the last turn has ended."""
    with anyio.fail_after(300):
        while True:
            events = await events_of(folder, conversation)
            taken = [event for event in events if event.type == "user_text"]
            if len(taken) >= messages and events[-1].type == "ui_end_turn":
                return events
            await anyio.sleep(0.2)


@pytest.mark.slow
@pytest.mark.covers("R-OR-1", "R-OR-2", "R-OR-7", "R-PC-4")
async def test_a_message_is_answered_through_the_persons_own_chat_server(folder: Path) -> None:
    async with open_chat(store_url(folder)) as chat:
        await say(chat, "written before it started")
        with agent(folder):
            await until_quiet(folder, 1)
            await say(chat, "written while it runs")
            events = await until_quiet(folder, 2)
            page = await chat.read(HUMAN, ReadRequest())

    assert [(message.author, message.content) for message in page.messages] == [
        ("user", "written before it started"),
        ("assistant", "re: written before it started"),
        ("user", "written while it runs"),
        ("assistant", "re: written while it runs"),
    ]
    assert [item["kind"] for item in replay(events).items] == ["user_message", "assistant_markdown", "end_turn"] * 2
    noted = [json.loads(line) for line in (folder / "data" / "audit.jsonl").read_text().splitlines()]
    assert [line["tool"] for line in noted] == ["chat_assistant_post", "loop_yield_turn"] * 2


@pytest.mark.slow
@pytest.mark.covers("R-OR-1")
@pytest.mark.parametrize("posting", ["by tool", "by text"])
async def test_an_agent_of_another_conversation_answers_there(folder: Path, posting: str) -> None:
    if posting == "by text":
        (folder / ".claude/ui/config").mkdir(parents=True)
        (folder / ".claude/ui/config/config.toml").write_text('[loop]\ntext_policy = "implicit_post"\n')
        (folder / "nlui.yaml").write_text(
            "data_dir: ./data\nllm: {provider: scripted, script: [{emit: [{say: 're: {{user}}'}]}]}\n"
        )
    async with open_chat(store_url(folder)) as chat:
        await say(chat, "hello", "work")
        with agent(folder, "work"):
            await until_quiet(folder, 1, "work")
        page = await chat.read(HUMAN, ReadRequest(conversation="work"))
        elsewhere = await chat.read(HUMAN, ReadRequest())

    assert [(message.author, message.content) for message in page.messages] == [
        ("user", "hello"),
        ("assistant", "re: hello"),
    ]
    assert not elsewhere.messages


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.covers("R-OR-4", "R-LO-13")
async def test_killing_the_agent_again_and_again_loses_and_doubles_nothing(folder: Path) -> None:
    chance = random.Random(7)
    texts = [f"message {number}" for number in range(30)]
    async with open_chat(store_url(folder)) as chat:
        for start in range(0, len(texts), 6):
            for text in texts[start : start + 6]:
                await say(chat, text)
            with agent(folder) as process:
                await anyio.sleep(chance.uniform(0.2, 4.0))
                process.kill()
        with agent(folder):
            events = await until_quiet(folder, len(texts))

    assert [event.data["text"] for event in events if event.type == "user_text"] == texts
    called = [event.data["call_id"] for event in events if event.type == "tool_call"]
    ended = [event.data["call_id"] for event in events if event.type == "function_call_output"]
    assert len(called) == len(set(called))
    assert len(ended) == len(set(ended))
    assert set(called) <= set(ended)


@pytest.mark.slow
@pytest.mark.covers("CHAT-FILE-2")
async def test_a_picture_in_the_chat_reaches_a_model_that_sees(folder: Path) -> None:
    asked: list[dict[str, Any]] = []
    store = AttachmentStore(Workspace.at(".claude/ui", cwd=folder).attachments)
    picture = await store.put(PNG)
    await store.keep(picture.digest)
    with vendor(asked) as base:
        configured(folder, base, vision="on")
        async with open_chat(store_url(folder)) as chat:
            await say(chat, f"What is this?\n\n[photo.png](attachment:{picture.digest})")
            with agent(folder):
                await until_quiet(folder, 1)

    text, image = asked[0]["messages"][-1]["content"]
    assert "What is this?" in text["text"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,")
