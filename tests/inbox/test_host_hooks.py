"""What hosts ask before a tool runs, and what they are answered."""

import pytest

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.inbox.host_hooks import UNANSWERED, decision_json, wanted
from ui_mcp.inbox.model import Question, Status
from ui_mcp.jsontypes import Json, JsonObject

RULES = [{"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "rm:*"}], "destination": "localSettings"}]


def sent(event: str, tool: str = "Bash", **more: Json) -> JsonObject:
    common = {"session_id": "s", "cwd": "/home/ann", "hook_event_name": event, "tool_name": tool}
    return {**common, "tool_input": {"command": "rm -r build"}, **more}


def settled(status: Status, **answer: Json) -> Question:
    return Question("q", 0, 1, "permission", "claude-code", "Claude Code", "x", status=status, answer=answer or None)


def decided(host: str, event: str, question: Question, **more: Json) -> Json:
    asked = wanted(host, sent(event, **more))
    assert asked is not None
    return decision_json(asked, question)


@pytest.mark.covers("INBOX-8")
@pytest.mark.parametrize(
    ("host", "event", "allowed", "denied"),
    [
        (
            "claude-code",
            "PermissionRequest",
            {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}},
            {
                "hookSpecificOutput": {
                    "hookEventName": "PermissionRequest",
                    "decision": {"behavior": "deny", "message": "The person denied this: no", "interrupt": True},
                }
            },
        ),
        (
            "claude-code",
            "PreToolUse",
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "allow",
                    "permissionDecisionReason": "The person allowed this in the inbox.",
                }
            },
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": "The person denied this: no",
                }
            },
        ),
        (
            "codex",  # takes neither interrupt nor rules
            "PermissionRequest",
            {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}},
            {
                "hookSpecificOutput": {
                    "hookEventName": "PermissionRequest",
                    "decision": {"behavior": "deny", "message": "The person denied this: no"},
                }
            },
        ),
        ("gemini", "BeforeTool", {"decision": "allow"}, {"decision": "deny", "reason": "The person denied this: no"}),
    ],
)
def test_each_host_gets_the_decision_in_its_own_form(host: str, event: str, allowed: Json, denied: Json) -> None:
    assert decided(host, event, settled("answered", decision="allow")) == allowed
    assert decided(host, event, settled("declined", decision="deny_stop", reason="no")) == denied


@pytest.mark.covers("INBOX-8", "INBOX-3")
@pytest.mark.parametrize("status", ["pending", "withdrawn", "expired"])
def test_nothing_but_an_answer_allows(status: Status) -> None:
    decision = decided("claude-code", "PermissionRequest", settled(status))

    assert "allow" not in str(decision)
    assert (decision is None) == (status != "expired")
    assert status != "expired" or UNANSWERED in str(decision)


def test_a_lasting_yes_hands_back_the_rules_that_the_host_suggested() -> None:
    asked = wanted("claude-code", sent("PermissionRequest", permission_suggestions=[*RULES, 7]))
    assert asked is not None
    decision = decision_json(asked, settled("answered", decision="allow_always")) or {}

    assert asked.body()["always"] == ["Bash(rm:*)  (localSettings)"]
    assert decision["hookSpecificOutput"]["decision"] == {"behavior": "allow", "updatedPermissions": RULES}


@pytest.mark.covers("INBOX-1")
@pytest.mark.parametrize(
    ("host", "tool", "given", "said"),
    [
        ("claude-code", "Bash", {"command": "rm -r build"}, "Claude Code wants to run a command: rm -r build"),
        ("codex", "shell", {"command": ["rm", "-r"]}, "Codex wants to run a command: rm -r"),
        ("gemini", "write_file", {"file_path": "a.txt"}, "Gemini CLI wants to write a.txt"),
        ("codex", "apply_patch", {"input": "…"}, "Codex wants to change files"),
        ("claude-code", "mcp__shop__deleteOrder", {"id": 7}, "Claude Code wants to delete order 7 in shop"),
        ("gemini", "mcp_shop_deleteOrder", {"id": 7}, "Gemini CLI wants to delete order 7 in shop"),
        ("claude-code", "Skill", {}, "Claude Code wants to use Skill"),
    ],
)
def test_what_a_host_wants_is_said_in_plain_words(host: str, tool: str, given: JsonObject, said: str) -> None:
    asked = wanted(host, {**sent("PreToolUse", tool), "tool_input": given})

    assert asked is not None
    assert asked.title == said


def test_a_choice_of_the_host_itself_stays_there() -> None:
    assert wanted("claude-code", sent("PermissionRequest", "AskUserQuestion")) is None


def test_rules_of_another_form_are_shown_too() -> None:
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    asked = wanted("claude-code", sent("PermissionRequest", permission_suggestions=[mode]))

    assert asked is not None
    assert asked.body()["always"] == ["setMode acceptEdits  (session)"]


@pytest.mark.parametrize("given", [None, [], {"tool_name": "x"}, {"hook_event_name": "Stop", "tool_name": "x"}])
def test_other_input_is_refused(given: Json) -> None:
    with pytest.raises(InvalidArgumentsError):
        wanted("codex", given)
