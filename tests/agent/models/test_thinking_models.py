"""Reasoning, images, caches and prices: what differs most between vendors."""

import pytest

from agent.models.test_http_dialects import TOOL, ask, without_parts
from agent.models.vendor import Vendor
from ui_mcp.agent.model import (
    ArgumentDelta,
    AssistantMessage,
    Message,
    ModelRequest,
    Picture,
    ReasoningDelta,
    Stop,
    TextDelta,
    ToolMessage,
    ToolUse,
    Usage,
    UserMessage,
)
from ui_mcp.agent.models import anthropic, choose_model, gemini, model_settings, openai, priced, responses, sees
from ui_mcp.agent.models.anthropic import AnthropicModel
from ui_mcp.agent.models.responses import ResponsesModel

CACHED = {"type": "ephemeral"}
THOUGHT = {"type": "reasoning", "id": "rs1", "summary": [], "encrypted_content": "sealed"}
ENDED = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}


@pytest.mark.covers("R-MP-10")
async def test_the_responses_api_streams_reasoning_text_and_calls(served: Vendor) -> None:
    call = {"type": "function_call", "id": "fc1", "call_id": "c9", "name": "weather__get", "arguments": ""}
    served.streams(
        {"type": "response.created", "response": {"id": "r1"}},
        {"type": "response.reasoning_summary_part.added", "summary_index": 0},
        {"type": "response.reasoning_summary_text.delta", "delta": "Which place?"},
        {"type": "response.output_item.done", "output_index": 0, "item": THOUGHT},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "Let me see."},
        {"type": "response.output_item.added", "output_index": 2, "item": call},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"place":"Oslo"}'},
        {"type": "response.output_item.done", "output_index": 2, "item": {**call, "arguments": '{"place":"Oslo"}'}},
        {
            "type": "response.completed",
            "response": {
                "usage": {"input_tokens": 90, "input_tokens_details": {"cached_tokens": 64}, "output_tokens": 7}
            },
        },
        names=True,
    )

    events = await ask(ResponsesModel("m", served.http()))

    assert ArgumentDelta("weather__get", '{"place":"Oslo"}') in events
    assert without_parts(events) == [
        ReasoningDelta("Which place?"),
        TextDelta("Let me see."),
        Usage(90, 7, 64),
        ToolUse("c9", "weather__get", {"place": "Oslo"}),
        Stop("tool_calls", {"reasoning": [THOUGHT]}),
    ]
    (asked,) = served.asked
    assert served.paths == ["/responses"]
    assert (asked["instructions"], asked["store"], asked["stream"]) == ("Be brief.", False, True)
    assert [item.get("type", item.get("role")) for item in asked["input"]] == [
        "user",
        "assistant",
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
        "user",
    ]


@pytest.mark.covers("R-MP-10")
async def test_encrypted_reasoning_goes_back_and_fields_that_a_model_refuses_are_left_out(served: Vendor) -> None:
    served.refuses(400, '{"error": {"message": "Encrypted content is not supported: encrypted_content"}}')
    served.streams({"type": "response.completed", "response": {}}, names=True)
    use = ToolUse("c1", "weather__get", {})
    past: list[Message] = [
        UserMessage("x"),
        AssistantMessage("", (use,), {"reasoning": [THOUGHT]}),
        ToolMessage("c1", "weather__get", "4"),
    ]

    await ask(ResponsesModel("m", served.http()), messages=past)

    first, second = served.asked
    assert first["input"][1] == THOUGHT
    assert {"include", "reasoning"} <= set(first)
    assert not {"include", "reasoning"} & set(second)


@pytest.mark.covers("R-MP-11")
async def test_anthropic_marks_three_places_for_its_cache_and_counts_what_came_from_it(served: Vendor) -> None:
    counts = {"input_tokens": 5, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 40}
    served.streams({"type": "message_start", "message": {"usage": counts}}, ENDED, names=True)

    events = await ask(AnthropicModel("m", served.http()))

    (asked,) = served.asked
    assert [part["cache_control"] for part in (asked["tools"][-1], asked["system"][-1])] == [CACHED, CACHED]
    assert asked["messages"][-1]["content"][-1]["cache_control"] == CACHED
    assert events[0] == Usage(945, 3, 900, 40)


@pytest.mark.covers("R-MP-12")
async def test_anthropic_is_asked_for_thoughts_in_the_way_that_its_model_takes(served: Vendor) -> None:
    served.refuses(400, '{"error": {"message": "adaptive thinking is not supported on this model"}}')
    served.streams(ENDED, names=True)
    model = AnthropicModel("m", served.http())
    request = ModelRequest([UserMessage("x")], reasoning="low", max_output_tokens=100)

    for _ in range(2):
        _ = [event async for event in model.stream(request)]

    assert [asked["thinking"]["type"] for asked in served.asked] == ["adaptive", "enabled", "enabled"]
    assert served.asked[0]["output_config"] == {"effort": "low"}
    assert served.asked[1]["max_tokens"] == 100 + served.asked[1]["thinking"]["budget_tokens"]


@pytest.mark.covers("R-MP-13")
def test_every_vendor_gets_an_image_in_its_own_form() -> None:
    request = ModelRequest([UserMessage("What is this?", (Picture("image/png", "AAAA"),))], tools=[TOOL])
    url = "data:image/png;base64,AAAA"

    assert openai.request_body("m", request)["messages"][0]["content"] == [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    assert responses.request_body("m", request)["input"][0]["content"][1] == {"type": "input_image", "image_url": url}
    assert anthropic.request_body("m", request)["messages"][0]["content"][0]["source"]["data"] == "AAAA"
    assert gemini.request_body(request, reduced=False)["contents"][0]["parts"][0] == {
        "inlineData": {"mimeType": "image/png", "data": "AAAA"}
    }


@pytest.mark.covers("R-MP-13")
@pytest.mark.parametrize(
    ("llm", "seeing"),
    [
        ({"provider": "anthropic", "model": "m"}, True),
        ({"api_base": "http://127.0.0.1:11434/v1", "model": "qwen2.5vl:7b"}, True),
        ({"api_base": "http://127.0.0.1:11434/v1", "model": "llama3.2"}, False),
        ({"api_base": "http://127.0.0.1:11434/v1", "model": "llama3.2", "vision": "on"}, True),
        ({"provider": "anthropic", "model": "m", "vision": "off"}, False),
    ],
)
def test_which_models_see_goes_by_vendor_and_name_unless_it_is_said(llm: dict[str, str], seeing: bool) -> None:
    assert sees(model_settings(llm)) is seeing


@pytest.mark.covers("R-MP-14")
def test_costs_come_from_configured_prices_and_are_unknown_without() -> None:
    prices = {"gpt-5*": {"input": 2, "output": 10, "cached": 0.5}}
    llm = {"api_key": "k", "model": "gpt-5-mini", "prices": prices, "currency": "EUR"}
    usage = Usage(1_000_000, 100_000, cached_tokens=400_000)

    known = priced(usage, model_settings(llm))
    unknown = priced(usage, model_settings({**llm, "model": "other"}))

    assert known.cost == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.1 * 10)
    assert known.currency == "EUR"
    assert (unknown.cost, unknown.model) == (None, "other")


@pytest.mark.covers("R-MP-12")
async def test_the_configured_effort_reaches_the_vendor(served: Vendor) -> None:
    served.streams({"choices": [{"delta": {"reasoning_content": "hm", "content": "ok"}}]}, "[DONE]")
    settings = model_settings({"api_base": served.url, "model": "m", "reasoning": "high"})
    model = choose_model(settings)

    events = [event async for event in model.stream(ModelRequest([UserMessage("x")]))]
    await model.close()

    assert served.asked[0]["reasoning_effort"] == "high"
    assert events == [ReasoningDelta("hm"), TextDelta("ok"), Stop("end")]
