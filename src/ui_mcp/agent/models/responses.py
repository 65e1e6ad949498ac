"""OpenAI's responses API, without conversations stored at the vendor."""

from collections.abc import AsyncIterator, Sequence
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
from ui_mcp.agent.models.http import ModelHttp, checked_arguments, read_arguments
from ui_mcp.agent.models.openai import data_url
from ui_mcp.agent.models.refusal import complaint, reported
from ui_mcp.agent.models.shapes import amount, position, record, text
from ui_mcp.errors import ModelError
from ui_mcp.jsontypes import Json, JsonObject, dumps

BASE_URL = "https://api.openai.com/v1"
OPTIONAL = ("include", "reasoning", "parallel_tool_calls", "store")
"""Fields that models without reasoning or other servers reject; the request is then repeated without them."""
_REFUSED = ("encrypted", "include", "reasoning", "summary", "parallel_tool_calls", "store")
REASONS: dict[str, StopReason] = {"max_output_tokens": "length", "content_filter": "filtered"}
_THOUGHTS = {"response.reasoning_summary_text.delta", "response.reasoning_text.delta"}


class ResponsesModel:
    """A model behind `POST {base}/responses`."""

    def __init__(self, model: str, http: ModelHttp) -> None:
        self._model = model
        self._http = http
        self._omit_optional = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        body = request_body(self._model, request)
        if not self._omit_optional:
            try:
                async for event in self._events(body):
                    yield event
                return
            except ModelError as error:
                if error.details.get("status") not in {400, 422} or not _names_optional(error):
                    raise
            self._omit_optional = True
        async for event in self._events({key: value for key, value in body.items() if key not in OPTIONAL}):
            yield event

    async def _events(self, body: JsonObject) -> AsyncIterator[ModelEvent]:
        answer = _Answer()
        async for event in self._http.post("/responses", body, end="[DONE]"):
            for piece in [event] if isinstance(event, Retrying) else answer.take(event.json()):
                yield piece
        for piece in answer.finish():
            yield piece


PROVIDER = Provider(
    services=(Service("OpenAI (responses)", BASE_URL, "OPENAI_API_KEY"),),
    make=lambda settings, http: ResponsesModel(settings.model, http),
    headers=lambda key: {"authorization": f"Bearer {key or 'none'}"},
    summary="OpenAI models with reasoning",
)


def request_body(model: str, request: ModelRequest) -> JsonObject:
    """Return the body of a request; reasoning comes back encrypted, because the vendor stores nothing."""
    reasoning: JsonObject = {"summary": "auto", **({"effort": request.reasoning} if request.reasoning else {})}
    body: JsonObject = {
        "model": model,
        "input": [item for message in request.messages for item in _items(message)],
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": reasoning,
        "max_output_tokens": request.max_output_tokens,
    }
    if request.system:
        body["instructions"] = request.system
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
                "strict": False,
            }
            for tool in request.tools
        ]
        body["tool_choice"] = request.tool_choice
        body["parallel_tool_calls"] = True
    return body


def _items(message: Message) -> Sequence[JsonObject]:
    match message:
        case UserMessage(asked, pictures):
            words = [{"type": "input_text", "text": asked}] if asked or not pictures else []
            shown = [{"type": "input_image", "image_url": data_url(picture)} for picture in pictures]
            return [{"role": "user", "content": [*words, *shown]}]
        case ToolMessage(call_id, _, answer):
            return [{"type": "function_call_output", "call_id": call_id, "output": answer}]
        case AssistantMessage(written, calls, data):
            thoughts: list[JsonObject] = data.get("reasoning", [])
            said = [{"role": "assistant", "content": [{"type": "output_text", "text": written}]}] if written else []
            uses = [
                {"type": "function_call", "call_id": use.id, "name": use.name, "arguments": dumps(use.arguments or {})}
                for use in calls
            ]
            # Reasoning must be followed by what it led to.
            return [*(thoughts if said or uses else []), *said, *uses]


def _names_optional(error: ModelError) -> bool:
    body = str(error.details.get("body", ""))
    return any(name in body for name in _REFUSED)


@dataclass(slots=True)
class _Answer:
    """Collects the output items of one streamed answer."""

    names: dict[int, str] = field(default_factory=dict)
    """Names of the calls whose arguments arrive in parts, by the index of their item."""
    uses: list[ToolUse] = field(default_factory=list)
    thoughts: list[JsonObject] = field(default_factory=list)
    reason: StopReason | None = None

    def take(self, event: Json) -> list[ModelEvent]:
        data = record(event, "an event")
        kind = text(data.get("type"), "the type of an event")
        if kind in {"response.output_text.delta", "response.refusal.delta"}:
            return [TextDelta(text(data.get("delta"), "text"))]
        if kind in _THOUGHTS:
            return [ReasoningDelta(text(data.get("delta"), "reasoning"))]
        match kind:
            case "response.reasoning_summary_part.added" if position(data.get("summary_index", 0), "an index"):
                return [ReasoningDelta("\n\n")]
            case "response.output_item.added":
                self._begin(data)
            case "response.function_call_arguments.delta":
                name = self.names.get(position(data.get("output_index"), "the index of an item"), "")
                return [ArgumentDelta(name, text(data.get("delta"), "arguments"))]
            case "response.output_item.done":
                self._end(record(data.get("item"), "an item"))
            case "response.completed" | "response.incomplete":
                return self._close(record(data.get("response"), "a response"))
            case "response.failed" | "error":
                response = record(data.get("response"), "a response")
                raise reported(response.get("error") or data.get("error") or complaint(data))
        return []

    def finish(self) -> list[ModelEvent]:
        if self.reason is None:
            raise ModelError("The model server ended its answer in the middle")
        data: JsonObject = {"reasoning": self.thoughts} if self.thoughts else {}
        return [*self.uses, Stop("tool_calls" if self.uses else self.reason, data)]

    def _begin(self, data: JsonObject) -> None:
        item = record(data.get("item"), "an item")
        if item.get("type") == "function_call":
            index = position(data.get("output_index"), "the index of an item")
            self.names[index] = text(item.get("name"), "the name of a call")

    def _end(self, item: JsonObject) -> None:
        match item.get("type"):
            case "function_call":
                arguments, problem = read_arguments(text(item.get("arguments"), "arguments"))
                call_id = text(item.get("call_id"), "the id of a call") or f"call_{token_hex(8)}"
                self.uses.append(ToolUse(call_id, text(item.get("name"), "the name of a call"), arguments, problem))
            case "reasoning" if item.get("encrypted_content"):
                kept = {key: item[key] for key in ("type", "id", "summary", "encrypted_content") if key in item}
                sound, problem = checked_arguments(kept)
                if sound is None:
                    raise ModelError(f"The model server sent reasoning that cannot be kept: {problem}")
                self.thoughts.append(sound)

    def _close(self, response: JsonObject) -> list[ModelEvent]:
        why = text(record(response.get("incomplete_details"), "incomplete_details").get("reason"), "a reason")
        self.reason = REASONS.get(why, "end")
        usage = record(response.get("usage"), "usage")
        cached = record(usage.get("input_tokens_details"), "input_tokens_details").get("cached_tokens")
        return [Usage(amount(usage.get("input_tokens")), amount(usage.get("output_tokens")), amount(cached))]
