"""ScriptRuns: starts scripts, drives them step by step, and goes on with them after a crash by replaying answers."""

import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from secrets import randbelow, token_hex
from socket import gethostname

import anyio
from anyio.abc import TaskGroup

from ui_mcp.account_seal import is_sealed, seal
from ui_mcp.errors import GatewayError, NotFoundError
from ui_mcp.gateway.approvals.service import holder_runs, with_retry
from ui_mcp.gateway.scripts.driver import Driver, LeaseLostError, ScriptEndedError
from ui_mcp.gateway.scripts.requests import Requests, Services
from ui_mcp.gateway.scripts.store import LEASE_SECONDS, Run, ScriptStore, State
from ui_mcp.gateway.scripts.worker import Limits, Progress
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger

_log = logger("gateway.scripts")
_MAX_PARALLEL = 8


@dataclass(slots=True)
class _Live:
    """A script that this process drives."""

    ended: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class ScriptRuns:
    """The scripts of one gateway; several processes may share the store."""

    def __init__(
        self,
        store: ScriptStore,
        services: Services,
        limits: Limits = Limits(),
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._services = services
        self._limits = limits
        self._now = now
        self._lease = f"{os.getpid()}:{gethostname()}:{token_hex(16)}"
        self._live: dict[str, _Live] = {}
        self._tasks: TaskGroup | None = None
        self._slots = anyio.CapacityLimiter(_MAX_PARALLEL)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["ScriptRuns"]:
        """Drive scripts for the length of the block, first those that a crash interrupted."""
        await with_retry(self._store.prepare)
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            tasks.start_soon(self._adopt_at_start)
            try:
                yield self
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()

    async def start(self, code: str, principal: str) -> str:
        """Store a script, start it and return its id."""
        run_id = token_hex(16)
        run = Run(run_id, self._now(), principal, code, randbelow(2**31 - 2), _sealed(run_id, code))
        await self._store.add(replace(run, lease=self._lease, lease_until=self._now() + LEASE_SECONDS))
        self._drive_soon(run)
        return run_id

    async def outcome(self, run_id: str, principal: str, seconds: float) -> Run:
        """Return a script, after it has ended or `seconds` have passed.

        Raises:
            NotFoundError: there is no such script of this principal.
        """
        with anyio.move_on_after(seconds):
            while True:
                run = await self._store.get(run_id)
                if run is None or run.principal != principal or run.state != "running":
                    break
                await self._adopt(run)
                live = self._live.get(run_id)
                with anyio.move_on_after(0.5):  # another process may drive it
                    await (live.ended.wait() if live else anyio.sleep_forever())
        run = await self._store.get(run_id)
        if run is None or run.principal != principal:
            raise NotFoundError(f"No script {run_id}\nScripts are kept for a week after they have ended.")
        return run

    async def stop(self, run_id: str, principal: str) -> None:
        """End a script; calls that it has begun may still take effect."""
        await self._store.stop(run_id, principal, {"error": {"message": "The script was stopped"}})
        live = self._live.get(run_id)
        run = await self._store.get(run_id)
        if live is not None and run is not None and run.state != "running":
            live.scope.cancel()

    async def _adopt_at_start(self) -> None:
        """Take over the scripts of processes that have ended; wait while others run some, which may end, too."""
        while True:
            elsewhere = [await self._adopt(run) for run in await with_retry(self._store.running)]
            if not any(elsewhere):
                return
            await anyio.sleep(LEASE_SECONDS / 3)

    async def _adopt(self, run: Run) -> bool:
        """Take over a script if no process drives it; return whether another process does."""
        if run.id in self._live or not is_sealed(run.seal, "script", run.id, run.code):
            return False
        if not self._is_free(run):
            return True
        until = self._now() + LEASE_SECONDS
        if await with_retry(partial(self._store.take, run, self._lease, until)):
            _log.info("going on with the script %s", run.id)
            self._drive_soon(run)
        return False

    def _is_free(self, run: Run) -> bool:
        if run.lease.split(":")[1:2] == [gethostname()]:
            return not holder_runs(run.lease)
        return run.lease_until < self._now()

    def _drive_soon(self, run: Run) -> None:
        if self._tasks is None:
            raise GatewayError("The gateway is stopping; it takes no new scripts")
        self._live[run.id] = _Live()
        self._tasks.start_soon(self._drive, run)

    async def _drive(self, run: Run) -> None:
        live = self._live[run.id]
        try:
            async with anyio.create_task_group() as tasks:
                live.scope = tasks.cancel_scope
                tasks.start_soon(self._keep_lease, run.id, tasks.cancel_scope)
                ended = await self._ended(run)
                if ended is not None:
                    await with_retry(partial(self._store.finish, run.id, self._lease, *ended))
                tasks.cancel_scope.cancel()
        finally:
            self._live.pop(run.id).ended.set()

    async def _ended(self, run: Run) -> tuple[State, JsonObject] | None:
        """Run a script and return how it ended, None if another gateway has taken it over."""
        requests = Requests(self._services, run.id, run.principal)
        driver = Driver(run, self._store, self._lease, requests, slots=self._slots, limits=self._limits)
        try:
            return _outcome(await driver.run(), driver.answers)
        except LeaseLostError as error:
            _log.warning("%s", error.message)
            return None
        except ScriptEndedError as error:
            return "failed", {"error": {"message": error.message}, "steps": len(driver.answers)}

    async def _keep_lease(self, run_id: str, scope: anyio.CancelScope) -> None:
        while True:
            await anyio.sleep(LEASE_SECONDS / 3)
            if not await with_retry(partial(self._store.renew, run_id, self._lease, self._now() + LEASE_SECONDS)):
                scope.cancel()


def _outcome(progress: Progress, answers: list[JsonObject]) -> tuple[State, JsonObject]:
    found = progress.outcome or {}
    uncertain = [answer["error"]["message"] for answer in answers if answer.get("error", {}).get("uncertain")]
    outcome: JsonObject = {**found, "steps": len(answers)}
    if progress.printed:
        outcome["printed"] = list(progress.printed)
    if uncertain:
        outcome["uncertain"] = uncertain
    return ("failed" if "error" in found else "done"), outcome


def _sealed(run_id: str, code: str) -> str:
    """Return the seal of a script, "" when the account cannot keep a key; the script is then not resumed."""
    try:
        return seal("script", run_id, code)
    except OSError as error:
        _log.warning("cannot read or create the key that seals scripts: %s", error)
        return ""
