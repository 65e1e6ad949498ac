"""Rules and permissions that an answer creates: for the session, or until a person removes them."""

from ui_mcp.gateway.approvals.model import Approval
from ui_mcp.gateway.config.settings import Rule
from ui_mcp.gateway.policy import ALWAYS, Question, matches, why_outdated
from ui_mcp.jsontypes import Json, canonical
from ui_mcp.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Grant:
    """Permission for one caller until the program ends."""

    rule: Rule
    principal: str
    connection: str

    def covers(self, question: Question, connection: str) -> bool:
        """Return whether a call is made by this caller and matches what was approved."""
        same_caller = (self.principal, self.connection) == (question.principal, connection)
        return same_caller and matches(self.rule, question) and not why_outdated(self.rule, question.entry)


def pattern_of(row: Approval) -> dict[str, str]:
    """Return the pattern that a person gave, else the narrowest useful one.

    The narrowest one requires every argument to be equal, except the body of an HTTP request, which differs each time.
    """
    return _narrowest_pattern(row) if row.pattern is None else row.pattern


def rule_for(row: Approval, reason: str) -> Rule:
    """Return the rule that a lasting approval creates.

    Arguments that the person left as shown are compared as JSON values; a glob is compared with the value as text.
    """
    pattern, narrow = pattern_of(row), _narrowest_pattern(row)
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
    """Return the rule that stays in force until a person removes it."""
    return rule_for(row, f"{ALWAYS}{row.decided_by}")


def session_grant(row: Approval) -> Grant:
    """Return the permission that this caller keeps until the program ends."""
    rule = rule_for(row, f"allowed for this session by {row.decided_by}")
    return Grant(rule, row.principal, row.connection)


def _narrowest_pattern(row: Approval) -> dict[str, str]:
    whole_request = row.preview is not None
    return {name: "*" if whole_request and name == "body" else _literal(value) for name, value in row.arguments.items()}


def _literal(value: Json) -> str:
    text = value if isinstance(value, str) else "" if value is None else canonical(value)
    # In a glob, [*] matches an asterisk.
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)
