"""Timeline and approvals as routes of the three listeners, imported on the first request."""

from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import HTTPConnection, Request
from starlette.routing import BaseRoute

from ui_mcp.agent.http import Timelines, Watched
from ui_mcp.agent.observer import Observations, Reader, reader_for
from ui_mcp.chat.identity import READ, Principal, principal
from ui_mcp.errors import UiMcpError
from ui_mcp.gateway.approvals.http import ApprovalBridge, Desks, desks_at
from ui_mcp.gateway.config.locations import NamedFile, approvals_url, named_file
from ui_mcp.log import logger
from ui_mcp.ui.http.chat_routes import holder, is_visitor
from ui_mcp.ui.server import Host
from ui_mcp.webserver.auth import bearer
from ui_mcp.webserver.person_auth import Access, is_person
from ui_mcp.webserver.server import Routes

_log = logger("approvals")
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


def ui_watching(host: Host) -> Routes:
    """Return the routes of the UI port."""
    desks = desks_at(lambda: own_approvals(host))
    return [*ui_timeline_routes(host, observations(host).open), *ui_approval_routes(host, desks)]


def mcp_watching(host: Host) -> Routes:
    """Return the routes of the MCP port."""
    desks = desks_at(lambda: own_approvals(host))
    return [*mcp_timeline_routes(host, observations(host).open), *mcp_approval_routes(host, desks)]


def person_watching(host: Host, access: Access) -> Routes:
    """Return the routes of the person's listener."""
    desks = desks_at(lambda: approvals_place(host))
    return [
        *person_timeline_routes(access, observations(host).open),
        *person_approvals(desks).routes(),
    ]


async def waiting(host: Host) -> int:
    """Count the calls that wait for the person."""
    return await person_approvals(desks_at(lambda: approvals_place(host))).pending()


def own_approvals(host: Host) -> str | None:
    """Return the store of `gateway.config`, the one that app pages and MCP clients of this server may read."""
    return approvals_place(host) if _named(host) else None


def approvals_place(host: Host) -> str | None:
    """Return the store of `gateway.config`, or of the nlui.yaml that `ui-mcp agent` finds here: for the person only."""
    try:
        return approvals_url(_named(host))
    except UiMcpError as error:
        _log.warning("Cannot find the approvals: %s", error.message)
        return None


def observations(host: Host) -> Observations:
    """Return the timelines of the directory in use."""

    def reader(name: str) -> Reader:
        configured = host.configured()
        return reader_for(configured.config.storage.url, configured.workspace.state_dir, name)

    return Observations(lambda: host.chats.current(), reader)  # noqa: PLW0108 - opening the chat waits for the first call


def _named(host: Host) -> NamedFile | None:
    try:
        configured = host.configured()
    except UiMcpError:
        return None
    return named_file(configured.workspace, configured.config)
