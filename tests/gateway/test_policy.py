"""Policy: rules first, then what single tools say, then the mode."""

from typing import Any

import pytest

from ui_mcp.gateway.config.settings import Decision, Rule
from ui_mcp.gateway.policy import Policy, Question, decide
from ui_mcp.gateway.source import Entry
from ui_mcp.toolkit.tool import Annotations, Tool
from ui_mcp.validation import read

GUARD = Policy("guard")


def target(method: str, name: str = "op") -> Entry:
    return Entry(Tool(f"api__{name}", "", "", {}), "api", "target", name, method, "/x", ("tag",))


def backend(name: str, **hints: Any) -> Entry:
    tool = Tool(f"srv__{name}", "", "", {}, annotations=Annotations(**hints, open_world=None))
    return Entry(tool, "srv", "backend", name)


def decision(policy: Policy, entry: Entry, principal: str = "p", **arguments: object) -> str:
    return decide(policy, Question(entry, arguments, principal)).decision


@pytest.mark.covers("GW-POL-2")
@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("GET", "allow"),
        ("HEAD", "allow"),
        ("QUERY", "allow"),
        ("POST", "ask"),
        ("PUT", "ask"),
        ("PATCH", "ask"),
        ("DELETE", "ask"),
    ],
)
def test_guard_goes_by_the_method(method: str, expected: str) -> None:
    assert decision(GUARD, target(method)) == expected
    assert decision(Policy("host"), target(method)) == "allow"


@pytest.mark.covers("GW-POL-2")
def test_guard_goes_by_hints_then_by_the_first_word() -> None:
    assert decision(GUARD, backend("wipe", read_only=True)) == "allow"
    assert decision(GUARD, backend("get_x", read_only=False)) == "ask"
    assert decision(GUARD, backend("list_files")) == "allow"
    assert decision(GUARD, backend("getThing")) == "allow"
    assert decision(GUARD, backend("getaway")) == "ask"
    assert decision(GUARD, backend("send_mail")) == "ask"


@pytest.mark.covers("GW-POL-3", "R-PC-3")
@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"tool": "op", "decision": "deny_abort"}, "deny_abort"),
        ({"match": {"server": "ap*"}, "decision": "ask"}, "ask"),
        ({"method": "get", "decision": "ask"}, "ask"),
        ({"tag": "other", "decision": "ask"}, "allow"),
        ({"path": "/y*", "decision": "ask"}, "allow"),
        ({"principal": "p", "decision": "ask"}, "ask"),
        ({"principal": "q", "decision": "ask"}, "allow"),
        ({"args": {"body.path": "/etc/*"}, "decision": "deny_continue"}, "deny_continue"),
    ],
)
def test_the_first_matching_rule_wins(rule: dict[str, object], expected: str) -> None:
    rules = (read(Rule, rule), Rule(decision="allow"))

    assert decision(Policy("guard", rules), target("GET"), body={"path": "/etc/passwd"}) == expected


@pytest.mark.covers("GW-POL-3")
def test_a_decision_for_one_tool_is_weaker_than_a_rule() -> None:
    fixed: dict[str, Decision] = {"api__op": "deny_continue"}

    assert decision(Policy("guard", (), fixed), target("GET")) == "deny_continue"
    assert decision(Policy("guard", (Rule(decision="allow"),), fixed), target("GET")) == "allow"


@pytest.mark.covers("R-AP-5")
def test_the_version_changes_with_the_policy() -> None:
    assert GUARD.version == Policy("guard").version != Policy("guard", (Rule(decision="ask"),)).version
