"""Says in plain words what an agent wants to do; pure."""

import re
from collections.abc import Mapping

from ui_mcp.jsontypes import Json

_NAMES = {
    "claude": "Claude",
    "claude-ai": "Claude",
    "claude-code": "Claude Code",
    "codex": "Codex",
    "codex-mcp-client": "Codex",
    "gemini": "Gemini CLI",
    "gemini-cli-mcp-client": "Gemini CLI",
    "opencode": "opencode",
}
_VERBS = {
    "get": "read", "list": "list", "find": "find", "search": "search", "read": "read", "fetch": "read",
    "create": "create", "add": "add", "post": "create", "insert": "add", "new": "create",
    "update": "change", "set": "set", "put": "replace", "patch": "change", "edit": "change", "change": "change",
    "delete": "delete", "remove": "remove", "destroy": "delete", "drop": "delete",
    "send": "send", "cancel": "cancel", "close": "close", "open": "open", "move": "move", "copy": "copy",
    "start": "start", "stop": "stop", "run": "run", "upload": "upload", "merge": "merge", "publish": "publish",
    "approve": "approve", "ship": "ship", "archive": "archive", "restore": "restore", "rename": "rename",
    "assign": "assign", "invite": "invite", "schedule": "schedule", "deploy": "deploy", "write": "write",
    "enable": "enable", "disable": "disable", "reset": "reset", "charge": "charge",
    "buy": "buy", "order": "order", "pay": "pay", "refund": "refund", "place": "place",
}  # fmt: skip
_ID = re.compile(r"(?i)^(id|.*_?id|number|key|name|slug|code)$")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONGEST = 60


def display_name(client: str) -> str:
    """Return a program's name as people know it; our own agents are named by conversation and call."""
    return _NAMES.get(client.casefold(), client) or "An agent"


def spoken_call(server: str, tool: str, arguments: Mapping[str, Json]) -> str:
    """Return what a call does, such as "delete order 7 in shop"; without a known verb "use TOOL of SERVER"."""
    operation = tool.removeprefix(f"{server}__") if server else tool
    words = [word.lower() for word in _WORD.findall(operation)]
    verb = _VERBS.get(words[0]) if words else None
    where = f" in {server}" if server else ""
    if verb is None:
        return f"use {operation}{f' of {server}' if server else ''}"
    thing = _thing(words[1:], arguments)
    return f"{verb}{f' {thing}' if thing else ''}{where}"


def _thing(words: list[str], arguments: Mapping[str, Json]) -> str:
    """Return what it is done to, with the first argument that names one of them."""
    # "orderById" says nothing more than "order 7".
    noun = " ".join(words[: words.index("by")] if "by" in words[1:] else words)
    named = next((value for name, value in arguments.items() if _ID.match(name) and _is_short(value)), None)
    return f"{noun} {named}".strip() if named is not None else noun


def _is_short(value: Json) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and 0 < len(str(value)) <= _LONGEST


def shortened(text: str, longest: int = 160) -> str:
    """Return a text on one line, cut to a length."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
