"""Google's Gemini API."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from ui_mcp.agent.model import (
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
from ui_mcp.agent.models import Provider, Service, shapes
from ui_mcp.agent.models.http import ModelHttp
from ui_mcp.agent.models.refusal import complaint, reported
from ui_mcp.agent.models.shapes import amount, record
from ui_mcp.errors import ModelError
from ui_mcp.jsontypes import Json, JsonObject, loads

BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
MODES = {"auto": "AUTO", "required": "ANY", "none": "NONE"}
REASONS: dict[str, StopReason] = {"STOP": "end", "MAX_TOKENS": "length"}
SIGNATURE = "thoughtSignature"


class GeminiModel:
    """A model behind `POST {base}/models/{model}:streamGenerateContent`."""

    def __init__(self, model: str, http: ModelHttp) -> None:
        self._model = model
        self._http = http
        self._reduced = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        try:
            async for event in self._events(request_body(request, reduced=self._reduced)):
                yield event
            return
        except ModelError as error:
            if self._reduced or error.details.get("status") != 400 or "parametersJsonSchema" not in str(error.details):
                raise
        self._reduced = True
        async for event in self._events(request_body(request, reduced=True)):
            yield event

    async def _events(self, body: JsonObject) -> AsyncIterator[ModelEvent]:
        answer = _Answer()
        path = f"/models/{self._model}:streamGenerateContent?alt=sse"
        async for event in self._http.post(path, body):
            for piece in [event] if isinstance(event, Retrying) else answer.take(event.json()):
                yield piece
        for piece in answer.finish():
            yield piece


def _headers(key: str) -> dict[str, str]:
    return {"x-goog-api-key": key}


PROVIDER = Provider(
    services=(Service("Gemini", BASE_URL, "GEMINI_API_KEY"),),
    make=lambda settings, http: GeminiModel(settings.model, http),
    headers=_headers,
    # Google serves the chat completions API too.
    serves=lambda address: "googleapis.com" in address and "/openai" not in address,
)


def request_body(request: ModelRequest, *, reduced: bool) -> JsonObject:
    """Return the body of a request; `reduced` for servers that support only Gemini's subset of JSON Schema."""
    generation: JsonObject = {"maxOutputTokens": request.max_output_tokens}
    if request.temperature is not None:
        generation["temperature"] = request.temperature
    if request.stop:
        generation["stopSequences"] = list(request.stop)
    if request.reasoning:
        generation["thinkingConfig"] = {"includeThoughts": True}
    body: JsonObject = {"contents": _contents(request.messages), "generationConfig": generation}
    if request.system:
        body["systemInstruction"] = {"parts": [{"text": request.system}]}
    if request.tools:
        key = "parameters" if reduced else "parametersJsonSchema"
        declared = [
            {
                "name": tool.name,
                "description": tool.description,
                key: _reduced(tool.input_schema) if reduced else tool.input_schema,
            }
            for tool in request.tools
        ]
        body["tools"] = [{"functionDeclarations": declared}]
        body["toolConfig"] = {"functionCallingConfig": {"mode": MODES[request.tool_choice]}}
    return body


def _contents(messages: Sequence[Message]) -> list[JsonObject]:
    contents: list[JsonObject] = []
    for message in messages:
        role, parts = _parts(message)
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": role, "parts": parts})
    return contents


def _parts(message: Message) -> tuple[str, list[JsonObject]]:
    match message:
        case UserMessage(text, pictures):
            shown = [{"inlineData": {"mimeType": picture.mime, "data": picture.data}} for picture in pictures]
            return "user", [*shown, {"text": text}]
        case ToolMessage(call_id, name, text, is_error):
            return "user", [
                {"functionResponse": {"id": call_id, "name": name, "response": _response(text, is_error=is_error)}}
            ]
        case AssistantMessage(text, calls, data):
            # A signature must be sent back with the part that it came with.
            said: list[JsonObject] = [{"text": text, **_signed(data)}] if text else []
            uses = [
                {
                    "functionCall": {"id": call.id, "name": call.name, "args": call.arguments or {}},
                    **_signed(call.provider_data),
                }
                for call in calls
            ]
            return "model", [*said, *uses]


def _signed(data: JsonObject) -> JsonObject:
    return {SIGNATURE: data[SIGNATURE]} if SIGNATURE in data else {}


def _response(text: str, *, is_error: bool) -> JsonObject:
    try:
        value: Json = loads(text)
    except ValueError:
        value = text
    if is_error:
        return {"error": value}
    return value if isinstance(value, dict) else {"result": value}


def _reduced(schema: Json) -> Json:
    """Return the part of a JSON Schema that Gemini's subset supports."""
    if isinstance(schema, list):
        return [_reduced(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {"type", "description", "enum", "items", "required", "format", "nullable", "minimum", "maximum", "anyOf"}
    small = {key: _reduced(value) for key, value in schema.items() if key in kept}
    if isinstance(schema.get("properties"), dict):
        small["properties"] = {name: _reduced(value) for name, value in schema["properties"].items()}
    if isinstance(small.get("type"), list):
        types = [kind for kind in small["type"] if kind != "null"]
        small |= {"type": types[0] if types else "string", "nullable": "null" in schema["type"]}
    return small


@dataclass(slots=True)
class _Answer:
    """Collects the parts of one streamed answer."""

    uses: list[ToolUse] = field(default_factory=list)
    signature: JsonObject = field(default_factory=dict)
    reason: StopReason | None = None

    def take(self, event: Json) -> list[ModelEvent]:
        chunk = record(event, "a piece")
        if chunk.get("error"):
            raise reported(chunk["error"])
        if blocked := record(chunk.get("promptFeedback"), "promptFeedback").get("blockReason"):
            raise ModelError(f"The model server refused the request: {complaint(blocked)}")
        events: list[ModelEvent] = []
        for given in shapes.listed(chunk.get("candidates"), "candidates"):
            candidate = record(given, "a candidate")
            content = record(candidate.get("content"), "content")
            for part in shapes.listed(content.get("parts"), "parts"):
                events += self._part(record(part, "a part"))
            if finished := shapes.text(candidate.get("finishReason"), "a finishReason"):
                self.reason = REASONS.get(finished, "filtered")  # SAFETY, RECITATION and others
        if usage := record(chunk.get("usageMetadata"), "usageMetadata"):
            thought = amount(usage.get("thoughtsTokenCount"))
            said = amount(usage.get("candidatesTokenCount"))
            cached = amount(usage.get("cachedContentTokenCount"))
            events.append(Usage(amount(usage.get("promptTokenCount")), said + thought, cached))
        return events

    def finish(self) -> list[ModelEvent]:
        if self.reason is None and not self.uses:
            raise ModelError("The model server ended its answer in the middle")
        return [*self.uses, Stop("tool_calls" if self.uses else self.reason or "end", self.signature)]

    def _part(self, part: JsonObject) -> list[ModelEvent]:
        given = shapes.text(part.get(SIGNATURE), "a signature")
        signature: JsonObject = {SIGNATURE: given} if given else {}
        if call := record(part.get("functionCall"), "a functionCall"):
            call_id, name = shapes.text(call.get("id"), "the id of a call"), shapes.text(call.get("name"), "a name")
            self.uses.append(shapes.tool_use(call_id, name, call.get("args"), signature))
            return []
        self.signature |= signature
        text = shapes.text(part.get("text"), "text")
        if not text:
            return []
        return [ReasoningDelta(text) if part.get("thought") else TextDelta(text)]
