"""Conversations that outgrow the model's context go on, and interrupted answers are kept."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import pytest

from agent.test_loop_conduct import ends, until
from agent.test_timeline_replay import Environment, post
from ui_mcp.agent.context_window import COMPACTED, HEAD, LEAST_ROOM, NO_SUMMARY
from ui_mcp.agent.conversation import Conversation
from ui_mcp.agent.journal import MemoryJournal
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.loop import Loop, LoopSettings
from ui_mcp.agent.model import Message, ModelEvent, ModelRequest, Stop, TextDelta, ToolUse
from ui_mcp.agent.orchestrator import CONTINUE
from ui_mcp.agent.sampler import Deltas
from ui_mcp.agent.transcript import tokens
from ui_mcp.errors import ContextOverflowError, ModelError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import FunctionToolset

CHAT = LoopSettings(text_policy="implicit_post", max_output_tokens=100)


def size(request: ModelRequest) -> int:
    return sum(tokens(message) for message in request.messages)


class SmallModel:
    """Takes `context` tokens of messages; answers with many words, and summaries with few."""

    def __init__(self, context: int, *, names_limit: bool = True, summary: str = "They count.") -> None:
        self.context = context
        self.requests: list[ModelRequest] = []
        self.refused = 0
        self._limit = context if names_limit else 0
        self._summary = summary

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        if size(request) > self.context:
            self.refused += 1
            raise ContextOverflowError("The model server answered 400: too long", self._limit)
        self.requests.append(request)
        is_summary = "<untrusted-" in request.messages[0].text
        if text := self._summary if is_summary else "word " * 150:
            yield TextDelta(text)
        yield Stop("end")


class InterruptedModel:
    """Begins its first answer, and then waits for ever or fails; later answers are whole."""

    def __init__(self, ends: Callable[[], object] | None = None) -> None:
        self.requests: list[ModelRequest] = []
        self.began = anyio.Event()
        self._ends = ends

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        if len(self.requests) > 1:
            yield TextDelta("second half.")
            yield Stop("end")
            return
        yield TextDelta("First half, ")
        yield ToolUse("1", "chat_assistant_post", {"content": "half a call"})
        self.began.set()
        if self._ends is None:
            await anyio.sleep_forever()
        raise ModelError("broken off")


class Talk:
    """A conversation with a model of these tests."""

    def __init__(self, model: SmallModel | InterruptedModel, settings: LoopSettings = CHAT) -> None:
        self.model = model
        self.environment = Environment()

        def make_loop(writer: JournalWriter, deltas: Deltas) -> Loop:
            return Loop(model, FunctionToolset(self.environment, [post]), writer, settings, deltas)

        self.journal = MemoryJournal()
        self.conversation = Conversation("c", self.journal, self.environment, make_loop)
        self.environment.conversation = self.conversation

    async def say(self, text: str) -> None:
        before = ends(self.conversation)
        self.environment.say(text)
        await until(lambda: ends(self.conversation) > before)

    @property
    def items(self) -> list[JsonObject]:
        return list(self.conversation.journal.timeline.state.items)

    def kinds(self, kind: str) -> list[JsonObject]:
        return [item for item in self.items if item["kind"] == kind]


@asynccontextmanager
async def talking(model: SmallModel | InterruptedModel, settings: LoopSettings = CHAT) -> AsyncIterator[Talk]:
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            talk = Talk(model, settings)
            await tasks.start(talk.conversation.run)
            yield talk
            tasks.cancel_scope.cancel()


@pytest.mark.covers("R-LO-14")
@pytest.mark.parametrize("names_limit", [True, False])
async def test_a_conversation_goes_on_after_it_has_outgrown_the_context(*, names_limit: bool) -> None:
    model = SmallModel(1200, names_limit=names_limit)
    async with talking(model) as talk:
        for number in range(20):
            await talk.say(f"question {number}")

    assert len(talk.kinds("assistant_markdown")) == 20
    assert {item["text"] for item in talk.kinds("notice")} == {COMPACTED}
    assert any(message.text == f"{HEAD}\nThey count." for message in model.requests[-1].messages)
    assert model.requests[-1].messages[-1].text == "question 19"
    assert model.refused == 1  # what it learned is remembered


@pytest.mark.covers("R-LO-14")
async def test_a_limit_from_the_settings_is_never_exceeded() -> None:
    model = SmallModel(1200)
    settings = LoopSettings(text_policy="implicit_post", max_output_tokens=100, max_context_tokens=1200)
    async with talking(model, settings) as talk:
        for number in range(12):
            await talk.say(f"question {number}")

    assert model.refused == 0
    assert len(talk.kinds("assistant_markdown")) == 12


@pytest.mark.covers("R-LO-14")
async def test_a_model_that_gives_no_summary_goes_on_without_the_earlier_part() -> None:
    model = SmallModel(1200, summary="")
    async with talking(model) as talk:
        for number in range(8):
            await talk.say(f"question {number}")

    assert len(talk.kinds("assistant_markdown")) == 8
    assert any(message.text == NO_SUMMARY for message in model.requests[-1].messages)


@pytest.mark.covers("R-LO-14", "R-LO-12")
async def test_a_single_message_that_is_too_long_is_shortened() -> None:
    model = SmallModel(1200)
    async with talking(model) as talk:
        await talk.say("begin " + "x" * 20_000 + " end")

    (asked,) = model.requests[-1].messages
    assert asked.text.startswith("begin ")
    assert asked.text.endswith(" end")
    assert len(talk.kinds("assistant_markdown")) == 1


@pytest.mark.covers("R-LO-14")
async def test_a_hopeless_overflow_says_what_to_do() -> None:
    async with talking(SmallModel(LEAST_ROOM // 2)) as talk:
        await talk.say("x" * 20_000)

    (notice,) = talk.kinds("notice")
    assert notice["level"] == "error"
    assert notice["text"].splitlines()[0] == "The model server answered 400: too long"
    assert "llm.max_context_tokens" in notice["text"] or "fewer tools" in notice["text"]


@pytest.mark.covers("R-LO-14")
async def test_a_rewind_to_before_a_compaction_brings_the_messages_back() -> None:
    model = SmallModel(1200)
    async with talking(model) as talk:
        for number in range(8):
            await talk.say(f"question {number}")
        second = talk.kinds("user_message")[1]["id"]
        await talk.conversation.rewind(second)
        await talk.say("something else")

    asked = [message.text for message in model.requests[-1].messages]
    assert asked[0] == "question 0"
    assert asked[-1] == "something else"
    assert len(asked) == 3


@pytest.mark.covers("R-LO-15")
async def test_a_stopped_answer_stays_and_can_be_continued() -> None:
    model = InterruptedModel()
    async with talking(model) as talk:
        talk.environment.say("go")
        await model.began.wait()
        talk.conversation.stop()
        await until(lambda: ends(talk.conversation) == 1)
        await talk.conversation.resume()
        await until(lambda: ends(talk.conversation) == 2)

    shown = [(item["md"], item.get("partial")) for item in talk.kinds("assistant_markdown")]
    assert shown == [("First half, ", "stopped"), ("second half.", None)]
    assert [message.text for message in model.requests[1].messages] == ["go", "First half, ", CONTINUE]
    assert not talk.kinds("tool")


@pytest.mark.covers("R-LO-15")
async def test_an_answer_that_breaks_off_stays_with_the_error_after_it() -> None:
    async with talking(InterruptedModel(ends=lambda: None)) as talk:
        await talk.say("go")

    assert [item["kind"] for item in talk.items] == ["user_message", "assistant_markdown", "notice", "end_turn"]
    assert talk.items[1]["partial"] == "broken"


@pytest.mark.covers("R-LO-15")
async def test_an_agent_that_posts_by_tool_tells_only_the_model_what_it_had_written() -> None:
    model = InterruptedModel()
    async with talking(model, LoopSettings()) as talk:
        talk.environment.say("go")
        await model.began.wait()
        talk.conversation.stop()
        await until(lambda: ends(talk.conversation) == 1)
        said: list[Message] = talk.conversation.journal.transcript.messages()

    assert [message.text for message in said] == ["go", "First half, "]
    assert not talk.kinds("assistant_markdown")


@pytest.mark.covers("R-OR-11")
async def test_a_turn_is_stopped_and_continued_from_another_process() -> None:
    model = InterruptedModel()
    async with talking(model) as talk:
        talk.environment.say("go")
        await model.began.wait()
        assert await talk.journal.ask("c", "stop")
        await until(lambda: ends(talk.conversation) == 1)
        assert await talk.journal.ask("c", "resume")
        await until(lambda: ends(talk.conversation) == 2)

    shown = [item["md"] for item in talk.kinds("assistant_markdown")]
    assert shown == ["First half, ", "second half."]


@pytest.mark.covers("R-OR-11")
async def test_a_stop_that_comes_too_late_does_not_stop_the_next_turn() -> None:
    model = SmallModel(100_000)
    async with talking(model) as talk:
        await talk.say("one")
        assert await talk.journal.ask("c", "stop")
        await until(lambda: not talk.journal.requests)
        await talk.say("two")

    assert [item["reason"] for item in talk.kinds("end_turn")] == ["yield", "yield"]


@pytest.mark.covers("R-OR-11")
@pytest.mark.parametrize("readable", [True, False])
async def test_a_stop_reaches_the_agent_that_had_not_taken_the_message_yet(*, readable: bool) -> None:
    model = InterruptedModel()
    async with talking(model) as talk:
        talk.environment.readable = readable
        talk.environment.say("go")
        assert await talk.journal.ask("c", "stop", talk.environment.said[-1]["id"])
        await until(lambda: not talk.journal.requests)
        talk.environment.readable = True
        talk.environment.news.set()
        await until(lambda: ends(talk.conversation) == 1)

    assert [item["reason"] for item in talk.kinds("end_turn")] == ["abort"]
