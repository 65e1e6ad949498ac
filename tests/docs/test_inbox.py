"""The inbox as docs/inbox.md tells of it: questions are asked and hooks installed by the blocks themselves."""

import json

import httpx2

from docs.blocks import Block, block, together
from docs.terminal import Terminal

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
