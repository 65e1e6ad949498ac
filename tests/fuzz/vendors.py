"""Borders: what the vendors' model servers stream back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from fuzz.border import Border
from fuzz.values import any_json, damage, damaged, mutated, text_of
from ui_mcp.agent.model import Model, ModelEvent, ModelRequest, Stop, UserMessage
from ui_mcp.agent.models import ModelSettings, choose_model
from ui_mcp.errors import UiMcpError
from ui_mcp.jsontypes import dumps
from ui_mcp.validation import read

USAGE = {"prompt_tokens": 1, "completion_tokens": 2}
CALL = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
OPENAI = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hi", "reasoning_content": "hm"}}]},
    {"choices": [{"index": 0, "delta": {"tool_calls": [CALL]}, "finish_reason": None}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}], "usage": USAGE},
    {"error": {"message": "no", "code": 429}},
]
ANTHROPIC = [
    {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}},
    },
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"a":1}'}},
    {"type": "content_block_start", "index": 2, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "signature_delta", "signature": "s"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
    {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
]
GEMINI = [
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}, {"text": "hm", "thought": True}]}}]},
    {
        "candidates": [
            {"content": {"parts": [{"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "s"}]}}
        ]
    },
    {"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2}},
    {"promptFeedback": {"blockReason": "SAFETY"}},
]
RESPONSES_CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1}'}
RESPONSES = [
    {"type": "response.created", "response": {"id": "r"}},
    {"type": "response.reasoning_summary_part.added", "summary_index": 1},
    {"type": "response.reasoning_summary_text.delta", "delta": "hm"},
    {
        "type": "response.output_item.done",
        "output_index": 0,
        "item": {"type": "reasoning", "id": "x", "summary": [{"type": "summary_text"}], "encrypted_content": "s"},
    },
    {"type": "response.output_text.delta", "output_index": 1, "delta": "Hi"},
    {"type": "response.output_item.added", "output_index": 2, "item": RESPONSES_CALL},
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"a"'},
    {"type": "response.output_item.done", "output_index": 2, "item": RESPONSES_CALL},
    {
        "type": "response.completed",
        "response": {"usage": {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 1}, "output_tokens": 2}},
    },
    {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}},
    {"type": "response.failed", "response": {"error": {"code": "x", "message": "no"}}},
    {"type": "error", "message": "no"},
]
GOOD: dict[str, bytes] = {
    "openai": b'data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    "anthropic": b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n'
    b'data: {"type":"message_stop"}\n\n',
    "responses": b'data: {"type":"response.completed","response":{}}\n\n',
    "gemini": b'data: {"candidates":[{"content":{"parts":[{"text":"ok"}]},"finishReason":"STOP"}]}\n\n',
}


class Vendor:
    """A model server on loopback that answers with the case, and one conversation beside it that gets a good answer."""

    def __init__(self, provider: str, url: str) -> None:
        self.body, self._provider = GOOD[provider], provider
        settings = {"provider": provider, "api_base": url, "api_key": "k", "model": "m", "timeout_s": 30}
        self._models: list[Model] = [
            choose_model(read(ModelSettings, settings), attempts=1) for _ in ("fuzzed", "neighbour")
        ]

    async def take(self, case: bytes) -> None:
        self.body = case
        with suppress(UiMcpError):
            for event in await asked(self._models[0]):
                assert isinstance(event, ModelEvent)

    async def neighbour_answers(self) -> None:
        self.body = GOOD[self._provider]
        assert isinstance((await asked(self._models[1]))[-1], Stop)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = next(int(row[15:]) for row in head.split(b"\r\n") if row.lower().startswith(b"content-length:"))
                await reader.readexactly(size)
                start = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n"
                writer.write(start % len(self.body) + self.body)
                await writer.drain()
        writer.close()


async def asked(model: Model) -> list[ModelEvent]:
    """Return everything the model says, and see that it can be written down as our journal does."""
    events = [event async for event in model.stream(ModelRequest([UserMessage("hello")]))]
    for event in events:
        for name in event.__slots__:
            dumps(getattr(event, name))
    return events


def opened(provider: str) -> Any:
    """Return how a vendor's border is opened."""

    @asynccontextmanager
    async def open_vendor(folder: Path) -> AsyncIterator[Vendor]:
        found: list[Vendor] = []
        server = await asyncio.start_server(lambda *pipes: found[0].serve(*pipes), "127.0.0.1", 0)  # noqa: PLW0108 - not made yet
        async with server:
            found.append(Vendor(provider, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
            yield found[0]
            server.close()

    return open_vendor


def streams(samples: list[Any]) -> st.SearchStrategy[bytes]:
    """Return event streams: good, wrong and broken events, in any order, with damaged framing."""
    event = st.sampled_from(samples) | mutated(*samples) | any_json
    data = st.builds(text_of, event) | st.sampled_from(["[DONE]", "", "{", "null", "[]"])
    name = st.sampled_from(["", "event: ping\n", "event: error\r\n", ": hello\n", "id: 1\n", "retry: x\n", "data\n"])
    end = st.sampled_from(["\n\n", "\r\n\r\n", "\n", "\r\r", ""])
    framed = st.builds(lambda before, text, after: f"{before}data: {text}{after}", name, data, end)
    whole = st.lists(framed, max_size=6).map(lambda parts: "".join(parts).encode())
    return whole | st.builds(damaged, whole, damage)


BORDERS = [
    Border("OpenAI stream", streams(OPENAI), opened("openai"), 450),
    Border("OpenAI responses stream", streams(RESPONSES), opened("responses"), 450),
    Border("Anthropic stream", streams(ANTHROPIC), opened("anthropic"), 450),
    Border("Gemini stream", streams(GEMINI), opened("gemini"), 450),
]
