"""Reads security schemes and requirements, and the servers of a document."""

import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urljoin, urlsplit

from ui_mcp.compositor.openapi.header_names import is_framing, is_name
from ui_mcp.errors import UiMcpError
from ui_mcp.gateway.openapi.document import Document, Place
from ui_mcp.gateway.openapi.fetch import is_url
from ui_mcp.gateway.openapi.model import Alternative, Scheme
from ui_mcp.jsontypes import Json, JsonObject


def read_schemes(document: Document) -> dict[str, Scheme]:
    """Read `securitySchemes`, or `securityDefinitions` of version 2."""
    root = document.root
    group = (
        root.at("securityDefinitions") if document.version.startswith("2") else root.at("components", "securitySchemes")
    )
    found: dict[str, Scheme] = {}
    for name, place in group.items():
        try:
            value = document.follow(place).value
        except (UiMcpError, ValueError):
            continue
        if isinstance(value, dict):
            found[name] = _scheme(name, value)
    return found


def read_requirements(value: Json, inherited: tuple[Alternative, ...]) -> tuple[Alternative, ...]:
    """Read a `security` list; what is not a list leaves the inherited one in force."""
    if not isinstance(value, list):
        return inherited
    return tuple(tuple(str(name) for name in entry) for entry in value if isinstance(entry, dict))


def read_servers(place: Place, variables: Mapping[str, str]) -> tuple[str, ...]:
    """Read a `servers` list with its variables filled in; relative ones are resolved against the document."""
    found = []
    for server in place.values():
        url = server.value.get("url") if isinstance(server.value, dict) else None
        if isinstance(url, str) and url:
            found.append(_resolved(_filled(url, server.value.get("variables"), variables), place.file))
    return tuple(server for server in found if server is not None)


def read_servers_v2(root: JsonObject, file: str) -> tuple[str, ...]:
    """Build servers from `host`, `basePath` and `schemes` of version 2."""
    host, path = root.get("host"), str(root.get("basePath") or "")
    given = root.get("schemes")
    schemes = [scheme for scheme in given if scheme in ("http", "https")] if isinstance(given, list) else []
    if isinstance(host, str) and host:
        chosen = "https" if "https" in schemes or not schemes else "http"
        built = _resolved(f"{chosen}://{host}{path}", file)
    else:
        built = _resolved(path or "/", file) if is_url(file) else path
    return (built,) if built else ()


def _resolved(url: str, file: str) -> str | None:
    """Return the whole address of a server; None when it is no address at all."""
    try:
        resolved = urljoin(file, url) if is_url(file) and not urlsplit(url).scheme else url
        urlsplit(resolved)
    except ValueError:
        return None
    return resolved.rstrip("/")


def _filled(url: str, declared: Json, chosen: Mapping[str, str]) -> str:
    known = declared if isinstance(declared, dict) else {}

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name in chosen:
            return chosen[name]
        entry = known.get(name)
        return str(entry.get("default", match[0])) if isinstance(entry, dict) else match[0]

    return re.sub(r"\{([^{}]+)\}", value, url)


def _scheme(name: str, value: JsonObject) -> Scheme:
    described = value.get("description")
    text = described if isinstance(described, str) else ""
    kind = value.get("type")
    if kind == "apiKey":
        where = value.get("in")
        place: Literal["header", "query", "cookie"] = where if where in {"header", "query", "cookie"} else "header"
        parameter = str(value.get("name") or "X-API-Key")
        if place == "header" and (is_framing(parameter) or not is_name(parameter)):
            return Scheme(name, "other", description=text)
        return Scheme(name, place, parameter=parameter, description=text)
    if kind == "basic" or (kind == "http" and str(value.get("scheme")).lower() == "basic"):
        return Scheme(name, "basic", description=text)
    if kind == "http":
        return Scheme(name, "bearer", description=text)
    if kind in {"oauth2", "openIdConnect"}:
        token_url, scopes = _flow(value)
        return Scheme(name, "oauth2", token_url=token_url, scopes=scopes, description=text)
    return Scheme(name, "other", description=text)


def _flow(value: JsonObject) -> tuple[str, tuple[str, ...]]:
    flows = value.get("flows")
    chosen: JsonObject = value
    if isinstance(flows, dict):
        candidates = [flows.get(name) for name in ("clientCredentials", "authorizationCode", "password", "implicit")]
        chosen = next((flow for flow in candidates if isinstance(flow, dict)), {})
    scopes = chosen.get("scopes")
    return str(chosen.get("tokenUrl") or ""), tuple(scopes) if isinstance(scopes, dict) else ()
