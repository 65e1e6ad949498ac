"""What people and programs watch of agents: the timeline and the approvals, as routes of the three listeners.

Much stands behind them that a page does not need to appear, so the listeners read this module when somebody asks.
"""

from ui_mcp.agent.observer import Observations
from ui_mcp.gateway.approvals.http import desks_at
from ui_mcp.gateway.config.loader import approvals_place, own_approvals
from ui_mcp.httpd.watching_routes import (
    mcp_approval_routes,
    mcp_timeline_routes,
    person_approvals,
    person_timeline_routes,
    ui_approval_routes,
    ui_timeline_routes,
)
from ui_mcp.ui.server import Host
from ui_mcp.webserver.person_auth import Access
from ui_mcp.webserver.server import Routes


def ui_watching(host: Host) -> Routes:
    """Return the routes of the UI port."""
    desks = desks_at(lambda: own_approvals(host))
    return [*ui_timeline_routes(host, Observations(host).open), *ui_approval_routes(host, desks)]


def mcp_watching(host: Host) -> Routes:
    """Return the routes of the MCP port."""
    desks = desks_at(lambda: own_approvals(host))
    return [*mcp_timeline_routes(host, Observations(host).open), *mcp_approval_routes(host, desks)]


def person_watching(host: Host, access: Access) -> Routes:
    """Return the routes of the person's listener."""
    desks = desks_at(lambda: approvals_place(host))
    return [
        *person_timeline_routes(access, Observations(host).open),
        *person_approvals(desks).routes(),
    ]


async def waiting(host: Host) -> int:
    """Count the calls that wait for the person."""
    return await person_approvals(desks_at(lambda: approvals_place(host))).pending()
