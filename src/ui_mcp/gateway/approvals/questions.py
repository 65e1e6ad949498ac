"""Creates approvals: each shows the request that a call would send and is bound to exactly that request."""

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
    policy: Callable[[Call], Policy]
    """Returns the policy in force for a caller, standing rules included."""
    approvals: ApprovalSettings = ApprovalSettings()
    approval_timeout: Callable[[Call], float | None] | None = None
    """Returns how many seconds a call waits for an answer; None waits without limit."""
    where: Callable[[], str] = lambda: ""
    """Returns the address of the page on which a person can answer, "" when there is none."""


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
