"""Asks through the client; signed continuation tokens."""

import hmac
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256

from ui_mcp.errors import ApprovalError, UiMcpError
from ui_mcp.gateway.approvals.model import Answer, Approval
from ui_mcp.gateway.approvals.service import ApprovalService, Decision
from ui_mcp.gateway.sanitize import SecretMasker, escape_control
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.toolkit.tool import Call, InputNeeded, ToolResult

_LIFE = 3_600.0


@dataclass(frozen=True, slots=True)
class ContinuationSigner:
    """Signs with one key; the seal names the question, the exact call, the caller and a time."""

    key: bytes

    def sign(self, row: Approval) -> str:
        """Return a sealed text that stands for one question."""
        until = min(row.expires_at, time.time() + _LIFE)
        facts = dumps([row.id, row.digest, row.principal, row.connection, until]).encode()
        return f"{urlsafe_b64encode(facts).decode()}.{self._sign(facts)}"

    def verify(self, sealed: str, row: Approval) -> bool:
        """Say whether a text was sealed by us for exactly this question and still holds."""
        return self._opened(sealed)[:4] == [row.id, row.digest, row.principal, row.connection]

    def connection(self, sealed: str, principal: str) -> str | None:
        """Return the connection that was given a sealed text: only it can bring that back."""
        match self._opened(sealed):
            case [_, _, owner, str(connection), _] if owner == principal:
                return connection
            case _:
                return None

    def _opened(self, sealed: str) -> list[Json]:
        """Return the facts of a text that we sealed and that still holds, else nothing."""
        try:
            body, _, signature = sealed.partition(".")
            facts = urlsafe_b64decode(body.encode())
            if not hmac.compare_digest(signature.encode(), self._sign(facts).encode()):
                return []
            opened: list[Json] = loads(facts)
        except ValueError:
            return []
        return opened if len(opened) == 5 and time.time() < opened[4] else []

    def _sign(self, facts: bytes) -> str:
        return hmac.new(self.key, facts, sha256).hexdigest()


_KEY = "approval"

_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "decision": {
            "type": "string",
            "title": "Decision",
            "enum": ["approve", "deny_continue", "deny_abort"],
            "enumNames": ["Approve once", "Deny, go on", "Deny and stop"],
        },
        "reason": {"type": "string", "title": "Reason"},
    },
    "required": ["decision"],
}


async def elicit_by_request(desk: ApprovalService, row: Approval, call: Call, scrubber: SecretMasker) -> None:
    """Put the question to the client's user; whoever answers first, here or elsewhere, decides."""
    if row.status != "pending" or call.ask_user is None:
        return
    try:
        await _take(desk, row, call, await call.ask_user(_message(row, scrubber), _SCHEMA))
    except (ApprovalError, UiMcpError):
        return  # the question stays open for the other ways to answer


async def elicit_by_result(
    desk: ApprovalService, row: Approval, call: Call, scrubber: SecretMasker
) -> ToolResult | None:
    """Return the question as a result, or take the answer a repeated call brings; None when nothing is to be asked.

    An answer counts only with our seal for exactly this call; anything else is asked anew.
    """
    if row.status != "pending" or not call.takes_forms():
        return None
    seal = ContinuationSigner(await desk.store.key())
    if call.given is not None and _KEY in call.given.responses and seal.verify(call.given.state, row):
        try:
            await _take(desk, row, call, call.given.responses[_KEY])
        except ApprovalError:
            return None  # somebody else was first
        return None
    form: JsonObject = {"mode": "form", "message": _message(row, scrubber), "requestedSchema": _SCHEMA}
    requests: JsonObject = {_KEY: {"method": "elicitation/create", "params": form}}
    return ToolResult((), needs=InputNeeded(requests, seal.sign(row)))


async def _take(desk: ApprovalService, row: Approval, call: Call, answer: Json) -> None:
    reply = _reply(answer, row, call) if isinstance(answer, dict) else None
    if reply is not None:
        await desk.decide(row.id, reply)


def _message(row: Approval, scrubber: SecretMasker) -> str:
    shown = row.to_json(scrubber)
    preview = shown["preview"]
    request = f"\n{preview['method']} {preview['url']}\n{preview.get('body') or ''}" if preview else ""
    arguments = f"\n{dumps(shown['arguments'])}" if not preview else ""
    return escape_control(f"{row.agent or row.principal} wants to call {row.tool} ({row.risk}).{request}{arguments}")[
        :4000
    ]


def _reply(answer: JsonObject, row: Approval, call: Call) -> Decision | None:
    content = answer.get("content")
    chosen = content.get("decision") if isinstance(content, dict) else None
    reason = content.get("reason") if isinstance(content, dict) else None
    by = f"user of {call.client_name or 'the client'}"
    match answer.get("action"):
        case "accept" if chosen in ("approve", "deny_continue", "deny_abort"):  # a list: what came may be anything
            decision: Answer = chosen
        case "decline":
            decision = "deny_continue"
        case _:
            return None
    return Decision(decision, row.digest, by, reason if isinstance(reason, str) else None)
