"""HTTP of the publisher: publish, subscribe, and the pages that bookmarklets use.

A web site never publishes by itself: its message waits on a page of ours until the person sends it.
"""

from html import escape
from secrets import token_urlsafe
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ui_mcp.jsontypes import dumps, loads
from ui_mcp.ui.publisher import MAX_BYTES, SEQUENCE, TOPIC, Hub
from ui_mcp.webserver.responses import PAGE_HEAD
from ui_mcp.webserver.security import AccessRules, SecurityMiddleware
from ui_mcp.webserver.static import shared_style_route

_HEAD = (
    PAGE_HEAD
    + """\
<style nonce="{nonce}">
  .topics {{ list-style: none; padding: 0; display: grid; gap: 10px; text-align: left; }}
  .topics li {{ display: flex; gap: 10px; align-items: center; }}
  .topics img {{ width: 20px; height: 20px; }}
  dl {{ text-align: left; overflow-wrap: anywhere; }}
  dt {{ color: var(--term-text-muted); font-size: 13px; }}
  dd {{ margin: 0 0 10px; }}
  button {{ border: 0; font: inherit; cursor: pointer; }}
  button[disabled] {{ opacity: .5; cursor: default; }}
</style>
</head>
<body class="plain-body"><main class="plain">
"""
)

_INDEX = """\
<h1>Send pages to your apps</h1>
<p>Drag a button to your bookmarks. On any web site, choose the bookmark: a page opens that shows what would be sent,
and sends it when you say so.</p>
{topics}
</main></body></html>
"""

_RELAY = """\
<h1>Send this page to {topic}?</h1>
<p id="state" role="status">Waiting for the page…</p>
<dl id="what" hidden><dt>From</dt><dd id="origin"></dd><dt>Title</dt><dd id="title"></dd>
<dt>Address</dt><dd id="url"></dd><dt>Text</dt><dd id="size"></dd></dl>
<p><button class="plain-button" id="send" disabled>Send</button></p>
</main>
<script nonce="{nonce}" type="module">
const topic = {name}, part = (id) => document.getElementById(id), send = part("send");
let message = null;
addEventListener("message", (event) => {{
  const data = event.data;
  if (message || event.source !== window.opener || !data || typeof data.url !== "string") return;
  message = {{ url: data.url, title: String(data.title ?? ""), text: String(data.text ?? "") }};
  part("origin").textContent = event.origin;
  part("title").textContent = message.title;
  part("url").textContent = message.url;
  part("size").textContent = `${{message.text.length}} characters`;
  part("what").hidden = false;
  part("state").textContent = "Nothing has been sent yet.";
  // Later: a double click on the other site must not send anything.
  setTimeout(() => {{ send.disabled = false; }}, 700);
}});
send.addEventListener("click", async (event) => {{
  if (!event.isTrusted || !document.hasFocus()) return;
  send.disabled = true;
  try {{
    const answer = await fetch(`/publish/${{topic}}`, {{
      method: "POST", headers: {{ "Content-Type": "application/json" }}, body: JSON.stringify(message),
    }});
    const said = await answer.json();
    if (!answer.ok) throw new Error(said.error);
    part("state").textContent = said.listeners ? "Sent. You can close this page." : "No app listens to this topic now.";
    if (said.listeners) setTimeout(() => window.close(), 1500);
  }} catch (error) {{
    part("state").textContent = `Not sent: ${{error.message}}`;
    send.disabled = false;
  }}
}});
if (window.opener) window.opener.postMessage("ready", "*");
else part("state").textContent = "Open this page with a bookmarklet: see the start page.";
</script>
</body></html>
"""


class PublisherRoutes:
    def __init__(self, hub: Hub, port: int) -> None:
        self._hub = hub
        self._port = port

    async def publish(self, request: Request) -> Response:
        """Hand a JSON body to the subscribers of a topic."""
        topic: str = request.path_params["topic"]
        body = await request.body()
        if len(body) > MAX_BYTES:
            return JSONResponse({"error": "Messages are limited to 1 MiB"}, 413)
        try:
            text = dumps(loads(body))
        except (ValueError, RecursionError):
            return JSONResponse({"error": "The body must be JSON"}, 400)
        if not TOPIC.fullmatch(topic):
            return JSONResponse({"error": "A topic has 1 to 100 letters, digits, . _ and -"}, 400)
        return JSONResponse({"listeners": await self._hub.publish(topic, text)})

    async def subscribe(self, request: Request) -> Response:
        """Wait for the next message of a topic; for programs, never for pages."""
        if "origin" in request.headers or request.headers.get("sec-fetch-site", "none") != "none":
            return PlainTextResponse("Pages may not read what others publish\n", 403)
        query, topic = request.query_params, request.path_params["topic"]
        if not TOPIC.fullmatch(topic):
            return PlainTextResponse("A topic has 1 to 100 letters, digits, . _ and -\n", 400)
        after = query.get("after", "")
        number = int(after) if after.isascii() and after.isdecimal() and len(after) < 16 else None
        found = await self._hub.poll(topic, number, query.get("favicon", ""))
        if found is None:
            return Response(status_code=204)
        return Response(found[1], media_type="application/json", headers={SEQUENCE: str(found[0])})

    async def relay(self, request: Request) -> Response:
        """Show what a bookmarklet brought, and publish it when the person sends it."""
        topic: str = request.path_params["topic"]
        if not TOPIC.fullmatch(topic):
            return PlainTextResponse("Not found\n", 404)
        return _page(f"Send to {topic}", _RELAY, topic=escape(topic), name=dumps(topic))

    async def index(self, request: Request) -> Response:
        """List the topics with a bookmarklet for each."""
        rows = "".join(
            f'<li>{_picture(favicon)}<a class="plain-button" href="{escape(bookmarklet(topic, self._port))}">'
            f"{escape(topic)}</a></li>"
            for topic, favicon in self._hub.topics().items()
        )
        shown = f'<ul class="topics">{rows}</ul>' if rows else "<p>No app has subscribed to a topic yet.</p>"
        return _page("Send pages to your apps", _INDEX, topics=shown)


def publisher_app(hub: Hub, port: int) -> ASGIApp:
    """Build the application of the publisher's port; only its own pages and programs may post."""
    routes = PublisherRoutes(hub, port)
    app = Starlette(
        routes=[
            Route("/", routes.index, methods=["GET"]),
            Route("/publish/{topic}", routes.publish, methods=["POST"]),
            Route("/subscribe/{topic}", routes.subscribe, methods=["GET"]),
            Route("/relay/{topic}", routes.relay, methods=["GET"]),
            shared_style_route(),
        ]
    )
    rules = AccessRules(ports=frozenset({port}), navigable=lambda path: path == "/" or path.startswith("/relay/"))
    return SecurityMiddleware(app, rules)


def bookmarklet(topic: str, port: int) -> str:
    """Return the address of a bookmark that opens the relay page and gives it the page it was chosen on; pure."""
    code = (
        f'(()=>{{const to="http://localhost:{port}",w=open(to+"/relay/{topic}");'
        'if(!w){alert("Allow pop-ups for this site, then try again.");return}'
        'addEventListener("message",function got(e){if(e.origin!==to||e.data!=="ready")return;'
        'removeEventListener("message",got);'
        "w.postMessage({url:location.href,title:document.title,text:document.body.innerText.slice(0,50000)},to)})})()"
    )
    return f"javascript:{quote(code, safe='')}"


def _picture(favicon: str) -> str:
    return f'<img src="{escape(favicon)}" alt="">' if favicon else ""


def _page(title: str, body: str, **values: str) -> Response:
    nonce = token_urlsafe(16)
    html = (_HEAD + body).format(title=escape(title), nonce=nonce, **values)
    policy = (
        f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; "
        "font-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(html, headers={"Cache-Control": "no-store", "Content-Security-Policy": policy})
