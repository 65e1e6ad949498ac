"""An approval: one call waiting for, or past, the answer of a person."""

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal

from ui_mcp.compositor.redact import Scrubber
from ui_mcp.errors import CompositorError
from ui_mcp.jsontypes import Json, JsonObject, dumps

Status = Literal["pending", "approved", "denied", "expired", "cancelled"]
Execution = Literal["none", "executing", "completed", "failed", "aborted"]
Answer = Literal["approve", "approve_with_edit", "deny_continue", "deny_abort"]
Scope = Literal["once", "session", "always"]


@dataclass(frozen=True, slots=True)
class Approval:
    """A row; times are seconds since the epoch."""

    id: str
    created_at: float
    expires_at: float
    principal: str
    server: str
    tool: str
    arguments: JsonObject
    digest: str
    policy_version: str
    risk: str
    reason: str = ""
    conversation: str = "default"
    agent: str = ""
    args_version: int = 1
    preview: JsonObject | None = None
    status: Status = "pending"
    decision: Answer | None = None
    decided_by: str | None = None
    decided_at: float | None = None
    answer_reason: str | None = None
    scope: Scope | None = None
    execution: Execution = "none"
    started_at: float | None = None
    finished_at: float | None = None
    lease: str | None = None
    result: JsonObject | None = None
    delivered: bool = False
    pattern: dict[str, str] | None = None
    """The arguments a yes for longer covers, by path; see `scope`."""

    @property
    def is_settled(self) -> bool:
        """Say whether nothing more will happen to it."""
        return self.status in {"denied", "expired", "cancelled"} or self.execution in {"completed", "failed", "aborted"}

    def edited(self, arguments: JsonObject) -> "Approval":
        """Return the next version with other arguments and the digest that belongs to them."""
        changed = replace(self, arguments=arguments, args_version=self.args_version + 1)
        return replace(changed, digest=digest_of(changed))

    def to_json(self, scrubber: Scrubber | None = None) -> JsonObject:
        """Return what people and clients may see."""
        shown = scrubber or Scrubber()
        return {
            "id": self.id,
            "status": self.status,
            "server": self.server,
            "tool": self.tool,
            "arguments": shown.json(self.arguments),
            "args_version": self.args_version,
            "digest": self.digest,
            "principal": self.principal,
            "agent": self.agent,
            "conversation": self.conversation,
            "risk": self.risk,
            "reason": self.reason,
            "preview": shown.json(self.preview),
            "policy_version": self.policy_version,
            "created_at": self.created_at,
            "expires_at": self.expires_at,
            "decision": self.decision,
            "decided_by": self.decided_by,
            "decided_at": self.decided_at,
            "answer_reason": self.answer_reason,
            "scope": self.scope,
            "pattern": shown.json(self.pattern),
            "execution": {
                "state": self.execution,
                "started_at": self.started_at,
                "finished_at": self.finished_at,
            },
            "result": shown.json(self.result),
        }


def digest_of(row: Approval) -> str:
    """Return the fingerprint of exactly this call by exactly this caller under exactly this policy."""
    bound = {
        "server": row.server,
        "tool": row.tool,
        "arguments": row.arguments,
        "principal": row.principal,
        "policy_version": row.policy_version,
    }
    return sha256(canonical(bound).encode()).hexdigest()


def canonical(value: Json) -> str:
    """Write JSON in one way only: sorted keys, no spaces, whole numbers without a fraction (RFC 8785)."""
    match value:
        case dict():
            members = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be"))
            return "{" + ",".join(f"{dumps(key)}:{canonical(member)}" for key, member in members) + "}"
        case list() | tuple():
            return "[" + ",".join(canonical(member) for member in value) + "]"
        case float() if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        case _:
            return dumps(value)


class ApprovalError(CompositorError):
    """An answer that cannot be taken; `code` says why."""

    code = "approval"


class AlreadyDecidedError(ApprovalError):
    """Somebody else was first."""

    code = "already_decided"


class DigestMismatchError(ApprovalError):
    """The answer is about another call than the one that is waiting."""

    code = "digest_mismatch"


class ExpiredError(ApprovalError):
    """The time to answer is over."""

    code = "expired"


class UnknownApprovalError(ApprovalError):
    """There is no such approval."""

    code = "unknown_approval"
