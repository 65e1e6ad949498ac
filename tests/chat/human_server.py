"""The person's side of a chat over HTTP, in this process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from ui_mcp.app.chat_http_server import face_app
from ui_mcp.app.chat_server import open_served_chat
from ui_mcp.app.watch_routes import AgentPlace
from ui_mcp.chat.mcp import ChatServerOptions, chat_definition, directory_of
from ui_mcp.chat.service import Chat
from ui_mcp.chat.tools import OpenChat
from ui_mcp.mcp_server.transports.routes import McpRoutes
from ui_mcp.webserver.auth import principal_of
from ui_mcp.workspace import Workspace


@asynccontextmanager
async def human_server(folder: Path, port: int, rate: float = 20.0) -> AsyncIterator[tuple[Chat, Any]]:
    """Yield the chat of a base directory and the application of its human side."""
    served = ChatServerOptions("human", str(folder))
    async with open_served_chat(served) as (config, chat, announcements):
        opened = OpenChat(chat, directory_of(served, chat, always=True))
        endpoints = McpRoutes(chat_definition(served, config, opened, announcements), principal=principal_of)
        try:
            workspace = Workspace.at(folder)
            agents = AgentPlace(None, workspace.state_dir)
            yield chat, face_app("human", opened, rate, endpoints, port, workspace=workspace, agents=agents)
        finally:
            chat.tail.cancel_waiters()
            endpoints.close()
