"""SignIns: who is signed in where, sign-ins under way, and the automatic one when a server first asks for it."""

import time
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import anyio

from ui_mcp.errors import NotFoundError, UiMcpError
from ui_mcp.gateway.config.sign_in import server_place, target_entries
from ui_mcp.gateway.mount import Mount
from ui_mcp.gateway.openapi.live import LiveTarget
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.oauth.account import Account, Attempt, Way, sign_in_by_browser
from ui_mcp.oauth.metadata import Challenge
from ui_mcp.oauth.store import SignIn

_log = logger("gateway.sign_ins")


@dataclass(slots=True)
class _Running:
    """A sign-in under way, or the reason why the last one failed."""

    attempt: Attempt | None = None
    error: str = ""
    cancel: Callable[[], None] = lambda: None


class SignIns:
    """The person's accounts at the sources of one gateway."""

    def __init__(
        self,
        mounts: Callable[[], Iterable[Mount]],
        targets: Callable[[], Iterable[LiveTarget]],
        start_soon: Callable[[Callable[[], Coroutine[Any, Any, None]]], None],
    ) -> None:
        self._mounts = mounts
        self._targets = targets
        self._start_soon = start_soon
        self._running: dict[str, _Running] = {}
        self._asked: set[str] = set()
        """Sources that have asked for a sign-in since this process started."""

    def accounts(self) -> dict[str, Account]:
        """Return every account by name; sources that cannot be signed in to have none."""
        found: dict[str, Account] = {}
        for mount in self._mounts():
            place = server_place(mount.settings)
            if place is not None:
                found[place.name] = Account(place)
        for target in self._targets():
            for part, _ in target_entries(target.settings):
                try:
                    account = target.account(part)
                except UiMcpError as error:
                    _log.warning("%s: %s", target.settings.name, error.message)
                    continue
                found[account.place.name] = account
        return found

    async def listed(self) -> list[JsonObject]:
        """Return who is signed in where; servers that never asked for a sign-in are left out."""
        silent = {mount.name for mount in self._mounts() if mount.settings.auth is None} - self._asked
        rows = []
        for name, account in sorted(self.accounts().items()):
            held = await account.held()
            if held is not None or name in self._running or name not in silent:
                rows.append({**await described(account, held), **self._progress(name)})
        return rows

    def _progress(self, name: str) -> JsonObject:
        running = self._running.get(name)
        if running is None:
            return {}
        if running.attempt is None:
            return {"error": running.error} if running.error else {}
        return {"waiting": {"url": running.attempt.url, "user_code": running.attempt.user_code}}

    async def begin(self, name: str, way: Way = "browser", challenge: Challenge | None = None) -> JsonObject:
        """Begin a sign-in, and return the page to open and the code to enter there.

        Raises:
            NotFoundError: nothing of this name can be signed in to.
            UpstreamError: it is not known where to sign in, or the server refuses this program.
        """
        account = self.accounts().get(name)
        if account is None:
            raise NotFoundError(f"No server or API named {name!r} can be signed in to")
        self.cancel(name)
        running = self._running[name] = _Running()
        begun = anyio.Event()
        self._start_soon(partial(self._run, account, running, begun, way, challenge))
        await begun.wait()
        if running.attempt is None:
            del self._running[name]
            raise UiMcpError(running.error)
        return {"name": name, **self._progress(name)["waiting"]}

    async def _run(
        self, account: Account, running: _Running, begun: anyio.Event, way: Way, challenge: Challenge | None
    ) -> None:
        name = account.place.name
        with anyio.CancelScope() as scope:
            running.cancel = scope.cancel
            try:
                async with account.signing_in(way, challenge) as attempt:
                    running.attempt = attempt
                    begun.set()
                    await attempt.finished()
                del self._running[name]
                self._signed_in(name)
            except UiMcpError as error:
                running.attempt, running.error = None, error.message
            finally:
                begun.set()
        if scope.cancelled_caught:
            running.attempt = None

    def cancel(self, name: str) -> None:
        """End a sign-in that is under way, if there is one."""
        running = self._running.pop(name, None)
        if running is not None:
            running.cancel()

    async def sign_out(self, name: str) -> bool:
        """Sign out; return whether the person was signed in.

        Raises:
            NotFoundError: nothing of this name can be signed in to.
        """
        account = self.accounts().get(name)
        if account is None:
            raise NotFoundError(f"No server or API named {name!r} can be signed in to")
        self.cancel(name)
        return await account.sign_out()

    async def ask(self, report: Callable[[str], None], account: Account, challenge: Challenge) -> None:
        """Open the browser when a server first asks for a sign-in; later only the person begins one.

        Raises:
            SignInNeededError: the person has been asked before.
            UpstreamError: they refused, or did not come back.
        """
        name = account.place.name
        if name in self._asked or name in self._running:
            raise await account.needed()
        self._asked.add(name)
        async with account.asking() as alone:
            if alone:
                await sign_in_by_browser(account, challenge, report)
            elif not await account.signed_in_meanwhile():
                raise await account.needed()

    def _signed_in(self, name: str) -> None:
        for mount in self._mounts():
            if mount.name == name:
                mount.retry()


async def described(account: Account, held: SignIn | None) -> JsonObject:
    """Return one account for people: never a secret."""
    place = account.place
    found: JsonObject = {
        "name": place.name,
        "url": place.url,
        "state": "signed out",
        "can_use_code": bool(place.device_url),
    }
    if held is None:
        return found
    found |= {"issuer": held.server.issuer, "can_use_code": bool(held.server.device or place.device_url)}
    if not held.tokens.access:
        return found | {"problem": held.problem}
    expired = held.tokens.expires_at and time.time() > held.tokens.expires_at and not held.tokens.refresh
    return found | {
        "state": "expired" if expired else "signed in",
        "account": held.tokens.account,
        "scopes": (held.tokens.scope or " ".join(held.scopes)).split(),
        "since": _time(held.since),
        "renewed": bool(held.tokens.refresh),
        "kept_in": await account.kept_in(),
    }


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z") if at else ""
