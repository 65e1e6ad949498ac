"""Timeline and approvals: read on the UI port by its cookie and on the MCP port by tokens, decided by the person."""

from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import HTTPConnection, Request
from starlette.routing import BaseRoute

from ui_mcp.agent.http import Timelines, Watched
from ui_mcp.chat.identity import READ, Principal, principal
from ui_mcp.gateway.approvals.http import ApprovalBridge, Desks
from ui_mcp.ui.http.session_cookies import holder, is_visitor
from ui_mcp.ui.server import Host
from ui_mcp.webserver.auth import bearer
from ui_mcp.webserver.person_auth import Access, is_person

OpenTimeline = Callable[[str], Awaitable[Watched]]


def ui_timeline_routes(host: Host, open_timeline: OpenTimeline) -> Sequence[BaseRoute]:
    """On the UI port the holder of a session's cookie may look."""

    async def may(connection: HTTPConnection, token: str | None) -> bool:
        return is_visitor(host, connection)

    return Timelines(open_timeline, may).routes()


def mcp_timeline_routes(host: Host, open_timeline: OpenTimeline) -> Sequence[BaseRoute]:
    """On the MCP port a bearer token that may read is needed; a socket may bring it in its first frame."""

    async def may(connection: HTTPConnection, token: str | None) -> bool:
        who = await holder(host, bearer(connection.scope) or token)
        return who is not None and READ in who.scopes

    return Timelines(open_timeline, may).routes()


def person_timeline_routes(access: Access, open_timeline: OpenTimeline) -> Sequence[BaseRoute]:
    """On the person's listener the person may look; a socket brings the credential in its first frame."""

    async def may(connection: HTTPConnection, token: str | None) -> bool:
        return is_person(connection) or access.recognises(token)

    return Timelines(open_timeline, may).routes()


def ui_approval_routes(host: Host, desks: Desks) -> Sequence[BaseRoute]:
    """On the UI port, where app code runs, the holder of a session's cookie may look and decide nothing."""

    async def who(request: Request) -> Principal | None:
        return principal("human", "human") if is_visitor(host, request) else None

    return ApprovalBridge(desks, who).reading_routes()


def person_approvals(desks: Desks) -> ApprovalBridge:
    """On the person's listener the person decides."""

    async def who(request: Request) -> Principal | None:
        return principal("human", "human") if is_person(request) else None

    return ApprovalBridge(desks, who)


def mcp_approval_routes(host: Host, desks: Desks) -> Sequence[BaseRoute]:
    """On the MCP port the scopes of a bearer token say who may look; no token decides."""

    async def who(request: Request) -> Principal | None:
        return await holder(host, bearer(request.scope))

    return ApprovalBridge(desks, who).reading_routes()
