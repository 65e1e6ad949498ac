"""The person's account at one resource, an MCP server or an API: signs in and out, and hands out valid tokens."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Literal
from urllib.parse import urlsplit

import anyio
import httpx2
from anyio import to_thread

from ui_mcp.default_browser import BrowserError, open_default_browser
from ui_mcp.errors import UiMcpError, UpstreamError
from ui_mcp.http_client import open_client
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.oauth.grants import Client, CodeRequest, DeviceRequest, GrantError, Grants, TokenSet
from ui_mcp.oauth.metadata import (
    AuthorizationServer,
    Challenge,
    Discovered,
    canonical,
    discover,
    read_challenge,
    read_server,
    require_safe,
)
from ui_mcp.oauth.redirect import Redirect
from ui_mcp.oauth.store import SignIn, TokenStore, key_of

SIGN_IN_SECONDS = 300.0
_EARLY = 60.0
"""Seconds before its expiry at which a token is renewed."""
_POLL_SECONDS = 1.0
_HTTP_SECONDS = 30.0
_MAX_ANSWER = 1024 * 1024
_ENDED = frozenset({"invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope"})
"""Errors of a token endpoint after which only the person can help."""


class SignInNeededError(UpstreamError):
    """The person has to sign in first."""

    code = "sign_in_needed"


@dataclass(frozen=True, slots=True)
class Place:
    """What a person signs in to, and what they configured for it; without endpoints these are discovered."""

    name: str
    url: str
    part: str = ""
    """Which of several credentials of this resource it is."""
    issuer: str = ""
    authorization_url: str = ""
    token_url: str = ""
    device_url: str = ""
    client_id: str = ""
    client_secret: str = ""
    client_auth: str = "basic"
    scopes: tuple[str, ...] = ()
    audience: str = ""

    @property
    def key(self) -> str:
        return key_of(canonical(self.url), self.part, self.client_id)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One sign-in under way: show `url`, and `user_code` if there is one, to the person; then wait with `finished`."""

    url: str
    user_code: str
    expires_at: float
    finished: Callable[[], Awaitable[SignIn]]


Way = Literal["browser", "device"]


class Account:
    """Signs in to, and out of, one place."""

    def __init__(self, place: Place, store: TokenStore | None = None) -> None:
        self.place = place
        self._store = store or TokenStore()

    async def held(self) -> SignIn | None:
        """Return what is known of the sign-in, also if it has ended; None if there never was one."""
        return await self._store.load(self.place.key)

    async def kept_in(self) -> str:
        """Return where its secrets are: `keyring` or `file`."""
        return await self._store.place(self.place.key)

    async def token(self, refused: str = "") -> str | None:
        """Return a valid access token, renewed if need be; None if the person has to sign in.

        `refused` is a token that the resource has just refused, whatever its expiry says.

        Raises:
            UpstreamError: the token is to be renewed, and the authorization server does not answer.
        """
        held = await self.held()
        if held is None or not held.tokens.access:
            return None
        if _is_fresh(held.tokens, refused):
            return held.tokens.access
        # A rotated refresh token that is not saved is lost: cancelling the call waits for this.
        found: str | None = None
        with anyio.CancelScope(shield=True):
            async with self._store.lock(self.place.key):
                found = await self._renewed(refused)
        return found

    async def _renewed(self, refused: str) -> str | None:
        held = await self.held()
        if held is None or not held.tokens.access:
            return None
        if _is_fresh(held.tokens, refused):  # another process or call was first
            return held.tokens.access
        if not held.tokens.refresh:
            await self._end(held, "The sign-in has expired")
            return None
        try:
            async with _open_http() as http:
                fresh = await Grants(http, held.server, held.resource).refresh(held.client, held.tokens)
        except GrantError as error:
            if error.error not in _ENDED:
                raise
            await self._end(held, error.message, unknown_client=error.error == "invalid_client")
            return None
        await self._store.save(self.place.key, replace(held, tokens=fresh, problem=""))
        return fresh.access

    async def needed(self) -> SignInNeededError:
        """Return the error that says how to sign in, and why if an earlier sign-in has ended."""
        held = await self.held()
        why = f" ({held.problem})" if held is not None and held.problem else ""
        return SignInNeededError(
            f"{self.place.name} needs you to sign in{why}; nothing was sent\n"
            f"Run: nlui sign-in {self.place.name} (or sign in on the page Accounts).",
            name=self.place.name,
            fatal=True,
        )

    async def _end(self, held: SignIn, problem: str, *, unknown_client: bool = False) -> None:
        """Forget the tokens; keep the registration for the next sign-in, unless the server no longer knows it."""
        tokens = replace(held.tokens, access="", refresh="", expires_at=0.0)
        client = replace(held.client, registered=False) if unknown_client else held.client
        await self._store.save(self.place.key, replace(held, tokens=tokens, client=client, problem=problem))

    @asynccontextmanager
    async def signing_in(self, way: Way = "browser", challenge: Challenge | None = None) -> AsyncIterator[Attempt]:
        """Begin a sign-in that lasts as long as the block.

        Raises:
            UpstreamError: it is not known where to sign in, or the server refuses this program.
        """
        async with _open_http() as http:
            if challenge is None:
                challenge = await _challenge_of(http, self.place.url)
            found = await self._where(http, challenge)
            begun = await self.held()
            before = begun if begun is not None and begun.server.issuer == found.server.issuer else None
            redirect = Redirect(_port(before.client.redirect_url) if before else 0)
            try:
                grants = Grants(http, found.server, found.resource)
                scopes = self._scopes(found, before, challenge)
                client = await self._client(grants, before, redirect.url, scopes)
                draft = SignIn(self.place.url, found.server, client, found.resource, scopes)
                if way == "device":
                    yield self._by_device(grants, draft, await grants.device_request(client, scopes))
                else:
                    audience = {"audience": self.place.audience} if self.place.audience else {}
                    yield self._by_browser(grants, draft, grants.code_request(client, scopes, audience), redirect)
            finally:
                redirect.close()

    def _by_browser(self, grants: Grants, draft: SignIn, request: CodeRequest, redirect: Redirect) -> Attempt:
        async def finished() -> SignIn:
            with anyio.move_on_after(SIGN_IN_SECONDS):
                answer = await redirect.answer(request.state)
                return await self._finish(draft, lambda: grants.exchange(draft.client, request, answer))
            # The server may have shown an error because it has forgotten this program: register anew next time.
            before = await self.held()
            if before is not None and not before.tokens.access:
                await self._end(before, before.problem, unknown_client=True)
            raise GrantError(f"The sign-in was not finished within {SIGN_IN_SECONDS:g} s", "timeout")

        return Attempt(request.url, "", time.time() + SIGN_IN_SECONDS, finished)

    def _by_device(self, grants: Grants, draft: SignIn, request: DeviceRequest) -> Attempt:
        async def finished() -> SignIn:
            interval = request.interval
            while time.time() < request.expires_at:
                await anyio.sleep(interval)
                try:
                    return await self._finish(draft, lambda: grants.poll(draft.client, request))
                except GrantError as error:
                    if error.error == "slow_down":
                        interval += 5.0
                    elif error.error not in {"authorization_pending", "unreachable"}:
                        raise
            raise GrantError("The code has expired; ask for another one", "expired_token")

        return Attempt(request.complete_url, request.user_code, request.expires_at, finished)

    async def _finish(self, draft: SignIn, granted: Callable[[], Awaitable[TokenSet]]) -> SignIn:
        """Obtain the tokens and save them; both, or neither."""
        with anyio.CancelScope(shield=True):
            tokens = await granted()
            done = replace(draft, tokens=tokens, since=time.time())
            async with self._store.lock(self.place.key):
                await self._store.save(self.place.key, done)
        return done

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[bool]:
        """Yield whether this process alone asks the person to sign in here while the block runs."""
        with self._store.asking(self.place.key) as alone:
            yield alone

    async def signed_in_meanwhile(self) -> bool:
        """Wait for the sign-in that another process has begun; return whether it succeeded."""
        with anyio.move_on_after(SIGN_IN_SECONDS):
            while True:
                async with self.asking() as alone:
                    found = await self.token() is not None
                if found or alone:
                    return found
                await anyio.sleep(_POLL_SECONDS)
        return False

    async def sign_out(self) -> bool:
        """Forget the sign-in, and end it at the server if it can; return whether there was one."""
        async with self._store.lock(self.place.key):
            held = await self.held()
            await self._store.delete(self.place.key)
        if held is None or not held.tokens.access:
            return False
        async with _open_http() as http:
            await Grants(http, held.server).revoke(held.client, held.tokens)
        return True

    async def _where(self, http: httpx2.AsyncClient, challenge: Challenge) -> Discovered:
        place = self.place
        if place.token_url:
            ends = (place.authorization_url, place.token_url, place.device_url)
            authorization, token, device = (require_safe(url, place.url) if url else "" for url in ends)
            issuer = place.issuer or "://".join(urlsplit(token)[:2])
            return Discovered(AuthorizationServer(issuer, authorization, token, device=device), "", place.scopes)
        if place.issuer:
            return Discovered(await read_server(http, place.issuer, place.url), "", place.scopes)
        return await discover(http, place.url, challenge)

    def _scopes(self, found: Discovered, before: SignIn | None, challenge: Challenge) -> tuple[str, ...]:
        """Return the scopes to ask for: those configured, else those wanted, and what is needed to stay signed in."""
        wanted = list(self.place.scopes or found.scopes)
        if challenge.error == "insufficient_scope" and before is not None:
            wanted = [*before.scopes, *wanted]
        if wanted and "offline_access" in found.server.scopes:
            wanted.append("offline_access")
        return tuple(dict.fromkeys(wanted))

    async def _client(
        self, grants: Grants, before: SignIn | None, redirect_url: str, scopes: tuple[str, ...]
    ) -> Client:
        place = self.place
        if place.client_id:
            method = f"client_secret_{place.client_auth}" if place.client_secret else "none"
            return Client(place.client_id, place.client_secret, method, redirect_url)
        known = before.client if before is not None and before.client.registered else None
        if known is not None and known.redirect_url == redirect_url:
            return known
        return await grants.register(redirect_url, scopes)


async def sign_in_by_browser(account: Account, challenge: Challenge | None, report: Callable[[str], None]) -> None:
    """Let the person sign in with their default browser; without one `report` gets the address to open.

    Raises:
        UpstreamError: they refused, or did not come back.
    """
    async with account.signing_in("browser", challenge) as attempt:
        report(f"Sign in at {attempt.url}")
        try:
            await to_thread.run_sync(open_default_browser, attempt.url)
        except BrowserError as error:
            report(error.message)
        await attempt.finished()


def _is_fresh(tokens: TokenSet, refused: str) -> bool:
    return tokens.access != refused and (not tokens.expires_at or time.time() < tokens.expires_at - _EARLY)


def _port(url: str) -> int:
    return urlsplit(url).port or 0


async def _challenge_of(http: httpx2.AsyncClient, url: str) -> Challenge:
    """Return what a resource says to a request without credentials; nothing if it cannot be asked."""
    try:
        async with http.stream("GET", url, headers={"Accept": "application/json, text/event-stream"}) as response:
            return read_challenge(response.headers.get("www-authenticate", ""))
    except (httpx2.HTTPError, httpx2.InvalidURL, UiMcpError):
        return Challenge()


def _open_http() -> httpx2.AsyncClient:
    # Redirects are not followed: they could carry codes and tokens elsewhere.
    return open_client(limit=_MAX_ANSWER, trust_env=True, timeout=httpx2.Timeout(_HTTP_SECONDS))
