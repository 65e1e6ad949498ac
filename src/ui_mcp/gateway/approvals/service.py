"""ApprovalService: creates approvals, takes answers, runs what was approved once, and announces changes."""

import os
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from secrets import token_hex
from socket import gethostname
from typing import TypeVar

import anyio

from ui_mcp.errors import AlreadyDecidedError, DigestMismatchError, ExpiredError, GatewayError, UnknownApprovalError
from ui_mcp.gateway.approvals.model import Answer, Approval, Execution, Scope, Status, digest_of
from ui_mcp.gateway.approvals.rules import always_rule
from ui_mcp.gateway.approvals.store import ApprovalStore
from ui_mcp.gateway.sanitize import require_json
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger
from ui_mcp.processes import pid_exists

PENDING_URI = "approvals://pending"
_POLL_SECONDS = 0.25
_RETRY_SECONDS = 1.0
T = TypeVar("T")
_log = logger("gateway.approvals")
_DENIALS = {"deny_continue", "deny_abort"}


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's answer."""

    decision: Answer
    digest: str
    by: str
    reason: str | None = None
    arguments: JsonObject | None = None
    scope: Scope = "once"
    pattern: dict[str, str] | None = None
    """Globs of the arguments that a lasting approval covers; None means the narrowest useful pattern."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The outcome of an approved call."""

    succeeded: bool
    result: JsonObject
    successor: str | None = None
    """The id of a new approval that was created instead of running the call."""


Run = Callable[[Approval], Awaitable[CallOutcome]]


class ApprovalService:
    """The approvals of one store; several processes may share the store."""

    def __init__(
        self,
        store: ApprovalStore,
        *,
        announce: Callable[[str], None] = lambda _: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self._announce = announce
        self._now = now
        self._lease = f"{os.getpid()}:{gethostname()}:{token_hex(16)}"
        self.changed = anyio.Event()
        """Set at the next change by this process and, while `follow` runs, by others; then replaced by a new event."""
        self._asking = anyio.Lock()
        """Held from the look-up to the insert, so that identical concurrent calls share one approval."""
        self.on_rule: Callable[[], Awaitable[None]] | None = None
        """Called after an answer with scope `always` has created a rule."""
        self.preview: Callable[[Approval], Awaitable[Approval]] | None = None
        """Previews and binds edited arguments; without it they need another approval before they run."""

    async def ask(self, row: Approval) -> Approval:
        """Store an approval, or return the identical one whose outcome its caller has not fetched yet."""
        row = replace(row, digest=row.digest or digest_of(row))
        async with self._asking:
            for held in await self.store.rows("undelivered", 1000):
                # Identical calls of two agents get an approval each.
                over = held.status == "cancelled" or held.execution == "aborted" or held.successor is not None
                if held.digest == row.digest and held.call().agent == row.call().agent and not over:
                    return await self._expire_if_due(held)
            await self.store.add(row)
        self.notify(row.id)
        return row

    def new(self, *, principal: str, server: str, tool: str, arguments: JsonObject, lifetime: float) -> Approval:
        """Return an approval that is not stored yet, with its times set; `lifetime` is in seconds."""
        now = self._now()
        return Approval(
            id=token_hex(16),
            created_at=now,
            expires_at=now + lifetime,
            principal=principal,
            server=server,
            tool=tool,
            arguments=arguments,
            digest="",
            policy_version="",
            risk="",
        )

    async def get(self, approval_id: str) -> Approval:
        """Return one approval; a pending one past its time is marked as expired first.

        Raises:
            UnknownApprovalError: there is no such approval.
        """
        row = await self.store.get(approval_id)
        if row is None:
            raise UnknownApprovalError(f"No approval {approval_id}")
        return await self._expire_if_due(row)

    async def pending(self) -> Sequence[Approval]:
        """Return the pending approvals, oldest first."""
        rows = [await self._expire_if_due(row) for row in await self.store.rows("open", 1000)]
        return [row for row in rows if row.status == "pending"]

    async def history(self, limit: int = 100) -> Sequence[Approval]:
        """Return the answered approvals, newest first."""
        return await self.store.rows("history", limit)

    async def decide(self, approval_id: str, reply: Decision) -> Approval:
        """Apply an answer; the first one counts.

        Raises:
            AlreadyDecidedError: another answer came first.
            DigestMismatchError: the answer is about another version of the call.
            ExpiredError: the approval has expired.
            InvalidArgumentsError: edited arguments do not fit the tool.
            UnknownApprovalError: there is no such approval.
        """
        row = await self.get(approval_id)
        _require_answerable(row, reply)
        decided = replace(
            await self._edited(row, reply),
            status="denied" if reply.decision in _DENIALS else "approved",
            decision=reply.decision,
            decided_by=reply.by,
            decided_at=self._now(),
            answer_reason=reply.reason,
            scope=reply.scope,
            pattern=reply.pattern,
        )
        if not await self.store.swap(row, decided):
            # Another answer came first: report that one.
            _require_answerable(await self.get(approval_id), reply)
            raise AlreadyDecidedError("Somebody else answered at the same moment")
        if decided.status == "approved" and reply.scope == "always":
            await self.store.add_rule(always_rule(decided), reply.by, row.id)
            if self.on_rule is not None:
                await self.on_rule()
        self.notify(approval_id)
        return decided

    async def _edited(self, row: Approval, reply: Decision) -> Approval:
        if reply.decision != "approve_with_edit" or reply.arguments is None:
            return row
        require_json(reply.arguments)
        edited = row.edited(reply.arguments)
        return edited if self.preview is None else await self.preview(edited)

    async def cancel(self, approval_id: str, why: str) -> None:
        """Cancel an approval if it is still pending."""
        row = await self.get(approval_id)
        if row.status == "pending":
            await self.store.swap(row, replace(row, status="cancelled", answer_reason=why, decided_at=self._now()))
            self.notify(approval_id)

    async def settled(self, approval_id: str, seconds: float | None) -> Approval:
        """Wait until an approval is denied or expired, or its call has run; after `seconds` return it as it is."""
        with anyio.move_on_after(seconds):
            while True:
                # Taken before reading, so that a change in between is not missed.
                changed = self.changed
                row = await self.get(approval_id)
                if row.is_settled:
                    self.notify(row.id)  # another process may have taken the answer; it cannot announce it here
                    return row
                # Polled too: where `follow` does not run, changes by other processes are not signalled.
                with anyio.move_on_after(_POLL_SECONDS):
                    await changed.wait()
        return await self.get(approval_id)

    async def delivered(self, row: Approval) -> None:
        """Mark the outcome as fetched by its caller, so that the same call needs a new approval."""
        await self.store.swap(row, replace(row, delivered=True))

    async def run_approved(self, run: Run, started: Callable[[str], Awaitable[None]]) -> None:
        """Run approved calls until cancelled, each at most once and when the source of its tool has `started`.

        Approvals given in other processes are noticed through `follow`. Nothing runs while the store cannot be written.
        """
        waiting: set[str] = set()

        async def run_one(row: Approval) -> None:
            # Not claimed before, because a claimed call that a crash interrupts is never run again.
            await started(row.tool)
            waiting.discard(row.id)
            # Claimed by compare-and-set before it runs, so that only one process runs it.
            executing = replace(row, execution="executing", started_at=self._now(), lease=self._lease)
            if await with_retry(partial(self.store.swap, row, executing)):
                self.notify(row.id)
                await self._run(executing, run)
            else:
                self._wake()  # it changed meanwhile

        async with anyio.create_task_group() as group:
            while True:
                changed = self.changed
                for row in await with_retry(lambda: self.store.rows("runnable")):
                    if row.id not in waiting:
                        waiting.add(row.id)
                        group.start_soon(run_one, row)
                await changed.wait()

    async def follow(self) -> None:
        """Wake local waiters after every change by another process, until cancelled."""
        while True:
            valid_seconds = self.store.listen()
            self._wake()
            with anyio.move_on_after(valid_seconds):
                await self.store.wait_notified()

    async def recover(self) -> None:
        """Mark calls as aborted whose process died while they ran; they are never run again automatically."""
        for row in await self.store.rows("executing", 1000):
            if row.lease != self._lease and not holder_runs(row.lease):
                await self.store.swap(row, replace(row, execution="aborted", finished_at=self._now()))
                self.notify(row.id)

    def notify(self, approval_id: str) -> None:
        """Wake local waiters and announce the change to subscribers."""
        self._wake()
        self._announce(PENDING_URI)
        self._announce(f"approvals://{approval_id}")

    def _wake(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    async def _run(self, row: Approval, run: Run) -> None:
        ran = await run(row)
        execution: Execution = "completed" if ran.succeeded else "failed"
        done = replace(row, execution=execution, finished_at=self._now(), result=ran.result, successor=ran.successor)
        await with_retry(lambda: self.store.swap(row, done))
        self.notify(row.id)

    async def _expire_if_due(self, row: Approval) -> Approval:
        if row.status != "pending" or self._now() < row.expires_at:
            return row
        expired: Status = "expired"
        late = replace(row, status=expired, decided_at=self._now())
        if await self.store.swap(row, late):
            self.notify(row.id)
            return late
        # It was answered at the last moment.
        return await self.store.get(row.id) or late


def _require_answerable(row: Approval, reply: Decision) -> None:
    if row.status == "expired":
        raise ExpiredError(f"Approval {row.id} expired")
    if row.status != "pending":
        raise AlreadyDecidedError(
            f"Already decided by {row.decided_by}: {row.decision or row.status}",
            by=row.decided_by,
            at=row.decided_at,
            decision=row.decision,
        )
    if reply.digest != row.digest:
        raise DigestMismatchError("The answer is about another version of the call; look at it again")


async def with_retry(work: Callable[[], Awaitable[T]]) -> T:
    """Retry until the store works; for work without a caller to whom an error could be reported."""
    warned = False
    while True:
        try:
            return await work()
        except GatewayError as error:
            if not warned:
                _log.warning("the approvals store is unavailable; retrying: %s", error.message)
            warned = True
            await anyio.sleep(_RETRY_SECONDS)


def holder_runs(lease: str | None) -> bool:
    """Return whether the process that holds a lease may still run."""
    pid, _, rest = (lease or "").partition(":")
    if not pid.isdigit():
        return False
    if ":" in rest and rest.partition(":")[0] != gethostname():
        return True  # on another host, where this cannot be checked
    if int(pid) == os.getpid():
        return False  # a reused process id: the lease is not ours
    return pid_exists(int(pid))
