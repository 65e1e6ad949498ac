"""Every listener and every route: foreign names, pages and clients are refused; pages carry security headers."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from gateway.gateways import gateway
from integration.nlui import nlui_demo
from servers import running_server
from ui_mcp.gateway.listeners import serve_approvals

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
UI = (
    "/",
    "/chat",
    "/approvals",
    "/inbox",
    "/variables",
    "/state",
    "/wait",
    "/chat/inbox",
    "/timeline",
    "/person-url",
    "/connect",
    "/icons/house.svg",
    "/api/resource/lua.md",
    "/x/y",
)
MCP = (
    "/mcp",
    "/sse",
    "/message",
    "/state",
    "/wait",
    "/variables",
    "/variables.json",
    "/chat/inbox",
    "/chat/messages",
    "/api/ui_status",
    "/api/resource/lua.md",
    "/app/x/readme",
)
NLUI = (
    "/",
    "/api/chat",
    "/api/targets",
    "/api/specs/upload",
    "/api/config/llm",
    "/approvals",
    "/timeline",
    "/person/enter",
)
PAGE = (
    "/approvals",
    "/approvals/decisions",
    "/approvals/x/decision",
    "/approvals/proposals/x",
    "/inbox",
    "/inbox/x/answer",
)
CONSOLE = (
    "/apps",
    "/apps/x",
    "/deleted/x",
    "/imports/archive",
    "/imports/git",
    "/console",
    "/progress",
    "/point",
    "/hand-over",
)
SETTINGS = ("/settings", "/settings/values", "/settings/agreement", "/settings/theme")
ENTRY = ("/person/enter", "/person/leave", "/person/state")
PERSON = ("/", "/connect", "/chat", "/chat/messages", "/timeline", *ENTRY, *PAGE, *CONSOLE, *SETTINGS)
ONE = ("/ws/timeline",)
SOCKETS = {"ui": ("/ws/1", "/ws/timeline"), "mcp": ONE, "nlui": ONE, "page": (), "person": (*ONE, "/ws/hand-over")}
PATHS = {"ui": UI, "mcp": MCP, "nlui": NLUI, "page": PAGE, "person": PERSON}


@asynccontextmanager
async def opened(kind: str, folder: Path) -> AsyncIterator[str]:
    """Yield the address of one of our listeners."""
    async with AsyncExitStack() as stack:
        if kind == "nlui":
            yield stack.enter_context(nlui_demo(folder)).rstrip("/")
        elif kind == "page":
            found = await stack.enter_async_context(gateway(folder))
            tasks = await stack.enter_async_context(anyio.create_task_group())
            send, receive = anyio.create_memory_object_stream[str](1)
            tasks.start_soon(serve_approvals, found, send.send_nowait)
            yield await receive.receive()
            tasks.cancel_scope.cancel()
        else:
            running = await stack.enter_async_context(running_server(folder))
            mcp = f"http://127.0.0.1:{running.mcp_port}"
            yield {"ui": running.url, "mcp": mcp, "person": running.person_url}[kind]


HOSTILE: dict[str, tuple[dict[str, str], set[int]]] = {
    "a rebound name": ({"host": "evil.example"}, {421}),
    "a rebound name with our port": ({"host": "evil.example:{port}"}, {421}),
    "another port": ({"host": "127.0.0.1:1"}, {421}),
    "a foreign page": ({"origin": "https://evil.example"}, {403}),
    "a sandboxed frame": ({"origin": "null"}, {403}),
    "a page of another local port": ({"origin": "http://127.0.0.1:1"}, {403}),
    "a foreign page without Origin": ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, {403}),
    "a neighbour's page": ({"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"}, {403}),
}


@pytest.mark.covers("UI-SEC-2", "UI-SEC-3", "MCP-SEC-1", "R-BR-2")
@pytest.mark.parametrize("kind", PATHS)
async def test_foreign_names_and_pages_reach_no_route(kind: str, tmp_path: Path) -> None:
    let_in: list[str] = []
    async with opened(kind, tmp_path) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        port = url.rsplit(":", 1)[1]
        for path in PATHS[kind]:
            for method in ("GET", "POST", "PUT", "DELETE"):
                for who, (headers, expected) in HOSTILE.items():
                    sent = {name: value.replace("{port}", port) for name, value in headers.items()}
                    answer = await client.request(method, path, headers=sent, content=b"{}")
                    if answer.status_code not in expected:
                        let_in.append(f"{who}: {method} {path} -> {answer.status_code}")

    assert let_in == []


@pytest.mark.covers("UI-SEC-3", "R-BR-2")
@pytest.mark.parametrize("kind", ["ui", "mcp", "nlui", "person"])
async def test_foreign_pages_open_no_socket(kind: str, tmp_path: Path) -> None:
    async with opened(kind, tmp_path) as url:
        for path in SOCKETS[kind]:
            for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
                with pytest.raises(InvalidStatus) as caught:
                    async with connect(f"ws{url[4:]}{path}", origin=Origin(origin), open_timeout=60):
                        pass
                assert caught.value.response.status_code in {401, 403, 404}


@pytest.mark.covers("UI-SEC-7")
@pytest.mark.parametrize(("kind", "path"), [("ui", "/"), ("person", "/chat"), ("nlui", "/"), ("page", "/approvals")])
async def test_pages_tell_browsers_to_be_careful(kind: str, path: str, tmp_path: Path) -> None:
    async with (
        opened(kind, tmp_path) as url,
        httpx2.AsyncClient(base_url=url, follow_redirects=True, timeout=60) as client,
    ):
        answer = await client.get(path, headers={"Accept": "text/html"})
        cookies = [value.lower() for one in (*answer.history, answer) for value in one.headers.get_list("set-cookie")]

    assert answer.status_code == 200
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    policy = answer.headers.get("content-security-policy", "")
    assert "frame-ancestors" in policy or answer.headers.get("x-frame-options"), "anyone may frame this page"
    for cookie in cookies:
        assert "httponly" in cookie
        assert "samesite=lax" in cookie or "samesite=strict" in cookie
        assert "path=/" in cookie
        assert "domain=" not in cookie


def test_every_route_of_the_source_is_one_of_those_above_or_below_one() -> None:
    """A new route must be looked at here."""
    known = {path.split("/")[1] for paths in PATHS.values() for path in paths}
    known |= {"ws", "vendor", "nlui", "look", "agents", "openapi.json", "orders", "{path:path}"}
    known |= {"publish", "subscribe", "relay"}  # the publisher's, refused in tests/ui/test_publisher.py
    known |= {"view"}  # the sandbox of mounted servers' apps: tests/gateway/web/test_app_sandbox.py
    source = Path(__file__).parents[2] / "src" / "ui_mcp"
    found = {
        path.split("/")[1]
        for file in source.rglob("*.py")
        for path in re.findall(r'(?:Route|WebSocketRoute)\(\s*f?"(/[^"]*)"', file.read_text())
    }

    assert found - known == set()
