"""One approval: its fields and digest, how far an answer reaches, and stored tool results."""

from base64 import b64decode, b64encode
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from ui_mcp.discovery import lazy
from ui_mcp.gateway.sanitize import SecretMasker
from ui_mcp.jsontypes import Json, JsonObject, digest
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.toolkit.tool import Call, Content, Media, Relayed, Text, ToolResult

if TYPE_CHECKING:
    from ui_mcp.inbox.words import display_name, spoken_call
else:  # needed only once a call waits
    display_name = lazy("ui_mcp.inbox.words:display_name")
    spoken_call = lazy("ui_mcp.inbox.words:spoken_call")

Status = Literal["pending", "approved", "denied", "expired", "cancelled"]
Execution = Literal["none", "executing", "completed", "failed", "aborted"]
Answer = Literal["approve", "approve_with_edit", "deny_continue", "deny_abort"]
Scope = Literal["once", "session", "always"]


@dataclass(frozen=True, slots=True)
class Approval:
    """A row of the store; times are seconds since the epoch."""

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
    """The caller's name as stored: `Call.caller_name`."""
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
    """Globs of the arguments that a lasting approval covers, by path; see `scope`."""
    connection: str = ""
    """The client connection that made the call; principal and connection together identify the caller."""
    operation: str = ""
    """The fingerprint of the operation that was shown."""
    request: str = ""
    """The digest of the request that was shown; empty when none was shown, and then nothing may run."""
    successor: str | None = None
    """The id of the approval that replaced this one because the request had changed before it ran."""

    @property
    def is_settled(self) -> bool:
        """Whether its outcome is final."""
        return self.status in {"denied", "expired", "cancelled"} or self.execution in {"completed", "failed", "aborted"}

    def edited(self, arguments: JsonObject) -> "Approval":
        """Return the next version, with other arguments; its request has yet to be previewed."""
        version = self.args_version + 1
        changed = replace(self, arguments=arguments, args_version=version, preview=None, request="")
        return replace(changed, digest=digest_of(changed))

    def belongs_to(self, principal: str, connection: str) -> bool:
        """Return whether this caller made the call."""
        return (self.principal, self.connection) == (principal, connection)

    def call(self) -> Call:
        """Return a call by the same caller."""
        agent, _, call_id = self.agent.rpartition("/")
        # Clients choose their names, and may choose "a/b", but only calls from within this program lack a connection.
        if self.connection or not agent:
            return Call(self.principal, self.connection, client_name=self.agent)
        return Call(self.principal, agent=agent, call_id=call_id)

    @property
    def says(self) -> str:
        """What the caller wants, in plain words."""
        who = "Your agent" if self.call().agent else display_name(self.agent or self.principal)
        return f"{who} wants to {spoken_call(self.server, self.tool, self.arguments)}"

    def outline(self) -> JsonObject:
        """Return what other clients may see: that it exists, but neither its content nor its digest."""
        shown = ("id", "status", "server", "tool", "risk", "created_at", "expires_at")
        return {name: getattr(self, name) for name in shown}

    def to_json(self, masker: SecretMasker | None = None) -> JsonObject:
        """Return what people and clients may see, with secrets masked."""
        shown = masker or SecretMasker()
        return {
            "id": self.id,
            "status": self.status,
            "server": self.server,
            "tool": self.tool,
            "says": shown.text(self.says),
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
    """Return the digest that binds an answer to this call, request, caller and policy version."""
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


def to_json(result: ToolResult) -> JsonObject:
    """Encode a tool result for the store."""
    return {
        "content": [_encoded(part) for part in result.content],
        "structured": result.structured,
        "is_error": result.is_error,
        "meta": result.meta,
        **({"extra": result.extra} if result.extra else {}),
    }


def from_json(value: JsonObject) -> ToolResult:
    """Decode a tool result from the store."""
    return ToolResult(
        tuple(_decoded(part) for part in value["content"]),
        value["structured"],
        value["is_error"],
        value["meta"],
        extra=value.get("extra"),
    )


def _encoded(part: Content) -> JsonObject:
    match part:
        case Text(text):
            return {"text": text}
        case Media(kind, data, mime_type):
            return {"media": kind, "data": b64encode(data).decode(), "mime": mime_type}
        case Relayed(block):
            return {"relayed": block}


def _decoded(value: Json) -> Content:
    if "text" in value:
        return Text(value["text"])
    if "media" in value:
        return Media(value["media"], b64decode(value["data"]), value["mime"])
    return Relayed(value["relayed"])
