"""The model of a connected MCP client, used through its sampling capability."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from ui_mcp.agent.model import (
    AssistantMessage,
    Message,
    ModelEvent,
    ModelRequest,
    Stop,
    StopReason,
    TextDelta,
    ToolMessage,
    UserMessage,
)
from ui_mcp.agent.models.shapes import record, text, tool_use
from ui_mcp.errors import ModelError, UiMcpError
from ui_mcp.jsontypes import JsonObject

Sample = Callable[[JsonObject], Awaitable[JsonObject]]
"""Sends the parameters of `sampling/createMessage` and returns its result."""
REASONS: dict[str, StopReason] = {
    "endTurn": "end",
    "stopSequence": "end",
    "maxTokens": "length",
    "toolUse": "tool_calls",
}


class SamplingModel:
    """A model behind `sampling/createMessage`, which returns whole answers: the protocol has no streaming."""

    def __init__(self, sample: Sample, *, takes_tools: bool) -> None:
        self._sample = sample
        self._takes_tools = takes_tools

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        try:
            result = await self._sample(request_params(request, takes_tools=self._takes_tools))
        except ModelError:
            raise
        except UiMcpError as error:
            raise ModelError(f"The client's model did not answer: {error.message}") from error
        result = record(result, "a result")
        content = result.get("content") or []
        called = False
        for given in content if isinstance(content, list) else [content]:
            block = record(given, "a block")
            match block.get("type"):
                case "text" if said := text(block.get("text"), "text"):
                    yield TextDelta(said)
                case "tool_use":
                    called = True
                    call_id, name = text(block.get("id"), "the id of a call"), text(block.get("name"), "a name")
                    yield tool_use(call_id, name, block.get("input"))
        yield Stop("tool_calls" if called else REASONS.get(str(result.get("stopReason")), "end"))


def request_params(request: ModelRequest, *, takes_tools: bool) -> JsonObject:
    """Return the parameters of `sampling/createMessage`."""
    params: JsonObject = {"messages": _messages(request.messages), "maxTokens": request.max_output_tokens}
    if request.system:
        params["systemPrompt"] = request.system
    if request.temperature is not None:
        params["temperature"] = request.temperature
    if request.stop:
        params["stopSequences"] = list(request.stop)
    if request.tools and takes_tools:
        params["tools"] = [
            {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
            for tool in request.tools
        ]
        params["toolChoice"] = {"mode": request.tool_choice}
    return params


def _messages(messages: Sequence[Message]) -> list[JsonObject]:
    """Put all results of one answer into one message, which may contain nothing else."""
    written: list[JsonObject] = []
    for message in messages:
        match message:
            case UserMessage(asked):
                written.append({"role": "user", "content": {"type": "text", "text": asked}})
            case AssistantMessage(answer, calls):
                said = [{"type": "text", "text": answer}] if answer or not calls else []
                uses = [
                    {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments or {}}
                    for call in calls
                ]
                written.append({"role": "assistant", "content": [*said, *uses]})
            case ToolMessage(call_id, _, returned, is_error):
                result = {
                    "type": "tool_result",
                    "toolUseId": call_id,
                    "content": [{"type": "text", "text": returned}],
                    "isError": is_error,
                }
                if written and _holds_results(written[-1]):
                    written[-1]["content"].append(result)
                else:
                    written.append({"role": "user", "content": [result]})
    return written


def _holds_results(message: JsonObject) -> bool:
    content = message["content"]
    return message["role"] == "user" and isinstance(content, list) and content[0]["type"] == "tool_result"
