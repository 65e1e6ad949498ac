"""Routes of timeline, approvals, inbox and accounts on the three listeners; imported on the first request."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from starlette.requests import HTTPConnection, Request
from starlette.routing import BaseRoute

from ui_mcp.agent.http import AgentRequests, IsAllowed, Timelines, Watched
from ui_mcp.agent.journal import RequestKind
from ui_mcp.agent.observer import Reader, TimelineObservers, ask_agent, reader_for
from ui_mcp.app.mounted_gateway import MountedGateway
from ui_mcp.chat.identity import POST_USER, READ, Principal, principal
from ui_mcp.chat.service import Chat
from ui_mcp.chat.tools import OpenChat
from ui_mcp.errors import LifecycleError, NotFoundError, UiMcpError
from ui_mcp.gateway.approvals.http import READ as READ_APPROVALS
from ui_mcp.gateway.approvals.http import ApprovalBridge, OpenApprovals, approvals_opener
from ui_mcp.gateway.config.agreement import NamedFile, approvals_url, named_file
from ui_mcp.gateway.sign_in_pages import SignInPages
from ui_mcp.gateway.sign_ins import SignIns
from ui_mcp.inbox.http import InboxBridge, by_person
from ui_mcp.inbox.model import ASKED, Question, answer_json
from ui_mcp.inbox.service import OpenInbox, answer_files, inbox_opener, inbox_url
from ui_mcp.log import logger
from ui_mcp.ui.http.chat_routes import has_session_cookie, principal_of_token
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.pages import system_event
from ui_mcp.webserver.auth import bearer
from ui_mcp.webserver.person_auth import Access, is_person
from ui_mcp.webserver.server import Routes

_log = logger("approvals")
OpenTimeline = Callable[[str], Awaitable[Watched]]


def ui_timeline_routes(host: UiServer, open_timeline: OpenTimeline) -> Sequence[BaseRoute]:
    """Return the timeline routes of the UI port, for holders of a session cookie."""

    async def may(connection: HTTPConnection, token: str | None) -> bool:
        return has_session_cookie(host, connection)

    return Timelines(open_timeline, may).routes()


def mcp_timeline_routes(host: UiServer, open_timeline: OpenTimeline) -> Sequence[BaseRoute]:
    """Return the routes of the MCP port, for bearer tokens: reading the timeline, and requests to agents as a human.

    A WebSocket has its token in the first frame.
    """

    def may(scope: str) -> IsAllowed:
        async def may_with_scope(connection: HTTPConnection, token: str | None) -> bool:
            who = await principal_of_token(host, bearer(connection.scope) or token)
            return who is not None and scope in who.scopes

        return may_with_scope

    return [
        *Timelines(open_timeline, may(READ)).routes(),
        *AgentRequests(asking(host), may(POST_USER)).routes(),
    ]


def person_timeline_routes(host: UiServer, access: Access, open_timeline: OpenTimeline) -> Sequence[BaseRoute]:
    """Return the routes of the person's listener (WebSocket: credential in the first frame)."""

    async def may(connection: HTTPConnection, token: str | None) -> bool:
        return is_person(connection) or access.recognises(token)

    return [
        *Timelines(open_timeline, may).routes(),
        *AgentRequests(asking(host), may).routes(),
    ]


@dataclass(frozen=True, slots=True)
class AgentPlace:
    """Where the journal of a directory's agents is: beside the chat at `url`, in `folder` unless the URL says."""

    url: str | None
    folder: Path

    def reader(self, agent: str) -> Reader:
        return reader_for(self.url, self.folder, agent)

    async def ask(self, chat: Chat, agent: str, kind: RequestKind) -> bool:
        return await ask_agent(chat, self.url, self.folder, agent, kind)


def face_timeline_routes(opened: OpenChat, access: Access, place: AgentPlace) -> Sequence[BaseRoute]:
    """Return timeline and requests of the human side, for the person and for tokens (WebSocket: in the first frame)."""

    def may(scope: str) -> IsAllowed:
        async def may_with_scope(connection: HTTPConnection, token: str | None) -> bool:
            if is_person(connection) or access.recognises(token):
                return True
            given = bearer(connection.scope) or token
            name = await opened.directory.authenticate(given) if given else None
            return name is not None and scope in (await opened.directory.of(name)).scopes

        return may_with_scope

    async def chat() -> Chat:
        return opened.chat

    return [
        *Timelines(TimelineObservers(chat, place.reader).open, may(READ)).routes(),
        *AgentRequests(partial(place.ask, opened.chat), may(POST_USER)).routes(),
    ]


def ui_approval_routes(host: UiServer, approvals: OpenApprovals) -> Sequence[BaseRoute]:
    """Return the approval routes of the UI port: read-only, because app code runs there."""

    async def who(request: Request) -> Principal | None:
        return principal("human", "human") if has_session_cookie(host, request) else None

    return ApprovalBridge(approvals, who).reading_routes()


def person_approvals(approvals: OpenApprovals) -> ApprovalBridge:
    """Return the approvals of the person's listener, where the person decides."""

    async def who(request: Request) -> Principal | None:
        return principal("human", "human") if is_person(request) else None

    return ApprovalBridge(approvals, who)


def mcp_approval_routes(host: UiServer, approvals: OpenApprovals) -> Sequence[BaseRoute]:
    """Return the approval routes of the MCP port: read-only, by the scopes of a bearer token."""

    async def who(request: Request) -> Principal | None:
        return await principal_of_token(host, bearer(request.scope))

    return ApprovalBridge(approvals, who).reading_routes()


def inboxes(host: UiServer) -> Sequence[OpenInbox]:
    """Return the stores whose questions are shown: that of this directory."""

    def own() -> str:
        configured = host.configured()
        return inbox_url(configured.config, configured.workspace)

    return [inbox_opener(own, lambda: answer_files(host.configured().workspace))]


def person_inbox(host: UiServer) -> InboxBridge:
    """Return the inbox of the person's listener, where the person answers."""
    return InboxBridge(inboxes(host), by_person, lambda question: _push_answer(host, question))


def _push_answer(host: UiServer, question: Question) -> None:
    """Push the answer as an event to the agent that asked by `ui_ask`; other askers wait by themselves."""
    if question.source == ASKED:
        # Without a session no agent waits for events; the answer is kept under its id.
        with suppress(LifecycleError, NotFoundError):
            event = system_event("question_answered", answer_json(question))
            host.running().sessions.get("1").events.push_system(event)


def ui_inbox_routes(host: UiServer) -> Sequence[BaseRoute]:
    """Return the inbox of the UI port: who waits, but not what for, because app code runs there."""

    async def may(request: Request) -> bool:
        return has_session_cookie(host, request)

    return InboxBridge(inboxes(host), may).reading_routes()


def mcp_inbox_routes(host: UiServer) -> Sequence[BaseRoute]:
    """Return the inbox of the MCP port: who waits, for tokens that may read approvals."""

    async def may(request: Request) -> bool:
        who = await principal_of_token(host, bearer(request.scope))
        return who is not None and READ_APPROVALS in who.scopes

    return InboxBridge(inboxes(host), may).reading_routes()


def ui_timeline_and_approvals(host: UiServer) -> Routes:
    approvals = approvals_opener(lambda: own_approvals(host))
    return [
        *ui_timeline_routes(host, observations(host).open),
        *ui_approval_routes(host, approvals),
        *ui_inbox_routes(host),
    ]


def mcp_timeline_and_approvals(host: UiServer) -> Routes:
    approvals = approvals_opener(lambda: own_approvals(host))
    return [
        *mcp_timeline_routes(host, observations(host).open),
        *mcp_approval_routes(host, approvals),
        *mcp_inbox_routes(host),
    ]


def person_timeline_and_approvals(host: UiServer, access: Access) -> Routes:
    approvals = approvals_opener(lambda: approvals_of(host))
    return [
        *person_timeline_routes(host, access, observations(host).open),
        *person_approvals(approvals).routes(),
        *person_inbox(host).routes(),
    ]


def person_accounts(host: UiServer) -> Routes:
    """Return the accounts at the sources of `gateway.config`, which starts with the first look at them."""

    async def opened() -> SignIns | None:
        return await host.gateway.sign_ins() if isinstance(host.gateway, MountedGateway) else None

    return list(SignInPages(opened).routes())


async def waiting(host: UiServer) -> int:
    """Return how many calls and questions wait for the person."""
    calls = await person_approvals(approvals_opener(lambda: approvals_of(host))).pending()
    return calls + len(await person_inbox(host).pending())


def own_approvals(host: UiServer) -> str | None:
    """Return the approvals store of `gateway.config`, which app pages and MCP clients may read."""
    return approvals_of(host) if _named(host) else None


def approvals_of(host: UiServer) -> str | None:
    """Return the store of `gateway.config`, or of the nlui.yaml that `ui-mcp agent` finds; for the person only."""
    try:
        return approvals_url(_named(host))
    except UiMcpError as error:
        _log.warning("Cannot find the approvals: %s", error.message)
        return None


def observations(host: UiServer) -> TimelineObservers:
    return TimelineObservers(lambda: host.chats.current(), lambda name: place_of(host).reader(name))  # noqa: PLW0108 - opening the chat waits for the first call


def place_of(host: UiServer) -> AgentPlace:
    """Return where the agents of the server's directory keep their journal.

    Raises:
        NotConfiguredError: the server has no directory.
    """
    configured = host.configured()
    return AgentPlace(configured.config.storage.url, configured.workspace.state_dir)


def asking(host: UiServer) -> Callable[[str, RequestKind], Awaitable[bool]]:
    """Return what asks an agent of the server's directory to stop or to resume."""

    async def ask(agent: str, kind: RequestKind) -> bool:
        return await place_of(host).ask(await host.chats.current(), agent, kind)

    return ask


def _named(host: UiServer) -> NamedFile | None:
    try:
        configured = host.configured()
    except UiMcpError:
        return None
    return named_file(configured.workspace, configured.config)
