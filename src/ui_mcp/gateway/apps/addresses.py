"""Addresses and names of MCP Apps behind the gateway: each page is bound to the server that owns it.

Hosts take the gateway for one server. So a page `ui://x` of the server `s` is listed as `ui://nlui/s/x`, and a small
script at its top turns the tool names and addresses that the page uses into those that the host knows.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from urllib.parse import quote, unquote

from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Content, Relayed, Tool, ToolResult

EXTENSION = "io.modelcontextprotocol/ui"
MIME = "text/html;profile=mcp-app"
_SCHEME = "ui://"
_PREFIX = "ui://nlui/"
_RESOURCE = "/resource/"
_OLD_KEY = "ui/resourceUri"
_HEAD = re.compile(r"<head(\s[^>]*)?>|<html(\s[^>]*)?>(?!\s*<head)", re.IGNORECASE)
_DOCTYPE = re.compile(r"\s*<!doctype[^>]*>", re.IGNORECASE)


def app_address(server: str, uri: str) -> str:
    """Return the address of a server's `ui://` resource as clients of the gateway see it; others stay as they are."""
    if not uri.startswith(_SCHEME) or uri.startswith(f"{_PREFIX}{server}/"):
        return uri
    return f"{_PREFIX}{server}/{uri.removeprefix(_SCHEME)}"


def resource_address(server: str, uri: str) -> str:
    """Return an address that names the server beside its resource, for addresses that several servers may have."""
    return f"compositor://{server}{_RESOURCE}{quote(uri, safe='')}"


def owner_of(address: str) -> tuple[str, str] | None:
    """Return the server and its own address, if an address names a server."""
    if address.startswith(_PREFIX):
        server, slash, rest = address.removeprefix(_PREFIX).partition("/")
        return (server, f"{_SCHEME}{rest}") if slash and rest else None
    server, found, rest = address.removeprefix("compositor://").partition(_RESOURCE)
    return (server, unquote(rest)) if found and address.startswith("compositor://") and "/" not in server else None


def ui_of(tool: Tool) -> JsonObject:
    """Return what a tool says about its app; empty if it has none."""
    meta = tool.meta if isinstance(tool.meta, dict) else {}
    found = meta.get("ui")
    ui = dict(found) if isinstance(found, dict) else {}
    if "resourceUri" not in ui and isinstance(meta.get(_OLD_KEY), str):
        ui["resourceUri"] = meta[_OLD_KEY]
    return ui


def is_for(tool: Tool, caller: str) -> bool:
    """Return whether `model` or `app` may call a tool."""
    visible = ui_of(tool).get("visibility")
    return caller in visible if isinstance(visible, list) else True


def with_address(tool: Tool, server: str) -> Tool:
    """Return a tool whose app has the address that clients of the gateway use."""
    ui, meta = ui_of(tool), dict(tool.meta or {})
    if not ui:
        return tool
    uri = ui.get("resourceUri")
    if isinstance(uri, str):
        ui["resourceUri"] = app_address(server, uri)
        if _OLD_KEY in meta:
            meta[_OLD_KEY] = ui["resourceUri"]
    return replace(tool, meta={**meta, "ui": ui}, app_only=not is_for(tool, "model"))


def listed_resource(resource: Resource, server: str) -> Resource:
    return replace(resource, uri=app_address(server, resource.uri))


def listed_template(template: ResourceTemplate, server: str) -> ResourceTemplate:
    return replace(template, uri_template=app_address(server, template.uri_template))


def relayed_result(result: ToolResult, server: str) -> ToolResult:
    """Return a result whose links to apps have the addresses that clients of the gateway use."""
    return replace(result, content=tuple(_relayed(part, server) for part in result.content))


def _relayed(part: Content, server: str) -> Content:
    if not isinstance(part, Relayed):
        return part
    inner = part.block.get("resource")
    block = {**part.block, "resource": _addressed(inner, server)} if isinstance(inner, dict) else part.block
    return Relayed(_addressed(block, server))


def _addressed(block: JsonObject, server: str) -> JsonObject:
    uri: Json = block.get("uri")
    return {**block, "uri": app_address(server, uri)} if isinstance(uri, str) else block


def relayed_content(content: ResourceContent, server: str, names: Mapping[str, str]) -> ResourceContent:
    """Return a server's content; an app's page gets the script that maps its names, `names` from inner to listed."""
    named = replace(content, uri=app_address(server, content.uri))
    if content.mime_type.replace(" ", "").lower() != MIME:
        return named
    html = content.body if isinstance(content.body, str) else content.body.decode("utf-8", errors="replace")
    return replace(named, body=with_names(html, server, names))


def with_names(html: str, server: str, names: Mapping[str, str]) -> str:
    """Put the script that maps names before all other scripts of a page."""
    view = json.dumps({"server": server, "names": dict(names)}).replace("<", "\\u003c")
    script = f"<script>{_script().replace('/* view */', view)}</script>"
    place = _HEAD.search(html) or _DOCTYPE.match(html)
    at = place.end() if place else 0
    return f"{html[:at]}{script}{html[at:]}"


@cache
def _script() -> str:
    return Path(__file__).with_name("view_names.js").read_text(encoding="utf-8")
