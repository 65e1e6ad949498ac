"""The README's snippets for MCP hosts: they parse, and the commands in them start a server."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text()
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def commands(node: object) -> Iterator[list[str]]:
    """Find every {"command": …, "args": […]} in a parsed snippet."""
    if isinstance(node, dict):
        if "command" in node:
            yield [node["command"], *node["args"]]
        for value in node.values():
            yield from commands(value)


SNIPPETS = [*map(json.loads, blocks("json")), *map(tomllib.loads, blocks("toml"))]
STARTED = sorted({tuple(command) for snippet in SNIPPETS for command in commands(snippet)})


@pytest.mark.covers("MCP-HOST-1")
@pytest.mark.parametrize(
    "host", ["Claude Code", "Claude Desktop", "Cursor", "VS Code", "Codex", "Gemini CLI", "goose", "Zed", "Windsurf"]
)
def test_there_is_a_snippet_for(host: str) -> None:
    assert f"**{host}**" in README


@pytest.mark.covers("MCP-HOST-1", "MCP-HOST-2")
def test_user_wide_configurations_name_an_absolute_directory() -> None:
    for host in ("Claude Desktop", "Codex", "goose", "Zed", "Windsurf"):
        section = README.split(f"**{host}**")[1].split("**")[0]
        assert "/path/to/project/.claude/ui" in section, host


@pytest.mark.covers("MCP-CONF-6")
@pytest.mark.parametrize("command", STARTED, ids=" ".join)
def test_the_command_of_a_snippet_answers_an_initialize(command: tuple[str, ...], tmp_path: Path) -> None:
    program = Path(sys.executable).parent / command[0]
    arguments = [word.replace("/path/to/project", str(tmp_path)) for word in command[1:]]

    answer = subprocess.run(
        [str(program), *arguments],
        cwd=tmp_path, input=json.dumps(INITIALIZE) + "\n", capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert answer.returncode == 0, answer.stderr
    [line] = answer.stdout.splitlines()
    assert json.loads(line)["result"]["serverInfo"]["name"] == command[0]


def test_the_small_app_of_the_readme_is_the_whole_truth() -> None:
    [lua], [html, *_] = blocks("lua"), blocks("html")

    assert "session:prototype" in lua
    assert html.startswith("<template>")
