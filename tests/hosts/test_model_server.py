"""The scripted model goes on by what a conversation contains, in each of the four APIs."""

import json
from collections.abc import Callable
from typing import Any
from urllib.request import Request, urlopen

import pytest

from hosts.model_server import FINISHED, scripted_model

STEPS = [("ui_status", {}), ("ui_perform", {"target": "uid:#press"})]
TOOLS = ["mcp__ui__ui_status", "mcp__ui__ui_perform"]
SHOWN = 'button a7 #press "Press"'


def anthropic(results: list[str]) -> tuple[str, Any]:
    messages: list[Any] = [{"role": "user", "content": "go"}]
    for number, text in enumerate(results):
        call = {"type": "tool_use", "id": f"t{number}", "name": TOOLS[number], "input": {}}
        messages.append({"role": "assistant", "content": [call]})
        messages.append(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": text}]}
        )
    return "/v1/messages", {
        "model": "m",
        "stream": True,
        "tools": [{"name": name} for name in TOOLS],
        "messages": messages,
    }


def chat(results: list[str]) -> tuple[str, Any]:
    messages: list[Any] = [{"role": "user", "content": "go"}]
    for number, text in enumerate(results):
        call = {"id": f"t{number}", "function": {"name": TOOLS[number], "arguments": "{}"}}
        messages += [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"t{number}", "content": text},
        ]
    tools = [{"type": "function", "function": {"name": name}} for name in TOOLS]
    return "/v1/chat/completions", {"model": "m", "stream": True, "tools": tools, "messages": messages}


def responses(results: list[str]) -> tuple[str, Any]:
    items: list[Any] = [{"type": "message", "role": "user", "content": "go"}]
    for number, text in enumerate(results):
        items.append({"type": "function_call", "call_id": f"t{number}", "name": TOOLS[number][9:], "arguments": "{}"})
        items.append({"type": "function_call_output", "call_id": f"t{number}", "output": text})
    tools = [{"type": "namespace", "name": "mcp__ui__", "tools": [{"name": name[9:]} for name in TOOLS]}]
    return "/v1/responses", {"model": "m", "stream": True, "tools": tools, "input": items}


def gemini(results: list[str]) -> tuple[str, Any]:
    contents: list[Any] = [{"role": "user", "parts": [{"text": "go"}]}]
    for number, text in enumerate(results):
        given = {"name": TOOLS[number], "response": {"output": text}}
        contents.append({"role": "user", "parts": [{"functionResponse": given}]})
    tools = [{"functionDeclarations": [{"name": name} for name in TOOLS]}]
    return "/v1beta/models/m:streamGenerateContent?alt=sse", {"tools": tools, "contents": contents}


@pytest.mark.covers("HOST-LOOP-1")
@pytest.mark.parametrize("api", [anthropic, chat, responses, gemini])
def test_each_result_is_followed_by_the_next_step(api: Callable[[list[str]], tuple[str, Any]]) -> None:
    said = []
    with scripted_model(STEPS) as (address, script):
        for results in ([], [SHOWN], [SHOWN, "done"]):
            path, body = api(results)
            request = Request(f"{address}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
            with urlopen(request, timeout=30) as answer:
                said.append(answer.read().decode().replace("\\", ""))

    assert "ui_status" in said[0]
    assert '"target": "a7"' in said[1]
    assert FINISHED in said[2]
    assert [one.text for one in script.outcomes] == [SHOWN, "done"]
