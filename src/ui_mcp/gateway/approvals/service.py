"""The desk where questions wait: asks, takes answers, hands out what may run, and tells everyone who watches."""

import os
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from socket import gethostname
from typing import TypeVar

import anyio

from ui_mcp.errors import AlreadyDecidedError, DigestMismatchError, ExpiredError, GatewayError, UnknownApprovalError
from ui_mcp.gateway.approvals.model import Answer, Approval, Execution, Scope, Status, always_rule, digest_of
from ui_mcp.gateway.approvals.store import ApprovalStore
from ui_mcp.gateway.sanitize import require_json
from ui_mcp.ids import secret_id
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger

PENDING_URI = "approvals://pending"
_POLL = 0.25
_MEND_SECONDS = 1.0
T = TypeVar("T")
_log = logger("compositor.approvals")
_DENIALS = {"deny_continue", "deny_abort"}


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person answers."""

    decision: Answer
    digest: str
    by: str
    reason: str | None = None
    arguments: JsonObject | None = None
    scope: Scope = "once"
    pattern: dict[str, str] | None = None
    """Which arguments a yes for longer covers; None leaves it to `approvals.scope`."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of an approved call."""

    good: bool
    result: JsonObject
    successor: str | None = None
    """The question that was asked instead of running it."""


Run = Callable[[Approval], Awaitable[Ran]]


class ApprovalService:
    """All open questions of one store; several processes may share it."""

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
        self._lease = f"{os.getpid()}:{gethostname()}:{secret_id()}"
        self.changed = anyio.Event()
        """Set after the next change by any process, as long as this is followed; then there is another one."""
        self._asking = anyio.Lock()
        """Held from looking for the same question until it is written, so that calls made at once find each other's."""
        self.on_rule: Callable[[], Awaitable[None]] | None = None
        """Called after an answer for always made a rule."""
        self.preview: Callable[[Approval], Awaitable[Approval]] | None = None
        """Shows and binds the request of edited arguments; without it they are asked about again before they run."""

    async def ask(self, row: Approval) -> Approval:
        """Open a question, or join the identical one whose outcome nobody has fetched yet."""
        row = replace(row, digest=row.digest or digest_of(row))
        async with self._asking:
            for held in await self.store.rows("undelivered", 1000):
                over = held.status == "cancelled" or held.execution == "aborted" or held.successor is not None
                if held.digest == row.digest and _conversation(held) == _conversation(row) and not over:
                    return await self._fresh(held)
            await self.store.add(row)
        self.tell(row.id)
        return row

    def new(self, *, principal: str, server: str, tool: str, arguments: JsonObject, life: float) -> Approval:
        """Return an unsaved question with its times set; the caller completes it."""
        now = self._now()
        return Approval(
            id=secret_id(),
            created_at=now,
            expires_at=now + life,
            principal=principal,
            server=server,
            tool=tool,
            arguments=arguments,
            digest="",
            policy_version="",
            risk="",
        )

    async def get(self, approval_id: str) -> Approval:
        """Return one question as it stands now.

        Raises:
            UnknownApprovalError: there is none.
        """
        row = await self.store.get(approval_id)
        if row is None:
            raise UnknownApprovalError(f"No approval {approval_id}")
        return await self._fresh(row)

    async def pending(self) -> Sequence[Approval]:
        """Return what waits for an answer, oldest first."""
        rows = [await self._fresh(row) for row in await self.store.rows("open", 1000)]
        return [row for row in rows if row.status == "pending"]

    async def history(self, limit: int = 100) -> Sequence[Approval]:
        """Return what was answered, newest first."""
        return await self.store.rows("history", limit)

    async def decide(self, approval_id: str, reply: Decision) -> Approval:
        """Take an answer; the first one counts.

        Raises:
            AlreadyDecidedError: somebody else answered.
            DigestMismatchError: it is about another call.
            ExpiredError: too late.
            InvalidArgumentsError: edited arguments do not fit the tool.
            UnknownApprovalError: there is no such question.
        """
        row = await self.get(approval_id)
        _answerable(row, reply)
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
            _answerable(await self.get(approval_id), reply)
            raise AlreadyDecidedError("Somebody else answered at the same moment")
        if decided.status == "approved" and reply.scope == "always":
            await self.store.add_rule(always_rule(decided), reply.by, row.id)
            if self.on_rule is not None:
                await self.on_rule()
        self.tell(approval_id)
        return decided

    async def _edited(self, row: Approval, reply: Decision) -> Approval:
        if reply.decision != "approve_with_edit" or reply.arguments is None:
            return row
        require_json(reply.arguments)
        edited = row.edited(reply.arguments)
        return edited if self.preview is None else await self.preview(edited)

    async def cancel(self, approval_id: str, why: str) -> None:
        """Withdraw a question that nobody answered."""
        row = await self.get(approval_id)
        if row.status == "pending":
            await self.store.swap(row, replace(row, status="cancelled", answer_reason=why, decided_at=self._now()))
            self.tell(approval_id)

    async def settled(self, approval_id: str, seconds: float | None) -> Approval:
        """Wait until a question is answered and, if so, run; after `seconds` return it as it stands."""
        with anyio.move_on_after(seconds):
            while True:
                changed = self.changed
                row = await self.get(approval_id)
                if row.is_settled:
                    self.tell(row.id)  # another process may have taken the answer, perhaps before we looked first
                    return row
                with anyio.move_on_after(_POLL):
                    await changed.wait()
        return await self.get(approval_id)

    async def delivered(self, row: Approval) -> None:
        """Note that the caller has the outcome, so that the same call asks anew."""
        await self.store.swap(row, replace(row, delivered=True))

    async def run_approved(self, run: Run) -> None:
        """Run approved calls for ever, each at most once.

        What other processes' people approve is found by `follow`. Nothing runs while the store cannot be written.
        """
        async with anyio.create_task_group() as group:
            while True:
                changed = self.changed
                for row in await with_retry(lambda: self.store.rows("runnable")):
                    executing = replace(row, execution="executing", started_at=self._now(), lease=self._lease)
                    if await with_retry(partial(self.store.swap, row, executing)):
                        self.tell(row.id)
                        group.start_soon(self._run, executing, run)
                await changed.wait()

    async def follow(self) -> None:
        """Wake whoever waits after every change by another process, for ever."""
        while True:
            patience = self.store.listen()
            self._wake()
            with anyio.move_on_after(patience):
                await self.store.wait_notified()

    async def recover(self) -> None:
        """Mark calls that were running when their process died; they are never run again by themselves."""
        for row in await self.store.rows("executing", 1000):
            if row.lease != self._lease and not _alive(row.lease):
                await self.store.swap(row, replace(row, execution="aborted", finished_at=self._now()))
                self.tell(row.id)

    def tell(self, approval_id: str) -> None:
        """Wake whoever waits and announce the change."""
        self._wake()
        self._announce(PENDING_URI)
        self._announce(f"approvals://{approval_id}")

    def _wake(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    async def _run(self, row: Approval, run: Run) -> None:
        ran = await run(row)
        execution: Execution = "completed" if ran.good else "failed"
        done = replace(row, execution=execution, finished_at=self._now(), result=ran.result, successor=ran.successor)
        await with_retry(lambda: self.store.swap(row, done))
        self.tell(row.id)

    async def _fresh(self, row: Approval) -> Approval:
        if row.status != "pending" or self._now() < row.expires_at:
            return row
        expired: Status = "expired"
        late = replace(row, status=expired, decided_at=self._now())
        if await self.store.swap(row, late):
            self.tell(row.id)
            return late
        return await self.store.get(row.id) or late


def _answerable(row: Approval, reply: Decision) -> None:
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
    """Use the store as soon as it works: for what nobody is there to be told that it failed."""
    told = False
    while True:
        try:
            return await work()
        except GatewayError as error:
            if not told:
                _log.warning("waiting for the approvals: %s", error.message)
            told = True
            await anyio.sleep(_MEND_SECONDS)


def _alive(lease: str | None) -> bool:
    """Say whether the process that holds a lease still runs."""
    pid, _, rest = (lease or "").partition(":")
    if not pid.isdigit():
        return False
    if ":" in rest and rest.partition(":")[0] != gethostname():
        return True  # only its own machine can tell
    if int(pid) == os.getpid():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _conversation(row: Approval) -> str:
    """Return which conversation of an agent asks; each has to see its own questions."""
    return row.agent.rpartition("/")[0]
