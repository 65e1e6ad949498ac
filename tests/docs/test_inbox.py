"""The inbox as docs/inbox.md tells of it: questions are asked and hooks installed by the blocks themselves."""

import json
import subprocess

import httpx2

from docs.blocks import Block, block, together
from docs.terminal import PROGRAMS, Terminal

PAGE = "docs/inbox.md"


@together("run", block(PAGE, "questions"))
def test_the_questions_are_asked_and_wait(given: tuple[Block], terminal: Terminal) -> None:
    arguments = json.loads(given[0].code)
    with terminal.serving("ui-mcp serve --port 0 --mcp-port 0") as (_, mcp, *_):
        answer = httpx2.post(f"{mcp.removesuffix('/mcp')}/api/ui_ask", json=arguments | {"wait": 0}, timeout=60).json()

    assert answer["result"]["status"] == "pending"
    assert len(arguments["questions"]) == 4


@together("run", block(PAGE, "ui-mcp setup --hooks"))
def test_the_hooks_are_installed_for_each_host(given: tuple[Block], terminal: Terminal) -> None:
    (line,) = given[0].commands
    terminal.run(line)

    files = (".claude/settings.local.json", ".gemini/settings.json")
    for file in [*(terminal.folder / file for file in files), terminal.home / ".codex/hooks.json"]:
        assert "approvals hook" in file.read_text("utf-8")


@together("started", block(PAGE, "prompt-tool"))
def test_the_server_that_claude_code_is_given_has_the_tool_that_it_is_told_to_ask(
    given: tuple[Block], terminal: Terminal
) -> None:
    server = json.loads(given[0].code.split("--mcp-config '")[1].split("'")[0])["mcpServers"]["inbox"]
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    done = subprocess.run(
        [str(PROGRAMS / server["command"]), *server["args"]],
        input="".join(f"{json.dumps(one)}\n" for one in asked),
        cwd=terminal.folder, env=terminal.environment, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    (tools,) = [one["result"]["tools"] for one in answers if one.get("id") == 2]
    assert "--permission-prompt-tool mcp__inbox__permission" in given[0].code
    assert [tool["name"] for tool in tools] == ["permission"]
