"""`/api/…` of the MCP port: every tool as one HTTP request, for scripts."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from secrets import token_hex
from urllib.parse import parse_qsl

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.errors import InvalidArgumentsError, LifecycleError, RefusedError, UiMcpError, UnknownToolError
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.toolkit.tool import Call, Content, Media, Relayed, Text, Tool, ToolResult
from ui_mcp.toolkit.toolset import Toolset
from ui_mcp.webserver.responses import STATUSES, body_of

API = "/api"
FORM = "application/x-www-form-urlencoded"
SCRIPT = "X-Ui-Mcp"
"""Header of a script that sends arguments as a form, without escaping JSON; no form of a page can set it."""
NOT_FOR_PAGES = "Pages may not call tools; use a program such as curl"


class ToolRoutes:
    """Calls tools for programs; whatever carries the marks of a browser's script is refused."""

    def __init__(self, toolset: Callable[[], Toolset]) -> None:
        self._toolset = toolset

    async def index(self, request: Request) -> Response:
        """List the tools with their arguments."""
        if refusal := _refusal(request):
            return refusal
        listed = await self._toolset().tools(_call())
        return JSONResponse({"tools": [_described(tool) for tool in listed if not tool.app_only]})

    async def call(self, request: Request) -> Response:
        """Run a tool: by POST with its arguments as JSON or as a form, or by GET if it only reads."""
        name: str = request.path_params["tool"]
        if refusal := _refusal(request):
            return refusal
        try:
            if request.method == "GET" and not await self._only_reads(name):
                hint = f"{name} changes something: use POST, with its arguments as a JSON object"
                return JSONResponse({"error": hint}, 405, {"Allow": "POST"})
            return await self._while_connected(name, await _arguments(request), request)
        except UiMcpError as error:
            return JSONResponse({"error": error.message}, status_of(error))

    async def _only_reads(self, name: str) -> bool:
        for tool in await self._toolset().tools(_call()):
            if name in (tool.name, *tool.aliases):
                return tool.annotations.read_only is True
        raise UnknownToolError(name)

    async def _while_connected(self, name: str, arguments: JsonObject, request: Request) -> Response:
        """Run the tool; a blocked call returns what it has when the client disconnects."""
        gone = anyio.Event()

        async def watch() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            gone.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            response = await self._answer(name, arguments, _call(gone))
            tasks.cancel_scope.cancel()
        return response

    async def _answer(self, name: str, arguments: JsonObject, call: Call) -> Response:
        # Errors end here: a task group would wrap them.
        try:
            return answer_of(await self._toolset().call(name, arguments, call))
        except UiMcpError as error:
            return JSONResponse({"error": error.message}, status_of(error))


async def _arguments(request: Request) -> JsonObject:
    if request.method == "GET":
        return dict(request.query_params)
    body = await request.body()
    if body and _is_form(request):
        return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    return await body_of(request) if body else {}


def _is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").startswith(FORM)


def api_routes(toolset: Callable[[], Toolset]) -> Sequence[BaseRoute]:
    """Return the routes; `toolset` is asked for on each request, because a server may be reconfigured."""
    routes = ToolRoutes(toolset)
    return [
        Route(f"{API}/", routes.index, methods=["GET"]),
        Route(f"{API}/{{tool}}", routes.call, methods=["GET", "POST"]),
    ]


_STATUSES: dict[type[UiMcpError], int] = {
    **STATUSES,
    UnknownToolError: 404,
    LifecycleError: 409,
    RefusedError: 403,
    InvalidArgumentsError: 400,
}


def status_of(error: UiMcpError) -> int:
    """Return the HTTP status of a tool's error; pure."""
    return next((status for kind, status in _STATUSES.items() if isinstance(error, kind)), 400)


def answer_of(result: ToolResult) -> Response:
    """Return `{"result": …}`, or `{"error": …}` with status 400; JSON in a text is returned as JSON."""
    if result.needs is not None:
        return JSONResponse({"error": "This call needs an answer from an MCP client"}, 409)
    parts = [_part(one) for one in result.content]
    value: Json = result.structured or (parts[0] if len(parts) == 1 else parts)
    if result.is_error:
        return JSONResponse({"error": value}, 400)
    return JSONResponse({"result": value})


def _part(content: Content) -> Json:
    match content:
        case Text(text):
            try:
                return loads(text)
            except ValueError:
                return text
        case Media(kind, data, mime_type):
            return {"type": kind, "mimeType": mime_type, "data": b64encode(data).decode()}
        case Relayed(block):
            return block


def _refusal(request: Request) -> Response | None:
    """Return the response to a request of a page: app code on the UI port must not reach tools."""
    # Scripts and forms of a page always send one of these headers.
    fetched = request.headers.get("sec-fetch-site", "none") != "none"
    if "origin" in request.headers or fetched:
        return JSONResponse({"error": NOT_FOR_PAGES}, 403)
    if request.method == "POST" and not _is_json(request) and not (_is_form(request) and SCRIPT in request.headers):
        return JSONResponse({"error": f"Send Content-Type: application/json, or a form with the header {SCRIPT}"}, 415)
    return None


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip() == "application/json"


def _call(gone: anyio.Event | None = None) -> Call:
    # A connection of its own: no request may use the approvals of another one.
    connection = f"api-{token_hex(8)}"
    if gone is None:
        return Call(connection=connection, client_name="http")
    return Call(connection=connection, client_name="http", closing=gone.wait)


def _described(tool: Tool) -> JsonObject:
    about = tool.description.partition("\n\n")[0]
    return {
        "name": tool.name,
        "description": about,
        "arguments": tool.input_schema.get("properties", {}),
        "readOnly": tool.annotations.read_only is True,
    }
