"""Reads the credentials of the configuration."""

from typing import cast, get_args

from ui_mcp.compositor.openapi.tokens import Grant
from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config.settings import Auth, SchemeAuth
from ui_mcp.gateway.openapi.auth import DEFAULT, Credential, Kind
from ui_mcp.toolkit.names import closest

_ALIASES = {"apikey": "header", "api_key": "header", "oauth2": "oauth2_client_credentials", "token": "bearer"}


def configured(auth: Auth | None) -> dict[str, Credential]:
    """Return the credentials by scheme name; the short form has none."""
    if auth is None:
        return {}
    found = {name: _credential(entry) for name, entry in auth.schemes.items()}
    return found | {DEFAULT: _credential(auth)} if auth.is_short else found


def header_of(auth: Auth | None) -> dict[str, str]:
    """Return the header that fetches a document."""
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
