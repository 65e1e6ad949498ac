"""Each vendor's dialect over real HTTP: what we send, what we understand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.vendor import Vendor
from ui_mcp.agent.model import (
    ArgumentDelta,
    AssistantMessage,
    Message,
    Model,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    Retrying,
    Stop,
    TextDelta,
    ToolMessage,
    ToolOffer,
    ToolUse,
    Usage,
    UserMessage,
)
from ui_mcp.agent.models import anthropic, gemini, openai
from ui_mcp.agent.models.anthropic import AnthropicModel
from ui_mcp.agent.models.gemini import GeminiModel
from ui_mcp.agent.models.http import Endpoint, ModelHttp, read_arguments, retry_after
from ui_mcp.agent.models.openai import OpenAiModel
from ui_mcp.errors import ModelError

SCHEMA = {"type": "object", "properties": {"place": {"type": "string"}}, "additionalProperties": False}
TOOL = ToolOffer("weather__get", "The weather.", SCHEMA)
PAST: list[Message] = [
    UserMessage("Weather?"),
    AssistantMessage(
        "Two places.", (ToolUse("c1", "weather__get", {"place": "Oslo"}), ToolUse("c2", "weather__get", {}))
    ),
    ToolMessage("c1", "weather__get", '{"degrees": 4}'),
    ToolMessage("c2", "weather__get", "no such place", is_error=True),
    UserMessage("And now?"),
]


async def ask(model: Model, *, required: bool = False, messages: list[Message] | None = None) -> list[ModelEvent]:
    request = ModelRequest(
        messages or PAST, system="Be brief.", tools=[TOOL], tool_choice="required" if required else "auto"
    )
    return [event async for event in model.stream(request)]


def chunk(delta: dict[str, object] | None = None, finish: str | None = None, **rest: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **rest}


@pytest.mark.covers("R-MP-1")
async def test_openai_requests_and_streamed_calls(served: Vendor) -> None:
    served.streams(
        chunk({"role": "assistant", "content": "Let "}),
        chunk({"content": "me see."}),
        chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "weather__get", "arguments": ""}}]}),
        chunk({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "weather__get", "arguments": '{"pl'}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"place":'}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"Oslo"}'}}]}),
        chunk({"tool_calls": [{"index": 1, "function": {"arguments": 'ace":"Rome"}'}}]}),
        chunk(finish="tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 5}},
        "[DONE]",
    )

    events = await ask(OpenAiModel("m", served.http(openai.PROVIDER.headers("k3y"))), required=True)

    parts = {"weather__get": "".join(one.text for one in events if isinstance(one, ArgumentDelta))}
    assert parts == {"weather__get": '{"pl{"place":"Oslo"}ace":"Rome"}'}  # of two calls, in the order of arrival
    assert without_parts(events) == [
        TextDelta("Let "),
        TextDelta("me see."),
        Usage(11, 5),
        ToolUse("a", "weather__get", {"place": "Oslo"}),
        ToolUse("b", "weather__get", {"place": "Rome"}),
        Stop("tool_calls"),
    ]
    (asked,) = served.asked
    assert served.paths == ["/chat/completions"]
    assert served.headers[0]["authorization"] == "Bearer k3y"
    assert (asked["tool_choice"], asked["stream_options"]) == ("required", {"include_usage": True})
    assert [message["role"] for message in asked["messages"]] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert asked["messages"][2]["tool_calls"][0]["function"] == {
        "name": "weather__get",
        "arguments": '{"place":"Oslo"}',
    }
    assert asked["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": '{"degrees": 4}'}


def without_parts(events: list[ModelEvent]) -> list[ModelEvent]:
    return [event for event in events if not isinstance(event, ArgumentDelta)]


@pytest.mark.covers("R-MP-2")
async def test_a_whole_call_without_index_or_id_gets_an_id(served: Vendor) -> None:
    call = {"function": {"name": "weather__get", "arguments": {"place": "Oslo"}}, "id": ""}
    served.streams(chunk({"tool_calls": [call]}), chunk({"tool_calls": [call]}), chunk(finish="stop"), "[DONE]")

    first, second, stop = without_parts(await ask(OpenAiModel("m", served.http())))

    assert isinstance(first, ToolUse)
    assert isinstance(second, ToolUse)
    assert first.id != second.id
    assert first.arguments == second.arguments == {"place": "Oslo"}
    assert stop == Stop("tool_calls")


@pytest.mark.covers("R-MP-1")
async def test_fields_a_server_refuses_are_left_out_from_then_on(served: Vendor) -> None:
    served.refuses(400, '{"error": {"message": "unknown field: stream_options"}}')
    served.streams(chunk({"content": "hi"}, "stop"), "[DONE]")
    model = OpenAiModel("m", served.http())

    assert await ask(model) == [TextDelta("hi"), Stop("end")]
    assert await ask(model) == [TextDelta("hi"), Stop("end")]
    assert ["stream_options" in asked for asked in served.asked] == [True, False, False]


@pytest.mark.covers("R-MP-3")
async def test_anthropic_blocks_thoughts_and_results(served: Vendor) -> None:
    served.streams(
        {"type": "message_start", "message": {"usage": {"input_tokens": 20}}},
        {"type": "ping"},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Let me see."}},
        {"type": "content_block_stop", "index": 1},
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "tool_use", "id": "t1", "name": "weather__get", "input": {}},
        },
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"place":'}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '"Oslo"}'}},
        {"type": "content_block_stop", "index": 2},
        {
            "type": "content_block_start",
            "index": 3,
            "content_block": {"type": "tool_use", "id": "t2", "name": "weather__get", "input": {}},
        },
        {"type": "content_block_stop", "index": 3},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
        names=True,
    )

    events = await ask(AnthropicModel("m", served.http(anthropic.PROVIDER.headers("k3y"))), required=True)

    thoughts = [{"type": "thinking", "thinking": "hm", "signature": "sig"}]
    assert ArgumentDelta("weather__get", '{"place":') in events
    assert without_parts(events) == [
        ReasoningDelta("hm"),
        TextDelta("Let me see."),
        ToolUse("t1", "weather__get", {"place": "Oslo"}),
        ToolUse("t2", "weather__get", {}),
        Usage(20, 9),
        Stop("tool_calls", {"thinking": thoughts}),
    ]
    (asked,) = served.asked
    assert served.paths == ["/v1/messages"]
    assert (served.headers[0]["x-api-key"], served.headers[0]["anthropic-version"]) == ("k3y", "2023-06-01")
    cached = {"type": "ephemeral"}
    assert asked["system"] == [{"type": "text", "text": "Be brief.", "cache_control": cached}]
    assert (asked["tool_choice"], asked["max_tokens"]) == ({"type": "any"}, 4096)
    user, assistant, results = asked["messages"]
    assert (user["role"], assistant["role"], results["role"]) == ("user", "assistant", "user")
    assert [block["type"] for block in results["content"]] == ["tool_result", "tool_result", "text"]
    assert results["content"][1]["is_error"] is True


@pytest.mark.covers("R-MP-3")
async def test_anthropic_thoughts_go_back_unchanged(served: Vendor) -> None:
    served.streams({"type": "message_delta", "delta": {"stop_reason": "pause_turn"}, "usage": {}}, names=True)
    thought = {"type": "thinking", "thinking": "hm", "signature": "sig"}

    events = await ask(
        AnthropicModel("m", served.http()),
        messages=[UserMessage("x"), AssistantMessage("y", provider_data={"thinking": [thought]}), UserMessage("z")],
    )

    assert events[-1] == Stop("paused")
    assert served.asked[0]["messages"][1]["content"] == [thought, {"type": "text", "text": "y"}]


@pytest.mark.covers("R-MP-4")
async def test_gemini_parts_and_signatures(served: Vendor) -> None:
    call = {"functionCall": {"name": "weather__get", "args": {"place": "Oslo"}}, "thoughtSignature": "s1"}
    served.streams(
        {"candidates": [{"content": {"parts": [{"text": "hm", "thought": True}, {"text": "Let me see."}]}}]},
        {"candidates": [{"content": {"parts": [call]}, "finishReason": "STOP"}]},
        {"usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 2, "thoughtsTokenCount": 1}},
    )

    events = await ask(GeminiModel("m", served.http(gemini.PROVIDER.headers("k3y"))), required=True)

    use = events[3]
    assert events[:3] == [ReasoningDelta("hm"), TextDelta("Let me see."), Usage(8, 3)]
    assert isinstance(use, ToolUse)
    assert (use.name, use.arguments, use.provider_data) == (
        "weather__get",
        {"place": "Oslo"},
        {"thoughtSignature": "s1"},
    )
    assert events[4] == Stop("tool_calls")
    (asked,) = served.asked
    assert served.paths == ["/models/m:streamGenerateContent?alt=sse"]
    assert served.headers[0]["x-goog-api-key"] == "k3y"
    assert asked["toolConfig"]["functionCallingConfig"]["mode"] == "ANY"
    assert asked["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"] == SCHEMA
    assert [content["role"] for content in asked["contents"]] == ["user", "model", "user"]
    assert asked["contents"][2]["parts"][0]["functionResponse"]["response"] == {"degrees": 4}
    assert asked["contents"][2]["parts"][1]["functionResponse"]["response"] == {"error": "no such place"}

    await ask(
        GeminiModel("m", served.http()), messages=[UserMessage("x"), AssistantMessage(calls=(use,)), UserMessage("y")]
    )
    assert served.asked[1]["contents"][1]["parts"][0]["thoughtSignature"] == "s1"


@pytest.mark.covers("R-MP-4")
async def test_gemini_falls_back_to_the_reduced_schema(served: Vendor) -> None:
    served.refuses(400, '{"error": {"message": "Unknown name \\"parametersJsonSchema\\""}}')
    served.streams({"candidates": [{"content": {"parts": [{"text": "hi"}]}, "finishReason": "STOP"}]})

    assert await ask(GeminiModel("m", served.http())) == [TextDelta("hi"), Stop("end")]
    declared = served.asked[1]["tools"][0]["functionDeclarations"][0]
    assert declared["parameters"] == {"type": "object", "properties": {"place": {"type": "string"}}}


@pytest.mark.covers("R-MP-5")
async def test_busy_servers_are_tried_again_and_hopeless_ones_are_not(served: Vendor) -> None:
    served.refuses(429, "slow down", retry_after="0")
    served.refuses(503, "not yet")
    served.streams(chunk({"content": "hi"}, "stop"), "[DONE]")

    first, second, *answer = await ask(OpenAiModel("m", served.http(idle=30)))

    assert answer == [TextDelta("hi"), Stop("end")]
    assert first == Retrying("The model server answered 429: slow down", 0.0, 2, 6)
    assert isinstance(second, Retrying)
    assert (second.reason, second.attempt) == ("The model server answered 503: not yet", 3)
    assert len(served.asked) == 3

    served.answers.clear()
    served.refuses(401, '{"error": {"message": "bad key"}}')
    with pytest.raises(ModelError, match="answered 401: bad key"):
        await ask(OpenAiModel("m", served.http(idle=30)))
    assert len(served.asked) == 4


@pytest.mark.covers("R-MP-5")
async def test_an_answer_that_breaks_off_is_an_error(served: Vendor) -> None:
    served.streams({"type": "message_start", "message": {}}, names=True)

    with pytest.raises(ModelError, match="in the middle"):
        await ask(AnthropicModel("m", served.http()))


@pytest.mark.covers("R-MP-5")
async def test_a_server_that_is_not_there_is_named() -> None:
    http = ModelHttp(Endpoint("http://127.0.0.1:9", attempts=2, first_wait=0.001))

    with pytest.raises(ModelError, match=r"Cannot reach the model server at http://127\.0\.0\.1:9"):
        await ask(OpenAiModel("m", http))


@pytest.mark.covers("R-MP-5")
def test_retry_after_reads_seconds_and_dates() -> None:
    assert retry_after("3", lambda: 0) == 3
    assert retry_after("Thu, 01 Jan 1970 00:01:00 GMT", lambda: 20.0) == 40
    assert retry_after("soon", lambda: 0) is None
    assert retry_after("Mon, 99999999999999999999 Jan 2024 00:00:00 GMT", lambda: 0) is None
    assert retry_after(None, lambda: 0) is None


@pytest.mark.covers("R-MP-6")
@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        ("  ", {}),
        ('{"a": 1}', {"a": 1}),
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('{"a": ",}"}', {"a": ",}"}),
    ],
)
def test_trivially_broken_arguments_are_repaired(text: str, arguments: dict[str, object]) -> None:
    assert read_arguments(text) == (arguments, None)


@pytest.mark.covers("R-MP-6")
@given(st.text())
def test_no_argument_text_crashes(text: str) -> None:
    arguments, problem = read_arguments(text)

    assert (arguments is None) == (problem is not None)
