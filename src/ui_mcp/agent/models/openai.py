"""The chat completions API of OpenAI, Ollama, LM Studio, vLLM, DeepSeek and many others."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from secrets import token_hex

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
from ui_mcp.agent.models.http import ModelHttp, read_arguments
from ui_mcp.agent.models.refusal import reported
from ui_mcp.agent.models.shapes import amount, listed, position, prose, record, text
from ui_mcp.errors import ModelError
from ui_mcp.jsontypes import Json, JsonObject, dumps

OPTIONAL = ("stream_options", "parallel_tool_calls", "reasoning_effort")
"""Fields that some servers reject; the request is then repeated without them."""
SEEING = re.compile(
    r"gpt-4o|gpt-4\.1|gpt-[5-9]|^o[1345]\b|claude|gemini|gemma-?3|vision|[-_.\d]vl\b|llava|pixtral|llama-?4|minicpm-v",
    re.IGNORECASE,
)
"""Names of models that take images; servers of this API do not tell."""
REASONS: dict[str, StopReason] = {
    "stop": "end",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "filtered",
}


class OpenAiModel:
    """A model behind `POST {base}/chat/completions`."""

    def __init__(self, model: str, http: ModelHttp) -> None:
        self._model = model
        self._http = http
        self._omit_optional = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        body = request_body(self._model, request)
        if self._omit_optional:
            body = _without_optional(body)
        try:
            async for event in self._events(body):
                yield event
            return
        except ModelError as error:
            if self._omit_optional or error.details.get("status") not in {400, 422} or not _names_optional(error):
                raise
        self._omit_optional = True
        async for event in self._events(_without_optional(body)):
            yield event

    async def _events(self, body: JsonObject) -> AsyncIterator[ModelEvent]:
        answer = _Answer()
        async for event in self._http.post("/chat/completions", body, end="[DONE]"):
            for piece in [event] if isinstance(event, Retrying) else answer.take(event.json()):
                yield piece
        for piece in answer.finish():
            yield piece


def _headers(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key or 'none'}"}


PROVIDER = Provider(
    services=(
        Service("OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        Service("DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
        Service("Ollama", "http://127.0.0.1:11434/v1"),
        Service("LM Studio", "http://127.0.0.1:1234/v1"),
        Service("llama.cpp", "http://127.0.0.1:8080/v1"),
    ),
    make=lambda settings, http: OpenAiModel(settings.model, http),
    headers=_headers,
    sees=lambda settings: SEEING.search(settings.model) is not None,
    summary="also Ollama, LM Studio, llama.cpp, vLLM, DeepSeek",
)


def request_body(model: str, request: ModelRequest) -> JsonObject:
    """Return the body of a chat completions request."""
    system = [{"role": "system", "content": request.system}] if request.system else []
    body: JsonObject = {
        "model": model,
        "messages": [*system, *(_message(message) for message in request.messages)],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": request.max_output_tokens,
    }
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.reasoning:
        body["reasoning_effort"] = request.reasoning
    if request.stop:
        body["stop"] = list(request.stop)
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
            }
            for tool in request.tools
        ]
        body["tool_choice"] = request.tool_choice
        body["parallel_tool_calls"] = True
    return body


def _message(message: Message) -> JsonObject:
    match message:
        case UserMessage(asked, ()):
            return {"role": "user", "content": asked}
        case UserMessage(asked, pictures):
            shown = [{"type": "image_url", "image_url": {"url": data_url(picture)}} for picture in pictures]
            return {"role": "user", "content": [*([{"type": "text", "text": asked}] if asked else []), *shown]}
        case ToolMessage(call_id, _, answer):
            return {"role": "tool", "tool_call_id": call_id, "content": answer}
        case AssistantMessage(written, calls):
            said: JsonObject = {"role": "assistant", "content": written or None}
            if calls:
                said["tool_calls"] = [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": dumps(call.arguments or {})},
                    }
                    for call in calls
                ]
            return said


def data_url(picture: Picture) -> str:
    return f"data:{picture.mime};base64,{picture.data}"


def _without_optional(body: JsonObject) -> JsonObject:
    return {key: value for key, value in body.items() if key not in OPTIONAL}


def _names_optional(error: ModelError) -> bool:
    body = str(error.details.get("body", ""))
    return any(name in body for name in OPTIONAL)


def _usage(usage: JsonObject) -> Usage:
    details = record(usage.get("prompt_tokens_details"), "prompt_tokens_details")
    # DeepSeek has a name of its own.
    cached = amount(details.get("cached_tokens")) or amount(usage.get("prompt_cache_hit_tokens"))
    return Usage(amount(usage.get("prompt_tokens")), amount(usage.get("completion_tokens")), cached)


@dataclass(slots=True)
class _PartialCall:
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class _Answer:
    """Merges the chunks of an answer: id and name of a call come first, its arguments in parts."""

    calls: list[_PartialCall] = field(default_factory=list)
    by_index: dict[int, _PartialCall] = field(default_factory=dict)
    reason: StopReason = "end"

    def take(self, event: Json) -> list[ModelEvent]:
        chunk = record(event, "a piece")
        if chunk.get("error"):
            raise reported(chunk["error"])
        events: list[ModelEvent] = []
        for given in listed(chunk.get("choices"), "choices"):
            if given is None:
                raise ModelError("The model server sent a choice that cannot be read: it is null")
            choice = record(given, "a choice")
            events += self._delta(record(choice.get("delta"), "a delta"))
            if finished := text(choice.get("finish_reason"), "a finish_reason"):
                self.reason = REASONS.get(finished, "end")
        if usage := record(chunk.get("usage"), "usage"):
            events.append(_usage(usage))
        return events

    def _delta(self, delta: JsonObject) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        if thought := delta.get("reasoning_content") or delta.get("reasoning"):
            events.append(ReasoningDelta(str(thought)))
        if said := prose(delta.get("content"), "content"):
            events.append(TextDelta(said))
        pieces = listed(delta.get("tool_calls"), "tool_calls")
        return [*events, *(self._merge(record(piece, "a tool call")) for piece in pieces)]

    def finish(self) -> list[ModelEvent]:
        uses: list[ModelEvent] = []
        for call in self.calls:
            arguments, problem = read_arguments(call.arguments)
            uses.append(ToolUse(call.id or f"call_{token_hex(8)}", call.name, arguments, problem))
        return [*uses, Stop("tool_calls" if uses else self.reason)]

    def _merge(self, piece: JsonObject) -> ArgumentDelta:
        function = record(piece.get("function"), "a function")
        call = self._call_for(piece, function)
        call.id = text(piece.get("id"), "the id of a call") or call.id
        call.name = text(function.get("name"), "the name of a call") or call.name
        arguments = function.get("arguments")
        added = arguments if isinstance(arguments, str) else dumps(arguments) if arguments else ""
        call.arguments += added
        return ArgumentDelta(call.name, added)

    def _call_for(self, piece: JsonObject, function: JsonObject) -> _PartialCall:
        if piece.get("index") is None:
            # Some servers send whole calls without an index: a name begins a new call.
            if function.get("name") or not self.calls:
                self.calls.append(_PartialCall())
            return self.calls[-1]
        index = position(piece["index"], "the index of a call")
        if index not in self.by_index:
            self.by_index[index] = _PartialCall()
            self.calls.append(self.by_index[index])
        return self.by_index[index]
