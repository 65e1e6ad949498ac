"""Finds out where a person signs in to a resource: its own metadata (RFC 9728) and its authorization server's (8414).

MCP servers of 2025-03-26 have no metadata of their own and are their own authorization server; later ones name theirs
in `WWW-Authenticate` or at a well-known address. Every document is checked to be about what it was asked for, since the
resource and the authorization server may be of different owners.
"""

import re
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

import httpx2

from ui_mcp.errors import UpstreamError
from ui_mcp.http_client import same_origin
from ui_mcp.jsontypes import JsonObject, loads
from ui_mcp.lazy_dataclass import dataclass

_PARAMETER = re.compile(r'(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')
_PROTECTED = "/.well-known/oauth-protected-resource"
_SERVERS = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a resource said when it refused a request."""

    metadata_url: str = ""
    scope: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class AuthorizationServer:
    """Where tokens come from; an endpoint is empty if the server has none."""

    issuer: str
    authorization: str = ""
    token: str = ""
    registration: str = ""
    device: str = ""
    revocation: str = ""
    scopes: tuple[str, ...] = ()
    names_issuer: bool = False
    """Whether every answer to a sign-in has to name the issuer (RFC 9207)."""
    pkce: bool | None = None
    """Whether it checks the proof of who began a sign-in (RFC 7636); None if it does not say."""


@dataclass(frozen=True, slots=True)
class Discovered:
    """Where and for what a person signs in to a resource."""

    server: AuthorizationServer
    resource: str = ""
    """The resource indicator (RFC 8707); empty for servers that do not know it."""
    scopes: tuple[str, ...] = ()


def read_challenge(header: str) -> Challenge:
    """Read the Bearer challenge of a `WWW-Authenticate` header."""
    _, found, rest = re.split(r"(?i)(\bbearer\b)", header, maxsplit=1) if "bearer" in header.lower() else ("", "", "")
    given = {name.lower(): quoted or plain for name, quoted, plain in _PARAMETER.findall(rest)} if found else {}
    return Challenge(given.get("resource_metadata", ""), given.get("scope", ""), given.get("error", ""))


async def discover(client: httpx2.AsyncClient, url: str, challenge: Challenge = Challenge()) -> Discovered:
    """Return where to sign in to the resource at `url`.

    Raises:
        UpstreamError: its metadata cannot be read, contradicts itself, or is missing.
    """
    resource = canonical(url)
    metadata = await _resource_metadata(client, resource, challenge.metadata_url)
    if metadata is None:  # 2025-03-26: the origin of the server is its authorization server
        origin = urlunsplit((*urlsplit(resource)[:2], "", "", ""))
        server = await _server_metadata(client, origin, resource, legacy=True)
        return Discovered(server, "", tuple(challenge.scope.split()))
    issuers = _texts(metadata.get("authorization_servers"))
    if not issuers:
        raise UpstreamError(f"{resource} names no authorization server", fatal=True)
    server = await _server_metadata(client, issuers[0], resource)
    if not server.pkce:  # MCP of 2025-11-25: a client must not go on
        raise UpstreamError(f"{server.issuer} does not say that it checks PKCE with S256", fatal=True)
    scopes = challenge.scope.split() or _texts(metadata.get("scopes_supported"))
    return Discovered(server, str(metadata.get("resource") or resource), tuple(scopes))


async def read_server(client: httpx2.AsyncClient, issuer: str, resource: str) -> AuthorizationServer:
    """Return the authorization server that a person has configured by its issuer.

    Raises:
        UpstreamError: it has no metadata, or those of another issuer.
    """
    return await _server_metadata(client, issuer, resource)


def canonical(url: str) -> str:
    """Return a URL as a resource indicator: lower-case scheme and host, no fragment, no trailing slash of the root."""
    parts = urlsplit(url)
    path = "" if parts.path == "/" else parts.path
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), path, parts.query, ""))


def require_safe(url: str, resource: str) -> str:
    """Return an endpoint's URL if credentials may be sent there.

    Raises:
        UpstreamError: it is neither HTTPS nor on this machine, or a resource elsewhere leads into this network.
    """
    try:
        parts, home = urlsplit(url), urlsplit(resource)
        local = is_internal(parts.hostname or "")
        safe = parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname or ""))
    except ValueError:
        parts, safe, local = urlsplit(""), False, False
    if not safe or not parts.hostname or parts.username is not None:
        raise UpstreamError(f"The sign-in leads to {url[:200]!r}, which is not an https address", fatal=True)
    if local and not is_internal(home.hostname or ""):
        raise UpstreamError(f"{home.hostname} wants the sign-in at {parts.hostname}, inside your network", fatal=True)
    return url


def is_internal(host: str) -> bool:
    """Return whether a host is this machine or has an address of a private network; names are not resolved."""
    if host.lower() == "localhost" or host.lower().endswith((".localhost", ".local", ".internal")):
        return True
    try:
        return not ip_address(host).is_global
    except ValueError:
        return False


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost" or host.lower().endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


async def _resource_metadata(client: httpx2.AsyncClient, resource: str, named: str) -> JsonObject | None:
    """Return the metadata of a resource; None if it has none."""
    parts = urlsplit(resource)
    root = f"{parts.scheme}://{parts.netloc}{_PROTECTED}"
    places = [root + parts.path.rstrip("/"), root]
    if named and same_origin(named, resource):  # elsewhere it could be anybody's
        places.insert(0, named)
    for place in dict.fromkeys(places):
        found = await _document(client, require_safe(place, resource))
        if found is not None:
            _require_same_resource(str(found.get("resource") or ""), resource)
            return found
    return None


def _require_same_resource(named: str, resource: str) -> None:
    """Raise unless the metadata is about this resource, or about one that contains it."""
    above = canonical(named).rstrip("/")
    is_within = resource == above or resource.startswith((f"{above}/", f"{above}?"))
    if not named or not same_origin(named, resource) or not is_within:
        raise UpstreamError(f"The metadata of {resource} is about {named[:200] or 'no resource'}", fatal=True)


async def _server_metadata(
    client: httpx2.AsyncClient, issuer: str, resource: str, *, legacy: bool = False
) -> AuthorizationServer:
    require_safe(issuer, resource)
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    places = [f"{origin}{place}{path}" for place in _SERVERS]
    if path:
        places.append(f"{origin}{path}{_SERVERS[1]}")
    for place in places:
        found = await _document(client, place)
        if found is not None:
            return _server(found, issuer, resource)
    if not legacy:
        raise UpstreamError(f"{issuer} has no metadata of an authorization server", fatal=True)
    return AuthorizationServer(origin, f"{origin}/authorize", f"{origin}/token", f"{origin}/register")


def _server(given: JsonObject, issuer: str, resource: str) -> AuthorizationServer:
    named = str(given.get("issuer") or "")
    # A server that speaks for another issuer could collect its codes (RFC 8414, section 3.3).
    if named.rstrip("/") != issuer.rstrip("/"):
        raise UpstreamError(f"The authorization server {issuer} says it is {named[:200] or 'unnamed'}", fatal=True)

    def end(name: str) -> str:
        url = given.get(f"{name}_endpoint")
        return require_safe(url, resource) if isinstance(url, str) and url else ""

    methods = given.get("code_challenge_methods_supported")
    return AuthorizationServer(
        named,
        end("authorization"),
        end("token"),
        end("registration"),
        end("device_authorization"),
        end("revocation"),
        scopes=tuple(_texts(given.get("scopes_supported"))),
        names_issuer=given.get("authorization_response_iss_parameter_supported") is True,
        pkce=None if methods is None else "S256" in _texts(methods),
    )


async def _document(client: httpx2.AsyncClient, url: str) -> JsonObject | None:
    """Return the JSON object at a URL; None if there is none there.

    Raises:
        UpstreamError: the server fails, which does not mean that there is none.
    """
    try:
        response = await client.get(url, headers={"Accept": "application/json"})
    except httpx2.HTTPError as error:
        raise UpstreamError(f"{url} cannot be read: {error}", fatal=True) from error
    if response.status_code >= 500 or response.status_code == 429:
        raise UpstreamError(f"{url} answered HTTP {response.status_code}", fatal=True)
    if not response.is_success:
        return None
    try:
        found = loads(response.content)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _texts(given: object) -> Sequence[str]:
    return [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
