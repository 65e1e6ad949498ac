"""The chat-completions dialect: OpenAI, Ollama, LM Studio, vLLM, DeepSeek and many others."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from ui_mcp.agent.model import (
    AssistantSays,
    Message,
    ModelError,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    Stop,
    StopReason,
    TextDelta,
    ToolSays,
    ToolUse,
    Usage,
    UserSays,
)
from ui_mcp.agent.models.arguments import read_arguments
from ui_mcp.agent.models.http import Endpoint, ModelHttp
from ui_mcp.ids import secret_id
from ui_mcp.jsontypes import JsonObject, dumps

OPTIONAL = ("stream_options", "parallel_tool_calls")
"""Fields that some servers refuse; the request is tried once more without them."""
REASONS: dict[str, StopReason] = {
    "stop": "end",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "filtered",
}


class OpenAiModel:
    """A model behind `POST {base}/chat/completions`."""

    def __init__(self, model: str, base_url: str, key: str = "none", http: ModelHttp | None = None) -> None:
        self._model = model
        self._http = http or ModelHttp(Endpoint(base_url, {"authorization": f"Bearer {key}"}))
        self._plain = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Answer in pieces."""
        body = request_body(self._model, request)
        if self._plain:
            body = _without_optional(body)
        try:
            async for event in self._events(body):
                yield event
            return
        except ModelError as error:
            if self._plain or error.details.get("status") not in {400, 422} or not _names_optional(error):
                raise
        self._plain = True
        async for event in self._events(_without_optional(body)):
            yield event

    async def _events(self, body: JsonObject) -> AsyncIterator[ModelEvent]:
        answer = _Answer()
        async for event in self._http.post("/chat/completions", body):
            if event.data.strip() == "[DONE]":
                break
            for piece in answer.take(event.json()):
                yield piece
        for piece in answer.finish():
            yield piece


def request_body(model: str, request: ModelRequest) -> JsonObject:
    """Write a sampling in this dialect."""
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
        case UserSays(text):
            return {"role": "user", "content": text}
        case ToolSays(call_id, _, text):
            return {"role": "tool", "tool_call_id": call_id, "content": text}
        case AssistantSays(text, calls):
            said: JsonObject = {"role": "assistant", "content": text or None}
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


def _without_optional(body: JsonObject) -> JsonObject:
    return {key: value for key, value in body.items() if key not in OPTIONAL}


def _names_optional(error: ModelError) -> bool:
    body = str(error.details.get("body", ""))
    return any(name in body for name in OPTIONAL)


@dataclass(slots=True)
class _PartialCall:
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class _Answer:
    """Merges the pieces of an answer: a call's id and name come first, its arguments in pieces."""

    calls: list[_PartialCall] = field(default_factory=list)
    by_index: dict[int, _PartialCall] = field(default_factory=dict)
    reason: StopReason = "end"

    def take(self, chunk: JsonObject) -> list[ModelEvent]:
        if chunk.get("error"):
            raise ModelError(f"The model server reported: {_said(chunk['error'])}")
        events: list[ModelEvent] = []
        for choice in chunk.get("choices") or []:
            delta = choice.get("delta") or {}
            if thought := delta.get("reasoning_content") or delta.get("reasoning"):
                events.append(ReasoningDelta(str(thought)))
            if text := delta.get("content"):
                events.append(TextDelta(text))
            for piece in delta.get("tool_calls") or []:
                self._merge(piece)
            if finished := choice.get("finish_reason"):
                self.reason = REASONS.get(finished, "end")
        if usage := chunk.get("usage"):
            events.append(Usage(usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0))
        return events

    def finish(self) -> list[ModelEvent]:
        uses: list[ModelEvent] = []
        for call in self.calls:
            arguments, problem = read_arguments(call.arguments)
            uses.append(ToolUse(call.id or f"call_{secret_id()[:16]}", call.name, arguments, problem))
        return [*uses, Stop("tool_calls" if uses else self.reason)]

    def _merge(self, piece: JsonObject) -> None:
        function = piece.get("function") or {}
        call = self._call_for(piece, function)
        call.id = piece.get("id") or call.id
        call.name = function.get("name") or call.name
        arguments = function.get("arguments")
        call.arguments += arguments if isinstance(arguments, str) else dumps(arguments) if arguments else ""

    def _call_for(self, piece: JsonObject, function: JsonObject) -> _PartialCall:
        index = piece.get("index")
        if index is None:
            # Whole calls without an index: a name begins a new one.
            if function.get("name") or not self.calls:
                self.calls.append(_PartialCall())
            return self.calls[-1]
        if index not in self.by_index:
            self.by_index[index] = _PartialCall()
            self.calls.append(self.by_index[index])
        return self.by_index[index]


def _said(error: object) -> str:
    return str(error.get("message", error) if isinstance(error, dict) else error)
