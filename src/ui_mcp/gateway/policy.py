"""Decides about calls: allow, ask a person, or deny; pure functions."""

import re
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from fnmatch import fnmatchcase
from hashlib import sha256

from ui_mcp.gateway.config.settings import Decision, Mode, Rule
from ui_mcp.gateway.source import Entry
from ui_mcp.jsontypes import Json, JsonObject, canonical, dumps
from ui_mcp.lazy_dataclass import dataclass

_READING_VERBS = frozenset({"get", "list", "read", "search", "find", "show", "describe", "fetch"})

ALWAYS = "always allowed by "
"""Prefix of the reason of rules made by an answer with scope `always`."""

ABSENT = object()
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY"})


@dataclass(frozen=True, slots=True)
class Question:
    """A call to decide about."""

    entry: Entry
    arguments: JsonObject
    principal: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision and its reason."""

    decision: Decision
    reason: str
    expiry_s: float | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules in order, then decisions fixed for single tools, then the default of the mode."""

    mode: Mode = "guard"
    rules: tuple[Rule, ...] = ()
    fixed: Mapping[str, Decision] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """A short digest that changes whenever the policy does."""
        content = [self.mode, [asdict(rule) for rule in self.rules], dict(sorted(self.fixed.items()))]
        return sha256(dumps(content).encode()).hexdigest()[:16]


def decide(policy: Policy, question: Question) -> Verdict:
    """Return the verdict about a call; the first rule that matches and is not outdated decides."""
    outdated = ""
    for number, rule in enumerate(policy.rules, start=1):
        if matches(rule, question):
            why = why_outdated(rule, question.entry)
            if not why:
                return Verdict(rule.decision, rule.reason or f"rule {number}", rule.expiry_s)
            # The person is asked again, and the reason of the question explains why.
            outdated = f"; {rule.reason or f'rule {number}'!r} no longer holds: {why}"
    verdict = _without_rules(policy, question)
    return replace(verdict, reason=verdict.reason + outdated) if verdict.decision == "ask" else verdict


def why_outdated(rule: Rule, entry: Entry) -> str:
    """Return why a lasting approval no longer covers a tool of the same name, "" if it still does."""
    if rule.decision != "allow":
        return ""
    if rule.operation:
        return "" if rule.operation == entry.fingerprint else f"{entry.name} is another operation now"
    # Rules made by older versions are not bound to an operation.
    if not rule.other_args and rule.reason.startswith(ALWAYS):
        return "it does not say which operation was shown; answer once more for always to renew it"
    return ""


def _without_rules(policy: Policy, question: Question) -> Verdict:
    fixed = policy.fixed.get(question.entry.name)
    if fixed is not None:
        return Verdict(fixed, "set for this tool in the configuration")
    if question.entry.kind == "builtin" or policy.mode == "host":
        return Verdict("allow", "built in" if question.entry.kind == "builtin" else "left to the MCP host")
    return _guard(question.entry)


def matches(rule: Rule, question: Question) -> bool:
    entry = question.entry
    return (
        fnmatchcase(entry.source, rule.source)
        and (fnmatchcase(entry.name, rule.tool) or fnmatchcase(entry.local_name, rule.tool))
        and (rule.method == "*" or fnmatchcase(entry.method, rule.method.upper()))
        and (rule.path == "*" or fnmatchcase(entry.path, rule.path))
        and (rule.tag == "*" or any(fnmatchcase(tag, rule.tag) for tag in entry.tags))
        and fnmatchcase(question.principal, rule.principal)
        and _arguments_match(rule, question.arguments)
    )


def _arguments_match(rule: Rule, arguments: JsonObject) -> bool:
    """Return whether a rule fits the arguments.

    A path such as `a.b` can name two values: the argument `a.b` and the member `b` of `a`. A rule that allows must fit
    both, so that one cannot be hidden behind the other; any other rule must fit one.
    """
    fits = all if rule.decision == "allow" else any
    return (
        all(fits(fnmatchcase(_text(one), glob) for one in _values(arguments, path)) for path, glob in rule.args.items())
        and all(
            fits(_is_exactly(one, value) for one in _values(arguments, path, ABSENT, whole=not rule.other_args))
            for path, value in rule.exact.items()
        )
        and (rule.other_args or arguments.keys() <= _named_arguments(rule, arguments))
    )


def risk(entry: Entry) -> str:
    hints = entry.tool.annotations
    if hints.read_only:
        return "reads"
    return "destroys" if hints.destructive else "writes"


def _guard(entry: Entry) -> Verdict:
    if entry.kind == "target" and entry.method:
        safe = entry.method in _SAFE_METHODS
        return Verdict("allow" if safe else "ask", f"{entry.method} {'only reads' if safe else 'changes something'}")
    hints = entry.tool.annotations
    if hints.read_only is not None or hints.destructive is not None:
        reads = hints.read_only is True
        return Verdict("allow" if reads else "ask", "announced as read-only" if reads else "announced as changing")
    # Without annotations the first word of the name decides; unknown words count as changing something.
    first = re.match(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", entry.local_name).lower())
    reads = first is not None and first[0] in _READING_VERBS
    return Verdict("allow" if reads else "ask", "its name says it reads" if reads else "nothing says it only reads")


def _named_arguments(rule: Rule, arguments: JsonObject) -> set[str]:
    """Return the names of the arguments that a rule covers."""
    return {path if path in arguments else path.partition(".")[0] for path in rule.args} | rule.exact.keys()


def _values(arguments: JsonObject, path: str, default: Json = None, *, whole: bool = False) -> list[Json]:
    """Return every value that a path can name: the argument of that name and, unless `whole`, the nested member."""
    found = [arguments[path]] if path in arguments else []
    inner: Json = ABSENT if whole or "." not in path else arguments
    for part in path.split("."):
        inner = inner[part] if isinstance(inner, dict) and part in inner else ABSENT
    return (found if inner is ABSENT else [*found, inner]) or [default]


def _is_exactly(value: Json, wanted: Json) -> bool:
    return value is not ABSENT and canonical(value) == canonical(wanted)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else "" if value is None else canonical(value)
