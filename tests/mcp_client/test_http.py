"""Servers behind a URL: sessions, streams that break, redirects, routing headers and signing in."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode

import anyio
import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcp.shared import inbound
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from ui_mcp.errors import MountError, UpstreamError
from ui_mcp.gateway.approvals.model import from_json, to_json
from ui_mcp.jsonrpc.messages import VERSION_KEY
from ui_mcp.jsonrpc.routing_headers import encoded
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_client.client import Options, connect
from ui_mcp.mcp_client.http_headers import header_map, parameter_headers, request_headers
from ui_mcp.mcp_client.transport import HttpUrl, SseUrl
from ui_mcp.mcp_server.results import call_result
from ui_mcp.mcp_server.tools import listed_tool
from ui_mcp.oauth import account, store
from ui_mcp.toolkit.tool import Call
from ui_mcp.webserver.server import bind, listening, port_of

GREETING: JsonObject = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "s", "version": "1"},
}
TOOL: JsonObject = {
    "name": "do",
    "inputSchema": {"type": "object"},
    "x-new": {"a": [1]},
    "annotations": {"title": "Do it", "readOnlyHint": True, "x-hint": 5},
}
Handler = Callable[[Request], Awaitable[Response]]


@asynccontextmanager
async def served(*routes: Route) -> AsyncIterator[str]:
    listener = bind("127.0.0.1", 0)
    port = port_of(listener)
    async with listening(Starlette(routes=list(routes)), listener):
        yield f"http://127.0.0.1:{port}"


def answer(message: JsonObject, result: JsonObject, **headers: str) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result}, headers=headers)


class HandshakeServer:
    """Keeps one session; `called` answers what is neither the handshake nor a list."""

    def __init__(self, called: Callable[[JsonObject], Response] | None = None) -> None:
        self.seen: list[Request] = []
        self.sessions = 0
        self.known = ""
        self._called = called or (lambda message: answer(message, {"content": []}))

    async def handle(self, request: Request) -> Response:
        self.seen.append(request)
        if request.method != "POST":
            return Response(status_code=405)
        message = await request.json()
        if message["method"] == "initialize":
            self.sessions += 1
            self.known = f"session-{self.sessions}"
            return answer(message, GREETING, **{"mcp-session-id": self.known})
        if message["method"] == "server/discover":
            return JSONResponse({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "who?"}}, 400)
        if request.headers.get("mcp-session-id") != self.known:
            return Response(status_code=404)
        if "id" not in message:
            return Response(status_code=202)
        if message["method"] == "tools/list":
            return answer(message, {"tools": [TOOL]})
        return self._called(message)

    def route(self) -> Route:
        return Route("/mcp", self.handle, methods=["GET", "POST", "DELETE"])


@pytest.mark.covers("MCP-CLIENT-2")
async def test_a_session_that_the_server_forgot_ends_the_connection() -> None:
    server = HandshakeServer()
    async with served(server.route()) as base, connect(HttpUrl(f"{base}/mcp")) as client:
        await client.call("do", {}, Call())
        server.known = "restarted"
        with pytest.raises(UpstreamError, match="went away"):
            await client.call("do", {}, Call())
        assert client.lost.is_set()

    methods = [request.method for request in server.seen]
    assert methods.count("DELETE") == 0


@pytest.mark.covers("MCP-CLIENT-2")
async def test_a_session_has_its_id_and_version_in_every_request_and_is_ended() -> None:
    server = HandshakeServer()
    async with served(server.route()) as base, connect(HttpUrl(f"{base}/mcp")) as client:
        await client.call("do", {}, Call())

    later = server.seen[2:]
    assert {request.headers["mcp-session-id"] for request in later} == {"session-1"}
    assert {request.headers["mcp-protocol-version"] for request in later if request.method != "DELETE"} == {
        "2025-06-18"
    }
    assert later[-1].method == "DELETE"


@pytest.mark.covers("MCP-CLIENT-3")
async def test_fields_that_mcp_does_not_know_pass_unchanged() -> None:
    block = {"type": "hologram", "data": [{"depth": 3}], "text": 5}
    result: JsonObject = {
        "content": [block, {"type": "text", "text": "t", "x": {"y": None}}],
        "isError": False,
        "x-cost": {"usd": 0.1},
        "_meta": {"k": {"v": 1}},
    }
    server = HandshakeServer(lambda message: answer(message, result))
    async with served(server.route()) as base, connect(HttpUrl(f"{base}/mcp")) as client:
        (tool,) = await client.tools(Call())
        called = await client.call("do", {"n": 12345678901234567890, "deep": {"null": None}}, Call())

    listed = listed_tool(tool)
    assert {key: listed[key] for key in TOOL} == TOOL
    assert await call_result(called) == result
    assert from_json(to_json(called)) == called
    assert client.notes == []


@pytest.mark.covers("MCP-CLIENT-2")
async def test_a_stream_that_ends_without_a_response_is_an_error_at_once() -> None:
    def called(message: JsonObject) -> Response:
        return Response(b": nothing\n\n", media_type="text/event-stream")

    server = HandshakeServer(called)
    async with served(server.route()) as base, connect(HttpUrl(f"{base}/mcp")) as client:
        with pytest.raises(UpstreamError, match="ended the stream without a response"):
            await client.call("do", {}, Call())


@pytest.mark.covers("MCP-CLIENT-4")
async def test_a_redirect_to_another_origin_is_not_followed_and_named() -> None:
    reached: list[Request] = []

    async def elsewhere(request: Request) -> Response:
        reached.append(request)
        return Response()

    async with served(Route("/mcp", elsewhere, methods=["POST", "GET"])) as other:

        async def redirect(request: Request) -> Response:
            return RedirectResponse(f"{other}/mcp", 307)

        async with served(Route("/mcp", redirect, methods=["POST", "GET"])) as base:
            with pytest.raises(MountError, match=r"redirects to .*/mcp, which is not followed"):
                async with connect(HttpUrl(f"{base}/mcp", {"Authorization": "Bearer secret"})):
                    pass

    assert reached == []


async def test_a_redirect_within_the_origin_is_followed() -> None:
    server = HandshakeServer()

    async def redirect(request: Request) -> Response:
        return RedirectResponse("/mcp", 307)

    async with (
        served(server.route(), Route("/old", redirect, methods=["GET", "POST", "DELETE"])) as base,
        connect(HttpUrl(f"{base}/old")) as client,
    ):
        tools = await client.tools(Call())

    assert [tool.name for tool in tools] == ["do"]


async def test_an_sse_server_that_names_an_endpoint_elsewhere_is_refused() -> None:
    async def stream(request: Request) -> Response:
        return StreamingResponse(
            iter([b"event: endpoint\ndata: http://elsewhere.test/x\n\n"]), 200, None, "text/event-stream"
        )

    async with served(Route("/sse", stream)) as base:
        with pytest.raises(MountError, match="another origin"):
            async with connect(SseUrl(f"{base}/sse")):
                pass


schemas = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer", "boolean", "number", "object"])},
        optional={"x-mcp-header": st.sampled_from(["Region", "region", "a b", "", "Ä", "X-Y"]) | st.integers()},
    ),
    lambda inner: st.fixed_dictionaries(
        {"type": st.just("object")},
        optional={
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            "items": inner,
            "anyOf": st.lists(inner, max_size=2),
            "$defs": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
        },
    ),
    max_leaves=8,
)
values = st.text() | st.integers() | st.booleans() | st.none() | st.floats() | st.lists(st.integers(), max_size=1)


def marked(*names: str) -> JsonObject:
    properties = {f"p{at}": {"type": "string", "x-mcp-header": name} for at, name in enumerate(names)}
    return {"type": "object", "properties": properties}


@pytest.mark.covers("MCP-CLIENT-5")
@example(marked("Region", "region"), {})
@example(marked("Region", "Zone"), {"p0": "eu", "p1": "hö "})
@given(schemas, st.dictionaries(st.sampled_from("abc"), values | st.dictionaries(st.sampled_from("abc"), values)))
def test_arguments_become_the_same_headers_as_with_the_sdk(schema: Any, arguments: Any) -> None:
    if inbound.find_invalid_x_mcp_header(schema) is not None:
        with pytest.raises(ValueError, match="x-mcp-header"):
            header_map(schema)
        return
    expected = inbound.mcp_param_headers(inbound.x_mcp_header_map(schema), arguments)

    assert parameter_headers(header_map(schema), arguments) == {
        key.lower()[:10] + key[10:]: v for key, v in expected.items()
    }


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_header_value_is_read_back_by_the_sdk(value: str) -> None:
    assert inbound.decode_header_value(encoded(value)) == value


@pytest.mark.covers("MCP-CLIENT-5")
def test_a_request_of_the_modern_era_repeats_its_method_name_and_marked_arguments_as_headers() -> None:
    params: JsonObject = {"name": "do", "arguments": {"p0": "eu"}, "_meta": {VERSION_KEY: "2026-07-28"}}
    message: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    assert request_headers(message, "", {"do": header_map(marked("Region"))}) == {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "do",
        "mcp-param-Region": "eu",
    }
    assert request_headers({"method": "ping"}, "2025-06-18", {}) == {"mcp-protocol-version": "2025-06-18"}


class AuthorizationServer:
    """Registers clients, lets everybody in, and gives one token; the MCP server behind it wants that token."""

    def __init__(self) -> None:
        self.server = HandshakeServer()
        self.granted: list[str] = []

    def routes(self) -> list[Route]:
        return [
            Route("/mcp", self.guarded, methods=["GET", "POST", "DELETE"]),
            Route("/.well-known/oauth-protected-resource/mcp", self.resource),
            Route("/.well-known/oauth-authorization-server", self.metadata),
            Route("/register", self.register, methods=["POST"]),
            Route("/authorize", self.authorize),
            Route("/token", self.token, methods=["POST"]),
        ]

    async def guarded(self, request: Request) -> Response:
        if request.headers.get("authorization") != "Bearer good":
            where = f"{request.base_url}.well-known/oauth-protected-resource/mcp"
            return Response(status_code=401, headers={"WWW-Authenticate": f'Bearer resource_metadata="{where}"'})
        return await self.server.handle(request)

    async def resource(self, request: Request) -> Response:
        base = str(request.base_url)
        return JSONResponse({"resource": f"{base}mcp", "authorization_servers": [base]})

    async def metadata(self, request: Request) -> Response:
        base = str(request.base_url).rstrip("/")
        ends = {f"{name}_endpoint": f"{base}/{path}" for name, path in
                (("authorization", "authorize"), ("token", "token"), ("registration", "register"))}  # fmt: skip
        return JSONResponse({
            "issuer": f"{base}/", **ends, "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"],
        })  # fmt: skip

    async def register(self, request: Request) -> Response:
        return JSONResponse({**await request.json(), "client_id": "c"}, 201)

    async def authorize(self, request: Request) -> Response:
        back = {"code": "one-time", "state": request.query_params["state"]}
        return RedirectResponse(f"{request.query_params['redirect_uri']}?{urlencode(back)}")

    async def token(self, request: Request) -> Response:
        self.granted.append(parse_qs((await request.body()).decode())["grant_type"][0])
        return JSONResponse({"access_token": "good", "token_type": "Bearer", "expires_in": 3600})


@pytest.mark.covers("MCP-CLIENT-6")
async def test_a_person_signs_in_once_to_a_server_that_asks_for_oauth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def browser(url: str) -> None:
        opened.append(url)
        Thread(target=httpx2.get, args=(url,), kwargs={"follow_redirects": True, "timeout": 60}, daemon=True).start()

    monkeypatch.setattr(account, "open_default_browser", browser)
    monkeypatch.setattr(store, "state_folder", lambda: tmp_path)
    guard = AuthorizationServer()
    async with served(*guard.routes()) as base:
        for _ in range(2):
            async with connect(HttpUrl(f"{base}/mcp"), Options(start_seconds=60)) as client:
                tools = await client.tools(Call())

    assert [tool.name for tool in tools] == ["do"]
    assert (len(opened), guard.granted) == (1, ["authorization_code"])
    (kept,) = (tmp_path / "sign-ins").glob("*.json")
    assert kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.covers("MCP-CLIENT-6")
async def test_configured_credentials_that_are_refused_are_named() -> None:
    async with served(*AuthorizationServer().routes()) as base:
        with pytest.raises(MountError, match="refuses the credentials that are configured"):
            async with connect(HttpUrl(f"{base}/mcp", {"authorization": "Bearer bad"})):
                pass


async def test_a_notification_that_hangs_holds_up_no_call() -> None:
    hanging = anyio.Event()

    class Hanging(HandshakeServer):
        async def handle(self, request: Request) -> Response:
            if request.method == "POST" and (await request.json())["method"] == "notifications/cancelled":
                await hanging.wait()
            return await super().handle(request)

    server = Hanging()
    async with served(server.route()) as base, connect(HttpUrl(f"{base}/mcp")) as client:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await client.call("do", {}, Call())
        after = await client.call("do", {}, Call())
        hanging.set()

    assert after.content == ()
