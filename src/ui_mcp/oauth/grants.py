"""The requests of an OAuth client: registration (RFC 7591), code with PKCE, device code (8628), refresh, revocation."""

import base64
import time
from collections.abc import Mapping
from dataclasses import field
from hashlib import sha256
from secrets import token_urlsafe
from urllib.parse import quote, urlencode, urlsplit

import httpx2

from ui_mcp.errors import UpstreamError
from ui_mcp.jsontypes import JsonObject, loads
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.oauth.metadata import AuthorizationServer, require_safe

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_NAMES = ("preferred_username", "email", "name", "sub")


class GrantError(UpstreamError):
    """The authorization server refused; `error` is its code, such as `invalid_grant`."""

    def __init__(self, message: str, error: str = "", **details: object) -> None:
        super().__init__(message, error=error, fatal=True, **details)
        self.error = error


@dataclass(frozen=True, slots=True)
class Client:
    """Who we are to one authorization server."""

    id: str
    secret: str = field(default="", repr=False)
    auth_method: str = "none"
    redirect_url: str = ""
    registered: bool = False
    """Whether we registered ourselves; else the person gave the id."""


@dataclass(frozen=True, slots=True)
class TokenSet:
    """What a token endpoint granted."""

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    expires_at: float = 0.0
    """Unix time; 0 if unknown."""
    scope: str = ""
    account: str = ""
    """The name of the person, if the server sent it."""


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """One attempt to sign in with a browser: where to send the person, and what to expect back."""

    url: str
    state: str
    verifier: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """One attempt to sign in on another device."""

    device_code: str = field(repr=False)
    user_code: str
    url: str
    complete_url: str
    expires_at: float
    interval: float


class Grants:
    """Talks to one authorization server about one resource."""

    def __init__(self, http: httpx2.AsyncClient, server: AuthorizationServer, resource: str = "") -> None:
        self._http = http
        self.server = server
        self._resource = resource

    async def register(self, redirect_url: str, scopes: tuple[str, ...]) -> Client:
        """Register this program.

        Raises:
            GrantError: the server registers no clients.
        """
        if not self.server.registration:
            raise GrantError(
                f"{self.server.issuer} lets no program register itself\n"
                "Register ui-mcp there by hand and write the client_id it gives you under auth in nlui.yaml.",
                "registration_not_supported",
            )
        grants = ["authorization_code", "refresh_token", *([DEVICE_GRANT] if self.server.device else [])]
        wanted = {
            "client_name": "ui-mcp",
            "application_type": "native",
            "redirect_uris": [redirect_url],
            "grant_types": grants,
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            **({"scope": " ".join(scopes)} if scopes else {}),
        }
        given = await self._answer(await self._post(self.server.registration, json=wanted), "register this program")
        secret, method = given.get("client_secret"), given.get("token_endpoint_auth_method")
        if not isinstance(given.get("client_id"), str):
            raise GrantError(f"{self.server.issuer} registered this program without a client_id")
        kept = secret if isinstance(secret, str) else ""
        assigned = method if isinstance(method, str) else "client_secret_basic" if kept else "none"
        if assigned not in {"none", "client_secret_basic", "client_secret_post"} or (assigned != "none" and not kept):
            raise GrantError(f"{self.server.issuer} registered this program with the unusable method {assigned[:60]!r}")
        return Client(given["client_id"], kept, assigned, redirect_url, registered=True)

    def code_request(self, client: Client, scopes: tuple[str, ...], extra: Mapping[str, str]) -> CodeRequest:
        """Return where to send the person; the verifier never leaves this program before the code is back."""
        if not self.server.authorization:
            raise GrantError(f"{self.server.issuer} has no page to sign in at", "unsupported_response_type")
        verifier, state = token_urlsafe(64), token_urlsafe(32)
        query = {
            "response_type": "code",
            "client_id": client.id,
            "redirect_uri": client.redirect_url,
            "state": state,
            "code_challenge": base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("="),
            "code_challenge_method": "S256",
            **self._wanted(scopes),
            **extra,
        }
        if "offline_access" in scopes:
            query["prompt"] = "consent"  # OpenID Connect grants it in no other way
        join = "&" if urlsplit(self.server.authorization).query else "?"
        return CodeRequest(f"{self.server.authorization}{join}{urlencode(query, quote_via=quote)}", state, verifier)

    async def exchange(self, client: Client, request: CodeRequest, answer: Mapping[str, str]) -> TokenSet:
        """Turn the answer that the browser brought back into tokens.

        Raises:
            GrantError: the person refused, the answer is another attempt's or another server's, or it is not accepted.
        """
        if answer.get("state") != request.state:
            raise GrantError("The answer belongs to another sign-in; nothing was accepted", "state_mismatch")
        issuer = answer.get("iss")
        if issuer is None and self.server.names_issuer:
            raise GrantError("The answer does not say which server it comes from", "issuer_missing")
        if issuer is not None and issuer != self.server.issuer:
            raise GrantError(f"The answer comes from {issuer[:200]}, not from {self.server.issuer}", "issuer_mismatch")
        if "code" not in answer:
            reason = answer.get("error_description") or answer.get("error") or "there is no code"
            raise GrantError(f"The sign-in was refused: {reason[:300]}", answer.get("error", "access_denied"))
        fields = {
            "grant_type": "authorization_code",
            "code": answer["code"],
            "redirect_uri": client.redirect_url,
            "code_verifier": request.verifier,
        }
        return await self._tokens(client, fields, "accept the sign-in")

    async def device_request(self, client: Client, scopes: tuple[str, ...]) -> DeviceRequest:
        """Ask for a code that the person enters on another device.

        Raises:
            GrantError: the server does not offer that.
        """
        if not self.server.device:
            raise GrantError(f"{self.server.issuer} offers no sign-in by a code", "device_not_supported")
        fields, headers = self._authenticated(client, self._wanted(scopes))
        response = await self._post(self.server.device, data=fields, headers=headers)
        given = await self._answer(response, "start a sign-in by a code")
        page = given.get("verification_uri") or given.get("verification_url")
        match given:
            case {"device_code": str(device), "user_code": str(user)} if isinstance(page, str):
                complete = given.get("verification_uri_complete")
                return DeviceRequest(
                    device,
                    user,
                    require_safe(page, self.server.issuer),
                    require_safe(complete, self.server.issuer) if isinstance(complete, str) else page,
                    time.time() + _number(given.get("expires_in"), 600.0),
                    max(_number(given.get("interval"), 5.0), 1.0),
                )
        raise GrantError(f"{self.server.issuer} gave no code to enter")

    async def poll(self, client: Client, request: DeviceRequest) -> TokenSet:
        """Ask once whether the person has entered the code.

        Raises:
            GrantError: not yet (`authorization_pending`, `slow_down`), or never.
        """
        return await self._tokens(
            client, {"grant_type": DEVICE_GRANT, "device_code": request.device_code}, "accept the code"
        )

    async def refresh(self, client: Client, held: TokenSet) -> TokenSet:
        """Return new tokens; a server that does not rotate refresh tokens keeps the one it gave.

        Raises:
            GrantError: the refresh token is no longer valid.
        """
        fields = {"grant_type": "refresh_token", "refresh_token": held.refresh}
        fresh = await self._tokens(client, fields, "renew the sign-in")
        return TokenSet(
            fresh.access,
            fresh.refresh or held.refresh,
            fresh.expires_at,
            fresh.scope or held.scope,
            fresh.account or held.account,
        )

    async def revoke(self, client: Client, held: TokenSet) -> bool:
        """End the sign-in at the server; return whether it did."""
        if not self.server.revocation:
            return False
        token, hint = (held.refresh, "refresh_token") if held.refresh else (held.access, "access_token")
        fields, headers = self._authenticated(client, {"token": token, "token_type_hint": hint})
        try:
            return (await self._post(self.server.revocation, data=fields, headers=headers)).is_success
        except GrantError:
            return False

    def _wanted(self, scopes: tuple[str, ...]) -> dict[str, str]:
        scope = {"scope": " ".join(scopes)} if scopes else {}
        return scope | ({"resource": self._resource} if self._resource else {})

    async def _tokens(self, client: Client, fields: Mapping[str, str], what: str) -> TokenSet:
        if self._resource:
            fields = {**fields, "resource": self._resource}
        fields, headers = self._authenticated(client, fields)
        given = await self._answer(await self._post(self.server.token, data=fields, headers=headers), what)
        access = given.get("access_token")
        kind = str(given.get("token_type") or "bearer").lower()
        if not isinstance(access, str) or not access or kind != "bearer":
            raise GrantError(f"{self.server.issuer} gave no bearer token")
        lifetime = _number(given.get("expires_in"), 0.0)
        refresh, scope = given.get("refresh_token"), given.get("scope")
        return TokenSet(
            access,
            refresh if isinstance(refresh, str) else "",
            time.time() + lifetime if lifetime > 0 else 0.0,
            scope if isinstance(scope, str) else "",
            _account(given.get("id_token")),
        )

    def _authenticated(self, client: Client, fields: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        if client.auth_method == "client_secret_basic" and client.secret:
            pair = f"{quote(client.id, safe='')}:{quote(client.secret, safe='')}"
            return dict(fields), {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
        secret = {"client_secret": client.secret} if client.secret else {}
        return {**fields, "client_id": client.id, **secret}, {}

    async def _post(self, url: str, **content: object) -> httpx2.Response:
        headers = {"Accept": "application/json", **(content.pop("headers", None) or {})}  # type: ignore[dict-item]
        try:
            return await self._http.post(url, headers=headers, **content)  # type: ignore[arg-type]
        except httpx2.HTTPError as error:
            raise GrantError(f"{url} cannot be reached: {error or type(error).__name__}", "unreachable") from error

    async def _answer(self, response: httpx2.Response, what: str) -> JsonObject:
        try:
            given = loads(response.content)
        except ValueError:
            given = {}
        given = given if isinstance(given, dict) else {}
        # Some servers answer 200 with an error.
        if response.is_success and "error" not in given:
            return given
        error = given.get("error") if isinstance(given.get("error"), str) else ""
        reason = str(given.get("error_description") or error or f"HTTP {response.status_code}")[:300]
        message = f"{self.server.issuer} did not {what}: {reason}"
        raise GrantError(message, str(error or ""), status=response.status_code)


def _number(given: object, default: float) -> float:
    try:
        return float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return default


def _account(id_token: object) -> str:
    """Return the person's name in an ID token, which came straight from the token endpoint: its signature adds nothing.

    It is shown only, never used to decide.
    """
    try:
        body = str(id_token).split(".")[1]
        claims = loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (IndexError, ValueError):
        return ""
    names = (claims.get(key) for key in _NAMES) if isinstance(claims, dict) else ()
    return next((name[:200] for name in names if isinstance(name, str) and name), "")
