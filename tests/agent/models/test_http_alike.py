"""What every dialect must do alike, each through the real HTTP client against a server in its vendor's shape."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent.models.vendor import Vendor
from ui_mcp.agent.journal import MemoryJournal
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.loop import Loop, LoopSettings
from ui_mcp.agent.model import Model, ModelEvent, ModelRequest, Stop, TextDelta, Usage, UserMessage
from ui_mcp.agent.models.anthropic import AnthropicModel
from ui_mcp.agent.models.gemini import GeminiModel
from ui_mcp.agent.models.http import ModelHttp
from ui_mcp.agent.models.openai import OpenAiModel
from ui_mcp.agent.models.responses import ResponsesModel
from ui_mcp.agent.sampler import Deltas
from ui_mcp.errors import ModelError
from ui_mcp.toolkit.functions import FunctionToolset, NoArgs, tool
from ui_mcp.toolkit.tool import Call


@dataclass(frozen=True)
class Dialect:
    """One vendor's shapes."""

    make: Callable[[ModelHttp], Model]
    text: tuple[Any, ...]
    call: tuple[Any, ...]
    begun: tuple[Any, ...]
    broken: tuple[Any, ...]
    refusal: str
    names: bool = False


def openai_chunk(delta: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def anthropic_text(text: str, stop: str | None = "end_turn") -> tuple[Any, ...]:
    begun = (
        {"type": "message_start", "message": {"usage": {"input_tokens": 5}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
    )
    ended = (
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    )
    return (*begun, *ended) if stop else begun


def gemini_parts(*parts: Any, finish: str | None = "STOP") -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": list(parts)}, **({"finishReason": finish} if finish else {})}
    return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2}}


DIALECTS = {
    "openai": Dialect(
        make=lambda http: OpenAiModel("m", http),
        text=(
            openai_chunk({"content": "hi"}),
            openai_chunk({}, "stop"),
            {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
            "[DONE]",
        ),
        call=(
            openai_chunk(
                {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "files_v1_read", "arguments": "{}"}}]}
            ),
            openai_chunk({}, "tool_calls"),
            "[DONE]",
        ),
        begun=(openai_chunk({"content": "h"}),),
        broken=(openai_chunk({"content": "h"}), {"error": {"message": "overloaded"}}),
        refusal='{"error": {"message": "bad key", "type": "invalid_request_error"}}',
    ),
    "responses": Dialect(
        make=lambda http: ResponsesModel("m", http),
        text=(
            {"type": "response.created", "response": {}},
            {"type": "response.output_text.delta", "output_index": 0, "delta": "hi"},
            {"type": "response.completed", "response": {"usage": {"input_tokens": 5, "output_tokens": 2}}},
        ),
        call=(
            {
                "type": "response.output_item.done",
                "output_index": 0,
                "item": {"type": "function_call", "call_id": "c1", "name": "files_v1_read", "arguments": "{}"},
            },
            {"type": "response.completed", "response": {}},
        ),
        begun=({"type": "response.output_text.delta", "delta": "h"},),
        broken=(
            {"type": "response.output_text.delta", "delta": "h"},
            {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "overloaded"}}},
        ),
        refusal='{"error": {"message": "bad key", "type": "invalid_request_error"}}',
        names=True,
    ),
    "anthropic": Dialect(
        make=lambda http: AnthropicModel("m", http),
        text=anthropic_text("hi"),
        call=(
            {"type": "message_start", "message": {"usage": {"input_tokens": 5}}},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "tool_use", "id": "c1", "name": "files_v1_read", "input": {}},
            },
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}},
        ),
        begun=anthropic_text("h", None),
        broken=(*anthropic_text("h", None), {"type": "error", "error": {"message": "overloaded"}}),
        refusal='{"type": "error", "error": {"type": "authentication_error", "message": "bad key"}}',
        names=True,
    ),
    "gemini": Dialect(
        make=lambda http: GeminiModel("m", http),
        text=(gemini_parts({"text": "hi"}),),
        call=(gemini_parts({"functionCall": {"id": "c1", "name": "files_v1_read", "args": {}}}),),
        begun=(gemini_parts({"text": "h"}, finish=None),),
        broken=(gemini_parts({"text": "h"}, finish=None), {"error": {"message": "overloaded"}}),
        refusal='[{"error": {"code": 401, "message": "bad key", "status": "UNAUTHENTICATED"}}]',
    ),
}
every = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


def model_at(served: Vendor, dialect: Dialect, idle: float = 60.0) -> Model:
    return dialect.make(served.http(attempts=3, idle=idle))


async def ask(model: Model) -> list[ModelEvent]:
    return [event async for event in model.stream(ModelRequest(messages=[UserMessage("hello")]))]


@every
@pytest.mark.covers("R-MP-1", "R-MP-3", "R-MP-4", "R-MP-5")
async def test_a_limited_server_is_asked_again_and_tokens_are_counted(served: Vendor, dialect: Dialect) -> None:
    served.refuses(429, dialect.refusal, retry_after="0")
    served.refuses(529, dialect.refusal)
    served.streams(*dialect.text, names=dialect.names)

    events = await ask(model_at(served, dialect))

    assert [event for event in events if isinstance(event, TextDelta)] == [TextDelta("hi")]
    assert Usage(5, 2) in events
    assert events[-1] == Stop("end")
    assert len(served.asked) == 3


@every
@pytest.mark.covers("R-MP-5")
async def test_a_refusal_is_told_in_the_vendors_words_with_the_way_out(served: Vendor, dialect: Dialect) -> None:
    served.refuses(401, dialect.refusal)

    with pytest.raises(ModelError, match=r"answered 401: bad key\nCheck llm.api_key"):
        await ask(model_at(served, dialect))
    assert len(served.asked) == 1


@every
@pytest.mark.covers("R-MP-5")
async def test_patience_ends_and_says_so(served: Vendor, dialect: Dialect) -> None:
    served.refuses(503, "down")

    with pytest.raises(ModelError, match="answered 503: down"):
        await ask(model_at(served, dialect))
    assert len(served.asked) == 3


@every
@pytest.mark.covers("R-MP-5")
async def test_nothing_is_asked_again_once_an_answer_has_begun(served: Vendor, dialect: Dialect) -> None:
    served.streams(*dialect.broken, names=dialect.names)
    with pytest.raises(ModelError, match="overloaded"):
        await ask(model_at(served, dialect))

    served.answers.clear()
    served.falls_silent(*dialect.begun, names=dialect.names)
    with pytest.raises(ModelError, match="fell silent"):
        await ask(model_at(served, dialect, idle=2.0))
    assert len(served.asked) == 2


@every
@pytest.mark.covers("R-MP-5")
async def test_a_connection_that_ends_within_an_answer_is_not_called_unreachable(
    served: Vendor, dialect: Dialect
) -> None:
    served.breaks_off(*dialect.begun, names=dialect.names)

    with pytest.raises(ModelError, match="broke off in the middle of its answer"):
        await ask(model_at(served, dialect))
    assert len(served.asked) == 1


@every
@pytest.mark.covers("R-MP-5")
async def test_a_pause_longer_than_anyone_waits_ends_the_attempts(served: Vendor, dialect: Dialect) -> None:
    served.refuses(429, "slow down", retry_after="3600")

    with pytest.raises(ModelError, match="It asks for a pause of 3600 s"):
        await ask(model_at(served, dialect))
    assert len(served.asked) == 1


@every
@pytest.mark.covers("R-MP-9")
async def test_answers_share_one_connection(served: Vendor, dialect: Dialect) -> None:
    served.streams(*dialect.text, names=dialect.names)
    model = model_at(served, dialect)

    assert await ask(model) == await ask(model)

    assert len(served.connections) == 1


@pytest.mark.covers("R-MP-9")
async def test_an_answer_is_complete_although_its_connection_stays_open(served: Vendor) -> None:
    dialect = DIALECTS["openai"]
    served.falls_silent(*dialect.text)

    assert (await ask(model_at(served, dialect)))[-1] == Stop("end")


@tool("files.v1.read", NoArgs, title="Read")
async def read(context: None, args: NoArgs, call: Call) -> str:
    """Read."""
    return "content"


@every
@pytest.mark.covers("R-NA-2", "R-LO-6")
async def test_dotted_names_go_out_and_come_back_in_every_dialect(
    served: Vendor, dialect: Dialect, tmp_path: Path
) -> None:
    served.streams(*dialect.call, names=dialect.names)
    served.streams(*dialect.text, names=dialect.names)
    journal, spent = MemoryJournal(), list[Usage]()
    lease = await journal.take_lease("a", "test", 60)
    assert lease is not None
    writer = JournalWriter(journal, "a", lease)
    await writer.inject([{"message_id": "1", "mime": "text/plain", "text": "go"}], "1")
    settings = LoopSettings(text_policy="implicit_post", max_samplings=2)
    loop = Loop(model_at(served, dialect), FunctionToolset(None, [read]), writer, settings, Deltas(usage=spent.append))

    async def no_news() -> None:
        return None

    async with anyio.create_task_group() as tasks:
        await loop.turn(no_news, tasks)

    shown = writer.timeline.item("t:2-1")
    assert shown is not None
    assert (shown["name"], shown["status"]) == ("files.v1.read", "done")
    assert "files_v1_read" in str(served.asked[0])
    assert "files.v1.read" not in str(served.asked[0])
    assert "content" in str(served.asked[1])
    assert sum(one.output_tokens for one in spent) >= 2
