"""Rules that agents propose: validated, replayed over past calls, and decided by a person."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from secrets import token_hex
from typing import Literal

from ui_mcp.errors import InvalidArgumentsError, NotFoundError, UnknownToolError
from ui_mcp.gateway.approvals.store import ApprovalStore
from ui_mcp.gateway.audit import PastCall
from ui_mcp.gateway.catalog import Catalog
from ui_mcp.gateway.config.settings import Rule
from ui_mcp.gateway.policy import Policy, Question, decide
from ui_mcp.gateway.source import Entry
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.validation import InvalidDataError, read, to_json

ProposalStatus = Literal["pending", "accepted", "refused", "withdrawn"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed rule; it has no effect unless a person accepts it."""

    id: str
    created_at: float
    principal: str
    rule: Rule
    rationale: str
    status: ProposalStatus = "pending"
    decided_by: str | None = None

    def to_json(self) -> JsonObject:
        return {
            "id": self.id,
            "created_at": self.created_at,
            "principal": self.principal,
            "rule": to_json(self.rule),
            "rationale": self.rationale,
            "status": self.status,
            "decided_by": self.decided_by,
        }


def rule_of(content: JsonObject) -> Rule:
    """Parse a proposed rule.

    Raises:
        InvalidArgumentsError: it is not a rule, or it would allow everything.
    """
    try:
        rule = read(Rule, content)
    except InvalidDataError as error:
        raise InvalidArgumentsError(f"rule.{error.problems[0]}") from error
    if rule.decision == "allow" and rule.source == "*" and rule.tool == "*":
        raise InvalidArgumentsError("rule: a rule that allows everything cannot be proposed; name a source or a tool")
    return rule


def bound(rule: Rule, entries: Sequence[Entry]) -> Rule:
    """Bind a rule that allows a single tool by name to the operation that the tool performs now."""
    named = [
        entry
        for entry in entries
        if rule.tool in (entry.name, entry.local_name) and fnmatchcase(entry.source, rule.source)
    ]
    if rule.decision != "allow" or len(named) != 1:
        return rule
    return replace(rule, operation=named[0].fingerprint)


def replay(catalog: Catalog, policy: Policy, rule: Rule, history: Sequence[PastCall]) -> JsonObject:
    """Return what the rule, put before all others, would have decided about past calls, as counts."""
    changed = replace(policy, rules=(rule, *policy.rules))
    decisions: Counter[str] = Counter()
    differing: Counter[str] = Counter()
    against: list[str] = []
    for call in history:
        try:
            entry = catalog.entry(call.tool)
        except UnknownToolError:
            continue
        if call.arguments is None and rule.args:
            decisions["unknown"] += 1  # the rule depends on arguments that were not recorded
            continue
        question = Question(entry, call.arguments or {}, call.principal)
        decision = decide(changed, question).decision
        decisions[decision] += 1
        if decision != decide(policy, question).decision:
            differing[decision] += 1
        if decision == "allow" and "_deny_" in call.outcome:
            against.append(call.id)
    return {
        "calls": sum(decisions.values()),
        **decisions,
        "changed": dict(differing),
        "would_have_allowed_what_was_denied": against,
    }


class Proposals:
    def __init__(self, store: ApprovalStore, bound: Callable[[Rule], Rule] = lambda rule: rule) -> None:
        self._store = store
        self._bound = bound
        """Binds a rule to the operation that it allows at present."""

    async def add(self, rule: Rule, rationale: str, principal: str) -> Proposal:
        proposal = Proposal(token_hex(16), time.time(), principal, rule, rationale)
        await self._save(proposal)
        return proposal

    async def all(self) -> list[Proposal]:
        """Return all proposals, oldest first."""
        return [
            Proposal(row[0], row[1], row[2], read(Rule, loads(row[3])), row[4], row[5], row[6])
            for row in await self._store.proposals()
        ]

    async def settle(self, proposal_id: str, status: ProposalStatus, by: str) -> Proposal:
        """Accept, refuse or withdraw a pending proposal; an accepted one becomes a standing rule.

        Raises:
            NotFoundError: there is no such pending proposal.
        """
        found = next((one for one in await self.all() if one.id == proposal_id and one.status == "pending"), None)
        if found is None:
            raise NotFoundError(f"No pending proposal {proposal_id}")
        settled = replace(found, status=status, decided_by=by)
        if not await self._store.settle_proposal(proposal_id, status, by):  # another process was faster
            raise NotFoundError(f"No pending proposal {proposal_id}")
        if status == "accepted":
            await self._store.add_rule(self._bound(found.rule), by, proposal_id)
        return settled

    async def _save(self, one: Proposal) -> None:
        rule = dumps(to_json(one.rule))
        await self._store.save_proposal(
            (one.id, one.created_at, one.principal, rule, one.rationale, one.status, one.decided_by)
        )
