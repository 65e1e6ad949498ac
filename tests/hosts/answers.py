"""Answers of a model in four APIs, streamed: a text, or one call of a tool."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Event = tuple[str, Any]


@dataclass(frozen=True)
class Call:
    """A call of a tool."""

    number: int
    name: str
    namespace: str
    arguments: dict[str, Any]

    @property
    def id(self) -> str:
        return f"call_{self.number}"


Answer = Call | str


def anthropic(model: str, answer: Answer) -> Iterator[Event]:
    usage = {"input_tokens": 10, "output_tokens": 1}
    head: Any = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
    }
    yield "message_start", {"type": "message_start", "message": head | {"stop_sequence": None, "usage": usage}}
    if isinstance(answer, Call):
        block: Any = {"type": "tool_use", "id": answer.id, "name": answer.name, "input": {}}
        delta: Any = {"type": "input_json_delta", "partial_json": json.dumps(answer.arguments)}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": answer}
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    reason = "tool_use" if isinstance(answer, Call) else "end_turn"
    last = {"stop_reason": reason, "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": last, "usage": {"output_tokens": 5}}
    yield "message_stop", {"type": "message_stop"}


def anthropic_whole(model: str, answer: Answer) -> Any:
    events = dict(anthropic(model, answer))
    block = events["content_block_start"]["content_block"]
    filled = {"input": answer.arguments} if isinstance(answer, Call) else {"text": answer}
    return events["message_start"]["message"] | events["message_delta"]["delta"] | {"content": [block | filled]}


def chat(model: str, answer: Answer) -> Iterator[Event]:
    def chunk(delta: Any, reason: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return "", {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [choice]}

    if isinstance(answer, Call):
        function = {"name": answer.name, "arguments": json.dumps(answer.arguments)}
        made = {"index": 0, "id": answer.id, "type": "function", "function": function}
        yield chunk({"role": "assistant", "content": None, "tool_calls": [made]})
    else:
        yield chunk({"role": "assistant", "content": answer})
    _, last = chunk({}, "tool_calls" if isinstance(answer, Call) else "stop")
    yield "", last | {"usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}
    yield "", "[DONE]"


def chat_whole(model: str, answer: Answer) -> Any:
    message: Any = {"role": "assistant", "content": None if isinstance(answer, Call) else answer}
    if isinstance(answer, Call):
        function = {"name": answer.name, "arguments": json.dumps(answer.arguments)}
        message["tool_calls"] = [{"id": answer.id, "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if isinstance(answer, Call) else "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": usage}


def responses(model: str, answer: Answer) -> Iterator[Event]:
    if isinstance(answer, Call):
        item: Any = {"type": "function_call", "id": f"fc_{answer.number}", "call_id": answer.id, "name": answer.name}
        item |= {"arguments": json.dumps(answer.arguments), "status": "completed"}
        item |= {"namespace": answer.namespace} if answer.namespace else {}
    else:
        content = [{"type": "output_text", "text": answer, "annotations": []}]
        item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content}
    head = {"id": "r1", "object": "response", "model": model, "output": []}
    yield "response.created", {"type": "response.created", "response": head | {"status": "in_progress"}}
    yield "response.output_item.added", {"type": "response.output_item.added", "output_index": 0, "item": item}
    yield "response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, **details}
    done = head | {"status": "completed", "output": [item], "usage": usage}
    yield "response.completed", {"type": "response.completed", "response": done}


def gemini(answer: Answer) -> Iterator[Event]:
    if isinstance(answer, Call):
        part: Any = {"functionCall": {"id": answer.id, "name": answer.name, "args": answer.arguments}}
    else:
        part = {"text": answer}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    yield "", {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
