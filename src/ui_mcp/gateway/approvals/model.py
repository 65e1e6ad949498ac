"""An approval: one call waiting for, or past, the answer of a person."""

from dataclasses import dataclass, replace
from typing import Literal

from ui_mcp.compositor.canonical import digest
from ui_mcp.gateway.sanitize import Scrubber
from ui_mcp.jsontypes import JsonObject

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
    connection: str = ""
    """The client connection that asked; with the principal it is the caller."""
    operation: str = ""
    """The fingerprint of the operation that was shown."""
    request: str = ""
    """The digest of the request that was shown; empty when none was, so that nothing may run."""
    successor: str | None = None
    """The question that took its place, because the request had changed when it was about to run."""

    @property
    def is_settled(self) -> bool:
        """Say whether nothing more will happen to it."""
        return self.status in {"denied", "expired", "cancelled"} or self.execution in {"completed", "failed", "aborted"}

    def edited(self, arguments: JsonObject) -> "Approval":
        """Return the next version with other arguments; its request has yet to be previewed."""
        version = self.args_version + 1
        changed = replace(self, arguments=arguments, args_version=version, preview=None, request="")
        return replace(changed, digest=digest_of(changed))

    def belongs_to(self, principal: str, connection: str) -> bool:
        """Say whether this caller opened it."""
        return (self.principal, self.connection) == (principal, connection)

    def outline(self) -> JsonObject:
        """Return what other clients may know: that it waits, not what it sends, answers or is proved by."""
        shown = ("id", "status", "server", "tool", "risk", "created_at", "expires_at")
        return {name: getattr(self, name) for name in shown}

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
            "successor": self.successor,
        }


def digest_of(row: Approval) -> str:
    """Return the digest of exactly this call and request, by exactly this caller, under exactly this policy."""
    return digest(
        {
            "server": row.server,
            "tool": row.tool,
            "arguments": row.arguments,
            "principal": row.principal,
            "connection": row.connection,
            "policy_version": row.policy_version,
            "operation": row.operation,
            "request": row.request,
        }
    )
