"""Whatever happens in whatever order: replaying the journal gives the live state, and so do the frames clients got."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ui_mcp.agent.conversation import Conversation
from ui_mcp.agent.journal import MemoryJournal, NewEvent
from ui_mcp.agent.journal_writer import JournalWriter, ReadProgress
from ui_mcp.agent.loop import Loop, LoopSettings
from ui_mcp.agent.model import UserMessage
from ui_mcp.agent.models.scripted import ScriptedModel, read_script
from ui_mcp.agent.orchestrator import InboxPage, PollSettings
from ui_mcp.agent.sampler import Deltas
from ui_mcp.agent.timeline import StoredEvent, UiState, reduce_ui_state, replay
from ui_mcp.agent.transcript import Transcript
from ui_mcp.errors import AgentError, DeniedError, NotFoundError
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.toolkit.functions import FunctionToolset, NoArgs, tool
from ui_mcp.toolkit.tool import Call, ToolResult, structured_result

SCRIPT = [
    {"when": {"user": "both"}, "emit": [{"call": "gated"}, {"call": "quick"}]},
    {"when": {"user": "gated"}, "emit": [{"say": "one moment"}, {"call": "gated"}]},
    {"when": {"user": "quick"}, "emit": [{"call": "quick"}, {"call": "quick"}]},
    {"when": {"user": "fail"}, "emit": [{"error": "no credit"}]},
    {"when": {"user": "text"}, "emit": [{"say": "just text"}]},
    {"when": {"user": "late"}, "emit": [{"delay_ms": 1}, {"call": "loop_yield_turn"}]},
    {"when": {"tool": "gated|quick"}, "emit": [{"call": "chat_assistant_post", "args": {"content": "done"}}]},
    {"emit": [{"call": "loop_yield_turn"}]},
]
WORDS = ("both", "gated", "quick", "fail", "text", "late")


class Environment:
    """People who write and decide, and tools that wait for them."""

    def __init__(self) -> None:
        self.said: list[JsonObject] = []
        self.news = anyio.Event()
        self.open: dict[str, anyio.Event] = {}
        self.answers: dict[str, str] = {}
        self.posts = 0
        self.readable = True
        self.conversation: Conversation

    def say(self, text: str) -> None:
        self.said.append({"id": f"{len(self.said) + 1:04}", "mime": "text/plain", "content": text})
        self.news.set()

    async def read(self, after: str | None, limit: int) -> InboxPage:
        if not self.readable:
            raise AgentError("the chat cannot be reached")
        new = [message for message in self.said if message["id"] > (after or "")]
        page = new[:limit]
        return InboxPage(page, page[-1]["id"] if page else after, len(new) > len(page))

    async def hint(self, seconds: float) -> None:
        await self.news.wait()
        self.news = anyio.Event()

    async def ask(self, call_id: str) -> str:
        writer, name = self.conversation.journal, f"q{call_id}"
        self.open[name] = anyio.Event()
        asked = {"approval_id": name, "call_id": call_id, "tool": "gated", "args": {}, "digest": "d"}
        await writer.write(NewEvent("approval_requested", asked))
        await self.open[name].wait()
        await writer.write(NewEvent("approval_decided", {"approval_id": name, "status": self.answers[name]}))
        return self.answers[name]

    def decide(self, number: int, answer: str) -> None:
        waiting = [name for name in self.open if name not in self.answers]
        if waiting:
            name = waiting[number % len(waiting)]
            self.answers[name] = answer
            self.open[name].set()


@dataclass(frozen=True, slots=True)
class PostArgs:
    content: str
    mime: str = ""
    client_id: str = ""


@tool("chat_assistant_post", PostArgs, title="Post")
async def post(environment: Environment, args: PostArgs, call: Call) -> ToolResult:
    """Post."""
    environment.posts += 1
    return structured_result({"id": f"m{environment.posts}", "ts": ""})


@tool("gated", NoArgs, title="Gated")
async def gated(environment: Environment, args: NoArgs, call: Call) -> str:
    """Wait for a person."""
    if await environment.ask(call.call_id) != "approved":
        raise DeniedError("no", decision="deny_continue")
    return "allowed"


@tool("quick", NoArgs, title="Quick")
async def quick(environment: Environment, args: NoArgs, call: Call) -> str:
    """Answer at once."""
    return "quick"


says = st.tuples(st.just("say"), st.sampled_from(WORDS))
acts = st.one_of(
    says,
    says,
    says,
    st.tuples(st.just("decide"), st.integers(0, 3), st.sampled_from(["approved", "denied"])),
    st.tuples(st.just("stop")),
    st.tuples(st.just("rewind"), st.integers(0, 9)),
    st.tuples(st.just("again"), st.integers(0, 9)),
    st.tuples(st.just("version"), st.integers(0, 9)),
    st.tuples(st.just("resume")),
    st.tuples(st.just("pause"), st.integers(1, 60)),
)


@pytest.mark.slow
@pytest.mark.covers("R-UI-1", "R-UI-4", "R-LO-10")
@settings(max_examples=120, deadline=None)
@given(st.lists(acts, max_size=25), st.booleans())
def test_replaying_gives_the_live_state_after_any_interleaving(script: list[tuple[Any, ...]], implicit: bool) -> None:
    anyio.run(live_through, script, "implicit_post" if implicit else "tool_only")


async def live_through(script: Sequence[tuple[Any, ...]], policy: Any) -> None:
    environment, journal = Environment(), MemoryJournal()

    def make_loop(writer: JournalWriter, deltas: Deltas) -> Loop:
        tools = FunctionToolset(environment, [post, gated, quick])
        return Loop(ScriptedModel(read_script(SCRIPT)), tools, writer, LoopSettings(text_policy=policy), deltas)

    environment.conversation = talk = Conversation("c", journal, environment, make_loop, PollSettings(max_batch=2))
    frames: list[JsonObject] = []
    with anyio.fail_after(120), talk.news.watched() as news:
        async with anyio.create_task_group() as tasks:
            await tasks.start(talk.run)
            for act in script:
                await do(environment, talk, act)
                await anyio.sleep(0.0003)
            await settle(environment, talk)
            tasks.cancel_scope.cancel()
        stored = [as_stored(event) for event in await journal.events("c")]
        while (frame := _next(news)) is not None:
            frames.append(frame)

    live = talk.journal.timeline.state
    assert replay(stored) == live
    stepwise = UiState()
    for event in stored:
        stepwise = reduce_ui_state(stepwise, event)
    assert stepwise == live
    assert rebuilt(frames) == live
    told = [event.data["message_id"] for event in stored if event.type == "user_text"]
    taken = [message_id for message_id in told if "~" not in message_id]
    assert taken == [message["id"] for message in environment.said]
    told_again = Transcript(stored)
    assert told_again.open_calls() == []
    progress = ReadProgress()
    for event in stored:
        progress.take(event)
    assert progress.turn == 0
    assert told_again.messages() == talk.journal.transcript.messages()
    rewound = [event.data["from_item"] for event in stored if event.type == "rewind"]
    if all(item.startswith(("u:", "a:", "t:")) for item in rewound):  # notices are no messages for the model
        assert _asked(told_again) == [
            item["text"] for item in live.items if item["kind"] == "user_message" and not item.get("superseded")
        ]


def _asked(transcript: Transcript) -> list[str]:
    said = [message.text for message in transcript.messages() if isinstance(message, UserMessage)]
    return [text for text in said if text in WORDS]


def as_stored(event: StoredEvent) -> StoredEvent:
    """Return an event as a store gives it back."""
    return StoredEvent(event.id, event.ts, event.type, loads(dumps(event.data)))


async def do(environment: Environment, talk: Conversation, act: tuple[Any, ...]) -> None:
    items = talk.journal.timeline.state.items
    match act:
        case ("say", text):
            environment.say(text)
        case ("decide", number, answer):
            environment.decide(number, answer)
        case ("stop",):
            talk.stop()
        case ("rewind", number) if items:
            await talk.rewind(items[number % len(items)]["id"])
        case ("again" | "version" as name, number) if items:
            with suppress(NotFoundError):
                await (talk.again if name == "again" else talk.show_version)(items[number % len(items)]["id"])
        case ("resume",):
            await talk.resume()
        case ("pause", steps):
            for _ in range(steps):
                await anyio.sleep(0)


async def settle(environment: Environment, talk: Conversation) -> None:
    """Answer everything and wait until the agent sleeps."""
    quiet = 0
    while quiet < 20:
        environment.decide(0, "approved")
        await anyio.sleep(0.001)
        writer = talk.journal
        asleep = not talk.running and not writer.progress.turn and not writer.progress.unseen
        taken = writer.watermark == (environment.said[-1]["id"] if environment.said else None)
        quiet = quiet + 1 if asleep and taken else 0


def _next(news: Any) -> JsonObject | None:
    try:
        frame: JsonObject = news.receive_nowait()
    except (anyio.WouldBlock, anyio.EndOfStream):
        return None
    return frame


def rebuilt(frames: Sequence[JsonObject]) -> UiState:
    """Be a client: apply every delta, each one after the one before."""
    seq, items = 0, dict[str, JsonObject]()
    for frame in frames:
        if frame["type"] != "ui_state_delta":
            continue
        assert frame["seq"] == seq + 1
        seq = frame["seq"]
        for op in frame["ops"]:
            if op["op"] == "append":
                items[op["item"]["id"]] = op["item"]
            else:
                items[op["id"]] = {**items[op["id"]], **op["set"]}
    return UiState(seq, tuple(items.values()))
