"""Serves one side of the chat on a port: MCP, the HTTP bridge and, for people, the page."""

import sys

import anyio

from ui_mcp.app.chat_server import as_person, open_served_chat
from ui_mcp.app.watch_routes import AgentPlace, face_timeline_routes
from ui_mcp.chat.attachments import AttachmentStore
from ui_mcp.chat.http import HumanFaceAccess, assistant_face_routes, human_face_routes
from ui_mcp.chat.mcp import ChatServerOptions, chat_definition, directory_of
from ui_mcp.chat.prompts import PromptLibrary
from ui_mcp.chat.tools import OpenChat, Side
from ui_mcp.mcp_server.transports.routes import McpRoutes
from ui_mcp.mcp_tasks.tasks import pausing
from ui_mcp.processes import run, until_signalled
from ui_mcp.webserver.auth import BearerAuth, principal_of
from ui_mcp.webserver.person_app import ATTACHMENTS, MAX_UPLOAD, person_link, person_listening
from ui_mcp.webserver.person_auth import Access
from ui_mcp.webserver.security import MAX_BODY, AccessRules, SecurityMiddleware
from ui_mcp.webserver.server import App, bind_with_retry, listening, mcp_app, port_of
from ui_mcp.workspace import Workspace


def run_http(served: ChatServerOptions, port: int) -> int:
    """Serve clients and people on a port until interrupted."""
    return run(_http, served, port)


async def _http(served: ChatServerOptions, port: int) -> int:
    served = await as_person(served, "ui-mcp chat --face human")
    async with until_signalled(), open_served_chat(served) as (config, chat, announcements):
        listener = await bind_with_retry(config.server.host, port)
        # The human side acts for the person, so it needs a token even before one was created.
        always = served.side == "human" or config.server.require_token
        opened = OpenChat(chat, directory_of(served, chat, always=always))
        definition = chat_definition(served, config, opened, announcements)
        endpoints = McpRoutes(definition, principal=principal_of)
        rules = AccessRules(
            ports=frozenset({port_of(listener)}),
            allowed_hosts=frozenset(config.server.allowed_hosts),
            allowed_origins=frozenset(config.server.allowed_origins),
            navigable=lambda path: path == "/chat",
            max_body=lambda path: MAX_UPLOAD if path == ATTACHMENTS else MAX_BODY,
        )
        url = config.server.url(port_of(listener))
        shown = person_link(url, "chat") if served.side == "human" and sys.stdout.isatty() else url
        workspace = Workspace.at(served.base_dir)
        place = AgentPlace(served.store or config.storage.url, workspace.state_dir)
        face = face_app(
            served.side, opened, config.chat.rate, endpoints, port_of(listener), workspace=workspace, agents=place
        )
        app = SecurityMiddleware(face, rules)
        serve = person_listening if served.side == "human" else listening
        async with serve(app, listener, config.server.allowed_users), pausing(definition.tasks):
            sys.stdout.write(f"ui-mcp chat ({served.side}) at {shown}\n")
            sys.stdout.flush()
            try:
                await anyio.sleep_forever()
            finally:
                chat.tail.cancel_waiters()
                endpoints.close()
    return 0


def face_app(
    side: Side,
    opened: OpenChat,
    per_second: float,
    endpoints: McpRoutes,
    port: int,
    *,
    workspace: Workspace,
    agents: AgentPlace | None = None,
) -> App:
    """Build the application of one side; the human side requires a human's token or the person's credential.

    With the place of `agents`, the human side also serves the timeline (what the agent does, fails at and asks), and
    requests to stop or resume.
    """
    admit = opened.directory.authenticate
    if side == "assistant":
        return BearerAuth(mcp_app(assistant_face_routes(opened, per_second), endpoints), admit)
    access = Access(str(port))
    watched = face_timeline_routes(opened, access, agents) if agents else []
    files, prompts = AttachmentStore(workspace.attachments), PromptLibrary(workspace.prompts)
    own = human_face_routes(opened, per_second, access, files, prompts)
    return HumanFaceAccess(mcp_app([*watched, *own], endpoints), admit, access)
