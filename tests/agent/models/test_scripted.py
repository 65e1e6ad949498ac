"""The scripted model: deterministic, offline, quotable."""

import pytest

from ui_mcp.agent.model import (
    AssistantMessage,
    Message,
    Model,
    ModelEvent,
    ModelRequest,
    Stop,
    TextDelta,
    ToolMessage,
    ToolUse,
    Usage,
    UserMessage,
)
from ui_mcp.agent.models.scripted import ScriptedModel, read_script
from ui_mcp.errors import ConfigError, ModelError

SCRIPT = [
    {
        "when": {"user": "weather in (\\w+)"},
        "emit": [{"say": "Looking…"}, {"call": "weather__get", "args": {"place": "{{user}}"}}, {"usage": [7, 3]}],
    },
    {"when": {"tool_result": "degrees"}, "emit": [{"say": "It is {{result.degrees}} degrees, {{ result.days.1 }}."}]},
    {"when": {"user": "once"}, "emit": [{"say": "first"}], "once": True},
    {"when": {"user": "fail"}, "emit": [{"error": "out of tokens"}]},
    {"emit": [{"say": "I do not know."}]},
]


async def answered(model: Model, *messages: Message) -> list[ModelEvent]:
    return [event async for event in model.stream(ModelRequest(messages))]


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(read_script(SCRIPT))


def text_of(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.mark.covers("R-MP-8")
async def test_a_step_that_fits_says_and_calls(model: ScriptedModel) -> None:
    events = await answered(model, UserMessage("Weather in Oslo?"))

    assert text_of(events) == "Looking…"
    assert events[1:] == [
        ToolUse("call_1", "weather__get", {"place": "Weather in Oslo?"}),
        Usage(7, 3),
        Stop("tool_calls"),
    ]


@pytest.mark.covers("R-MP-8")
async def test_results_can_be_quoted_by_path(model: ScriptedModel) -> None:
    said = AssistantMessage(calls=(ToolUse("call_1", "weather__get", {}),))
    result = ToolMessage("call_1", "weather__get", '{"degrees": 4, "days": ["mon", "tue"]}')

    assert text_of(await answered(model, UserMessage("x"), said, result)) == "It is 4 degrees, tue."


@pytest.mark.covers("R-MP-8")
async def test_a_step_can_serve_once_and_the_last_one_always(model: ScriptedModel) -> None:
    assert text_of(await answered(model, UserMessage("once"))) == "first"
    assert text_of(await answered(model, UserMessage("once"))) == "I do not know."


@pytest.mark.covers("R-MP-8")
async def test_a_script_can_fail_like_a_vendor(model: ScriptedModel) -> None:
    with pytest.raises(ModelError, match="out of tokens"):
        await answered(model, UserMessage("fail"))


@pytest.mark.parametrize("step", [{}, {"emit": [{"shout": "x"}]}, {"when": {"user": "("}, "emit": []}])
def test_a_wrong_script_is_refused_by_step(step: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="Step 2 of the script"):
        read_script([{"emit": []}, step])
