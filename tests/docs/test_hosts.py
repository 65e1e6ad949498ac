"""The snippets for hosts: each parses, and what it names answers."""

import json
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
import yaml

from docs.blocks import ROOT, Block, block, blocks, one_by_one, together
from docs.foreign import INITIALIZE
from docs.terminal import Terminal
from journeys.hosts import MODERN, HttpHost

README, HOSTS = (ROOT / "README.md").read_text(), (ROOT / "docs/hosts.md").read_text()
SNIPPETS = [
    one for page in ("README.md", "docs/hosts.md") for one in blocks(page, "json", "toml", "yaml")
]  # fmt: skip
STDIO = [one for one in SNIPPETS if '"url"' not in one.code]
HTTP = [one for one in SNIPPETS if '"url"' in one.code]
READERS: dict[str, Callable[[str], Any]] = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    home = tmp_path_factory.mktemp("person")
    return Terminal(home, {"/path/to/project": str(home)})


@pytest.fixture(scope="module")
def server(person: Terminal) -> Iterator[str]:
    with person.serving(block("docs/hosts.md", "ui-mcp serve").code.strip()) as (_, mcp, _):
        yield mcp


def entries(node: Any) -> Iterator[dict[str, Any]]:
    """Find what names a server, however deep the host wants it."""
    if isinstance(node, dict):
        if node.keys() & {"command", "cmd", "url"}:
            yield node
        for value in node.values():
            yield from entries(value)


@pytest.mark.covers("MCP-HOST-1")
@pytest.mark.parametrize(
    "host", ["Claude Code", "Claude Desktop", "Cursor", "VS Code", "Codex", "Gemini CLI", "goose", "Zed", "Windsurf"]
)
def test_there_is_a_snippet_for(host: str) -> None:
    assert f"**{host}**" in README
    assert f"\n## {host}\n" in HOSTS


@pytest.mark.covers("MCP-HOST-1", "MCP-HOST-2")
def test_user_wide_configurations_name_an_absolute_directory() -> None:
    for host in ("Claude Desktop", "Codex", "goose", "Zed", "Windsurf"):
        section = HOSTS.split(f"\n## {host}\n")[1].split("\n## ")[0]
        assert "/path/to/project/.claude/ui" in section, host


@pytest.mark.covers("MCP-CONF-6")
@one_by_one("started", *STDIO)
def test_the_command_of_a_snippet_answers_a_greeting(block: Block, person: Terminal) -> None:
    [entry] = entries(READERS[block.language](block.code))
    command = entry.get("command") or entry["cmd"]

    assert person.speaks(" ".join([command, *entry["args"]]))["name"] == command


@pytest.mark.covers("MCP-CONF-6")
@one_by_one("started", *HTTP)
def test_the_address_of_a_snippet_answers_a_greeting(block: Block, server: str) -> None:
    [entry] = entries(json.loads(block.code))
    default, url = "http://127.0.0.1:8001", entry["url"]
    assert url.startswith(default)
    if entry["type"] == "http":
        assert HttpHost(url.replace(default, server)).ask("server/discover")["supportedVersions"] == [MODERN]
    else:
        assert greeted_over_sse(url.replace(default, server))["result"]["serverInfo"]["name"] == "ui-mcp"


def greeted_over_sse(url: str) -> Any:
    """Open the stream, post a greeting where it says, and return what the stream answers."""
    with httpx2.stream("GET", url, headers={"accept": "text/event-stream"}, timeout=120) as stream:
        data = (line.removeprefix("data: ") for line in stream.iter_lines() if line.startswith("data: "))
        httpx2.post(str(httpx2.URL(url).join(next(data))), json=INITIALIZE, timeout=120).raise_for_status()
        return json.loads(next(data))


@together("run", block("docs/hosts.md", "ui-mcp serve"))
def test_the_server_one_runs_oneself_is_the_one_of_the_addresses(
    given: tuple[Block], person: Terminal, server: str
) -> None:
    assert given[0].commands == ["ui-mcp serve"]
    assert HttpHost(f"{server}/mcp").ask("server/discover")["supportedVersions"] == [MODERN]
    assert "(env UI_MCP_PORT; default 8001" in person.run("ui-mcp serve --help").replace("\n", " ")


@one_by_one("started", block("docs/hosts.md", "claude mcp add"), block("docs/hosts.md", "codex mcp add"))
def test_the_command_a_host_is_given_answers_a_greeting(block: Block, person: Terminal) -> None:
    [line] = block.commands

    assert person.run(line) == "Added ui: ui-mcp answers\n"


@together("run", block("docs/hosts.md", "ui-mcp setup"))
def test_setup_writes_the_configuration_of_the_hosts_it_finds(given: tuple[Block], terminal: Terminal) -> None:
    [line] = given[0].commands
    said = terminal.run(line)

    servers = json.loads((terminal.folder / ".mcp.json").read_text())["mcpServers"]
    assert servers["ui"]["args"] == ["mcp", "--dir", ".ui"]
    assert "Claude Code" in said


@together("started", block("README.md", "pip install"))
def test_a_wheel_and_a_line_for_the_host_are_all_it_takes(given: tuple[Block], terminal: Terminal) -> None:
    install, enter, setup = given[0].commands
    (terminal.home / "my-project").mkdir()
    (terminal.home / "ui_mcp-0.1.0-py3-none-any.whl").touch()

    terminal.run(install)
    terminal.run(enter)
    terminal.run(setup)
    assert json.loads((terminal.folder / ".mcp.json").read_text())["mcpServers"]["ui"]["command"] == "ui-mcp"
