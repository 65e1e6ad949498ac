"""How a person is asked about a call: on the approvals page, by elicitation, or in the result of the call."""

import hmac
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

import anyio

from ui_mcp.errors import ApprovalError, DeniedError, UiMcpError
from ui_mcp.gateway.approvals.model import Answer, Approval, digest_of
from ui_mcp.gateway.approvals.service import ApprovalService, Decision
from ui_mcp.gateway.audit import CallLog
from ui_mcp.gateway.catalog import Catalog
from ui_mcp.gateway.config.settings import ApprovalSettings
from ui_mcp.gateway.policy import Policy, Verdict, risk
from ui_mcp.gateway.sanitize import MASK, SecretMasker, escape_control, single_line, unmasked
from ui_mcp.gateway.source import Entry, Preview
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.toolkit.tool import Call, InputNeeded, ToolResult

if TYPE_CHECKING:
    from ui_mcp.inbox.elicitation import AskPerson


@dataclass(frozen=True, slots=True)
class EnforcementSettings:
    policy: Callable[[Call], Policy]
    """Returns the policy in force for a caller, standing rules included."""
    approvals: ApprovalSettings = ApprovalSettings()
    approval_timeout: Callable[[Call], float | None] | None = None
    """Returns how many seconds a call waits for an answer; None waits without limit."""
    where: Callable[[], str] = lambda: ""
    """Returns the address of the page on which a person can answer, "" when there is none."""
    ask_person: "AskPerson | None" = None
    """Asks the person what a mounted server elicits and the caller's client cannot show."""


class Questions:
    """Creates approvals and finds the arguments of a call again when it is approved."""

    def __init__(
        self,
        catalog: Catalog,
        approvals: ApprovalService,
        settings: EnforcementSettings,
        log: CallLog,
        masker: SecretMasker,
    ) -> None:
        self._catalog = catalog
        self._approvals = approvals
        self._settings = settings
        self._log = log
        self._masker = masker
        self._unmasked: dict[str, JsonObject] = {}
        """Arguments with their secrets, by approval id and by digest, until the call runs; never stored on disk."""

    async def ask(self, entry: Entry, arguments: JsonObject, call: Call, verdict: Verdict) -> Approval:
        """Create the approval for a call, or return the identical one that is already pending."""
        preview = await self.preview(entry, arguments, call, "invalid")
        lifetime = verdict.expiry_s or self._settings.approvals.expiry_s
        new = self._approvals.new(
            principal=call.principal, server=entry.source, tool=entry.name, arguments=arguments, lifetime=lifetime
        )
        described = replace(
            new,
            connection=call.connection,
            operation=entry.fingerprint,
            policy_version=self._settings.policy(call).version,
            risk=risk(entry),
            reason=verdict.reason,
            agent=single_line(call.caller_name),
        )
        row = await self._approvals.ask(self._bind(described, arguments, preview))
        if row.arguments != arguments:
            # By id as well, to resolve the masks that edited arguments still contain.
            self._unmasked[row.id] = arguments
        return row

    async def previewed(self, row: Approval) -> Approval:
        """Bind edited arguments to the request that they would send; the operation stays the one that was shown.

        Raises:
            InvalidArgumentsError: the arguments do not fit the tool.
        """
        arguments = self.arguments_of(row)
        preview = await self._catalog.preview(row.tool, arguments, row.call())
        return self._bind(row, arguments, preview)

    async def preview(self, entry: Entry, arguments: JsonObject, call: Call, outcome: str) -> Preview:
        """Build the request, so that invalid arguments are refused before a person is asked."""
        try:
            return await self._catalog.preview(entry.name, arguments, call)
        except UiMcpError:
            self._log.note(entry, arguments, call, outcome, is_error=True)
            raise

    def _bind(self, row: Approval, arguments: JsonObject, preview: Preview) -> Approval:
        """Bind an approval to the real arguments and request, and store the arguments with secrets masked."""
        row = replace(row, arguments=arguments, request=preview.digest, preview=preview.shown)
        # The digest covers the real arguments; the stored ones are masked.
        row = replace(row, digest=digest_of(row), arguments=self._masker.json(arguments))
        if row.arguments != arguments:
            self._unmasked[row.digest] = arguments
        return row

    def forget(self, row: Approval) -> None:
        """Drop the secrets of an approval."""
        for key in (row.id, row.digest):
            self._unmasked.pop(key, None)

    def arguments_of(self, row: Approval) -> JsonObject:
        """Return the arguments of an approval with their secrets.

        Raises:
            DeniedError: the arguments held a secret, which does not survive a restart.
        """
        if row.digest in self._unmasked:
            return self._unmasked[row.digest]
        arguments: JsonObject = unmasked(row.arguments, self._unmasked.get(row.id))
        if MASK in dumps(arguments):
            raise DeniedError(f"A secret of this call to {row.tool} was not kept over a restart; call it again")
        return arguments

    async def settled(self, approval_id: str, seconds: float | None) -> Approval:
        """Wait for the outcome of an approval or of its successor; after `seconds` return it as it is."""
        started = anyio.current_time()
        while True:
            left = None if seconds is None else max(started + seconds - anyio.current_time(), 0.0)
            row = await self._approvals.settled(approval_id, left)
            if row.successor is None:
                return row
            await self._approvals.delivered(row)
            approval_id = row.successor


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
