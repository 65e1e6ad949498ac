"""The permission hooks that `ui-mcp setup --hooks` installs: where each host keeps them, and our entry among others."""

import re
from pathlib import Path

from ui_mcp.app.setup.config_file import Change, entry_of, planned
from ui_mcp.app.setup.hosts import program
from ui_mcp.errors import ConfigError
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass

SECONDS = 3660
"""Limit of a hook: a minute more than a question stays open, so that the person's time ends first."""


@dataclass(frozen=True, slots=True)
class HostHook:
    """The hook of one host; `file` is relative to the project, or begins with ~."""

    file: str
    event: str
    matcher: str
    timeout: int
    note: str
    """What the person has to know or do."""

    def config(self, project: Path) -> Path:
        return Path.home() / self.file[2:] if self.file.startswith("~") else project / self.file


HOOKS = {
    "claude-code": HostHook(
        ".claude/settings.local.json", "PermissionRequest", "*", SECONDS,
        "Restart Claude Code; its prompts then wait in the inbox while a server runs here.",
    ),
    "codex": HostHook(
        "~/.codex/hooks.json", "PermissionRequest", ".*", SECONDS,
        "Start `codex`, open /hooks and trust the hook; it holds for every project.",
    ),
    "gemini": HostHook(
        ".gemini/settings.json", "BeforeTool", "run_shell_command|write_file|replace|web_fetch|mcp_.*", SECONDS * 1000,
        "A no in the inbox is final; after a yes Gemini CLI asks too, unless it runs with --approval-mode=yolo.",
    ),
}  # fmt: skip


def planned_hook(host: str, project: Path, *, remove: bool) -> Change:
    """Return the change that adds our hook to those of a host, or takes it out; the others stay.

    Raises:
        ConfigError: the file cannot be read, or its hooks are not in the form that the host documents.
    """
    hook = HOOKS[host]
    file, path = hook.config(project), ("hooks", hook.event)
    before = entry_of(file, "json", path)
    if before is not None and not isinstance(before, list):
        raise ConfigError(f"{file} was left as it is: {'.'.join(path)} is not a list")
    others = [one for one in before or [] if not _is_ours(one, host)]
    entries: list[Json] = others if remove else [*others, _entry(hook, host)]
    return planned(file, "json", path, entries or None)


def _entry(hook: HostHook, host: str) -> JsonObject:
    # The whole path: hosts start hooks by a shell whose PATH may be shorter than the person's.
    command = " ".join(_quoted(word) for word in [*program(by_name=False), "approvals", "hook", host])
    return {"matcher": hook.matcher, "hooks": [{"type": "command", "command": command, "timeout": hook.timeout}]}


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word


def _is_ours(entry: Json, host: str) -> bool:
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    commands = [one.get("command") for one in hooks if isinstance(one, dict)] if isinstance(hooks, list) else []
    return any(isinstance(one, str) and re.search(rf"\bui[-_]mcp\b.* approvals hook {host}$", one) for one in commands)
