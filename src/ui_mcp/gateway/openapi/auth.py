"""Credentials of one API: which the document asks for, which the user gave, and how they are sent."""

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import quote

from ui_mcp.compositor.openapi.tokens import Grant, Tokens
from ui_mcp.errors import RefusedError
from ui_mcp.gateway.openapi.model import Operation, Scheme
from ui_mcp.gateway.sanitize import MASK

Kind = Literal["bearer", "basic", "header", "query", "cookie", "oauth2_client_credentials", "oauth2_refresh", "any"]
DEFAULT = ""
"""The credential that fits the first scheme of its kind, or stands alone."""


@dataclass(frozen=True, slots=True)
class Credential:
    """What the user gave for one scheme."""

    kind: Kind
    token: str = ""
    parameter: str = ""
    username: str = ""
    password: str = ""
    grant: Grant | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values nobody may see."""
        from_grant = (self.grant.client_secret, self.grant.refresh_token) if self.grant else ()
        encoded = _basic(self) if self.kind == "basic" else ""
        return tuple(value for value in (self.token, self.password, encoded, *from_grant) if value)


@dataclass(frozen=True, slots=True)
class Attached:
    """What a request carries to prove who sends it."""

    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Schemes the operation asks for and nobody supplied."""
    renewable: tuple[Grant, ...] = ()


class Credentials:
    """Chooses and attaches credentials per operation and per caller."""

    def __init__(
        self,
        schemes: Mapping[str, Scheme],
        configured: Mapping[str, Credential],
        tokens: Tokens,
        *,
        strict: bool = False,
    ) -> None:
        self._schemes = schemes
        self._configured = dict(configured)
        self._tokens = tokens
        self._strict = strict
        self._by_principal: dict[str, dict[str, Credential]] = {}
        self._carried: dict[tuple[str, str], Credential] = {}

    def set(self, principal: str, scheme: str, credential: Credential) -> None:
        """Use a credential for the calls of one principal, from now on."""
        self._by_principal.setdefault(principal, {})[scheme] = credential

    def carry(self, principal: str, conversation: str, token: str) -> None:
        """Use a bearer token for what a principal calls in one conversation, and nowhere else."""
        self._carried[principal, conversation] = Credential("bearer", token=token)

    def adopt(self, schemes: Mapping[str, Scheme]) -> None:
        """Take the schemes of a reloaded document."""
        self._schemes = schemes

    def secrets(self) -> Iterable[str]:
        """Return every value that must never be shown."""
        given = [*self._configured.values(), *(c for own in self._by_principal.values() for c in own.values())]
        given += self._carried.values()
        yield from (value for credential in given for value in credential.secrets)
        yield from self._tokens.secrets()

    async def attach(
        self, operation: Operation, principal: str, conversation: str = "", *, renew: bool = False
    ) -> Attached:
        """Return what to send with a call of `operation`; a token may have to be fetched for it.

        Raises:
            RefusedError: nothing fits and the configuration says not to try without.
        """
        chosen, missing = self._chosen(operation, principal, conversation)
        total = Attached(missing=missing)
        for scheme, credential in chosen:
            total = _joined(total, await self._one(scheme, credential, renew=renew))
        return total

    def sketch(self, operation: Operation, principal: str, conversation: str = "") -> Attached:
        """Return what a call would carry, without fetching anything: a token stands there as a mask.

        Raises:
            RefusedError: nothing fits and the configuration says not to try without.
        """
        chosen, missing = self._chosen(operation, principal, conversation)
        total = Attached(missing=missing)
        for scheme, credential in chosen:
            token = Attached((("Authorization", f"Bearer {MASK}"),), secrets=credential.secrets)
            total = _joined(total, _placed(scheme, credential) if credential.grant is None else token)
        return total

    def _chosen(
        self, operation: Operation, principal: str, conversation: str
    ) -> tuple[list[tuple[Scheme | None, Credential]], tuple[str, ...]]:
        """Return the credentials of the first alternative that is satisfied, else the schemes that are missing."""
        given = self._configured | self._by_principal.get(principal, {})
        carried = self._carried.get((principal, conversation))
        given |= {DEFAULT: carried} if carried else {}
        for alternative in operation.security:
            chosen = [(name, self._fitting(name, given)) for name in alternative]
            if all(credential is not None for _, credential in chosen):
                return [(self._schemes.get(name), credential) for name, credential in chosen if credential], ()
        missing = tuple(dict.fromkeys(name for alternative in operation.security for name in alternative))
        if not missing and not operation.security and not self._schemes and given:
            return [(None, next(iter(given.values())))], ()
        if missing and self._strict and () not in operation.security:
            raise RefusedError(f"No credentials for {', '.join(missing)}; nothing was sent\n{how_to(missing)}")
        return [], missing

    def _fitting(self, name: str, given: Mapping[str, Credential]) -> Credential | None:
        if name in given:
            return given[name]
        scheme, default = self._schemes.get(name), given.get(DEFAULT)
        if scheme is None or default is None:
            return default
        return default if _fits(scheme, default) else None

    async def _one(self, scheme: Scheme | None, credential: Credential, *, renew: bool) -> Attached:
        if credential.grant is None:
            return _placed(scheme, credential)
        grant = _completed(credential.grant, scheme)
        token = await self._tokens.token(grant, renew=renew)
        headers = (("Authorization", f"Bearer {token}"),)
        return Attached(headers, secrets=(*credential.secrets, token), renewable=(grant,))


def _placed(scheme: Scheme | None, credential: Credential) -> Attached:
    """Put a credential that needs no fetching where its scheme says it goes."""
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


def _joined(total: Attached, one: Attached) -> Attached:
    return Attached(
        total.headers + one.headers,
        total.query + one.query,
        total.cookies + one.cookies,
        total.secrets + one.secrets,
        total.missing,
        total.renewable + one.renewable,
    )


def how_to(missing: Iterable[str]) -> str:
    """Say how a missing credential can be supplied."""
    first = next(iter(missing), "NAME")
    return f"Supply it in nlui.yaml (auth.schemes.{first}) or with the set_auth tool."


def _completed(grant: Grant, scheme: Scheme | None) -> Grant:
    """Take the token endpoint from the document when the user gave none."""
    return replace(grant, token_url=scheme.token_url) if scheme and not grant.token_url else grant


def _fits(scheme: Scheme, credential: Credential) -> bool:
    if credential.kind == "any":
        return True
    if credential.kind == "bearer":
        return scheme.kind in {"bearer", "oauth2", "other"}
    if credential.grant is not None:
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
    return credential.token
