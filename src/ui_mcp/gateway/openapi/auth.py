"""Chooses and attaches the credentials of an API, and obtains OAuth 2 tokens."""

import base64
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast, get_args
from urllib.parse import quote

import anyio

from ui_mcp.errors import ConfigError, RefusedError, UpstreamError
from ui_mcp.gateway.config.settings import SIGN_IN_TYPES, Auth, SchemeAuth
from ui_mcp.gateway.openapi.model import Operation, Scheme
from ui_mcp.gateway.sanitize import MASK
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.toolkit.names import closest

if TYPE_CHECKING:
    from ui_mcp.oauth.account import Account

_EARLY = 60.0
"""Seconds before its expiry at which a token is renewed."""

Post = Callable[[str, Mapping[str, str], Mapping[str, str]], Awaitable[tuple[int, Json]]]
"""Posts a form (url, fields, headers) and returns status and JSON."""


@dataclass(frozen=True, slots=True)
class Grant:
    """How to obtain a token: the parameters of an OAuth 2 client credentials or refresh token grant."""

    token_url: str
    client_id: str
    client_secret: str = ""
    scopes: tuple[str, ...] = ()
    audience: str = ""
    refresh_token: str = ""
    client_auth: Literal["basic", "post"] = "basic"


@dataclass(frozen=True, slots=True)
class _Token:
    value: str
    until: float


class Tokens:
    """In-memory cache of the OAuth 2 tokens of one API."""

    def __init__(self, post: Post, now: Callable[[], float] = time.monotonic) -> None:
        self._post = post
        self._now = now
        self._held: dict[Grant, _Token] = {}
        self._rotated: dict[Grant, str] = {}
        self._locks: dict[Grant, anyio.Lock] = {}

    def secrets(self) -> Iterable[str]:
        """Return the values to mask wherever text is shown or logged."""
        return [*(token.value for token in self._held.values()), *self._rotated.values()]

    async def token(self, grant: Grant, *, renew: bool = False) -> str:
        """Return a token that is valid for at least a minute; `renew` replaces the cached one even if it seems valid.

        Raises:
            UpstreamError: the token endpoint returned no token.
        """
        # Many calls may be rejected at once: only the first that gets the lock renews, the others use its token.
        before = self._held.get(grant)
        async with self._locks.setdefault(grant, anyio.Lock()):
            held = self._held.get(grant)
            fresh = held is not None and self._now() < held.until - _EARLY
            renewed_meanwhile = held is not before
            if held is None or not fresh or (renew and not renewed_meanwhile):
                held = self._held[grant] = await self._fetch(grant)
            return held.value

    async def _fetch(self, grant: Grant) -> _Token:
        fields, headers = _form(grant, self._rotated.get(grant, grant.refresh_token))
        status, answer = await self._post(grant.token_url, fields, headers)
        if status >= 400 or not isinstance(answer, dict) or not isinstance(answer.get("access_token"), str):
            reason = answer.get("error_description") or answer.get("error") if isinstance(answer, dict) else ""
            raise UpstreamError(f"{grant.token_url} gave no token: HTTP {status} {reason or ''}".rstrip())
        # Servers that rotate refresh tokens reject the configured one after its first use.
        if isinstance(answer.get("refresh_token"), str):
            self._rotated[grant] = answer["refresh_token"]
        return _Token(answer["access_token"], self._now() + _lifetime(answer))


def _form(grant: Grant, refresh_token: str) -> tuple[dict[str, str], dict[str, str]]:
    fields = {"grant_type": "refresh_token" if refresh_token else "client_credentials"}
    if refresh_token:
        fields["refresh_token"] = refresh_token
    if grant.scopes:
        fields["scope"] = " ".join(grant.scopes)
    if grant.audience:
        fields["audience"] = grant.audience
    # Public clients have no secret and identify themselves in the form.
    if grant.client_auth == "post" or not grant.client_secret:
        secret = {"client_secret": grant.client_secret} if grant.client_secret else {}
        return fields | {"client_id": grant.client_id} | secret, {}
    pair = base64.b64encode(f"{grant.client_id}:{grant.client_secret}".encode()).decode()
    return fields, {"Authorization": f"Basic {pair}"}


def _lifetime(answer: JsonObject) -> float:
    try:
        # At least a little longer than `_EARLY`, else every call would fetch a new token.
        return max(float(answer.get("expires_in", 3600)), _EARLY + 1)
    except (TypeError, ValueError):
        return 3600.0


Kind = Literal[
    "bearer", "basic", "header", "query", "cookie", "oauth2_client_credentials", "oauth2_refresh", "sign_in", "any"
]

DEFAULT = ""
"""Key of the credential that is used for every scheme of its kind that has none of its own."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential that the user supplied for one scheme."""

    kind: Kind
    token: str = ""
    parameter: str = ""
    username: str = ""
    password: str = ""
    grant: Grant | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values to mask wherever text is shown or logged; for Basic, the encoded pair is the last."""
        from_grant = (self.grant.client_secret, self.grant.refresh_token) if self.grant else ()
        encoded = _basic(self) if self.kind == "basic" else ""
        return tuple(value for value in (self.token, self.password, encoded, *from_grant) if value)


@dataclass(frozen=True, slots=True)
class Attached:
    """The authentication of one request: where each credential goes, and what to mask."""

    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Schemes that the operation requires and that have no credential."""
    is_renewable: bool = False
    """Whether a token is worth renewing when the API answers 401."""


OpenAccount = Callable[[str, Scheme | None], "Account"]  # given the key of a credential, and the scheme it is used for


class Credentials:
    """Chooses credentials by operation and by calling principal."""

    def __init__(
        self,
        schemes: Mapping[str, Scheme],
        configured: Mapping[str, Credential],
        tokens: Tokens,
        *,
        strict: bool = False,
        account: OpenAccount | None = None,
    ) -> None:
        self._schemes = schemes
        self._configured = dict(configured)
        self._account = account
        self._signed_in: dict[str, str] = {}  # the latest tokens, by the key of their credential
        self._tokens = tokens
        self._strict = strict
        self._by_principal: dict[str, dict[str, Credential]] = {}
        self._forwarded: dict[tuple[str, str], Credential] = {}

    def set(self, principal: str, scheme: str, credential: Credential) -> None:
        """Use a credential for the following calls of one principal."""
        self._by_principal.setdefault(principal, {})[scheme] = credential

    def forward_token(self, principal: str, conversation: str, token: str) -> None:
        """Use a bearer token for a principal's calls in one conversation only."""
        self._forwarded[principal, conversation] = Credential("bearer", token=token)

    def adopt(self, schemes: Mapping[str, Scheme]) -> None:
        """Replace the schemes by those of a reloaded document."""
        self._schemes = schemes

    def secrets(self) -> Iterable[str]:
        """Yield the values to mask wherever text is shown or logged."""
        given = [*self._configured.values(), *(c for own in self._by_principal.values() for c in own.values())]
        given += self._forwarded.values()
        yield from (value for credential in given for value in credential.secrets)
        yield from self._tokens.secrets()
        yield from self._signed_in.values()

    async def attach(
        self, operation: Operation, principal: str, conversation: str = "", *, renew: bool = False
    ) -> Attached:
        """Return the authentication of a call of `operation`; may fetch a token.

        Raises:
            RefusedError: no credential fits, and the configuration is strict.
            UpstreamError: the token endpoint returned no token.
            SignInNeededError: the person has to sign in first.
        """
        chosen, missing = self._chosen(operation, principal, conversation)
        total = Attached(missing=missing)
        for scheme, credential in chosen:
            total = _merged(total, await self._attach_one(scheme, credential, renew=renew))
        return total

    def sketch(self, operation: Operation, principal: str, conversation: str = "") -> Attached:
        """Return the authentication that a call would have, with a mask for tokens; fetches nothing.

        Raises:
            RefusedError: no credential fits, and the configuration is strict.
        """
        chosen, missing = self._chosen(operation, principal, conversation)
        total = Attached(missing=missing)
        for scheme, credential in chosen:
            token = Attached((("Authorization", f"Bearer {MASK}"),), secrets=credential.secrets)
            is_static = credential.grant is None and credential.kind != "sign_in"
            total = _merged(total, _place_static(scheme, credential) if is_static else token)
        return total

    def _chosen(
        self, operation: Operation, principal: str, conversation: str
    ) -> tuple[list[tuple[Scheme | None, Credential]], tuple[str, ...]]:
        """Return the credentials of the first alternative that is satisfied, or the names of the missing schemes."""
        given = self._given(principal, conversation)
        for alternative in operation.security:
            chosen = {name: found for name in alternative if (found := self._fitting(name, given))}
            if len(chosen) == len(set(alternative)):
                return [(self._schemes.get(name), chosen[name]) for name in alternative], ()
        missing = tuple(dict.fromkeys(name for alternative in operation.security for name in alternative))
        # Documents without any security section still describe APIs that need the credential in the configuration.
        if not missing and not operation.security and not self._schemes and given:
            return [(None, next(iter(given.values())))], ()
        # An empty alternative means that the operation also works without credentials.
        if missing and self._strict and () not in operation.security:
            raise RefusedError(f"No credentials for {', '.join(missing)}; nothing was sent\n{how_to(missing)}")
        return [], missing

    def _given(self, principal: str, conversation: str) -> dict[str, Credential]:
        given = self._configured | self._by_principal.get(principal, {})
        forwarded = self._forwarded.get((principal, conversation))
        # The caller's own token overrides the configured default.
        return given | ({DEFAULT: forwarded} if forwarded else {})

    def _fitting(self, name: str, given: Mapping[str, Credential]) -> Credential | None:
        if name in given:
            return given[name]
        scheme, default = self._schemes.get(name), given.get(DEFAULT)
        if scheme is None or default is None:
            return default
        return default if _matches_scheme(scheme, default) else None

    async def _attach_one(self, scheme: Scheme | None, credential: Credential, *, renew: bool) -> Attached:
        if credential.kind == "sign_in":
            token = await self._sign_in_token(scheme, credential, renew=renew)
        elif credential.grant is None:
            return _place_static(scheme, credential)
        else:
            token = await self._tokens.token(_with_token_url(credential.grant, scheme), renew=renew)
        headers = (("Authorization", f"Bearer {token}"),)
        return Attached(headers, secrets=(*credential.secrets, token), is_renewable=True)

    async def _sign_in_token(self, scheme: Scheme | None, credential: Credential, *, renew: bool) -> str:
        key = next((name for name, one in self._configured.items() if one is credential), DEFAULT)
        if self._account is None:
            raise RefusedError("Nobody can sign in here; nothing was sent")
        account = self._account(key, scheme)
        token = await account.token(refused=self._signed_in.get(key, "") if renew else "")
        if token is None:
            raise await account.needed()
        self._signed_in[key] = token
        return token


def _place_static(scheme: Scheme | None, credential: Credential) -> Attached:
    """Place a static credential in header, query or cookie, as its scheme says."""
    secrets = credential.secrets
    name = (scheme.parameter if scheme else "") or credential.parameter
    where: str = credential.kind
    if scheme and (scheme.kind in {"header", "query", "cookie"} or credential.kind == "any"):
        where = scheme.kind
    match where:
        case "header":
            return Attached(((name or "X-API-Key", credential.token),), secrets=secrets)
        case "query":
            pair = f"{quote(name or 'api_key', safe='')}={quote(credential.token, safe='')}"
            return Attached(query=(pair,), secrets=secrets)
        case "cookie":
            return Attached(cookies=(f"{name or 'session'}={credential.token}",), secrets=secrets)
        case "basic":
            return Attached((("Authorization", f"Basic {_basic(credential)}"),), secrets=secrets)
        case _:
            return Attached((("Authorization", f"Bearer {credential.token}"),), secrets=secrets)


def _merged(total: Attached, one: Attached) -> Attached:
    return Attached(
        total.headers + one.headers,
        total.query + one.query,
        total.cookies + one.cookies,
        total.secrets + one.secrets,
        total.missing,
        total.is_renewable or one.is_renewable,
    )


def how_to(missing: Iterable[str]) -> str:
    """Return the remedy for missing credentials, for error messages."""
    first = next(iter(missing), "NAME")
    return f"Supply it in nlui.yaml (auth.schemes.{first}) or with the set_auth tool."


def _with_token_url(grant: Grant, scheme: Scheme | None) -> Grant:
    """Take the token endpoint from the document if the user configured none."""
    return replace(grant, token_url=scheme.token_url) if scheme and not grant.token_url else grant


def _matches_scheme(scheme: Scheme, credential: Credential) -> bool:
    if credential.kind == "any":
        return True
    if credential.kind == "bearer":
        return scheme.kind in {"bearer", "oauth2", "other"}
    if credential.grant is not None or credential.kind == "sign_in":
        return scheme.kind in {"oauth2", "bearer"}
    if credential.kind in {"header", "query", "cookie"}:
        wanted = credential.parameter.lower()
        return scheme.kind == credential.kind and (not wanted or scheme.parameter.lower() == wanted)
    return scheme.kind == credential.kind


def _basic(credential: Credential) -> str:
    if credential.username or credential.password:
        return base64.b64encode(f"{credential.username}:{credential.password}".encode()).decode()
    if ":" in credential.token:
        return base64.b64encode(credential.token.encode()).decode()
    return credential.token  # already encoded


_ALIASES = {
    "apikey": "header",
    "api_key": "header",
    "oauth2": "oauth2_client_credentials",
    "token": "bearer",
    **dict.fromkeys(SIGN_IN_TYPES, "sign_in"),
}


def configured(auth: Auth | None) -> dict[str, Credential]:
    """Return the configured credentials by scheme name; the short form is stored under `DEFAULT`."""
    if auth is None:
        return {}
    found = {name: _credential(entry) for name, entry in auth.schemes.items()}
    return found | {DEFAULT: _credential(auth)} if auth.is_short else found


def header_of(auth: Auth | None) -> dict[str, str]:
    """Return the authentication header for fetching the document itself."""
    if auth is None or not auth.is_short:
        return {}
    credential = _credential(auth)
    if credential.kind == "header":
        return {credential.parameter or "X-API-Key": credential.token}
    if credential.kind == "basic":
        return {"Authorization": f"Basic {credential.secrets[-1]}"}
    return {"Authorization": f"Bearer {credential.token}"}


def _credential(entry: SchemeAuth) -> Credential:
    kind = _ALIASES.get(entry.type.lower(), entry.type.lower())
    if kind not in get_args(Kind):
        near = closest(kind, get_args(Kind), 1)
        raise ConfigError(f"auth.type {entry.type!r} is not known" + (f"; did you mean {near[0]!r}?" if near else ""))
    grant = None
    if kind.startswith("oauth2"):
        grant = Grant(
            token_url=entry.token_url,
            client_id=entry.client_id,
            client_secret=entry.client_secret,
            scopes=entry.scopes,
            audience=entry.audience,
            refresh_token=entry.refresh_token,
            client_auth=entry.client_auth,
        )
    return Credential(
        kind=cast("Kind", kind),
        token=entry.token,
        parameter=entry.header_name,
        username=entry.username,
        password=entry.password,
        grant=grant,
    )
