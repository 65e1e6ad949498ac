"""Every call passes here: policy decides, a person may be asked, the audit log remembers."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import anyio

from ui_mcp.compositor.approvals.desk import Desk
from ui_mcp.compositor.approvals.row import Approval, digest_of
from ui_mcp.compositor.approvals.scope import session_rule
from ui_mcp.compositor.audit import Audit, Line, text_bytes
from ui_mcp.compositor.catalogue import Catalogue
from ui_mcp.compositor.codes import carries_stamp, denied, is_imitation, misused
from ui_mcp.compositor.elicit import asked_by_result, asked_directly
from ui_mcp.compositor.labelled import labelled_call, labelled_result
from ui_mcp.compositor.plain import one_line
from ui_mcp.compositor.policy import Policy, Question, Verdict, decide, matches, risk
from ui_mcp.compositor.redact import MASK, Scrubber, unmasked
from ui_mcp.compositor.settings import ApprovalSettings, Rule
from ui_mcp.compositor.source import Entry
from ui_mcp.compositor.stored_result import from_json, to_json
from ui_mcp.errors import DeniedError, UiMcpError, UpstreamError
from ui_mcp.ids import secret_id
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.toolkit.tool import Call, Text, ToolResult, text_result
from ui_mcp.toolkit.toolset import UnknownToolError

_DRY_RUN = ("_dry_run", "ui-mcp/dry_run")


@dataclass(frozen=True, slots=True)
class Rulebook:
    """What the gate works by."""

    policy: Callable[[Call], Policy]
    """Returns the policy in force for a caller, standing rules included."""
    approvals: ApprovalSettings = ApprovalSettings()
    patience: Callable[[Call], float | None] | None = None
    """How long a caller is kept waiting for a person; None waits for ever."""
    where: Callable[[], str] = lambda: ""
    """Tells where a person can answer."""


class Policed:
    """The catalogue behind a gate."""

    def __init__(self, catalogue: Catalogue, desk: Desk, rulebook: Rulebook, audit: Audit, scrubber: Scrubber) -> None:
        self._catalogue = catalogue
        self._desk = desk
        self._rulebook = rulebook
        self._audit = audit
        self._scrubber = scrubber
        self._granted: list[Rule] = []
        self._held: dict[str, JsonObject] = {}

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call a tool if it may be.

        Raises:
            DeniedError: policy or a person said no.
        """
        entry = self._catalogue.entry(name)
        if entry.kind == "target" and (arguments.get(_DRY_RUN[0]) or call.meta.get(_DRY_RUN[1])):
            return await self._catalogue.call(name, arguments, call)
        verdict = self.verdict(entry, arguments, call)
        match verdict.decision:
            case "allow":
                return await self._run(entry, arguments, call, "policy_allow")
            case "ask":
                return await self._ask(entry, arguments, call, verdict)
            case decision:
                self._note(entry, arguments, call, f"policy_{decision}")
                raise denied(decision, entry.source, entry.name, verdict.reason)

    def verdict(self, entry: Entry, arguments: JsonObject, call: Call) -> Verdict:
        """Say what policy makes of a call; free of side effects."""
        question = Question(entry, arguments, call.principal)
        verdict = decide(self._rulebook.policy(call), question)
        if verdict.decision == "ask" and any(matches(rule, question) for rule in self._granted):
            return Verdict("allow", "allowed for this session")
        return verdict

    async def outcome(self, approval_id: str, seconds: float | None, call: Call) -> ToolResult:
        """Fetch what became of a call that had to wait."""
        row = await self._desk.settled(approval_id, seconds)
        if row.principal != call.principal:
            raise DeniedError(f"Approval {approval_id} belongs to somebody else")
        return await self._delivered(row, call)

    async def execute(self, row: Approval) -> tuple[bool, JsonObject]:
        """Run an approved call; policy is asked again, and a deny now wins."""
        call = Call(principal=row.principal, client_name=row.agent)
        outcome = "user_approve_edited" if row.decision == "approve_with_edit" else "user_approve"
        try:
            entry = self._catalogue.entry(row.tool)
            arguments = unmasked(row.arguments, self._held.pop(row.id, None))
            if MASK in dumps(arguments):
                raise DeniedError(f"A secret of this call to {row.tool} was not kept over a restart; call it again")
            verdict = decide(self._rulebook.policy(call), Question(entry, arguments, row.principal))
            if verdict.decision.startswith("deny"):
                raise denied(verdict.decision, entry.source, entry.name, verdict.reason)
            if row.scope == "session":
                self._granted.append(session_rule(row))
            result = await self._run(entry, arguments, call, outcome, row.id)
        except UiMcpError as error:
            result = text_result(error.message, is_error=True)
        return not result.is_error, to_json(result)

    async def _ask(self, entry: Entry, arguments: JsonObject, call: Call, verdict: Verdict) -> ToolResult:
        row = await self._desk.ask(await self._question(entry, arguments, call, verdict))
        if self._scrubber.json(arguments) != arguments:
            self._held[row.id] = arguments
        question = await asked_by_result(self._desk, row, call, self._scrubber)
        if question is not None:
            return question
        patience = self._rulebook.patience(call) if self._rulebook.patience else self._rulebook.approvals.sync_wait_s
        async with anyio.create_task_group() as group:
            group.start_soon(asked_directly, self._desk, row, call, self._scrubber)
            row = await self._desk.settled(row.id, patience)
            group.cancel_scope.cancel()
        return await self._delivered(row, call)

    async def _question(self, entry: Entry, arguments: JsonObject, call: Call, verdict: Verdict) -> Approval:
        life = verdict.expiry_s or self._rulebook.approvals.expiry_s
        row = replace(
            self._desk.new(
                principal=call.principal, server=entry.source, tool=entry.name, arguments=arguments, life=life
            ),
            policy_version=self._rulebook.policy(call).version,
            risk=risk(entry),
            reason=verdict.reason,
            agent=one_line(call.client_name),
            preview=await self._preview(entry, arguments, call),
        )
        # The digest binds the real arguments; what is stored has its secrets masked.
        return replace(row, digest=digest_of(row), arguments=self._scrubber.json(arguments))

    async def _preview(self, entry: Entry, arguments: JsonObject, call: Call) -> JsonObject | None:
        """Show the real request; arguments that do not fit are refused now instead of after an answer."""
        try:
            return await self._catalogue.preview(entry.name, arguments, call)
        except UpstreamError:
            return None

    async def _delivered(self, row: Approval, call: Call) -> ToolResult:
        if not row.is_settled:
            return self._waiting(row)
        await self._desk.delivered(row)
        if row.status == "denied":
            decision = row.decision or "deny_continue"
            self._note(self._entry_of(row), row.arguments, call, f"user_{decision}", row.id)
            raise denied(decision, row.server, row.tool, row.answer_reason or f"{row.decided_by} said no")
        if row.status in {"expired", "cancelled"}:
            self._note(self._entry_of(row), row.arguments, call, "expired", row.id)
            raise denied(self._rulebook.approvals.on_expiry, row.server, row.tool, f"the question {row.status}")
        if row.execution == "aborted" or row.result is None:
            return text_result(
                f"{row.tool} was interrupted while it ran; whether it took effect is unknown", is_error=True
            )
        result = from_json(row.result)
        edited = (Text(f"Note: {row.decided_by} changed the arguments to {dumps(row.arguments)}"),)
        return replace(result, content=result.content + edited) if row.decision == "approve_with_edit" else result

    def _waiting(self, row: Approval) -> ToolResult:
        told: JsonObject = {"status": "awaiting_approval", "approval_id": row.id, "digest": row.digest}
        where = self._rulebook.where()
        if where:
            told["answer_at"] = where
        told["hint"] = "A person must answer first. Call approvals__result with this approval_id, or repeat the call."
        return ToolResult((Text(dumps(told)),), structured=told)

    async def _run(
        self, entry: Entry, arguments: JsonObject, call: Call, outcome: str, approval_id: str | None = None
    ) -> ToolResult:
        started = time.perf_counter()
        try:
            if entry.kind == "backend":
                labelled = labelled_call(call, entry.source)
                result = labelled_result(await self._catalogue.call(entry.name, arguments, labelled), entry.source)
            else:
                result = await self._catalogue.call(entry.name, arguments, call)
        except UnknownToolError:
            raise
        except UpstreamError as error:
            self._note(entry, arguments, call, outcome, approval_id, started=started, is_error=True)
            if is_imitation(error):
                raise misused(entry.source, entry.name, error.details.get("rpc_code")) from error
            raise
        except UiMcpError:
            self._note(entry, arguments, call, outcome, approval_id, started=started, is_error=True)
            raise
        if entry.kind == "backend" and carries_stamp(result):
            self._note(entry, arguments, call, outcome, approval_id, started=started, is_error=True)
            raise misused(entry.source, entry.name, None)
        self._note(entry, arguments, call, outcome, approval_id, started=started, result=result)
        return result

    def _entry_of(self, row: Approval) -> Entry | None:
        try:
            return self._catalogue.entry(row.tool)
        except UnknownToolError:
            return None

    def _note(
        self,
        entry: Entry | None,
        arguments: JsonObject,
        call: Call,
        outcome: str,
        approval_id: str | None = None,
        *,
        started: float | None = None,
        result: ToolResult | None = None,
        is_error: bool = False,
    ) -> None:
        # Only our own requests tell of themselves; a mounted server could write anything there.
        ours = result is not None and entry is not None and entry.kind == "target"
        http = (result.meta or {}).get("ui-mcp/http", {}) if ours and result else {}
        line = Line(
            id=secret_id(),
            principal=call.principal,
            client=call.client_name,
            source=entry.source if entry else "",
            tool=entry.name if entry else "",
            method=entry.method if entry else "",
            outcome=outcome,
            approval_id=approval_id,
            status=http.get("status"),
            is_error=is_error or bool(result and result.is_error),
            ms=int((time.perf_counter() - started) * 1000) if started else 0,
            url=str(http.get("url", "")),
            bytes_out=text_bytes(result) if result else 0,
        )
        self._audit.write(line, arguments)
