"""Asks for approval through the MCP client (elicitation), with signed continuation tokens."""

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

_MAX_AGE_SECONDS = 3_600.0


@dataclass(frozen=True, slots=True)
class ContinuationSigner:
    """Signs tokens with one key; a token names the approval, the exact call, the caller and its expiry."""

    key: bytes

    def sign(self, row: Approval) -> str:
        """Return a token for one approval, valid until it expires, for an hour at most."""
        until = min(row.expires_at, time.time() + _MAX_AGE_SECONDS)
        payload = dumps([row.id, row.digest, row.principal, row.connection, until]).encode()
        return f"{urlsafe_b64encode(payload).decode()}.{self._sign(payload)}"

    def verify(self, token: str, row: Approval) -> bool:
        """Return whether a token is authentic, not expired and about exactly this approval."""
        return self._verified(token)[:4] == [row.id, row.digest, row.principal, row.connection]

    def connection(self, token: str, principal: str) -> str | None:
        """Return the connection that a token was issued to, None if it is not valid for this principal."""
        match self._verified(token):
            case [_, _, owner, str(connection), _] if owner == principal:
                return connection
            case _:
                return None

    def _verified(self, token: str) -> list[Json]:
        """Return the fields of an authentic token that has not expired, else an empty list."""
        try:
            body, _, signature = token.partition(".")
            payload = urlsafe_b64decode(body.encode())
            if not hmac.compare_digest(signature.encode(), self._sign(payload).encode()):
                return []
            fields: list[Json] = loads(payload)
        except ValueError:
            return []
        return fields if len(fields) == 5 and time.time() < fields[4] else []

    def _sign(self, payload: bytes) -> str:
        return hmac.new(self.key, payload, sha256).hexdigest()


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


async def elicit_by_request(approvals: ApprovalService, row: Approval, call: Call, masker: SecretMasker) -> None:
    """Ask the client's user by a request; the first answer counts, from here or from another channel."""
    if row.status != "pending" or call.ask_user is None:
        return
    try:
        await _decide(approvals, row, call, await call.ask_user(_message(row, masker), _SCHEMA))
    except (ApprovalError, UiMcpError):
        return  # the approval stays pending; it can be answered on the page or in a terminal


async def elicit_by_result(
    approvals: ApprovalService, row: Approval, call: Call, masker: SecretMasker
) -> ToolResult | None:
    """Return the question as a result, or apply the answer that a repeated call carries; None if no question is due.

    An answer counts only with a token for exactly this call; otherwise the question is returned again.
    """
    if row.status != "pending" or not call.takes_forms():
        return None
    signer = ContinuationSigner(await approvals.store.key())
    if call.given is not None and _KEY in call.given.responses and signer.verify(call.given.state, row):
        try:
            await _decide(approvals, row, call, call.given.responses[_KEY])
        except ApprovalError:
            return None  # another answer came first
        return None
    form: JsonObject = {"mode": "form", "message": _message(row, masker), "requestedSchema": _SCHEMA}
    requests: JsonObject = {_KEY: {"method": "elicitation/create", "params": form}}
    return ToolResult((), needs=InputNeeded(requests, signer.sign(row)))


async def _decide(approvals: ApprovalService, row: Approval, call: Call, answer: Json) -> None:
    reply = _reply(answer, row, call) if isinstance(answer, dict) else None
    if reply is not None:
        await approvals.decide(row.id, reply)


def _message(row: Approval, masker: SecretMasker) -> str:
    shown = row.to_json(masker)
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
        case "accept" if chosen in ("approve", "deny_continue", "deny_abort"):  # not a set: may be unhashable
            decision: Answer = chosen
        case "decline":
            decision = "deny_continue"
        case _:
            return None
    return Decision(decision, row.digest, by, reason if isinstance(reason, str) else None)
