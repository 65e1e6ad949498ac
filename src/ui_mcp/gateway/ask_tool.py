"""`nlui__ask`: answers a question with the gateway's tools and the model of the calling client (MCP sampling)."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Annotated

import anyio

from ui_mcp.agent.journal import MemoryJournal
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.loop import Loop, LoopSettings
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
from ui_mcp.errors import AgentError, ModelError, UiMcpError
from ui_mcp.fields import Length
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import FunctionToolset, tool
from ui_mcp.toolkit.tool import Annotations, Call, Tool, ToolResult, structured_result, text_result
from ui_mcp.toolkit.toolset import Toolset

SYSTEM = """\
Answer the question with the tools you have, then say what you found, briefly.
"""
WITHOUT_SAMPLING = """\
This client lends no model: nlui__ask needs a client with the sampling capability, in a protocol before 2026-07-28.
Call the tools yourself, or talk to nlui's own chat (`nlui serve`)."""
Sample = Callable[[JsonObject], Awaitable[JsonObject]]
"""Sends the parameters of `sampling/createMessage` and returns its result."""
REASONS: dict[str, StopReason] = {
    "endTurn": "end",
    "stopSequence": "end",
    "maxTokens": "length",
    "toolUse": "tool_calls",
}


@dataclass(frozen=True, slots=True)
class AskArgs:
    """What to find out or do."""

    question: Annotated[str, "The task, in words.", Length(least=1)]


class AskToolset:
    """The gateway's tools, and `nlui__ask` for clients that support sampling."""

    def __init__(self, offered: Toolset, instructions: Callable[[], str]) -> None:
        self.offered = offered
        self.instructions = instructions
        self._ask = FunctionToolset(self, [ask])

    async def tools(self, call: Call) -> Sequence[Tool]:
        """List `nlui__ask` only for clients that support sampling."""
        listed = list(await self.offered.tools(call))
        return [*listed, *await self._ask.tools(call)] if client_sampling(call) is not None else listed

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        toolset: Toolset = self._ask if name == ask.tool.name else self.offered
        return await toolset.call(name, arguments, call)


@tool("nlui__ask", AskArgs, title="Have a question answered", annotations=Annotations(open_world=True))
async def ask(gateway: AskToolset, args: AskArgs, call: Call) -> ToolResult:
    """Answer a question or carry out a task with the tools of this gateway, thinking with your own model (sampling)."""
    sample = client_sampling(call)
    if sample is None:
        return text_result(WITHOUT_SAMPLING, is_error=True)
    takes_tools = bool((call.capabilities.get("sampling") or {}).get("tools") is not None)
    settings = LoopSettings(
        system=lambda: f"{SYSTEM}\n{gateway.instructions()}",
        text_policy="implicit_post",
        post_tool=answer.tool.name,
        posts=frozenset({answer.tool.name}),
        max_samplings=25,
        principal=call.principal,
        marks=True,
    )
    journal, name = MemoryJournal(), token_hex(16)
    lease = await journal.take_lease(name, name, 86_400)  # a day, longer than any call takes
    if lease is None:
        raise AgentError("The lease on a new journal is already taken")
    writer = JournalWriter(journal, name, lease)
    await writer.inject([{"message_id": "1", "mime": "text/markdown", "text": args.question}], "1")
    loop = Loop(SamplingModel(sample, takes_tools=takes_tools), _Answering(gateway.offered), writer, settings)
    # The journal is in memory: the question is answered within this call and needs no recovery.
    async with anyio.create_task_group() as tasks:
        await loop.turn(_no_new_messages, tasks)
        tasks.cancel_scope.cancel()
    return _result(writer)


def client_sampling(call: Call) -> Sample | None:
    """Return a function that samples the client's model, None if the client does not support that."""
    ask_client = call.ask_client
    if ask_client is None or call.capabilities.get("sampling") is None:
        return None
    return lambda params: ask_client("sampling/createMessage", params)


@dataclass(frozen=True, slots=True)
class AnswerArgs:
    """The answer."""

    content: str
    mime: str = "text/markdown"
    client_id: str = ""


@tool("nlui__answer", AnswerArgs, title="Answer")
async def answer(context: None, args: AnswerArgs, call: Call) -> ToolResult:
    """Give the answer."""
    return structured_result({"id": args.client_id or "answer", "ts": ""})


class _Answering:
    """The gateway's tools; the loop posts the final answer through `nlui__answer`, which is not listed."""

    def __init__(self, offered: Toolset) -> None:
        self._offered = offered
        self._answer = FunctionToolset(None, [answer])

    async def tools(self, call: Call) -> Sequence[Tool]:
        return await self._offered.tools(call)

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        toolset: Toolset = self._answer if name == answer.tool.name else self._offered
        return await toolset.call(name, arguments, call)


def _result(writer: JournalWriter) -> ToolResult:
    items = writer.timeline.state.items
    answers = [item["md"] for item in items if item["kind"] == "assistant_markdown"]
    if not answers:
        notices = [item["text"] for item in items if item["kind"] == "notice"]
        return text_result("\n".join(notices) or "The model gave no answer.", is_error=True)
    calls = [{"name": item["name"], "status": item["status"]} for item in items if item["kind"] == "tool"]
    return structured_result({"answer": "\n\n".join(answers), "calls": calls})


async def _no_new_messages() -> None:
    return None


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
