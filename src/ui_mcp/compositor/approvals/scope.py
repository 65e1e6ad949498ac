"""How far a yes for longer than once reaches: the operation that was shown with arguments of the same pattern."""

from dataclasses import dataclass

from ui_mcp.compositor.canonical import canonical
from ui_mcp.gateway.approvals.model import Approval
from ui_mcp.gateway.config.settings import Rule
from ui_mcp.gateway.policy import ALWAYS, Question, matches, why_outdated
from ui_mcp.jsontypes import Json


@dataclass(frozen=True, slots=True)
class Grant:
    """A yes that one caller has until the program ends."""

    rule: Rule
    principal: str
    connection: str

    def covers(self, question: Question, connection: str) -> bool:
        """Say whether a call is this caller's and what was agreed to."""
        same_caller = (self.principal, self.connection) == (question.principal, connection)
        return same_caller and matches(self.rule, question) and not why_outdated(self.rule, question.entry)


def pattern_of(row: Approval) -> dict[str, str]:
    """Return the pattern a person gave, else the narrowest that is of use.

    Every argument must be as it was; only the body of an HTTP request, which differs each time, may be any.
    """
    return _narrow(row) if row.pattern is None else row.pattern


def rule_for(row: Approval, reason: str) -> Rule:
    """Return the rule that a yes for longer makes.

    What the person left as it was shown keeps its JSON type; a glob of their own is compared with any value's text.
    """
    pattern, narrow = pattern_of(row), _narrow(row)
    kept = {name for name, glob in pattern.items() if glob == narrow.get(name) and glob != "*"}
    return Rule(
        source=_literal(row.server),
        tool=_literal(row.tool),
        args={path: glob for path, glob in pattern.items() if path not in kept},
        exact={name: row.arguments[name] for name in kept},
        other_args=False,
        operation=row.operation,
        decision="allow",
        reason=reason,
    )


def always_rule(row: Approval) -> Rule:
    """Return the rule that holds until a person removes it."""
    return rule_for(row, f"{ALWAYS}{row.decided_by}")


def session_grant(row: Approval) -> Grant:
    """Return what holds for this caller until the program ends."""
    rule = rule_for(row, f"allowed for this session by {row.decided_by}")
    return Grant(rule, row.principal, row.connection)


def _narrow(row: Approval) -> dict[str, str]:
    whole_request = row.preview is not None
    return {name: "*" if whole_request and name == "body" else _literal(value) for name, value in row.arguments.items()}


def _literal(value: Json) -> str:
    text = value if isinstance(value, str) else "" if value is None else canonical(value)
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)
