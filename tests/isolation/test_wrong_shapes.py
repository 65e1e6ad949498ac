"""Streams of the three vendors with parts of a wrong shape: each is an error of that turn, whatever it was."""

import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from agent.models.vendor import Vendor
from ui_mcp.agent.conversation import Broadcast, Conversation
from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.loop import Loop, LoopSettings
from ui_mcp.agent.model import (
    ArgumentDelta,
    Model,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    Retrying,
    Stop,
    TextDelta,
    ToolUse,
    Usage,
    UserMessage,
)
from ui_mcp.agent.models.anthropic import AnthropicModel
from ui_mcp.agent.models.gemini import GeminiModel
from ui_mcp.agent.models.http import Endpoint, ModelHttp, ServerEvent, lines_of
from ui_mcp.agent.models.openai import OpenAiModel
from ui_mcp.errors import ModelError
from ui_mcp.gateway.ask_tool import SamplingModel
from ui_mcp.gateway.web.streams import ChatSessions
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.toolkit.toolset import Combined

ASKED = ModelRequest([UserMessage("Hello?")])
WRONG = {
    "openai": ['{"choices":[null]}', "[1]", '{"choices":{}}', '{"choices":[{"delta":"x"}]}', "5",
               '{"choices":[{"delta":{"content":{"a":1}}}]}', '{"choices":[{"delta":{"tool_calls":[{"index":[]}]}}]}',
               '{"choices":[{"finish_reason":[1]}]}', '{"usage":5}', '{"error":{"message":null}}'],
    "anthropic": ["[1]", '{"type":"message_start"}', '{"type":"message_start","message":5}',
                  '{"type":"content_block_delta","index":3,"delta":{}}', '{"type":"content_block_start","index":[]}',
                  '{"type":"content_block_start","index":0,"content_block":"x"}', '{"type":"content_block_stop"}',
                  '{"type":"message_delta"}', '{"type":"message_delta","delta":[1]}', '{"type":"error","error":"x"}'],
    "gemini": ["[1]", '{"candidates":[5]}', '{"candidates":5}', '{"candidates":[{"content":"x"}]}',
               '{"candidates":[{"content":{"parts":[1]}}]}', '{"candidates":[{"finishReason":{}}]}',
               '{"candidates":[{"content":{"parts":[{"text":5}]}}]}', '{"error":"x"}', '{"usageMetadata":[1]}',
               '{"candidates":[{"content":{"parts":[{"functionCall":"x"}]}}]}', '{"promptFeedback":"x"}'],
}  # fmt: skip


def model(dialect: str, http: Any) -> Model:
    match dialect:
        case "openai":
            return OpenAiModel("m", http)
        case "anthropic":
            return AnthropicModel("m", http)
        case _:
            return GeminiModel("m", http)


class Canned:
    """Answers with the given events."""

    def __init__(self, events: list[str]) -> None:
        self._events = events

    async def post(self, path: str, body: JsonObject, end: str = "") -> AsyncIterator[ServerEvent]:
        for event in itertools.takewhile(lambda one: not end or one.strip() != end, self._events):
            yield ServerEvent("", event)


async def events_of(found: Model) -> list[ModelEvent]:
    try:
        return [event async for event in found.stream(ASKED)]
    except ModelError:
        return []


def is_sound(event: ModelEvent) -> bool:
    match event:
        case TextDelta(text) | ReasoningDelta(text):
            return isinstance(text, str)
        case ArgumentDelta(tool, text):
            return isinstance(tool, str) and isinstance(text, str)
        case ToolUse(call_id, name, arguments, problem, data):
            dumps([[arguments, data]])
            return isinstance(call_id, str) and isinstance(name, str) and (isinstance(arguments, dict) != bool(problem))
        case Usage(given, taken):
            dumps([given, taken, given + taken])
            return isinstance(given, int) and isinstance(taken, int)
        case Stop(reason, data):
            dumps(data)
            return isinstance(reason, str)
        case Retrying():
            return True


@pytest.mark.covers("GW-ISO-7")
@pytest.mark.parametrize("dialect", WRONG)
async def test_a_wrong_shape_ends_the_turn_with_an_error(dialect: str, served: Vendor, tmp_path: Path) -> None:
    for number, text in enumerate(WRONG[dialect]):
        served.answers.clear()
        served.streams(text)
        http = ModelHttp(Endpoint(served.url, attempts=1))

        ended = await turn_of(model(dialect, http), tmp_path / f"{number}.db")
        await http.close()

        assert ended == "error", text


class Strange:
    """A model whose reader has an unforeseen mistake."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield TextDelta("I")
        raise KeyError("choices")


@pytest.mark.covers("GW-ISO-7")
async def test_whatever_a_model_raises_ends_its_turn_with_an_error(tmp_path: Path) -> None:
    assert await turn_of(Strange(), tmp_path / "journal.db") == "error"


async def turn_of(found: Model, file: Path) -> str:
    """Run one turn with a model; return how it ended."""
    journal = JournalStore(file)
    lease = await journal.take_lease("a", "test", 60)
    assert lease is not None
    writer = JournalWriter(journal, "a", lease)
    await writer.open()
    async with anyio.create_task_group() as background:
        ended = await Loop(found, Combined([]), writer, LoopSettings()).turn(checkpoint, background)
    await journal.close()
    return ended


COUNTED = {
    "openai": ['{"usage":{"prompt_tokens":1e300,"completion_tokens":18446744073709551615}}'],
    "anthropic": ['{"type":"message_start","message":{"usage":{"input_tokens":1e20}}}',
                  '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1e300}}'],
    "gemini": ['{"usageMetadata":{"promptTokenCount":1e300,"candidatesTokenCount":1e19,"thoughtsTokenCount":1e19}}',
               '{"candidates":[{"finishReason":"STOP"}]}'],
}  # fmt: skip


@pytest.mark.covers("GW-ISO-7")
@pytest.mark.parametrize("dialect", COUNTED)
async def test_a_count_of_tokens_can_be_added_up_and_written_down(dialect: str) -> None:
    events = await events_of(model(dialect, Canned(COUNTED[dialect])))

    assert any(isinstance(event, Usage) and event.input_tokens > 0 for event in events)
    assert all(is_sound(event) for event in events)


@pytest.mark.covers("GW-ISO-7")
async def test_a_frame_that_cannot_be_written_ends_its_stream_and_nothing_else() -> None:
    conversation = SimpleNamespace(name="c-1", news=Broadcast(), goes_on=False)
    async with anyio.create_task_group() as tasks:
        sessions = ChatSessions(tasks)
        session = await sessions.begin(cast("Conversation", conversation))
        conversation.news.send({"type": "usage", "input_tokens": 10**30, "output_tokens": 0})
        with anyio.fail_after(5):
            texts = [text async for text in session.texts()]
        other = await sessions.begin(cast("Conversation", conversation))
        other.end("over")

    assert "event: error" in texts[-1]


NAMES = st.sampled_from(
    ["type", "index", "delta", "content_block", "message", "usage", "error", "choices", "content", "tool_calls", "id",
     "function", "name", "arguments", "finish_reason", "candidates", "parts", "text", "functionCall", "args", "input",
     "finishReason", "usageMetadata", "promptFeedback", "thinking", "partial_json", "stop_reason", "thoughtSignature"]
)  # fmt: skip
KINDS = st.sampled_from(
    ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "text_delta",
     "tool_use", "thinking", "redacted_thinking", "input_json_delta", "thinking_delta", "signature_delta",
     "text", "STOP"]
)  # fmt: skip
SHAPES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.floats(allow_nan=False) | KINDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=15,
)


@pytest.mark.covers("GW-ISO-7")
@given(st.lists(st.dictionaries(NAMES, SHAPES, max_size=5) | SHAPES, max_size=5))
def test_no_shape_raises_anything_but_a_model_error(events: list[Any]) -> None:
    canned = Canned([dumps(event) for event in events])
    for dialect in WRONG:
        assert all(is_sound(event) for event in anyio.run(events_of, model(dialect, canned)))


@given(SHAPES)
def test_no_sampling_result_raises_anything_but_a_model_error(result: Any) -> None:
    async def sample(params: JsonObject) -> Any:
        return result

    assert all(is_sound(event) for event in anyio.run(events_of, SamplingModel(sample, takes_tools=True)))


async def chunks(*given: bytes) -> AsyncIterator[bytes]:
    for one in given:
        yield one


@given(
    st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\r\n", "\u2028".encode(), b"\x0b"]), max_size=12), st.integers(1, 4)
)
def test_lines_are_the_same_however_the_stream_is_cut(pieces: list[bytes], cut: int) -> None:
    whole = b"".join(pieces)

    async def read(*parts: bytes) -> list[str]:
        return [line async for line in lines_of(chunks(*parts))]

    cuts = [whole[at : at + cut] for at in range(0, len(whole), cut)]
    assert anyio.run(read, *cuts) == [line.decode() for line in whole.splitlines()]


@pytest.mark.covers("GW-ISO-3")
async def test_a_line_without_end_is_an_error_after_sixteen_mebibytes() -> None:
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield bytes(1 << 20)

    with pytest.raises(ModelError, match="more than"):
        [line async for line in lines_of(endless())]
    assert taken == 17
