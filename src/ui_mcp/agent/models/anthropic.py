"""Anthropic's Messages API."""

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Literal

from ui_mcp.agent.model import (
    ArgumentDelta,
    AssistantMessage,
    Message,
    ModelEvent,
    ModelRequest,
    Picture,
    ReasoningDelta,
    Retrying,
    Stop,
    StopReason,
    TextDelta,
    ToolMessage,
    ToolUse,
    Usage,
    UserMessage,
)
from ui_mcp.agent.models import Provider, Service
from ui_mcp.agent.models.http import ModelHttp, ServerEvent, read_arguments
from ui_mcp.agent.models.refusal import reported
from ui_mcp.agent.models.shapes import amount, position, record, text, tool_use
from ui_mcp.errors import ModelError
from ui_mcp.jsontypes import JsonObject

VERSION = "2023-06-01"
BASE_URL = "https://api.anthropic.com"
CHOICES = {"auto": "auto", "required": "any", "none": "none"}
REASONS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "filtered",
    "pause_turn": "paused",
}


THOUGHT_BUDGETS = {"low": 2048, "medium": 8192, "high": 24_576}
"""Tokens for thoughts, for models that take no effort."""
CACHED = {"type": "ephemeral"}
Thinking = Literal["adaptive", "budget", "none"]
_NEXT: dict[Thinking, Thinking] = {"adaptive": "budget", "budget": "none"}
_THINKING_REFUSED = re.compile(r"thinking|adaptive|output_config|effort|budget_tokens")


class AnthropicModel:
    """A model behind `POST {base}/v1/messages`."""

    def __init__(self, model: str, http: ModelHttp) -> None:
        self._model = model
        self._http = http
        self._thinking: Thinking = "adaptive"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        # Which of the two ways to ask for thoughts a model takes, and whether any, only its refusal tells.
        while request.reasoning and self._thinking in _NEXT:
            try:
                async for event in self._events(request):
                    yield event
                return
            except ModelError as error:
                if error.details.get("status") != 400 or not _THINKING_REFUSED.search(str(error.details.get("body"))):
                    raise
            self._thinking = _NEXT[self._thinking]
        async for event in self._events(request):
            yield event

    async def _events(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        answer = _Answer()
        body = request_body(self._model, request, self._thinking)
        async for event in self._http.post("/v1/messages", body):
            for piece in [event] if isinstance(event, Retrying) else answer.take(event):
                yield piece
        yield answer.stop()


def _headers(key: str) -> dict[str, str]:
    return {"x-api-key": key, "anthropic-version": VERSION}


PROVIDER = Provider(
    services=(Service("Anthropic", BASE_URL, "ANTHROPIC_API_KEY"),),
    make=lambda settings, http: AnthropicModel(settings.model, http),
    headers=_headers,
    serves=lambda address: "anthropic.com" in address,
)


def request_body(model: str, request: ModelRequest, thinking: Thinking = "none") -> JsonObject:
    """Return the body of a Messages request.

    Three places are marked for the vendor's cache: the end of the tools, of the system text and of the conversation. A
    request that begins like an earlier one, as each of a conversation does, is then read from the cache up to there.
    """
    body: JsonObject = {
        "model": model,
        "max_tokens": request.max_output_tokens,
        "stream": True,
        "messages": _marked_for_cache(_messages(request.messages)),
        **_thoughts(request, thinking),
    }
    if request.system:
        body["system"] = [{"type": "text", "text": request.system, "cache_control": CACHED}]
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.stop:
        body["stop_sequences"] = list(request.stop)
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
            for tool in request.tools
        ]
        body["tools"][-1]["cache_control"] = CACHED
        body["tool_choice"] = {"type": CHOICES[request.tool_choice]}
    return body


def _thoughts(request: ModelRequest, thinking: Thinking) -> JsonObject:
    if not request.reasoning or thinking == "none":
        return {}
    if thinking == "adaptive":
        shown = {"type": "adaptive", "display": "summarized"}
        return {"thinking": shown, "output_config": {"effort": request.reasoning}}
    budget = THOUGHT_BUDGETS[request.reasoning]
    return {
        "thinking": {"type": "enabled", "budget_tokens": budget},
        "max_tokens": request.max_output_tokens + budget,
    }


def _marked_for_cache(written: list[JsonObject]) -> list[JsonObject]:
    if written and written[-1]["role"] == "user":
        written[-1]["content"][-1]["cache_control"] = CACHED
    return written


def _messages(messages: Sequence[Message]) -> list[JsonObject]:
    """Merge consecutive messages of one role, because the API requires alternating roles and tool results first."""
    written: list[JsonObject] = []
    for message in messages:
        role, blocks = _blocks(message)
        if written and written[-1]["role"] == role:
            written[-1]["content"] += blocks
        else:
            written.append({"role": role, "content": blocks})
    for entry in written:
        if entry["role"] == "user":
            entry["content"].sort(key=lambda block: block["type"] != "tool_result")
    return written


def _blocks(message: Message) -> tuple[str, list[JsonObject]]:
    match message:
        case UserMessage(said, pictures):
            # The API rejects empty text.
            return "user", [*map(_picture, pictures), {"type": "text", "text": said or " "}]
        case ToolMessage(call_id, _, answer, is_error):
            return "user", [
                {
                    "type": "tool_result",
                    "tool_use_id": call_id,
                    "content": answer,
                    **({"is_error": True} if is_error else {}),
                }
            ]
        case AssistantMessage(written, calls, data):
            thoughts: list[JsonObject] = data.get("thinking", [])
            prose = [{"type": "text", "text": written}] if written else []
            uses = [
                {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments or {}} for call in calls
            ]
            return "assistant", [*thoughts, *prose, *uses]


def _picture(picture: Picture) -> JsonObject:
    return {"type": "image", "source": {"type": "base64", "media_type": picture.mime, "data": picture.data}}


@dataclass(slots=True)
class _Block:
    kind: str
    start: JsonObject
    text: str = ""
    signature: str = ""


@dataclass(slots=True)
class _Answer:
    """Collects the content blocks of one streamed answer."""

    blocks: dict[int, _Block] = field(default_factory=dict)
    thoughts: list[JsonObject] = field(default_factory=list)
    counts: JsonObject = field(default_factory=dict)
    """Token counts: the start of the answer has those of the request, its end the others or all."""
    reason: StopReason | None = None

    def take(self, event: ServerEvent) -> Iterable[ModelEvent]:
        data = record(event.json(), "an event")
        match data.get("type"):
            case "message_start":
                self.counts = record(record(data.get("message"), "a message").get("usage"), "usage")
            case "content_block_start":
                block = record(data.get("content_block"), "a block")
                begun = text(block.get("text"), "text") or text(block.get("thinking"), "thinking")
                self.blocks[_index(data)] = _Block(text(block.get("type"), "the type of a block"), block, begun)
            case "content_block_delta":
                return self._grow(self._block(data), record(data.get("delta"), "a delta"))
            case "content_block_stop":
                block_ended = self._block(data)
                del self.blocks[_index(data)]
                return self._end(block_ended)
            case "message_delta":
                return self._close(data)
            case "error":
                raise reported(data.get("error") or "an error")
        return ()

    def _block(self, data: JsonObject) -> _Block:
        found = self.blocks.get(_index(data))
        if found is None:
            raise ModelError(f"The model server sent more of block {_index(data)}, which it never began")
        return found

    def stop(self) -> Stop:
        if self.reason is None:
            raise ModelError("The model server ended its answer in the middle")
        return Stop(self.reason, {"thinking": self.thoughts} if self.thoughts else {})

    def _grow(self, block: _Block, delta: JsonObject) -> Iterable[ModelEvent]:
        match delta.get("type"):
            case "text_delta":
                return (TextDelta(text(delta.get("text"), "text")),)
            case "thinking_delta":
                thought = text(delta.get("thinking"), "thinking")
                block.text += thought
                return (ReasoningDelta(thought),)
            case "signature_delta":
                block.signature += text(delta.get("signature"), "a signature")
            case "input_json_delta":
                added = text(delta.get("partial_json"), "arguments")
                block.text += added
                return (ArgumentDelta(text(block.start.get("name"), "a name"), added),)
        return ()

    def _end(self, block: _Block) -> Iterable[ModelEvent]:
        match block.kind:
            case "tool_use":
                call_id, name = text(block.start.get("id"), "the id of a call"), text(block.start.get("name"), "a name")
                whole = block.start.get("input")
                if whole and not block.text:
                    return (tool_use(call_id, name, whole),)
                arguments, problem = read_arguments(block.text)
                return (ToolUse(call_id or f"call_{token_hex(8)}", name, arguments, problem),)
            case "thinking":
                self.thoughts.append({"type": "thinking", "thinking": block.text, "signature": block.signature})
            case "redacted_thinking":
                self.thoughts.append({"type": "redacted_thinking", "data": text(block.start.get("data"), "thinking")})
        return ()

    def _close(self, data: JsonObject) -> Iterable[ModelEvent]:
        if data.get("delta") is None:
            raise ModelError("The model server ended its answer without saying why")
        reason = text(record(data["delta"], "a delta").get("stop_reason"), "a stop_reason")
        self.reason = REASONS.get(reason, "end")
        later = record(data.get("usage"), "usage")

        def count(name: str) -> int:
            return amount(later.get(name)) or amount(self.counts.get(name))

        read, stored = count("cache_read_input_tokens"), count("cache_creation_input_tokens")
        return (Usage(count("input_tokens") + read + stored, count("output_tokens"), read, stored),)


def _index(data: JsonObject) -> int:
    return position(data.get("index"), "the index of a block")
