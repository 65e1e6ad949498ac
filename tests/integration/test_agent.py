"""`ui-mcp agent` as a process: a person writes, it answers, and kill -9 changes nothing."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest

from agreeing import agree_to_file, agree_to_gateway
from chat.conftest import postgres_server, postgres_url  # noqa: F401 - fixtures
from integration.test_nlui_attachments import PNG, configured, vendor
from ui_mcp.agent.history import LOST, NOTICE
from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.agent.timeline import StoredEvent, replay
from ui_mcp.app import agent_runner
from ui_mcp.chat.attachments import AttachmentStore
from ui_mcp.chat.identity import principal
from ui_mcp.chat.message import Draft
from ui_mcp.chat.service import Chat, ReadRequest, open_chat
from ui_mcp.mcp_client.transport import Command
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
def agent(
    folder: Path, conversation: str = "default", *options: str, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    agree_to_gateway(folder / "nlui.yaml")
    command = [sys.executable, "-m", "ui_mcp", "agent", "--conversation", conversation, *options]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, env=os.environ | environment) as process:
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
        configure(folder, '[loop]\ntext_policy = "implicit_post"\n')
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
@pytest.mark.covers("R-OR-12")
@pytest.mark.parametrize("lost", ["deleted", "of no length"])
async def test_an_agent_that_lost_its_journal_answers_nothing_again_unless_told_to(folder: Path, lost: str) -> None:
    async with open_chat(store_url(folder)) as chat:
        await say(chat, "one")
        with agent(folder):
            await until_quiet(folder, 1)
        lose_journal(folder, lost)
        await say(chat, "two")
        with agent(folder):
            events = await until_quiet(folder, 1)
        careful = await answers(chat)
        lose_journal(folder, lost)
        with agent(folder, "default", "--from-start"):
            await until_quiet(folder, 2)
        repeated = await answers(chat)

    assert [event.data["text"] for event in events if event.type == "notice"] == [NOTICE]
    assert careful == ["re: one", "re: two"]
    assert len(repeated) > len(careful)


def lose_journal(folder: Path, how: str) -> None:
    for part in Workspace.at(".claude/ui", cwd=folder).state_dir.glob("agent.db*"):
        part.unlink()
    if how == "of no length":
        (Workspace.at(".claude/ui", cwd=folder).state_dir / "agent.db").touch()


async def answers(chat: Chat) -> list[str]:
    page = await chat.read(HUMAN, ReadRequest(authors=["assistant"]))
    return [message.content for message in page.messages]


@pytest.mark.slow
@pytest.mark.covers("R-OR-12")
async def test_an_agent_whose_chat_was_deleted_says_so_and_answers_in_the_new_one(folder: Path) -> None:
    async with open_chat(store_url(folder)) as chat:
        await say(chat, "in the old chat")
        with agent(folder):
            await until_quiet(folder, 1)
    for part in ("runtime.db", "runtime.db-wal", "runtime.db-shm"):
        (Workspace.at(".claude/ui", cwd=folder).state_dir / part).unlink(missing_ok=True)
    async with open_chat(store_url(folder)) as chat:
        with agent(folder):
            await say(chat, "in the new chat")
            events = await until_quiet(folder, 2)
        found = await answers(chat)

    assert [event.data["text"] for event in events if event.type == "notice"] == [LOST]
    assert found == ["re: in the new chat"]


@pytest.mark.slow
@pytest.mark.covers("R-OR-1")
async def test_an_agent_reaches_a_database_that_only_the_environment_names(
    folder: Path,
    postgres_url: Callable[[], str],  # noqa: F811 - the fixture
) -> None:
    """Its child process reads the chat, and PGPASSWORD, PGHOST and the rest are known to the environment alone."""
    url = urlsplit(postgres_url())
    environment = {"PGHOST": parse_qs(url.query)["host"][0], "PGUSER": "chat", "PGDATABASE": url.path[1:]}
    configure(folder, '[storage]\nurl = "postgresql://"\n')
    agree_to_file(folder / ".claude/ui/config/config.toml")
    async with open_chat(url.geturl()) as chat:
        await say(chat, "hello")
        with agent(folder, **environment), anyio.fail_after(20):
            while not await answers(chat):
                await anyio.sleep(0.2)
        assert await answers(chat) == ["re: hello"]


@pytest.mark.parametrize("secrets", [(), ("MODEL_KEY",)])
def test_the_child_that_reads_the_chat_gets_the_environment_without_keys_of_models(
    secrets: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Command] = []
    monkeypatch.setenv("MODEL_KEY", "k")
    monkeypatch.setenv("PGSSLROOTCERT", "/certificate")

    def connect(command: Command, _: object) -> AbstractAsyncContextManager[None]:
        started.append(command)
        return nullcontext()

    monkeypatch.setattr(agent_runner, "connect", connect)

    async def start() -> None:
        async with agent_runner.inbox_opener("base", secrets)(lambda _: None):
            pass

    anyio.run(start)

    assert started[0].env["PGSSLROOTCERT"] == "/certificate"
    assert ("MODEL_KEY" in started[0].env) is not bool(secrets)


@pytest.mark.slow
@pytest.mark.covers("R-LO-5")
async def test_limits_of_a_turn_are_settings(folder: Path) -> None:
    configure(folder, "[loop]\nmax_samplings = 2\n\n[orchestrator]\nmax_batch = 1\n")
    (folder / "nlui.yaml").write_text(
        "data_dir: ./data\nllm:\n  provider: scripted\n"
        "  script: [{emit: [{call: chat_assistant_post, args: {content: again}}]}]\n"
    )
    async with open_chat(store_url(folder)) as chat:
        await say(chat, "one")
        await say(chat, "two")
        with agent(folder):
            events = await until_quiet(folder, 2)
        found = await answers(chat)

    assert found == ["again"] * 2
    assert events[1].type != "user_text"  # the second message was not part of the first batch


@pytest.mark.slow
@pytest.mark.covers("R-OR-1", "R-OR-5")
async def test_one_process_answers_in_several_conversations_each_with_its_own_memory(folder: Path) -> None:
    names = ("work", "shop")
    async with open_chat(store_url(folder)) as chat:
        for round_, word in enumerate(("hello", "again"), start=1):
            for name in names:
                await say(chat, f"{word} {name}", name)
            with agent(folder, *names):  # killed at the end
                for name in names:
                    await until_quiet(folder, round_, name)
        pages = [await chat.read(HUMAN, ReadRequest(conversation=name)) for name in names]
    heard = [[one.data["text"] for one in await events_of(folder, name) if one.type == "user_text"] for name in names]

    assert [[one.content for one in page.messages if one.author == "assistant"] for page in pages] == [
        ["re: hello work", "re: again work"],
        ["re: hello shop", "re: again shop"],
    ]
    assert heard == [["hello work", "again work"], ["hello shop", "again shop"]]


@pytest.mark.slow
@pytest.mark.covers("R-OR-1")
async def test_two_agents_answer_in_one_conversation_under_their_names(folder: Path) -> None:
    async with open_chat(store_url(folder)) as chat:
        with agent(folder, "default", "--name", "Ada"), agent(folder, "default", "--name", "Bo"):
            await say(chat, "hello")
            await until_quiet(folder, 1, "default.Ada")
            await until_quiet(folder, 1, "default.Bo")
            await say(chat, "@ada only you")
            await until_quiet(folder, 2, "default.Ada")
            await say(chat, "@Ada, @Bo: both")
            await until_quiet(folder, 3, "default.Ada")
            events = await until_quiet(folder, 2, "default.Bo")
        page = await chat.read(HUMAN, ReadRequest(authors=["assistant"]))

    said = sorted((message.principal, message.content) for message in page.messages)
    assert said == [
        ("Ada", "re: @Ada, @Bo: both"),
        ("Ada", "re: @ada only you"),
        ("Ada", "re: hello"),
        ("Bo", "re: @Ada, @Bo: both"),
        ("Bo", "re: hello"),
    ]
    assert [event.data["text"] for event in events if event.type == "user_text"] == ["hello", "@Ada, @Bo: both"]


def configure(folder: Path, text: str) -> None:
    (folder / ".claude/ui/config").mkdir(parents=True, exist_ok=True)
    (folder / ".claude/ui/config/config.toml").write_text(text)


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
