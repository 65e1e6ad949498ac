"""Borders: bodies of HTTP requests, in this process, straight into the application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request

from fuzz.border import Border
from fuzz.values import messages
from ui_mcp.chat.http import ChatBridge
from ui_mcp.chat.identity import Principal, principal
from ui_mcp.chat.service import Chat, open_chat
from ui_mcp.gateway.config.configuration import GatewayOptions
from ui_mcp.gateway.config.settings import GatewaySettings
from ui_mcp.gateway.mcp import gateway_definition
from ui_mcp.gateway.web.service import chat_app, open_chat_page
from ui_mcp.mcp_server.transports.routes import McpRoutes
from ui_mcp.person import PersonKeys
from ui_mcp.validation import read
from ui_mcp.webserver.person_auth import CREDENTIAL_HEADER, NONCE_HEADER, Access

POST: list[Any] = [
    {"content": "hello", "mime": "text/plain", "client_id": "c", "conversation": "default", "meta": {"a": 1}},
    {"messages": [{"content": "a"}, {"content": "b", "client_id": "x"}], "conversation": "other"},
]


class Bodies:
    """Sends bodies to routes; the neighbour is a good request."""

    def __init__(self, app: Any, good: tuple[str, str, bytes]) -> None:
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=True)
        self.http = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1")
        self._good = good

    async def take(self, case: tuple[str, str, str, bytes]) -> None:
        method, path, kind, body = case
        assert await self._status(method, path, body, kind) < 500

    async def neighbour_answers(self) -> None:
        method, path, body = self._good
        assert await self._status(method, path, body, "application/json") < 300

    async def _status(self, method: str, path: str, body: bytes, kind: str) -> int:
        answer = await self.http.request(method, path, content=body, headers={"content-type": kind})
        return answer.status_code


@asynccontextmanager
async def chat_opened(folder: Path) -> AsyncIterator[Bodies]:
    async def who(request: Request) -> Principal:
        return principal("human", "human")

    async with open_chat(f"sqlite:///{folder / 'chat.db'}") as chat:

        async def current() -> Chat:
            return chat

        bridge = ChatBridge(current, who, per_second=1e9)
        yield Bodies(Starlette(routes=list(bridge.routes())), ("GET", "/chat/inbox", b""))


@asynccontextmanager
async def nlui_opened(folder: Path) -> AsyncIterator[Bodies]:
    script = [{"emit": [{"say": "hello"}]}]
    llm = {"provider": "scripted", "script": script}
    settings = read(GatewaySettings, {"data_dir": str(folder / "data"), "llm": llm})
    asked = GatewayOptions(settings=settings)
    async with open_chat_page(asked) as chat:
        keys = PersonKeys(folder / "person")
        access = Access("fuzz", keys)
        app = chat_app(chat, McpRoutes(gateway_definition(chat.gateway, asked)), access)
        bodies = Bodies(app, ("GET", "/api/conversations", b""))
        bodies.http.headers |= {
            CREDENTIAL_HEADER: keys.exchange(keys.new_code(), "fuzz") or "",
            NONCE_HEADER: access.nonces.mint(),
            "origin": "http://127.0.0.1",
            "sec-fetch-site": "same-origin",
        }
        await bodies.http.post("/api/chat", json={"message": "hi", "conversation_id": "c-1"})
        yield bodies


kinds = st.sampled_from(["application/json"] * 5 + ["text/plain", "application/json; charset=x", ""])
queries = st.sampled_from(
    [
        "limit=5",
        "limit=-1",
        "limit=٣",
        "after=x",
        "after=-1",
        "before=0",
        "authors=a,b",
        "conversation=%00",
        "timeout=nan",
        "",
    ]
)
posts = st.tuples(st.just("POST"), st.just("/chat/messages"), kinds, messages(*POST))
reads = st.tuples(
    st.just("GET"),
    st.builds(
        lambda path, query: f"{path}?{query}&timeout=0",
        st.sampled_from(["/chat/messages", "/chat/inbox", "/chat/wait", "/chat/receipts"]),
        queries,
    ),
    kinds,
    st.just(b""),
)

ROUTES: dict[tuple[str, str], Any] = {
    ("POST", "/api/chat"): {"message": "hi", "conversation_id": "c-1", "client_id": "x"},
    ("POST", "/api/chat/stop"): {"conversation_id": "c-1", "session_id": "s"},
    ("POST", "/api/chat/confirm"): {
        "approval_id": "a",
        "digest": "d",
        "approved": True,
        "scope": "once",
        "arguments": {},
    },
    ("POST", "/api/conversations"): {},
    ("PUT", "/api/conversations/c-1/messages/0"): {"content": "else"},
    ("POST", "/api/conversations/c-1/regenerate"): {"from_index": 0},
    ("PUT", "/api/conversations/c-1/tools"): {"enabled_sources": ["a"], "disabled_tools": ["b"]},
    ("POST", "/agents/c-1/abort"): {"reason": "r"},
    ("POST", "/agents/c-1/resume"): {},
    ("PUT", "/api/config/stream"): {"stream": True},
    ("PUT", "/api/config/language"): {"language": "en"},
    ("PUT", "/api/config/llm"): {"provider": "scripted", "model": "m", "max_output_tokens": 5},
    ("POST", "/api/specs/upload"): {"name": "x"},
    ("POST", "/approvals/decisions"): {"decisions": [{"id": "a", "decision": "approve", "digest": "d"}]},
    ("POST", "/approvals/a/decision"): {
        "decision": "approve",
        "digest": "d",
        "scope": "always",
        "pattern": {"id": "5"},
    },
    ("POST", "/approvals/proposals/a"): {"decision": "accepted"},
}
nlui = st.one_of(
    *(st.tuples(st.just(method), st.just(path), kinds, messages(sample)) for (method, path), sample in ROUTES.items())
)

BORDERS = [
    Border("bodies of the gateway's API", nlui, nlui_opened, 200),
    Border("bodies of the chat", posts | posts | reads, chat_opened, 350),
]
