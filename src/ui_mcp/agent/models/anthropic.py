"""Anthropic's Messages API."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from secrets import token_hex

from ui_mcp.agent.model import (
    ArgumentDelta,
    AssistantMessage,
    Message,
    ModelEvent,
    ModelRequest,
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


class AnthropicModel:
    """A model behind `POST {base}/v1/messages`."""

    def __init__(self, model: str, http: ModelHttp) -> None:
        self._model = model
        self._http = http

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        answer = _Answer()
        async for event in self._http.post("/v1/messages", request_body(self._model, request)):
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


def request_body(model: str, request: ModelRequest) -> JsonObject:
    """Return the body of a Messages request."""
    body: JsonObject = {
        "model": model,
        "max_tokens": request.max_output_tokens,
        "stream": True,
        "messages": _messages(request.messages),
    }
    if request.system:
        body["system"] = request.system
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.stop:
        body["stop_sequences"] = list(request.stop)
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
            for tool in request.tools
        ]
        body["tool_choice"] = {"type": CHOICES[request.tool_choice]}
    return body


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
        case UserMessage(said):
            return "user", [{"type": "text", "text": said or " "}]  # the API rejects empty text
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
    input_tokens: int = 0
    reason: StopReason | None = None

    def take(self, event: ServerEvent) -> Iterable[ModelEvent]:
        data = record(event.json(), "an event")
        match data.get("type"):
            case "message_start":
                usage = record(record(data.get("message"), "a message").get("usage"), "usage")
                self.input_tokens = amount(usage.get("input_tokens"))
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
        usage = record(data.get("usage"), "usage")
        return (Usage(amount(usage.get("input_tokens")) or self.input_tokens, amount(usage.get("output_tokens"))),)


def _index(data: JsonObject) -> int:
    return position(data.get("index"), "the index of a block")
