"""Reasoning, tokens and cost are kept with each answer, and their sums outlive a restart."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest

from agent.test_loop import ToolContext, post
from agent.test_orchestrator import People
from ui_mcp.agent.conversation import Conversation
from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.agent.journal_writer import JournalWriter, Spending
from ui_mcp.agent.live import LiveAnswer
from ui_mcp.agent.loop import Loop, LoopSettings
from ui_mcp.agent.model import ModelEvent, ModelRequest, ReasoningDelta, Stop, TextDelta, Usage
from ui_mcp.agent.sampler import Deltas
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import FunctionToolset


class ThinkingModel:
    """Counts its tokens up with every piece, as some vendors do."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield ReasoningDelta("Let me ")
        yield Usage(100, 1)
        yield ReasoningDelta("think.")
        yield TextDelta("Done.")
        yield Usage(100, 7, cached_tokens=40, model="m", cost=0.25, currency="EUR")
        yield Stop("end")


def make_loop(writer: JournalWriter, deltas: Deltas) -> Loop:
    tools = FunctionToolset(ToolContext(), [post])
    return Loop(ThinkingModel(), tools, writer, LoopSettings(text_policy="implicit_post"), deltas)


@pytest.mark.covers("R-UI-12", "R-MP-14")
async def test_the_reasoning_and_the_last_count_are_kept_with_the_answer(tmp_path: Path) -> None:
    journal = JournalStore(tmp_path / "j.db")
    usage = {
        "input_tokens": 100,
        "output_tokens": 7,
        "cached_tokens": 40,
        "model": "m",
        "cost": 0.25,
        "currency": "EUR",
    }
    for count in (1, 2):
        conversation = Conversation("c", journal, People(*["hello", "again"][:count]), make_loop)
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                await tasks.start(conversation.run)
                while len(items := _of_kind(conversation, "end_turn")) < count:
                    await anyio.sleep(0.01)
                tasks.cancel_scope.cancel()
        assert len(items) == count
        (*_, sampling) = _of_kind(conversation, "sampling")
        assert (sampling["reasoning"], sampling["usage"]) == ("Let me think.", usage)
        assert conversation.snapshot()["usage"] == {
            "input_tokens": 100 * count,
            "output_tokens": 7 * count,
            "cached_tokens": 40 * count,
            "cost": 0.25 * count,
            "currency": "EUR",
        }
    await journal.close()


@pytest.mark.covers("R-MP-14")
def test_answers_without_a_price_are_counted_apart() -> None:
    spent = Spending().plus({"input_tokens": 5, "output_tokens": 5})

    assert "cost" not in spent.as_json()
    assert spent.plus({"input_tokens": 1, "output_tokens": 1, "cost": 2.0, "currency": "EUR"}).as_json() == {
        "input_tokens": 6,
        "output_tokens": 6,
        "cost": 2.0,
        "currency": "EUR",
        "unpriced": 10,
    }


@pytest.mark.covers("R-UI-12")
async def test_what_the_model_thinks_is_shared_until_it_writes() -> None:
    published: list[JsonObject | None] = []

    async def publish(shown: JsonObject | None) -> None:
        published.append(shown)

    live = LiveAnswer(publish, frozenset({"post"}), shows_text=True)
    deltas = live.deltas()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(live.run)
        steps: list[Callable[[], None]] = [
            lambda: deltas.reasoning("hm"),
            lambda: deltas.text("Hi"),
            deltas.sampled,
        ]
        for happens in steps:
            await anyio.wait_all_tasks_blocked()
            happens()
            before = len(published)
            with anyio.fail_after(60):
                while len(published) == before:
                    await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()

    assert published == [None, {"text": "", "reasoning": "hm"}, {"text": "Hi"}, None]


def _of_kind(conversation: Conversation, kind: str) -> list[JsonObject]:
    return [item for item in conversation.journal.timeline.state.items if item["kind"] == kind]
