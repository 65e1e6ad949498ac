"""The MCP hosts that `ui-mcp setup` knows: where each keeps its configuration, and what it wants there."""

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import Literal

from ui_mcp.jsontypes import JsonObject, loads

Shape = Callable[[str, Sequence[str]], JsonObject]


@dataclass(frozen=True, slots=True)
class Host:
    """One host; `file` is relative to the project, or begins with ~ for what holds for all projects."""

    name: str
    title: str
    file: str
    path: tuple[str, ...]
    """Where the entry is in the file; its last name is that of the server."""
    shape: Shape
    commands: tuple[str, ...] = ()
    """Programs by which the host is recognised."""
    traces: tuple[str, ...] = ()
    """Files and folders by which the host is recognised."""
    form: Literal["json", "toml", "yaml"] = "json"
    starts_in_project: bool = True
    """Whether it starts servers in the project's directory; others are given absolute paths."""
    guards_claude: bool = False
    """Whether it asks before it edits below `.claude/`."""
    check: tuple[str, ...] = ()
    """Command that lists the servers which the host knows."""
    approve: str = ""
    """What the person has to do in the host."""

    def config(self, project: Path) -> Path:
        """Return the file to write; of several spellings the one that exists."""
        if self.file.startswith("~"):
            return Path.home() / self.file[2:]
        other = project / f"{self.file}c"  # opencode.jsonc
        return other if other.is_file() else project / self.file

    def is_installed(self) -> bool:
        if any(shutil.which(command) for command in self.commands):
            return True
        return any(
            (Path.home() / trace[2:]).exists() if trace[:1] == "~" else Path(trace).exists() for trace in self.traces
        )

    def entry(self, base: Path, project: Path) -> JsonObject:
        """Return the entry of our server for this host."""
        if not self.starts_in_project:
            command, *arguments = program(by_name=False)
            return self.shape(command, [*arguments, "mcp", "--dir", str(project / base)])
        command, *arguments = program()
        shared = not self.file.startswith("~")  # else it is for all projects
        return self.shape(command, [*arguments, "mcp", *(["--dir", base.as_posix()] if shared else [])])


def program(*, by_name: bool = True) -> list[str]:
    """Return the command by which hosts start us: its name alone where that finds it, else where it is."""
    if _FLEETING.intersection(Path(sys.prefix).parts):
        return [_absolute("uvx"), "--from", _origin(), "ui-mcp"]
    found = shutil.which("ui-mcp")
    if found and by_name:
        return ["ui-mcp"]
    own = Path(sys.executable if getattr(sys, "frozen", False) else sys.argv[0]).absolute()
    if own.stem.startswith("ui-mcp") and own.is_file():
        return [str(own)]
    return [str(Path(found).absolute())] if found else [sys.executable, "-m", "ui_mcp"]


_FLEETING = frozenset({"archive-v0", "environments-v2"})
"""Folders of uv's cache in which `uvx` runs a program; uv removes what is in them."""


def _absolute(command: str) -> str:
    found = shutil.which(command)
    return str(Path(found).absolute()) if found else command


def _origin() -> str:
    """Return where this program was installed from, or its name for the package index."""
    recorded = distribution("ui-mcp").read_text("direct_url.json")
    return str(loads(recorded)["url"]) if recorded else "ui-mcp"


def _plain(command: str, arguments: Sequence[str]) -> JsonObject:
    return {"command": command, "args": list(arguments)}


def _stdio(command: str, arguments: Sequence[str]) -> JsonObject:
    return {"type": "stdio", **_plain(command, arguments)}


def _with_env(command: str, arguments: Sequence[str]) -> JsonObject:
    return {**_plain(command, arguments), "env": {}}


def _goose(command: str, arguments: Sequence[str]) -> JsonObject:
    return {"name": "ui", "type": "stdio", "cmd": command, "args": list(arguments), "enabled": True, "timeout": 300}


def _opencode(command: str, arguments: Sequence[str]) -> JsonObject:
    # It waits 5 seconds for the tools, and 30 for a call, where ui_wait may take 120.
    return {"type": "local", "command": [command, *arguments], "enabled": True, "timeout": 300_000}


def _copilot(command: str, arguments: Sequence[str]) -> JsonObject:
    return {"type": "local", **_plain(command, arguments), "tools": ["*"]}


def _settings_folder(name: str) -> str:
    """Return where programs for the desktop keep their settings, below the home directory."""
    match sys.platform:
        case "darwin":
            return f"~/Library/Application Support/{name}"
        case "win32":
            return f"~/AppData/Roaming/{name}"
    return f"~/.config/{name}"


MCP_SERVERS = ("mcpServers", "ui")
HOSTS: tuple[Host, ...] = (
    Host(
        "claude-code", "Claude Code", ".mcp.json", MCP_SERVERS, _plain, ("claude",), ("~/.claude.json",),
        guards_claude=True, check=("claude", "mcp", "list"),
        approve="Start `claude` in the project and agree once to the server `ui` of .mcp.json.",
    ),
    Host(
        "claude-desktop", "Claude Desktop", f"{_settings_folder('Claude')}/claude_desktop_config.json", MCP_SERVERS,
        _plain, (), (_settings_folder("Claude"),), starts_in_project=False, approve="Restart Claude Desktop.",
    ),
    Host(
        "codex", "Codex", "~/.codex/config.toml", ("mcp_servers", "ui"), _plain, ("codex",), ("~/.codex",), form="toml",
        check=("codex", "mcp", "list"), approve="Nothing. It works in every project.",
    ),
    Host(
        "gemini", "Gemini CLI", ".gemini/settings.json", MCP_SERVERS, _plain, ("gemini",),
        check=("gemini", "mcp", "list"),
        approve="Start `gemini` in the project and trust the folder; otherwise it ignores the project's settings.",
    ),
    Host(
        "vscode", "VS Code", ".vscode/mcp.json", ("servers", "ui"), _stdio, ("code", "code-insiders", "codium"),
        (_settings_folder("Code"),), approve="Open .vscode/mcp.json, choose Start above the server, and trust it.",
    ),
    Host(
        "cursor", "Cursor", ".cursor/mcp.json", MCP_SERVERS, _plain, ("cursor", "cursor-agent"), ("~/.cursor",),
        approve="Switch the server `ui` on under Settings, MCP.",
    ),
    Host(
        "windsurf", "Windsurf", "~/.codeium/windsurf/mcp_config.json", MCP_SERVERS, _with_env, ("windsurf",),
        ("~/.codeium/windsurf",), starts_in_project=False,
        approve="Press Refresh under Settings, Cascade, MCP servers.",
    ),
    Host(
        "zed", "Zed", "~/.config/zed/settings.json", ("context_servers", "ui"), _with_env, ("zed", "zeditor"),
        ("~/.config/zed",), starts_in_project=False,
        approve="Check for a green dot beside `ui` in the settings of the agent panel.",
    ),
    Host(
        "goose", "goose", "~/.config/goose/config.yaml", ("extensions", "ui"), _goose, ("goose",), ("~/.config/goose",),
        form="yaml", starts_in_project=False, approve="Nothing. New sessions have it.",
    ),
    Host(
        "opencode", "opencode", "opencode.json", ("mcp", "ui"), _opencode, ("opencode",), ("~/.config/opencode",),
        check=("opencode", "mcp", "list"), approve="Nothing.",
    ),
    Host(
        "cline", "Cline", "~/.cline/data/settings/cline_mcp_settings.json", MCP_SERVERS, _plain, ("cline",),
        ("~/.cline",), starts_in_project=False,
        approve="Nothing for the command line; in an editor, switch the server on under MCP Servers.",
    ),
    Host(
        "qwen", "Qwen Code", ".qwen/settings.json", MCP_SERVERS, _plain, ("qwen",), (), check=("qwen", "mcp", "list"),
        approve="Run `qwen mcp approve ui` in the project, if `qwen mcp --help` has that command.",
    ),
    Host(
        "copilot", "Copilot CLI", "~/.copilot/mcp-config.json", MCP_SERVERS, _copilot, ("copilot",), ("~/.copilot",),
        approve="Nothing. It works in every project.",
    ),
)  # fmt: skip
BY_NAME = {host.name: host for host in HOSTS}
