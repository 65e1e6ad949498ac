"""The gateway's own listener for the approvals page."""

import socket
import sys
from collections.abc import Callable

import anyio

from ui_mcp.gateway.approvals.http import ApprovalPages, approvals_app
from ui_mcp.gateway.service import GatewayService
from ui_mcp.gateway.sign_in_pages import sign_in_routes
from ui_mcp.inbox.http import InboxBridge, by_person
from ui_mcp.inbox.service import inbox_opener
from ui_mcp.person import last_port, remember_port
from ui_mcp.webserver.person_app import bind_for_person, person_link, person_listening
from ui_mcp.webserver.server import port_of


async def serve_approvals(gateway: GatewayService, opened: Callable[[str], None]) -> None:
    """Serve approvals and the inbox on a loopback port until cancelled; `opened` gets its address."""
    listener = _person_socket(gateway)
    port = port_of(listener)
    pages = ApprovalPages(gateway.approvals, gateway.proposals, gateway.replay, gateway.masker)
    asked = InboxBridge([inbox_opener(lambda: gateway.context.inbox)], by_person)
    async with person_listening(
        approvals_app(port, pages, gateway.approvals, [*sign_in_routes(lambda: gateway.sign_ins), *asked.routes()]),
        listener,
        gateway.settings.server.allowed_users,
    ):
        opened(f"http://127.0.0.1:{port}")
        await anyio.sleep_forever()


def show_link(url: str) -> None:
    """Print where the person can answer."""
    # The link contains a one-time code: it may be shown in a terminal, but not in an MCP host's log of stderr.
    out = sys.stdout if sys.stdout.isatty() else sys.stderr
    out.write(f"nlui: a call is waiting for your answer at {person_link(url, 'approvals')}\n")
    out.flush()


def _person_socket(gateway: GatewayService) -> socket.socket:
    """Bind the last used port if it is free: the browser keeps its credential per origin."""
    data = gateway.context.data
    listener = bind_for_person("127.0.0.1", data, filter(None, [last_port(data)]))
    remember_port(data, port_of(listener))
    return listener
