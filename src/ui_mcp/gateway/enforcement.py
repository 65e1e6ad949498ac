"""PolicyEnforcer, through which every call of a tool passes, and the error codes reserved to the gateway."""

import secrets
import time
from dataclasses import replace
from functools import partial
from hmac import compare_digest
from typing import TYPE_CHECKING

import anyio

from ui_mcp.errors import DeniedError, InvalidArgumentsError, UiMcpError, UnknownToolError, UpstreamError
from ui_mcp.gateway.approvals.model import Approval, from_json, to_json
from ui_mcp.gateway.approvals.questions import (
    ContinuationSigner,
    EnforcementSettings,
    Questions,
    elicit_by_request,
    elicit_by_result,
)
from ui_mcp.gateway.approvals.rules import Grant, session_grant
from ui_mcp.gateway.approvals.service import ApprovalService, CallOutcome
from ui_mcp.gateway.audit import Audit, CallLog
from ui_mcp.gateway.catalog import Catalog
from ui_mcp.gateway.mount_connection import label_call, label_result
from ui_mcp.gateway.policy import Question, Verdict, decide
from ui_mcp.gateway.sanitize import MAX_FOREIGN_DEPTH, SecretMasker, require_json, single_line
from ui_mcp.gateway.source import ChangedError, Entry, Permit
from ui_mcp.jsontypes import Json, JsonObject, dumps, is_deeper
from ui_mcp.toolkit.tool import Call, Relayed, TaskHandle, Text, ToolResult, structured_result, text_result

if TYPE_CHECKING:
    from ui_mcp.inbox.elicitation import AskPerson

DENIED_ABORT = (-32950, "policy_denied")
DENIED_CONTINUE = (-32951, "policy_denied_continue")
MISUSE = (-32952, "policy_backend_reserved_misuse")
EVALUATOR = (-32953, "policy_evaluator_error")
BUSY = (-32955, "BUSY")
NO_SUBSCRIBE = (-32960, "resources_subscribe_unsupported")
NO_UNSUBSCRIBE = (-32961, "resources_unsubscribe_unsupported")
_ALL = (DENIED_ABORT, DENIED_CONTINUE, MISUSE, EVALUATOR, BUSY, NO_SUBSCRIBE, NO_UNSUBSCRIBE)
RESERVED_CODES = frozenset(code for code, _ in _ALL)
RESERVED_MESSAGES = frozenset(message for _, message in _ALL)
# Marks the gateway's own refusals; random, so that a mounted server cannot imitate them.
MARKER = secrets.token_hex(16)


def denied(decision: str, server: str, tool: str, reason: str, **more: Json) -> DeniedError:
    """Build the refusal that a client gets as a JSON-RPC error."""
    code, message = DENIED_ABORT if decision == "deny_abort" else DENIED_CONTINUE
    data = {
        "type": message,
        "decision": decision,
        "server": server,
        "tool": tool,
        "reason": reason,
        "stamp": MARKER,
        **more,
    }
    text = f"{tool} was denied: {reason}" if reason else f"{tool} was denied"
    return DeniedError(text, rpc_code=code, rpc_message=message, data=data, decision=decision)


def misused(server: str, tool: str, backend_code: Json) -> DeniedError:
    """Build the error that replaces a mounted server's imitation of a gateway error."""
    code, message = MISUSE
    data: JsonObject = {"server": server, "tool": tool, "backend_code": backend_code, "stamp": MARKER}
    return DeniedError(
        f"{server} answered {tool} with an error that only the gateway may use",
        rpc_code=code,
        rpc_message=message,
        data=data,
    )


def is_spoofed(error: UpstreamError) -> bool:
    """Return whether a mounted server's error imitates one of the gateway's."""
    details = error.details
    return (
        details.get("rpc_code") in RESERVED_CODES
        or error.message.strip() in RESERVED_MESSAGES
        or MARKER in error.message
        or MARKER in dumps(details.get("data"))
    )


def has_marker(result: ToolResult) -> bool:
    """Return whether a mounted server's result contains the marker or imitates a refusal."""
    structured = result.structured or {}
    error = structured.get("error")
    posing = isinstance(error, dict) and (
        error.get("code") in RESERVED_CODES or error.get("message") in RESERVED_MESSAGES
    )
    held = [structured, result.meta, [part.block for part in result.content if isinstance(part, Relayed)]]
    return posing or MARKER in dumps(held)


UNCERTAIN = "ui-mcp/uncertain"
"""In the meta of a failed result: the call was sent, and whether it took effect is unknown."""

CHANGED = "it changed since it was approved"

EDITED = "the arguments were edited: this is the request that they make"
"""The reason of an approval that replaces one with edited arguments."""


class PolicyEnforcer:
    """Decides about every call by policy and approvals, runs what is allowed and records all of it."""

    def __init__(
        self,
        catalog: Catalog,
        approvals: ApprovalService,
        settings: EnforcementSettings,
        audit: Audit,
        masker: SecretMasker,
    ) -> None:
        self._catalog = catalog
        self._approvals = approvals
        self._settings = settings
        self._log = CallLog(audit)
        self._masker = masker
        self._questions = Questions(catalog, approvals, settings, self._log, masker)
        approvals.preview = self._questions.previewed
        self._granted: list[Grant] = []

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call a tool if policy, and where it asks a person, allow it.

        Raises:
            DeniedError: policy or a person denied the call.
            InvalidArgumentsError: the arguments do not fit the tool.
        """
        entry = self._catalog.entry(name)
        # Decided here and nowhere else: a dry run reaches only `preview`, which cannot send.
        if self._is_dry_run(entry, arguments, call):
            return await self._dry_run(entry, arguments, call)
        call = await self._with_original_connection(call)
        verdict = self.verdict(entry, arguments, call)
        match verdict.decision:
            case "allow":
                return await self._run(entry, arguments, call, "policy_allow", Permit(entry.fingerprint))
            case "ask":
                return await self._ask(entry, arguments, call, verdict)
            case decision:
                self._log.note(entry, arguments, call, f"policy_{decision}")
                raise denied(decision, entry.source, entry.name, verdict.reason)

    def verdict(self, entry: Entry, arguments: JsonObject, call: Call) -> Verdict:
        """Return the decision of policy and session grants about a call; has no side effects."""
        question = Question(entry, arguments, call.principal)
        verdict = decide(self._settings.policy(call), question)
        if verdict.decision == "ask" and any(grant.covers(question, call.connection) for grant in self._granted):
            return Verdict("allow", "allowed for this session")
        return verdict

    async def outcome(self, approval_id: str, seconds: float | None, call: Call, digest: str = "") -> ToolResult:
        """Return the outcome of a call that needed an approval; wait for it up to `seconds`, None without limit.

        Only the caller may fetch it: the same principal on the same connection, or on another connection with the
        digest that came with the approval id.

        Raises:
            DeniedError: the approval belongs to another caller, or the call was denied.
        """
        row = await self._approvals.get(approval_id)
        if not row.belongs_to(call.principal, call.connection):
            # All versions count: the arguments may have been edited since the caller got its digest.
            known = await self._approvals.store.digests(approval_id)
            if row.principal != call.principal or not any(
                compare_digest(digest.encode(), one.encode()) for one in known
            ):
                raise DeniedError(
                    f"Approval {approval_id} belongs to another client\n"
                    "If you asked over an earlier connection, give the digest that came with it as well."
                )
            call = replace(call, connection=row.connection)
        return await self._delivered(await self._questions.settled(approval_id, seconds), call)

    async def ask(self, entry: Entry, arguments: JsonObject, call: Call, verdict: Verdict) -> Approval:
        """Ask a person about a call, and return at once."""
        return await self._questions.ask(entry, arguments, call, verdict)

    async def ask_and_wait(self, entry: Entry, arguments: JsonObject, call: Call, verdict: Verdict) -> ToolResult:
        """Ask a person about the call of an agent's step, and wait without limit for its outcome.

        Repeated after a restart, it waits for the same approval.

        Raises:
            DeniedError: the call was denied.
            InvalidArgumentsError: the arguments do not fit the tool.
        """
        known = await self._approvals.store.find_by_agent(single_line(call.caller_name))
        row = known or await self._questions.ask(entry, arguments, call, verdict)
        return await self._delivered(await self._questions.settled(row.id, None), call)

    async def execute(self, row: Approval) -> CallOutcome:
        """Run an approved call; policy is evaluated again, and a denial overrules the approval.

        If the request is no longer the one that was shown, it is not sent; a new approval is created instead.
        """
        call = row.call()
        outcome = "user_approve_edited" if row.decision == "approve_with_edit" else "user_approve"
        try:
            entry = self._catalog.entry(row.tool)
            arguments = self._questions.arguments_of(row)
            self._questions.forget(row)
            # The rules may have changed since the person was asked.
            verdict = decide(self._settings.policy(call), Question(entry, arguments, row.principal))
            if verdict.decision.startswith("deny"):
                self._log.note(entry, row.arguments, call, f"policy_{verdict.decision}", row.id)
                raise denied(verdict.decision, entry.source, entry.name, verdict.reason)
            if row.scope == "session":
                self._granted.append(session_grant(row))
            permit = Permit(row.operation, row.request)
            result = await self._run(entry, arguments, call, outcome, permit, approval_id=row.id)
        except ChangedError:
            return await self._ask_again(row, arguments, call)
        except UiMcpError as error:
            meta: JsonObject | None = {UNCERTAIN: True} if error.details.get("uncertain") else None
            result = ToolResult((Text(error.message),), is_error=True, meta=meta)
        return CallOutcome(not result.is_error, to_json(result))

    def _is_dry_run(self, entry: Entry, arguments: JsonObject, call: Call) -> bool:
        try:
            require_json(arguments)
        except InvalidArgumentsError:
            # Recorded without its arguments, which cannot be encoded.
            self._log.note(entry, {}, call, "invalid", is_error=True)
            raise
        try:
            return self._catalog.is_dry_run(entry.name, arguments, call)
        except InvalidArgumentsError:
            self._log.note(entry, arguments, call, "invalid", is_error=True)
            raise

    async def _dry_run(self, entry: Entry, arguments: JsonObject, call: Call) -> ToolResult:
        preview = await self._questions.preview(entry, arguments, call, "dry_run")
        result = structured_result(preview.shown or {})
        self._log.note(entry, arguments, call, "dry_run", result=result)
        return result

    async def _with_original_connection(self, call: Call) -> Call:
        """Give a call that returns one of our continuation tokens the connection of the call that it continues."""
        if call.given is None:
            return call
        signer = ContinuationSigner(await self._approvals.store.key())
        connection = signer.connection(call.given.state, call.principal)
        return call if connection is None else replace(call, connection=connection)

    async def _ask(self, entry: Entry, arguments: JsonObject, call: Call, verdict: Verdict) -> ToolResult:
        row = await self._questions.ask(entry, arguments, call, verdict)
        if call.task is not None:
            return await self._settled_in_task(row, call, call.task)
        question = await elicit_by_result(self._approvals, row, call, self._masker)
        if question is not None:
            self._log.note(entry, arguments, call, "asked", row.id)
            return question
        timeout_for = self._settings.approval_timeout
        seconds = timeout_for(call) if timeout_for else self._settings.approvals.sync_wait_s
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(elicit_by_request, self._approvals, row, call, self._masker)
                row = await self._questions.settled(row.id, seconds)
                group.cancel_scope.cancel()
        except anyio.get_cancelled_exc_class():
            # The caller disconnected; the approval stays pending.
            self._log.note(entry, arguments, call, "asked", row.id)
            raise
        return await self._delivered(row, call)

    async def resume(self, entry: Entry, state: JsonObject, call: Call) -> ToolResult:
        """Continue a call from the checkpoint of a process that has ended; policy allowed it then.

        Raises:
            DeniedError: a person denied the call.
        """
        if "approval" in state and call.task is not None:
            return await self._settled_in_task(await self._approvals.get(state["approval"]), call, call.task)
        return await self._run(entry, {}, call, "policy_allow", Permit(entry.fingerprint))

    async def _settled_in_task(self, row: Approval, call: Call, task: TaskHandle) -> ToolResult:
        """Wait without limit for an answer: by the client through its task, or by anyone else who may decide."""
        await task.checkpoint({"tool": row.tool, "approval": row.id})
        await call.progress(0.0, None, f"{row.tool} waits for a person's approval")
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(elicit_by_request, self._approvals, row, call, self._masker)
                row = await self._questions.settled(row.id, None)
                group.cancel_scope.cancel()
        except anyio.get_cancelled_exc_class():
            if task.is_cancelled:
                with anyio.CancelScope(shield=True):
                    await self._approvals.cancel(row.id, "its caller cancelled the task")
            raise
        return await self._delivered(row, call)

    async def _ask_again(self, row: Approval, arguments: JsonObject, call: Call) -> CallOutcome:
        """Create a new approval for a call that changed after it was approved."""
        reason = EDITED if row.decision == "approve_with_edit" else CHANGED
        try:
            entry = self._catalog.entry(row.tool)
            self._log.note(entry, row.arguments, call, "changed", row.id)
            fresh = await self._questions.ask(entry, arguments, call, Verdict("ask", reason))
        except UiMcpError as error:
            words = f"{row.tool} was not run: {reason}, and cannot be asked about again\n{error.message}"
            return CallOutcome(succeeded=False, result=to_json(text_result(words, is_error=True)))
        return CallOutcome(succeeded=False, result=to_json(self._waiting(fresh)), successor=fresh.id)

    async def _delivered(self, row: Approval, call: Call) -> ToolResult:
        if not row.is_settled:
            self._log.note(self._entry_of(row), row.arguments, call, "asked", row.id)
            return self._waiting(row)
        await self._approvals.delivered(row)
        if row.status == "denied":
            decision = row.decision or "deny_continue"
            self._log.note(self._entry_of(row), row.arguments, call, f"user_{decision}", row.id)
            raise denied(decision, row.server, row.tool, row.answer_reason or f"{row.decided_by} said no")
        if row.status in {"expired", "cancelled"}:
            self._log.note(self._entry_of(row), row.arguments, call, "expired", row.id)
            raise denied(self._settings.approvals.on_expiry, row.server, row.tool, f"the question {row.status}")
        if row.execution == "aborted" or row.result is None:
            text = f"{row.tool} was interrupted while it ran; whether it took effect is unknown"
            return ToolResult((Text(text),), is_error=True, meta={UNCERTAIN: True})
        result = from_json(row.result)
        edited = (Text(f"Note: {row.decided_by} changed the arguments to {dumps(row.arguments)}"),)
        return replace(result, content=result.content + edited) if row.decision == "approve_with_edit" else result

    def _waiting(self, row: Approval) -> ToolResult:
        fields: JsonObject = {"status": "awaiting_approval", "approval_id": row.id, "digest": row.digest}
        where = self._settings.where()
        if where:
            fields["answer_at"] = where
        fields["reason"] = row.reason
        fields["hint"] = (
            "A person must answer first. Call approvals__result with this approval_id and digest, or repeat the call."
        )
        return ToolResult((Text(dumps(fields)),), structured=fields)

    async def _run(
        self,
        entry: Entry,
        arguments: JsonObject,
        call: Call,
        outcome: str,
        permit: Permit,
        *,
        approval_id: str | None = None,
    ) -> ToolResult:
        started = time.perf_counter()
        try:
            result = await self._call_source(entry, arguments, call, permit)
        except ChangedError:
            if approval_id is None:  # else `_ask_again` records it
                self._log.note(entry, arguments, call, "changed", started=started, is_error=True)
            raise
        except UpstreamError as error:
            self._log.note(entry, arguments, call, outcome, approval_id, started=started, is_error=True)
            if is_spoofed(error):
                raise misused(entry.source, entry.name, error.details.get("rpc_code")) from error
            raise
        except BaseException:  # also on cancellation: the request may have been sent
            self._log.note(entry, arguments, call, outcome, approval_id, started=started, is_error=True)
            raise
        if entry.kind == "backend" and has_marker(result):
            self._log.note(entry, arguments, call, outcome, approval_id, started=started, is_error=True)
            raise misused(entry.source, entry.name, None)
        self._log.note(entry, arguments, call, outcome, approval_id, started=started, result=result)
        return result

    async def _call_source(self, entry: Entry, arguments: JsonObject, call: Call, permit: Permit) -> ToolResult:
        if entry.kind != "backend":
            return await self._catalog.call(entry.name, arguments, call, permit)
        # The output of a mounted server is untrusted: it is labelled, and its nesting is limited.
        labelled = label_call(call, entry.source)
        if self._settings.ask_person is not None:
            labelled = replace(labelled, ask_person=partial(self._ask_person, self._settings.ask_person, entry, call))
        result = await self._catalog.call(entry.name, arguments, labelled, permit)
        blocks = [part.block for part in result.content if isinstance(part, Relayed)]
        if is_deeper([result.structured, result.meta, blocks], MAX_FOREIGN_DEPTH):
            raise UpstreamError(f"{entry.source} answered {entry.name} with JSON that is nested too deeply")
        return label_result(result, entry.source)

    async def _ask_person(self, ask: "AskPerson", entry: Entry, call: Call, params: JsonObject) -> JsonObject:
        await call.progress(0.0, None, f"{entry.source} waits for an answer in the person's inbox")
        return await ask(entry.source, call.client_name or call.principal, params)

    def _entry_of(self, row: Approval) -> Entry | None:
        try:
            return self._catalog.entry(row.tool)
        except UnknownToolError:
            return None
