"""How each host is started without a terminal, with the scripted model as its model."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROMPT = "Build me a counter."


@dataclass(frozen=True)
class Place:
    """Where a host runs, and the address of its model."""

    home: Path
    project: Path
    model: str

    def merge(self, file: Path, settings: Mapping[str, Any]) -> None:
        """Add settings to a JSON file."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({**(json.loads(file.read_text()) if file.exists() else {}), **settings}))


@dataclass(frozen=True)
class Driver:
    """One host."""

    name: str
    """As `ui-mcp setup` knows it."""
    commands: Callable[[Place], list[list[str]]]
    """Commands to run in order; the last one is the conversation."""
    environment: Callable[[Place], dict[str, str]] = lambda place: {}
    prepare: Callable[[Place], None] = lambda place: None
    gives_up_early: bool = False
    """Whether a server that needs some seconds to start, on a busy machine, is only seen by the next conversation."""
    passes_pictures: bool = True
    """Whether the model gets pictures as pictures."""


def _codex(place: Place) -> list[list[str]]:
    provider = f'{{name="s",base_url="{place.model}/v1",wire_api="responses",env_key="OPENAI_API_KEY"}}'
    settings = ["-c", 'model_provider="s"', "-c", 'model="gpt-5"', "-c", f"model_providers.s={provider}"]
    return [["codex", "exec", "--dangerously-bypass-approvals-and-sandbox", *settings, PROMPT]]


def _opencode(place: Place) -> None:
    pictures = {"attachment": True, "modalities": {"input": ["text", "image"], "output": ["text"]}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{place.model}/v1", "apiKey": "x"},
        "models": {"scripted": {"tool_call": True, **pictures}},
    }
    place.merge(place.project / "opencode.json", {"provider": {"s": provider}, "model": "s/scripted"})


def _gemini(place: Place) -> None:
    security = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    place.merge(place.home / ".gemini" / "settings.json", {"security": security})


DRIVERS = (
    Driver(
        "claude-code",
        # Not bypassPermissions: what it guards must not be in the way.
        lambda place: [[
            "claude", "-p", PROMPT, "--permission-mode", "acceptEdits", "--allowedTools", "mcp__ui",
            "--mcp-config", ".mcp.json", "--strict-mcp-config", "--model", "claude-sonnet-4-5",
        ]],
        lambda place: {
            "ANTHROPIC_BASE_URL": place.model, "ANTHROPIC_API_KEY": "x", "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ENABLE_TOOL_SEARCH": "false",
        },
    ),
    Driver("codex", _codex, lambda place: {"OPENAI_API_KEY": "x"}),
    Driver(
        "gemini",
        lambda place: [["gemini", "-p", PROMPT, "--yolo", "-m", "gemini-2.5-pro"]],
        lambda place: {
            "GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": place.model, "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        _gemini,
    ),
    Driver("opencode", lambda place: [["opencode", "run", PROMPT]], prepare=_opencode),
    Driver(
        "qwen",
        lambda place: [["qwen", "mcp", "approve", "ui"], ["qwen", "-p", PROMPT, "--yolo", "--auth-type", "openai"]],
        lambda place: {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{place.model}/v1", "OPENAI_MODEL": "scripted"},
        passes_pictures=False,
    ),
    Driver(
        "cline",
        lambda place: [
            ["cline", "auth", "-p", "openai", "-k", "x", "-m", "scripted", "-b", f"{place.model}/v1"],
            ["cline", PROMPT, "--auto-approve", "true"],
        ],
        lambda place: {"CLINE_DIR": str(place.home / ".cline")},
        gives_up_early=True,
        passes_pictures=False,
    ),
)  # fmt: skip
