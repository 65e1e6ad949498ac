"""Every listener of the person, in this process, with the table of its routes."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chat.human_server import human_server
from gateway.gateways import gateway
from ui_mcp.app.ui_listeners import person_app_beside
from ui_mcp.app.ui_server import open_host
from ui_mcp.gateway.approvals.http import ApprovalPages, approvals_app
from ui_mcp.gateway.config.configuration import GatewayOptions
from ui_mcp.gateway.config.settings import GatewaySettings
from ui_mcp.gateway.mcp import gateway_definition
from ui_mcp.gateway.web.service import chat_app, open_chat_page
from ui_mcp.mcp_server.transports.routes import McpRoutes
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.states import Configured
from ui_mcp.validation import read
from ui_mcp.webserver.person_app import person_listening
from ui_mcp.webserver.person_auth import Access
from ui_mcp.webserver.security import AccessRules, SecurityMiddleware
from ui_mcp.webserver.server import bind, port_of

KINDS = ("ui", "approvals", "nlui", "chat")


@dataclass(frozen=True, slots=True)
class Origin:
    """A listener of the person."""

    url: str
    app: Any


@asynccontextmanager
async def person_origin(kind: str, folder: Path) -> AsyncIterator[Origin]:
    """Serve one of them."""
    async with AsyncExitStack() as stack:
        if kind == "ui":
            flags = {"lua.host": "thread", "lua.max_seconds": 60}
            host = await stack.enter_async_context(open_host(flags, ListenPorts(), Announcements()))
            await host.begin(str(folder / ".claude" / "ui"))
            running = await host.start()
            port = int(running.person_url.rpartition(":")[2])
            table = person_app_beside(host, Configured(running.workspace, running.config), 1, port, ())
            yield Origin(running.person_url, table)
            return
        listener = bind("127.0.0.1", 0)
        app = await _app(kind, folder, port_of(listener), stack)
        await stack.enter_async_context(person_listening(app, listener))
        yield Origin(f"http://127.0.0.1:{port_of(listener)}", app)


async def _app(kind: str, folder: Path, port: int, stack: AsyncExitStack) -> Any:
    rules = AccessRules(ports=frozenset({port}), sockets_without_origin=kind == "nlui")
    if kind == "approvals":
        found = await stack.enter_async_context(gateway(folder))
        pages = ApprovalPages(found.approvals, found.proposals, found.replay, found.masker)
        return approvals_app(port, pages, found.approvals)
    if kind == "nlui":
        settings = read(GatewaySettings, {"data_dir": str(folder / "data"), "llm": {"provider": "scripted"}})
        chat = await stack.enter_async_context(open_chat_page(GatewayOptions(settings=settings)))
        endpoints = McpRoutes(gateway_definition(chat.gateway, GatewayOptions()), post_path="/messages")
        stack.callback(endpoints.close)
        return SecurityMiddleware(chat_app(chat, endpoints, Access(str(port))), rules)
    _, app = await stack.enter_async_context(human_server(folder / ".claude" / "ui", port))
    return SecurityMiddleware(app, rules)
