"""The chat page in a real browser, served by this process."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, async_playwright

import needs
from chromium import FLAGS, HEADLESS, Scheme
from ui_mcp.app.chat_http_server import face_app
from ui_mcp.app.chat_server import open_served_chat
from ui_mcp.app.watch_routes import AgentPlace
from ui_mcp.chat.http import CHAT_PAGE
from ui_mcp.chat.identity import principal
from ui_mcp.chat.mcp import ChatServerOptions, chat_definition, directory_of
from ui_mcp.chat.message import Draft
from ui_mcp.chat.service import Chat, ReadRequest
from ui_mcp.chat.tools import OpenChat
from ui_mcp.mcp_server.transports.routes import McpRoutes
from ui_mcp.person import PersonKeys
from ui_mcp.webserver.auth import principal_of
from ui_mcp.webserver.security import AccessRules, SecurityMiddleware
from ui_mcp.webserver.server import bind, listening, port_of
from ui_mcp.workspace import Workspace

HUMAN, AGENT = principal("human", "human"), principal("agent", "agent")


@dataclass
class Room:
    """A served chat and the requests that left the page for elsewhere."""

    chat: Chat
    url: str
    browser: Browser
    stack: AsyncExitStack
    foreign: list[str] = field(default_factory=list)

    async def open(self, *, width: int = 1000, height: int = 760, scheme: Scheme = "light", known: bool = True) -> Page:
        """Open the page as the person, or as a person who is not `known`."""
        context = await self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
        )
        page = await context.new_page()
        page.on("request", lambda request: None if request.url.startswith(self.url) else self._note(request.url))
        await page.goto(link(self.url) if known else f"{self.url}/chat")
        return page

    def _note(self, url: str) -> None:
        if not url.startswith("data:"):
            self.foreign.append(url)

    async def say(self, *texts: str) -> None:
        await self.chat.post(HUMAN, "user", "default", [Draft(text) for text in texts])

    async def answer(self, *texts: str) -> None:
        await self.chat.post(AGENT, "assistant", "default", [Draft(text) for text in texts])

    async def agent_reads(self) -> None:
        await self.chat.read(AGENT, ReadRequest())


def link(url: str) -> str:
    """A link that lets the person in, once."""
    return f"{url}/chat#code={PersonKeys().new_code()}"


@asynccontextmanager
async def chat_server(folder: Path, port: int = 0) -> AsyncIterator[tuple[Chat, str]]:
    served = ChatServerOptions("human", str(folder))
    async with open_served_chat(served) as (config, chat, announcements):
        listener = bind("127.0.0.1", port)
        opened = OpenChat(chat, directory_of(served, chat, always=True))
        endpoints = McpRoutes(chat_definition(served, config, opened, announcements), principal=principal_of)
        rules = AccessRules(frozenset({port_of(listener)}))
        place, agents = Workspace.at(folder), AgentPlace(None, folder)
        face = face_app("human", opened, 100, endpoints, port_of(listener), workspace=place, agents=agents)
        app = SecurityMiddleware(face, rules)
        try:
            async with listening(app, listener):
                yield chat, f"http://127.0.0.1:{port_of(listener)}"
        finally:
            endpoints.close()


def chromium() -> str:
    if not (CHAT_PAGE / "index.html").is_file():
        needs.missing("The built chat page")
    return needs.browser()


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    """A served chat with a browser."""
    path = chromium()
    async with AsyncExitStack() as stack:
        chat, url = await stack.enter_async_context(chat_server(tmp_path))
        playwright = await stack.enter_async_context(async_playwright())
        browser = await playwright.chromium.launch(executable_path=path, args=FLAGS, headless=HEADLESS)
        stack.push_async_callback(browser.close)
        yield Room(chat, url, browser, stack)
