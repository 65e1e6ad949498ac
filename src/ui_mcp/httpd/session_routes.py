"""The routes that belong to sessions: sockets and variables for pages, /wait, /state and /variables for agents."""

from collections.abc import Sequence
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.routing import BaseRoute, Route, WebSocketRoute

from ui_mcp.errors import LifecycleError, NotFoundError
from ui_mcp.httpd.components import Components
from ui_mcp.httpd.look import HOME, look_route
from ui_mcp.httpd.state import State
from ui_mcp.httpd.tokens import OneTimeTokens
from ui_mcp.httpd.variables import Variables
from ui_mcp.ui.http.routes import Wait
from ui_mcp.ui.http.session_cookies import is_start, named_session, remembered_session, welcome
from ui_mcp.ui.http.websocket import PageSocket
from ui_mcp.ui.server import Host
from ui_mcp.ui.sessions.session import Session


def ui_routes(host: Host, tokens: OneTimeTokens) -> Sequence[BaseRoute]:
    """Return the routes of the UI port."""

    def for_page(given: str, connection: HTTPConnection) -> Session | None:
        try:
            sessions = host.running().sessions
            spent = tokens.spend(connection.query_params.get("token", ""))
            return sessions.get(spent) if spent else named_session(given, connection, sessions)
        except (LifecycleError, NotFoundError):
            return None

    def for_visitor(request: Request) -> Session:
        given: str = request.path_params.get("session", "")
        sessions = host.running().sessions
        shared = not given or is_start(given, host)
        found = remembered_session(request, sessions) if shared else named_session(given, request, sessions)
        if found is None:
            raise HTTPException(404, "No such session")
        return found

    variables = Variables(for_visitor, HOME, partial(welcome, host), lambda given: is_start(given, host))
    return [
        WebSocketRoute("/ws/{session}", PageSocket(for_page)),
        *(
            route
            for prefix in ("", "/{session}")
            for route in (
                Route(f"{prefix}/variables", variables.page, methods=["GET"]),
                Route(f"{prefix}/variables.json", variables.json, methods=["GET"]),
            )
        ),
    ]


def mcp_routes(host: Host) -> Sequence[BaseRoute]:
    """Return the routes of the MCP port."""

    def find(given: str) -> Session:
        return host.running().sessions.get(given)

    def named_in_query(request: Request) -> Session:
        return find(request.query_params.get("sessionId", "1"))

    variables = Variables(named_in_query)
    return [
        Route("/wait", Wait(lambda given: find(given).events), methods=["GET"]),
        Route("/state", State(find).get, methods=["GET"]),
        Route("/variables", variables.page, methods=["GET"]),
        Route("/variables.json", variables.json, methods=["GET"]),
        Route("/vendor/{path:path}", Components().get, methods=["GET"]),
        look_route(),
    ]
