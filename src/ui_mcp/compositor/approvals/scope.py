"""How far a yes for longer than once reaches: the same tool with arguments of the same pattern, nothing more."""

from ui_mcp.compositor.approvals.row import Approval, canonical
from ui_mcp.compositor.settings import Rule
from ui_mcp.jsontypes import Json


def pattern_of(row: Approval) -> dict[str, str]:
    """Return the pattern a person gave, else the narrowest that is of use.

    Every argument must be as it was; only the body of an HTTP request, which differs each time, may be any.
    """
    if row.pattern is not None:
        return row.pattern
    whole_request = row.preview is not None
    return {name: "*" if whole_request and name == "body" else _literal(value) for name, value in row.arguments.items()}


def rule_for(row: Approval, reason: str) -> Rule:
    """Return the rule that a yes for longer makes."""
    return Rule(
        source=_literal(row.server),
        tool=_literal(row.tool),
        args=pattern_of(row),
        other_args=False,
        decision="allow",
        reason=reason,
    )


def session_rule(row: Approval) -> Rule:
    """Return the rule that holds for this caller until the program ends."""
    rule = rule_for(row, f"allowed for this session by {row.decided_by}")
    return rule.model_copy(update={"principal": _literal(row.principal)})


def _literal(value: Json) -> str:
    text = value if isinstance(value, str) else "" if value is None else canonical(value)
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)
