"""Decides about calls: allow, ask a person, or deny. Pure: values in, a verdict out."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Literal

from ui_mcp.compositor.approvals.row import canonical
from ui_mcp.compositor.settings import Decision, Rule
from ui_mcp.compositor.source import Entry
from ui_mcp.jsontypes import Json, JsonObject, dumps

Mode = Literal["host", "guard"]
_READING = frozenset({"get", "list", "read", "search", "find", "show", "describe", "fetch"})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY"})


@dataclass(frozen=True, slots=True)
class Question:
    """A call about to be made."""

    entry: Entry
    arguments: JsonObject
    principal: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What policy says, and why."""

    decision: Decision
    reason: str
    expiry_s: float | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules in order, then decisions fixed for single tools, then the mode's default."""

    mode: Mode = "guard"
    rules: tuple[Rule, ...] = ()
    fixed: Mapping[str, Decision] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """A short name that changes whenever the policy does."""
        told = [self.mode, [rule.model_dump() for rule in self.rules], dict(sorted(self.fixed.items()))]
        return sha256(dumps(told).encode()).hexdigest()[:16]


def decide(policy: Policy, question: Question) -> Verdict:
    """Say what happens with a call."""
    for number, rule in enumerate(policy.rules, start=1):
        if matches(rule, question):
            return Verdict(rule.decision, rule.reason or f"rule {number}", rule.expiry_s)
    fixed = policy.fixed.get(question.entry.name)
    if fixed is not None:
        return Verdict(fixed, "set for this tool in the configuration")
    if question.entry.kind == "builtin" or policy.mode == "host":
        return Verdict("allow", "built in" if question.entry.kind == "builtin" else "left to the MCP host")
    return _guard(question.entry)


def matches(rule: Rule, question: Question) -> bool:
    """Say whether every part of a rule fits a call."""
    entry = question.entry
    return (
        fnmatchcase(entry.source, rule.source)
        and (fnmatchcase(entry.name, rule.tool) or fnmatchcase(entry.local_name, rule.tool))
        and (rule.method == "*" or fnmatchcase(entry.method, rule.method.upper()))
        and (rule.path == "*" or fnmatchcase(entry.path, rule.path))
        and (rule.tag == "*" or any(fnmatchcase(tag, rule.tag) for tag in entry.tags))
        and fnmatchcase(question.principal, rule.principal)
        and all(fnmatchcase(_text(_at(question.arguments, path)), glob) for path, glob in rule.args.items())
        and (rule.other_args or question.arguments.keys() <= _named(rule))
    )


def risk(entry: Entry) -> str:
    """Name the kind of effect a tool has."""
    hints = entry.tool.annotations
    if hints.read_only:
        return "reads"
    return "destroys" if hints.destructive else "writes"


def _guard(entry: Entry) -> Verdict:
    if entry.kind == "target" and entry.method:
        safe = entry.method in _SAFE
        return Verdict("allow" if safe else "ask", f"{entry.method} {'only reads' if safe else 'changes something'}")
    hints = entry.tool.annotations
    if hints.read_only is not None or hints.destructive is not None:
        reads = hints.read_only is True
        return Verdict("allow" if reads else "ask", "announced as read-only" if reads else "announced as changing")
    first = re.match(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", entry.local_name).lower())
    reads = first is not None and first[0] in _READING
    return Verdict("allow" if reads else "ask", "its name says it reads" if reads else "nothing says it only reads")


def _named(rule: Rule) -> set[str]:
    return {*rule.args, *(path.partition(".")[0] for path in rule.args)}


def _at(value: Json, path: str) -> Json:
    if isinstance(value, dict) and path in value:
        return value[path]
    for part in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(part)
    return value


def _text(value: Json) -> str:
    return value if isinstance(value, str) else "" if value is None else canonical(value)
