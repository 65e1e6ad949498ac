"""Timeline and approvals on the UI port, where the cookie is the human, and on the MCP port with its tokens."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from starlette.requests import HTTPConnection, Request
from starlette.routing import BaseRoute

from ui_mcp.chat.identity import READ, Principal, principal
from ui_mcp.host.host import Host
from ui_mcp.httpd.admission import bearer
from ui_mcp.httpd.approval_bridge import ApprovalBridge, Desks
from ui_mcp.httpd.chat_routes import holder, is_visitor
from ui_mcp.httpd.timeline import Timelines, Watched
from ui_mcp.httpd.visitors import welcome

OpenTimeline = Callable[[str], Awaitable[Watched]]


def ui_timeline_routes(host: Host, open_timeline: OpenTimeline) -> Sequence[BaseRoute]:
    """On the UI port whoever holds a session's cookie may look."""

    async def may(connection: HTTPConnection, token: str | None) -> bool:
        return is_visitor(host, connection)

    return Timelines(open_timeline, may).routes()


def mcp_timeline_routes(host: Host, open_timeline: OpenTimeline) -> Sequence[BaseRoute]:
    """On the MCP port a bearer token that may read is needed; a socket may bring it in its first frame."""

    async def may(connection: HTTPConnection, token: str | None) -> bool:
        who = await holder(host, bearer(connection.scope) or token)
        return who is not None and READ in who.scopes

    return Timelines(open_timeline, may).routes()


def ui_approval_routes(host: Host, desks: Desks) -> Sequence[BaseRoute]:
    """On the UI port whoever holds a session's cookie is the human, who may answer."""

    async def who(request: Request) -> Principal | None:
        return principal("human", "human") if is_visitor(host, request) else None

    return ApprovalBridge(desks, who, partial(welcome, host)).routes()


def mcp_approval_routes(host: Host, desks: Desks) -> Sequence[BaseRoute]:
    """On the MCP port the scopes of a bearer token say who may look and who may answer."""

    async def who(request: Request) -> Principal | None:
        return await holder(host, bearer(request.scope))

    return ApprovalBridge(desks, who).routes()
