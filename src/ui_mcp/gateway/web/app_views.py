"""Apps of mounted servers on the chat page: opened, bound to their server, and notified of what it announces."""

import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from secrets import token_urlsafe

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.config import LOOPBACK
from ui_mcp.errors import DeniedError, InvalidArgumentsError, MountError, NotFoundError, UiMcpError, UpstreamError
from ui_mcp.gateway.approvals.service import with_retry
from ui_mcp.gateway.apps.addresses import MIME, is_for, owner_of, ui_of
from ui_mcp.gateway.apps.records import AppContexts, AppResults
from ui_mcp.gateway.mount_connection import Connection
from ui_mcp.gateway.service import GatewayService
from ui_mcp.gateway.source import Entry
from ui_mcp.gateway.web.app_sandbox import Sandbox, ShownPage, declared_origins, permissions
from ui_mcp.jsonrpc.messages import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND
from ui_mcp.jsontypes import Json, JsonObject, digest
from ui_mcp.mcp_server.resources import content_json, listed_resource, listed_template
from ui_mcp.mcp_server.results import call_result
from ui_mcp.mcp_server.tools import listed_tool
from ui_mcp.toolkit.announcements import Announcement, ResourceUpdated
from ui_mcp.toolkit.resources import ResourceContent
from ui_mcp.toolkit.tool import Call
from ui_mcp.webserver.person_auth import is_person
from ui_mcp.webserver.responses import answering, body_of, event_stream, event_text, text_of

APP = "app"
"""The principal of calls that an app makes."""
_MOST_VIEWS = 32
_PENDING = "approvals://pending"
Send = MemoryObjectSendStream[JsonObject]


@dataclass(slots=True)
class View:
    """An app that is open on a page."""

    name: str
    server: str
    uri: str
    conversation: str
    subscribed: set[str] = field(default_factory=set)
    listeners: list[Send] = field(default_factory=list)

    def send(self, method: str, params: JsonObject) -> None:
        for listener in self.listeners:
            listener.send_nowait({"jsonrpc": "2.0", "method": method, "params": params})


class AppViews:
    """The open apps of all pages, and the HTTP API by which a page opens and serves them."""

    def __init__(self, gateway: GatewayService, results: AppResults, contexts: AppContexts, sandbox: Sandbox) -> None:
        self._gateway = gateway
        self._results = results
        self._contexts = contexts
        self._sandbox = sandbox
        self.port = 0
        """The port of the sandbox."""
        self._views: dict[str, View] = {}
        gateway.sources.on_upstream_change(self._on_change)
        gateway.announcements.listen(self._on_announcement)

    def routes(self) -> Sequence[BaseRoute]:
        one = "/api/apps/views/{view}"
        return [
            Route("/api/apps", answering(self._list), methods=["GET"]),
            Route("/api/apps/calls/{conversation}/{call}", answering(self._record), methods=["GET"]),
            Route("/api/apps/views", answering(self._open), methods=["POST"]),
            Route(one, answering(self._request), methods=["POST"]),
            Route(one, answering(self._close), methods=["DELETE"]),
            Route(f"{one}/events", answering(self._events), methods=["GET"]),
        ]

    def has_app(self, tool: str) -> bool:
        """Return whether the result of a tool is shown by an app."""
        catalog = self._gateway.catalog
        return catalog.has(tool) and isinstance(ui_of(catalog.entry(tool).tool).get("resourceUri"), str)

    def frames(self, host: str) -> list[str]:
        """Return the origins of apps, as a content security policy names them."""
        if not self.port:
            return []
        return [f"http://*.localhost:{self.port}"] if host in LOOPBACK else [f"http://{host}:{self.port}"]

    async def _list(self, request: Request) -> Response:
        """List the tools that have an app."""
        _require_person(request)
        await self._gateway.sources.ready()
        entries = [entry for entry in self._gateway.catalog.entries() if self.has_app(entry.name)]
        return JSONResponse({entry.name: entry.tool.title or entry.local_name for entry in entries})

    async def _record(self, request: Request) -> Response:
        _require_person(request)
        found = await self._results.load(request.path_params["conversation"], request.path_params["call"])
        if found is None:
            raise NotFoundError("This result was not kept")
        return JSONResponse(found)

    async def _open(self, request: Request) -> Response:
        """Read an app's page from its server and show it in the sandbox."""
        body = await body_of(request)
        entry = self._gateway.catalog.entry(text_of(body, "tool"))
        owner = owner_of(str(ui_of(entry.tool).get("resourceUri", "")))
        if owner is None or entry.kind != "backend":
            raise InvalidArgumentsError(f"{entry.name} has no app")
        content = await self._page_of(*owner)
        host = request.headers.get("origin", "")
        local = (request.url.hostname or "") in LOOPBACK
        name, label = token_urlsafe(24), f"a{digest([entry.source, entry.server])[:16]}"
        text = content.body if isinstance(content.body, str) else content.body.decode("utf-8", errors="replace")
        ui = (content.meta or {}).get("ui")
        shown = ShownPage(text, ui if isinstance(ui, dict) else {}, label, host, is_isolated=local)
        await self._keep(View(name, owner[0], owner[1], text_of(body, "conversation")), shown)
        place = f"{label}.localhost" if local else request.url.hostname
        return JSONResponse(
            {
                "view": name,
                "url": f"http://{place}:{self.port}/view/{name}",
                "server": entry.source,
                "tool": {**listed_tool(entry.tool), "name": entry.local_name},
                "border": shown.ui.get("prefersBorder", True) is not False,
                "allow": "; ".join(permissions(shown.ui).values()),
                "sandbox": {
                    "csp": {kind: found for kind, found in declared_origins(shown.ui).items() if found},
                    "permissions": {permission: {} for permission in permissions(shown.ui)},
                },
            }
        )

    async def _page_of(self, server: str, uri: str) -> ResourceContent:
        contents = await self._connection(server).read(uri, Call(APP))
        page = next((one for one in contents if one.mime_type.replace(" ", "").lower() == MIME), None)
        if page is None:
            raise UpstreamError(f"{server} has no page at {uri}")
        return page

    async def _keep(self, view: View, shown: ShownPage) -> None:
        self._views[view.name], self._sandbox.pages[view.name] = view, shown
        for old in list(self._views)[:-_MOST_VIEWS]:
            await self._forget(old)
        await self._subscribe(view, view.uri)

    async def _forget(self, name: str) -> None:
        self._sandbox.pages.pop(name, None)
        view = self._views.pop(name, None)
        mount = self._gateway.sources.mounts.get(view.server) if view else None
        if view is not None and mount is not None:
            for uri in view.subscribed:
                await mount.unsubscribe(uri)

    async def _subscribe(self, view: View, uri: str) -> None:
        if uri not in view.subscribed:
            view.subscribed.add(uri)
            await self._gateway.sources.mounts[view.server].subscribe(uri)

    async def _close(self, request: Request) -> Response:
        await self._forget(request.path_params["view"])
        return JSONResponse({"ok": True})

    async def _request(self, request: Request) -> Response:
        """Answer a request of an app as its server would, within policy; failures are JSON-RPC errors."""
        view = self._view(request)
        body = await body_of(request)
        method, params = text_of(body, "method"), body.get("params")
        given: JsonObject = params if isinstance(params, dict) else {}
        try:
            return JSONResponse({"result": await self._answer(view, method, given)})
        except InvalidArgumentsError as error:
            return JSONResponse({"error": {"code": INVALID_PARAMS, "message": error.message}})
        except UiMcpError as error:
            code = error.details.get("rpc_code", INTERNAL_ERROR)
            return JSONResponse({"error": {"code": code, "message": error.message}})

    async def _answer(self, view: View, method: str, params: JsonObject) -> JsonObject:
        connection = self._connection(view.server)
        call = Call(APP, connection=view.name, client_name=f"the app of {view.server}")
        match method:
            case "tools/call":
                return await self._call(view, params, call)
            case "tools/list":
                return {"tools": [{**listed_tool(e.tool), "name": e.local_name} for e in self._tools(view.server)]}
            case "resources/read":
                found = await connection.read(text_of(params, "uri"), call)
                return {"contents": [content_json(one, one.uri) for one in found]}
            case "resources/list":
                return {"resources": [listed_resource(one) for one in await connection.resources(call)]}
            case "resources/templates/list":
                return {"resourceTemplates": [listed_template(one) for one in await connection.templates(call)]}
            case "prompts/list":
                return {"prompts": list(await connection.prompts(call))}
            case "resources/subscribe":
                await self._subscribe(view, text_of(params, "uri"))
                return {}
            case "ui/update-model-context":
                self._contexts.report(view.conversation, view.server, params)
                return {}
            case _:
                raise UpstreamError(f"Method not found: {method}", rpc_code=METHOD_NOT_FOUND)

    async def _call(self, view: View, params: JsonObject, call: Call) -> JsonObject:
        arguments = params.get("arguments") or {}
        name = text_of(params, "name")
        entry = next((one for one in self._tools(view.server) if one.local_name == name), None)
        if entry is None:
            raise InvalidArgumentsError(f"{view.server} has no tool {name!r} for its apps")
        if not isinstance(arguments, dict):
            raise InvalidArgumentsError("arguments must be an object")
        return await call_result(await self._gateway.enforcer.call(entry.name, arguments, call))

    def _tools(self, server: str) -> list[Entry]:
        return [one for one in self._gateway.sources.mounts[server].entries() if is_for(one.tool, "app")]

    def _connection(self, server: str) -> Connection:
        mount = self._gateway.sources.mounts.get(server)
        if mount is None or mount.connection is None:
            raise MountError(f"{server} is not running; open the app again when it is")
        return mount.connection

    def _view(self, request: Request) -> View:
        view = self._views.get(request.path_params["view"])
        if view is None:
            raise NotFoundError("This app was closed; open it again")
        return view

    async def _events(self, request: Request) -> Response:
        """Stream the notifications for an app; `nlui/waiting` says how many of its calls wait for the person."""
        _require_person(request)
        view = self._view(request)
        send, receive = anyio.create_memory_object_stream[JsonObject](math.inf)
        view.listeners.append(send)
        return event_stream(_texts(view, send, receive))

    def _on_change(self, server: str, uri: str | None) -> None:
        for view in self._views.values():
            if view.server == server and uri is None:
                view.send("notifications/resources/list_changed", {})
            elif view.server == server and uri in view.subscribed:
                view.send("notifications/resources/updated", {"uri": uri})

    def _on_announcement(self, announcement: Announcement) -> None:
        if isinstance(announcement, ResourceUpdated) and announcement.uri == _PENDING and self._views:
            self._gateway.start_soon(self._tell_waiting)

    async def _tell_waiting(self) -> None:
        rows = await with_retry(self._gateway.approvals.pending)
        for view in list(self._views.values()):
            tools: list[Json] = [row.tool for row in rows if row.connection == view.name]
            view.send("nlui/waiting", {"tools": tools})


async def _texts(view: View, send: Send, receive: MemoryObjectReceiveStream[JsonObject]) -> AsyncIterator[str]:
    try:
        async for message in receive:
            yield event_text("message", message)
    finally:
        view.listeners.remove(send)
        send.close()
        receive.close()


def _require_person(request: Request) -> None:
    if not is_person(request):
        raise DeniedError("Only the person's page shows apps")
