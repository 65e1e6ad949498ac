"""Questions to a person: each shows the request that a call means, and is bound to exactly that request."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import anyio

from ui_mcp.errors import DeniedError, UiMcpError
from ui_mcp.gateway.approvals.model import Approval, digest_of
from ui_mcp.gateway.approvals.service import ApprovalService
from ui_mcp.gateway.audit import CallLog
from ui_mcp.gateway.catalog import Catalog
from ui_mcp.gateway.config.settings import ApprovalSettings
from ui_mcp.gateway.policy import Policy, Verdict, risk
from ui_mcp.gateway.sanitize import MASK, SecretMasker, single_line, unmasked
from ui_mcp.gateway.source import Entry, Preview
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.toolkit.tool import Call


@dataclass(frozen=True, slots=True)
class EnforcementSettings:
    """What the gate works by."""

    policy: Callable[[Call], Policy]
    """Returns the policy in force for a caller, standing rules included."""
    approvals: ApprovalSettings = ApprovalSettings()
    patience: Callable[[Call], float | None] | None = None
    """How long a caller is kept waiting for a person; None waits for ever."""
    where: Callable[[], str] = lambda: ""
    """Tells where a person can answer."""


class Questions:
    """Opens questions about calls, and finds what they are about again when they are answered."""

    def __init__(
        self,
        catalogue: Catalog,
        desk: ApprovalService,
        rulebook: EnforcementSettings,
        log: CallLog,
        scrubber: SecretMasker,
    ) -> None:
        self._catalogue = catalogue
        self._desk = desk
        self._rulebook = rulebook
        self._log = log
        self._scrubber = scrubber
        self._held: dict[str, JsonObject] = {}
        """Arguments with their secrets, by the id of their question and by its digest, until it runs."""

    async def ask(self, entry: Entry, arguments: JsonObject, call: Call, verdict: Verdict) -> Approval:
        """Open the question about a call, or join the one that is open."""
        preview = await self.preview(entry, arguments, call, "invalid")
        life = verdict.expiry_s or self._rulebook.approvals.expiry_s
        new = self._desk.new(
            principal=call.principal, server=entry.source, tool=entry.name, arguments=arguments, life=life
        )
        described = replace(
            new,
            connection=call.connection,
            operation=entry.fingerprint,
            policy_version=self._rulebook.policy(call).version,
            risk=risk(entry),
            reason=verdict.reason,
            agent=single_line(call.client_name),
        )
        row = await self._desk.ask(self._bound(described, arguments, preview))
        if row.arguments != arguments:
            self._held[row.id] = arguments
        return row

    async def previewed(self, row: Approval) -> Approval:
        """Bind edited arguments to the request that they mean; the operation stays the one that was shown.

        Raises:
            InvalidArgumentsError: they do not fit.
        """
        arguments = self.arguments_of(row)
        call = Call(principal=row.principal, client_name=row.agent, connection=row.connection)
        preview = await self._catalogue.preview(row.tool, arguments, call)
        return self._bound(row, arguments, preview)

    async def preview(self, entry: Entry, arguments: JsonObject, call: Call, outcome: str) -> Preview:
        """Build the real request; arguments that do not fit are refused now instead of after an answer."""
        try:
            return await self._catalogue.preview(entry.name, arguments, call)
        except UiMcpError:
            self._log.note(entry, arguments, call, outcome, is_error=True)
            raise

    def _bound(self, row: Approval, arguments: JsonObject, preview: Preview) -> Approval:
        """Bind a question to the real arguments and request; what is stored of them has its secrets masked."""
        row = replace(row, arguments=arguments, request=preview.digest, preview=preview.shown)
        row = replace(row, digest=digest_of(row), arguments=self._scrubber.json(arguments))
        if row.arguments != arguments:
            self._held[row.digest] = arguments
        return row

    def forget(self, row: Approval) -> None:
        """Let the secrets of a question go."""
        for key in (row.id, row.digest):
            self._held.pop(key, None)

    def arguments_of(self, row: Approval) -> JsonObject:
        """Return the real arguments of a question.

        Raises:
            DeniedError: they held a secret, which is not kept over a restart.
        """
        if row.digest in self._held:
            return self._held[row.digest]
        arguments: JsonObject = unmasked(row.arguments, self._held.get(row.id))
        if MASK in dumps(arguments):
            raise DeniedError(f"A secret of this call to {row.tool} was not kept over a restart; call it again")
        return arguments

    async def settled(self, approval_id: str, seconds: float | None) -> Approval:
        """Wait for what becomes of a question, or of the one that took its place."""
        started = anyio.current_time()
        while True:
            left = None if seconds is None else max(started + seconds - anyio.current_time(), 0.0)
            row = await self._desk.settled(approval_id, left)
            if row.successor is None:
                return row
            await self._desk.delivered(row)
            approval_id = row.successor
