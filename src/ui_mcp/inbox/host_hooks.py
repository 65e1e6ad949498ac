"""What hosts send to a hook before a tool runs, in plain words, and their form of the person's decision; pure."""

from collections.abc import Sequence

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.inbox.model import Question
from ui_mcp.inbox.words import display_name, shortened, spoken_call
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass

HOSTS = ("claude-code", "codex", "gemini")
EVENTS = frozenset({"PermissionRequest", "PreToolUse", "BeforeTool"})
ANSWERED_IN_HOST = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Tools of Claude Code that show a choice of their own: a bare yes would answer it with nothing."""
PROMPT_TOOL = "permission"
"""The tool for Claude Code's --permission-prompt-tool."""
PROMPT = "permission prompt"
UNANSWERED = "The person did not answer in the inbox in time, so this was denied."
_LABELS = {
    "Bash": ("run a command", "command"),
    "shell": ("run a command", "command"),
    "exec_command": ("run a command", "cmd"),
    "run_shell_command": ("run a command", "command"),
    "Write": ("write", "file_path"),
    "write_file": ("write", "file_path"),
    "Edit": ("change", "file_path"),
    "MultiEdit": ("change", "file_path"),
    "NotebookEdit": ("change", "notebook_path"),
    "replace": ("change", "file_path"),
    "apply_patch": ("change files", ""),
    "Read": ("read", "file_path"),
    "WebFetch": ("fetch", "url"),
    "web_fetch": ("fetch", "prompt"),
    "WebSearch": ("search the web for", "query"),
    "google_web_search": ("search the web for", "query"),
}
"""Tools of hosts: what they do, and the argument that says to what."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a host wants to do."""

    host: str
    event: str
    tool: str
    arguments: JsonObject
    cwd: str
    suggestions: Sequence[JsonObject] = ()
    """Rules by which the host would not ask again, in its own form."""

    @property
    def title(self) -> str:
        """The whole request in plain words."""
        return f"{display_name(self.host)} wants to {self._spoken()}"

    def body(self) -> JsonObject:
        """Return the body of the question."""
        always = [text for one in self.suggestions for text in _rules(one)]
        # Codex refuses an answer that tells it to stop, and Gemini CLI would end the whole session.
        stops = self.host == "claude-code" and self.event in {"PermissionRequest", PROMPT}
        return {"tool": self.tool, "arguments": self.arguments, "cwd": self.cwd, "always": always, "stops": stops}

    def _spoken(self) -> str:
        if self.tool in _LABELS:
            verb, name = _LABELS[self.tool]
            given = self.arguments.get(name)
            text = " ".join(map(str, given)) if isinstance(given, list) else str(given or "")
            colon = ":" if verb == "run a command" and text else ""
            return f"{verb}{colon} {shortened(text)}".strip()
        server, tool = _mcp_name(self.tool)
        return spoken_call(server, tool, self.arguments)


def wanted(host: str, given: Json) -> Wanted | None:
    """Read what a host sent; None if it is for the host alone to ask.

    Raises:
        InvalidArgumentsError: it is not the input of such a hook.
    """
    match given:
        case {"hook_event_name": str(event), "tool_name": str(tool), "tool_input": dict(arguments)} if event in EVENTS:
            if tool in ANSWERED_IN_HOST:
                return None
            offered = given.get("permission_suggestions")
            suggestions = [one for one in offered if isinstance(one, dict)] if isinstance(offered, list) else []
            return Wanted(host, event, tool, arguments, str(given.get("cwd") or ""), suggestions)
        case _:
            raise InvalidArgumentsError("This is not the input of a hook before a tool")


def prompted(tool: str, arguments: JsonObject, cwd: str) -> Wanted | None:
    """Return what Claude Code asks its permission prompt tool; None if only the host can ask it."""
    return None if tool in ANSWERED_IN_HOST else Wanted("claude-code", PROMPT, tool, arguments, cwd)


def prompt_denial(message: str, *, stop: bool = False) -> JsonObject:
    """Return the denial of a permission prompt tool."""
    return {"behavior": "deny", "message": message, **({"interrupt": True} if stop else {})}


def decision_json(asked: Wanted, question: Question) -> JsonObject | None:
    """Return what the hook prints; None leaves the decision to the host's own prompt. Only an answer allows."""
    said = question.answer or {}
    match question.status:
        case "answered":
            return _allowed(asked, always=said.get("decision") == "allow_always")
        case "declined":
            reason = said.get("reason")
            message = f"The person denied this{f': {reason}' if reason else '.'}"
            return _denied(asked, message, stop=said.get("decision") == "deny_stop")
        case "expired":
            return _denied(asked, UNANSWERED, stop=False)
        case _:
            return None


def _allowed(asked: Wanted, *, always: bool) -> JsonObject:
    match asked.event:
        case "PermissionRequest":
            kept: JsonObject = {"updatedPermissions": list(asked.suggestions)} if always and asked.suggestions else {}
            return _specific(asked, {"decision": {"behavior": "allow", **kept}})
        case "PreToolUse":
            reason = "The person allowed this in the inbox."
            return _specific(asked, {"permissionDecision": "allow", "permissionDecisionReason": reason})
        case _ if asked.event == PROMPT:
            return {"behavior": "allow", "updatedInput": asked.arguments}
        case _:
            return {"decision": "allow"}


def _denied(asked: Wanted, message: str, *, stop: bool) -> JsonObject:
    match asked.event:
        case "PermissionRequest":
            interrupt: JsonObject = {"interrupt": True} if stop and asked.body()["stops"] else {}
            return _specific(asked, {"decision": {"behavior": "deny", "message": message, **interrupt}})
        case "PreToolUse":
            return _specific(asked, {"permissionDecision": "deny", "permissionDecisionReason": message})
        case _ if asked.event == PROMPT:
            return prompt_denial(message, stop=stop)
        case _:
            return {"decision": "deny", "reason": message}


def _specific(asked: Wanted, output: JsonObject) -> JsonObject:
    return {"hookSpecificOutput": {"hookEventName": asked.event, **output}}


def _rules(suggestion: JsonObject) -> list[str]:
    """Return the rules of one suggestion of Claude Code as its settings write them."""
    where = f"  ({suggestion['destination']})" if isinstance(suggestion.get("destination"), str) else ""
    rules = suggestion.get("rules")
    if isinstance(rules, list):
        return [f"{_rule(one)}{where}" for one in rules if isinstance(one, dict)]
    details = {name: value for name, value in suggestion.items() if name not in {"type", "destination"}}
    return [f"{suggestion.get('type', 'rule')} {', '.join(map(str, details.values()))}{where}"]


def _rule(rule: JsonObject) -> str:
    content = rule.get("ruleContent")
    return f"{rule.get('toolName', '')}{f'({content})' if content else ''}"


def _mcp_name(tool: str) -> tuple[str, str]:
    """Return server and tool of `mcp__SERVER__TOOL` or `mcp_SERVER_TOOL`, as Gemini CLI writes it."""
    if tool.startswith("mcp__"):
        server, _, name = tool.removeprefix("mcp__").partition("__")
        return server, name
    if tool.startswith("mcp_"):
        server, _, name = tool.removeprefix("mcp_").partition("_")
        return server, name
    return "", tool
