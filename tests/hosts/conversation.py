"""Requests of four model APIs, read into one form: the tools that were offered, and the results that came back."""

import json
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]
INDIRECT = "tool_call"
"""The tool by which Qwen Code calls those that its model has looked up."""


@dataclass(frozen=True)
class Outcome:
    """The result of one tool call, as the model is shown it."""

    tool: str
    text: str
    pictures: int = 0


@dataclass
class Conversation:
    """What one request says."""

    tools: dict[str, str] = field(default_factory=dict)
    """Namespaces of the offered tools, mostly empty, by name."""
    outcomes: list[Outcome] = field(default_factory=list)
    pictures: int = 0
    """Pictures outside of results, where some hosts put them."""


def parts_of(content: Any) -> tuple[str, int]:
    """Return the text of a content, and how many pictures are in it."""
    if isinstance(content, str):
        return content, 0
    if isinstance(content, dict):
        if "image" in str(content.get("type", "")) or "inlineData" in content or "inline_data" in content:
            return "", 1
        text = content.get("text") or content.get("output") or content.get("content")
        return parts_of(text) if text is not None else (str(content), 0)
    found = [parts_of(part) for part in content or ()]
    return "\n".join(text for text, _ in found), sum(count for _, count in found)


def of_anthropic(body: Body) -> Conversation:
    read = Conversation({tool["name"]: "" for tool in body.get("tools", ())})
    names: dict[str, str] = {}
    for message in body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_use":
                names[block["id"]] = block["name"]
            elif block["type"] == "tool_result":
                read.outcomes.append(Outcome(names.get(block["tool_use_id"], ""), *parts_of(block.get("content"))))
            elif block["type"] == "image":
                read.pictures += 1
    return read


def of_chat(body: Body) -> Conversation:
    read = Conversation({tool["function"]["name"]: "" for tool in body.get("tools") or ()})
    names: dict[str, str] = {}
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            names[call["id"]] = _called(call["function"])
        if message["role"] == "tool":
            read.outcomes.append(Outcome(names.get(message["tool_call_id"], ""), *parts_of(message["content"])))
        elif message["role"] == "user":
            read.pictures += parts_of(message["content"])[1]
    return read


def _called(function: Body) -> str:
    """Return the name of the tool that a call means, which may be called through another one."""
    if function["name"] != INDIRECT:
        return str(function["name"])
    return str(json.loads(function["arguments"])["name"])


def of_responses(body: Body) -> Conversation:
    read = Conversation()
    for tool in body.get("tools", ()):
        if tool["type"] == "namespace":
            read.tools |= {inner["name"]: tool["name"] for inner in tool["tools"]}
        elif "name" in tool:
            read.tools[tool["name"]] = ""
    names: dict[str, str] = {}
    for item in body["input"] if isinstance(body["input"], list) else ():
        if item.get("type") == "function_call":
            names[item["call_id"]] = item["name"]
        elif item.get("type") == "function_call_output":
            read.outcomes.append(Outcome(names.get(item["call_id"], ""), *parts_of(item["output"])))
        elif item.get("type") == "message":
            read.pictures += parts_of(item.get("content"))[1]
    return read


def of_gemini(body: Body) -> Conversation:
    read = Conversation()
    for tool in body.get("tools", ()):
        read.tools |= {one["name"]: "" for one in tool.get("functionDeclarations", ())}
    for content in body["contents"]:
        for part in content.get("parts", ()):
            if "functionResponse" in part:
                given = part["functionResponse"]
                inner = parts_of(given.get("parts"))[1]
                read.outcomes.append(Outcome(given["name"], parts_of(given["response"])[0], inner))
            elif "inlineData" in part:
                read.pictures += 1
    return read
