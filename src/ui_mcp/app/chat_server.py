"""`ui-mcp chat`."""

import sys

import anyio

from ui_mcp.chat.mcp import Served, as_person, chat_face, directory_of, face_app, opened
from ui_mcp.chat.tools import Open
from ui_mcp.processes import run, until_signalled


def run_stdio(served: Served, stdin: int, stdout: int) -> int:
    """Serve one client on two file descriptors."""
    return run(_stdio, served, stdin, stdout)


def run_http(served: Served, port: int) -> int:
    """Serve clients and people on a port until interrupted."""
    return run(_http, served, port)


async def _stdio(served: Served, stdin: int, stdout: int) -> int:
    from ui_mcp.mcp_server.server import Service
    from ui_mcp.mcp_server.transports.stdio import serve

    served = await as_person(served, "ui-mcp chat --face human", stdin)
    async with until_signalled(), opened(served) as (config, chat, announcements):
        face = chat_face(served, config, Open(chat, directory_of(served, chat)), announcements)
        await serve(Service(face), stdin, stdout)
    return 0


async def _http(served: Served, port: int) -> int:
    from ui_mcp.app.person_listener import person_link, person_listening
    from ui_mcp.mcp_server.transports.routes import Endpoints
    from ui_mcp.webserver.auth import principal_of
    from ui_mcp.webserver.security import Guard, Rules
    from ui_mcp.webserver.server import bind_patiently, listening, port_of

    served = await as_person(served, "ui-mcp chat --face human")
    async with until_signalled(), opened(served) as (config, chat, announcements):
        listener = await bind_patiently(config.server.host, port)
        always = served.side == "human" or config.server.require_token
        desk = Open(chat, directory_of(served, chat, always=always))
        endpoints = Endpoints(chat_face(served, config, desk, announcements), principal=principal_of)
        rules = Rules(
            ports=frozenset({port_of(listener)}),
            allowed_hosts=frozenset(config.server.allowed_hosts),
            allowed_origins=frozenset(config.server.allowed_origins),
            navigable=lambda path: path == "/chat",
        )
        url = config.server.url(port_of(listener))
        shown = person_link(url, "chat") if served.side == "human" and sys.stdout.isatty() else url
        app = Guard(face_app(served.side, desk, config.chat.rate, endpoints, port_of(listener)), rules)
        serve = person_listening if served.side == "human" else listening
        async with serve(app, listener, config.server.allowed_users):
            sys.stdout.write(f"ui-mcp chat ({served.side}) at {shown}\n")
            sys.stdout.flush()
            try:
                await anyio.sleep_forever()
            finally:
                chat.tail.interrupt()
                endpoints.close()
    return 0
