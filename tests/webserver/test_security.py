"""What the guard in front of both listeners lets through."""

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from ui_mcp.webserver.auth import OneTimeTokens
from ui_mcp.webserver.security import AccessRules, SecurityMiddleware


async def _echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


async def _json(request: Request) -> JSONResponse:
    return JSONResponse({"ok": True})


async def _socket(socket: WebSocket) -> None:
    await socket.accept()
    await socket.close()


def client(**rules: Any) -> TestClient:
    app = Starlette(
        routes=[Route("/wait", _json), Route("/x", _echo, methods=["GET", "POST"]), WebSocketRoute("/ws", _socket)]
    )
    guard = SecurityMiddleware(
        app, AccessRules(ports=frozenset({8000, 8001}), navigable=lambda path: path != "/wait", **rules)
    )
    return TestClient(guard, base_url="http://127.0.0.1:8000")


@pytest.mark.covers("UI-SEC-2", "MCP-SEC-1")
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200),
        ("localhost:8001", 200),
        ("[::1]:8000", 200),
        ("LOCALHOST:8000", 200),
        ("127.0.0.1:9999", 421),
        ("127.0.0.1", 421),
        ("evil.example", 421),
        ("evil.example:8000", 421),
        ("", 421),
    ],
)
def test_only_our_own_host_names_are_served(host: str, status: int) -> None:
    assert client().get("/x", headers={"host": host}).status_code == status


@pytest.mark.covers("UI-SEC-2")
def test_a_configured_host_is_served_with_and_without_port() -> None:
    served = client(allowed_hosts=frozenset({"box.lan"}))

    assert served.get("/x", headers={"host": "box.lan"}).status_code == 200
    assert served.get("/x", headers={"host": "Box.lan:8000"}).status_code == 200
    assert served.get("/x", headers={"host": "other.lan"}).status_code == 421


@pytest.mark.covers("UI-SEC-3", "MCP-SEC-1")
@pytest.mark.parametrize(
    ("origin", "status"),
    [("http://127.0.0.1:8000", 200), ("http://localhost:8001", 200), ("https://evil.example", 403), ("null", 403)],
)
def test_a_foreign_origin_is_refused(origin: str, status: int) -> None:
    assert client().post("/x", headers={"origin": origin}).status_code == status


@pytest.mark.covers("UI-SEC-2", "UI-SEC-3")
@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://box.lan:8000", 200),
        ("http://Box.lan:8001", 200),
        ("http://hut.lan:8001", 200),
        ("http://box.lan:9999", 403),
        ("http://box.lan", 403),
        ("https://box.lan:8000", 403),
        ("http://hut.lan:9000", 403),
        ("http://evil.box.lan:8000", 403),
    ],
)
def test_our_own_page_is_at_home_under_a_configured_host_and_no_neighbour_is(origin: str, status: int) -> None:
    served = client(allowed_hosts=frozenset({"Box.lan", "hut.lan:8001"}))

    assert served.post("/x", headers={"host": "box.lan:8000", "origin": origin}).status_code == status


@pytest.mark.covers("UI-SEC-3")
def test_other_sites_may_link_to_pages_but_never_drain_events() -> None:
    cross = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}

    assert client().get("/x", headers=cross).status_code == 200
    assert client().get("/wait", headers=cross).status_code == 403
    assert client().post("/x", headers=cross).status_code == 403
    assert client().get("/x", headers={**cross, "sec-fetch-mode": "no-cors"}).status_code == 403
    assert (
        client().get("/x", headers={**cross, "sec-fetch-site": "same-site", "sec-fetch-mode": "cors"}).status_code
        == 403
    )


@pytest.mark.covers("UI-SEC-3", "UI-SEC-4")
def test_a_socket_needs_our_origin_or_a_one_time_token() -> None:
    tokens = OneTimeTokens()
    served = client(redeem=tokens.valid)

    with served.websocket_connect("/ws", headers={"origin": "http://127.0.0.1:8000", "host": "127.0.0.1:8000"}):
        pass
    with served.websocket_connect(
        f"/ws?token={tokens.mint('secret')}", headers={"origin": "null", "host": "127.0.0.1:8000"}
    ):
        pass
    for origin in ({}, {"origin": "null"}, {"origin": "https://evil.example"}):
        with (
            pytest.raises(WebSocketDisconnect),
            served.websocket_connect("/ws?token=guess", headers={"host": "127.0.0.1:8000", **origin}),
        ):
            pass


@pytest.mark.covers("UI-SEC-4")
def test_a_one_time_token_works_once_and_for_a_minute() -> None:
    now = 0.0
    tokens = OneTimeTokens(clock=lambda: now)
    first, second = tokens.mint("a"), tokens.mint("b")

    assert (tokens.spend(first), tokens.spend(first)) == ("a", None)
    now = 61.0
    assert (tokens.valid(second), tokens.spend(second)) == (False, None)


@pytest.mark.covers("UI-SEC-5", "MCP-SEC-2")
def test_a_required_token_is_asked_of_everyone() -> None:
    served = client(token="s3cret")

    assert served.get("/x").headers["www-authenticate"] == "Bearer"
    assert served.get("/x", headers={"authorization": "Bearer wrong"}).status_code == 401
    assert served.get("/x", headers={"authorization": "Bearer s3cret"}).status_code == 200


@pytest.mark.covers("UI-SEC-7", "MCP-LIM-2")
def test_large_bodies_are_refused_and_answers_carry_careful_headers() -> None:
    assert client().post("/x", content=b"x" * (4 * 1024 * 1024 + 1)).status_code == 413
    answer = client().get("/wait")

    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
