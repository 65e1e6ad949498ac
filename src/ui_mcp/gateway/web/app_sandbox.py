"""The origin of apps: it serves a proxy page and, inside of it, the app's page with the policy that it declared.

Each server has a host name of its own (`LABEL.localhost`), so apps of two servers share no storage; where the chat page
is not on this machine, apps have no origin at all.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_urlsafe

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ui_mcp.jsontypes import Json, JsonObject

_ORIGIN = re.compile(r"(https?|wss?)://(\*\.)?[A-Za-z0-9.-]+(:[0-9]{1,5}|:\*)?")
_PERMISSIONS = {"clipboardWrite": "clipboard-write"}
"""What an app may get by asking; camera, microphone and location are not given."""
RESTRICTED = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; "
    "base-uri 'self'; "
    "form-action 'none'"
)
"""For pages that declare nothing. `eval` reaches no further than inline scripts, and published apps need it."""

_PROXY = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>App</title>
<style nonce="{nonce}">html, body, iframe {{ display: block; width: 100%; height: 100%; margin: 0; border: 0; }}</style>
</head>
<body>
<iframe id="app" title="App" sandbox="{sandbox}" allow="{allow}"></iframe>
<script nonce="{nonce}">
const host = {host};
const app = document.getElementById("app");
const own = (message) => String(message?.method ?? "").startsWith("ui/notifications/sandbox-");
addEventListener("message", (event) => {{
  if (event.source === parent && event.origin === host) {{
    if (!own(event.data)) {{
      app.contentWindow.postMessage(event.data, "*");
    }} else if (event.data.method.endsWith("resource-ready")) {{
      app.src = location.pathname + "/page";
    }}
  }} else if (event.source === app.contentWindow && !own(event.data)) {{
    parent.postMessage(event.data, host);
  }}
}});
parent.postMessage({{ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {{}} }}, host);
</script>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class ShownPage:
    """An app's page as the sandbox serves it."""

    html: str
    ui: JsonObject
    """What the page declares: `csp`, `permissions`, `prefersBorder`."""
    label: str
    """The first part of the host name."""
    host: str
    """The origin of the page around it."""
    is_isolated: bool
    """Whether the host name is the server's own; if not, the page has no origin."""


def declared_origins(ui: JsonObject) -> dict[str, list[str]]:
    """Return the origins that an app declares, by purpose, without what is no origin."""
    csp = ui.get("csp")
    kinds = ("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")
    given: Mapping[str, Json] = csp if isinstance(csp, dict) else {}
    return {kind: [one for one in _texts(given.get(kind)) if _ORIGIN.fullmatch(one)] for kind in kinds}


def content_policy(ui: JsonObject) -> str:
    """Return the content security policy of an app's page: what it declares, and nothing else."""
    if not isinstance(ui.get("csp"), dict):
        return RESTRICTED
    origins = declared_origins(ui)
    files, frames = " ".join(origins["resourceDomains"]), " ".join(origins["frameDomains"])
    parts = {
        "default-src": "'none'",
        "script-src": f"'self' 'unsafe-inline' 'unsafe-eval' blob: data: {files}",
        "style-src": f"'self' 'unsafe-inline' blob: data: {files}",
        "img-src": f"'self' blob: data: {files}",
        "font-src": f"'self' blob: data: {files}",
        "media-src": f"'self' blob: data: {files}",
        "worker-src": f"'self' blob: {files}",
        "connect-src": " ".join(origins["connectDomains"]) or "'none'",
        "frame-src": frames or "'none'",
        "object-src": "'none'",
        "base-uri": " ".join(origins["baseUriDomains"]) or "'self'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value.strip()}" for name, value in parts.items())


def permissions(ui: JsonObject) -> dict[str, str]:
    """Return the browser features that a page gets, as it and as browsers name them."""
    asked = ui.get("permissions")
    return {name: feature for name, feature in _PERMISSIONS.items() if isinstance(asked, dict) and name in asked}


class Sandbox:
    """The pages that are shown now, by an unguessable name."""

    def __init__(self) -> None:
        self.pages: dict[str, ShownPage] = {}

    def app(self) -> ASGIApp:
        routes = [Route("/view/{name}", self._proxy), Route("/view/{name}/page", self._page)]
        return Starlette(routes=routes)

    async def _proxy(self, request: Request) -> Response:
        shown = self._shown(request)
        if shown is None:
            return PlainTextResponse("This app was closed", 404)
        nonce = token_urlsafe(16)
        flags = "allow-scripts allow-forms" + (" allow-same-origin" if shown.is_isolated else "")
        allow = "; ".join(permissions(shown.ui).values())
        host = json.dumps(shown.host).replace("<", "\\u003c")
        html = _PROXY.format(nonce=nonce, sandbox=flags, allow=allow, host=host)
        policy = f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; frame-src 'self'"
        return _html(html, f"{policy}; base-uri 'none'; form-action 'none'; frame-ancestors {shown.host}")

    async def _page(self, request: Request) -> Response:
        shown = self._shown(request)
        if shown is None:
            return PlainTextResponse("This app was closed", 404)
        return _html(shown.html, f"{content_policy(shown.ui)}; frame-ancestors 'self' {shown.host}")

    def _shown(self, request: Request) -> ShownPage | None:
        found = self.pages.get(request.path_params["name"])
        name = request.headers.get("host", "").partition(":")[0]
        if found is None or (found.is_isolated and name != f"{found.label}.localhost"):
            return None
        return found


def _html(text: str, policy: str) -> Response:
    headers = {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
    return HTMLResponse(text, headers=headers)


def _texts(value: Json) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
