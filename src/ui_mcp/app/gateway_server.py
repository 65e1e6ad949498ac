"""The gateway beside the ui server: mounts and APIs of `gateway.config`, listed with the ui tools."""

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from ui_mcp.app.person_listener import person_link, person_listening
from ui_mcp.config import LOOPBACK
from ui_mcp.errors import ConfigError, LifecycleError, UnknownToolError
from ui_mcp.gateway.config.configuration import Asked, configuration
from ui_mcp.gateway.config.settings import Mode
from ui_mcp.gateway.mcp import gateway_face
from ui_mcp.gateway.runner import opened
from ui_mcp.gateway.web.demo import demo_unless_configured
from ui_mcp.gateway.web.service import chat_app, serving
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_server.transports.routes import Endpoints
from ui_mcp.processes import run, until_signalled
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.tool import Call, Tool, ToolResult
from ui_mcp.toolkit.toolset import Toolset
from ui_mcp.ui.server import Host
from ui_mcp.ui.states import Running
from ui_mcp.webserver.person_auth import Access
from ui_mcp.webserver.responses import nothing_here
from ui_mcp.webserver.security import Guard, Rules
from ui_mcp.webserver.server import bind, port_of

_log = logger("gateway")


class MountedGateway:
    """A toolset that is empty until the directory's configuration names an nlui.yaml; then the gateway starts."""

    def __init__(self, host: Host, announcements: Announcements, tasks: TaskGroup) -> None:
        self._host = host
        self._announcements = announcements
        self._tasks = tasks
        self._starting = anyio.Lock()
        self._offered: dict[str, Toolset] = {}

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the gateway's tools, if there is a gateway; one that cannot start leaves the other tools listed."""
        try:
            offered = await self._gateway()
        except ConfigError as error:
            _log.warning("The gateway is left out: %s", error.message)
            return []
        return await offered.tools(call) if offered else []

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call one of the gateway's tools."""
        offered = await self._gateway()
        if offered is None:
            raise UnknownToolError(name)
        return await offered.call(name, arguments, call)

    async def _gateway(self) -> Toolset | None:
        await self._host.settled()
        try:
            configured = self._host.configured()
        except LifecycleError:
            return None
        given = configured.config.gateway.config
        if given is None:
            return None
        file, project = str(configured.workspace.named(given)), configured.workspace.project
        async with self._starting:
            if file not in self._offered:
                self._offered[file] = await self._tasks.start(self._serve, file, project)
        return self._offered[file]

    async def _serve(self, file: str, project: Path, *, task_status: anyio.abc.TaskStatus[Toolset]) -> None:
        from ui_mcp.gateway.config.agreement import load_agreed
        from ui_mcp.gateway.config.configuration import Asked
        from ui_mcp.gateway.runner import opened
        from ui_mcp.gateway.toolset import Offered

        asked = Asked(file, load=partial(load_agreed, project=project))
        async with opened(
            asked, mode="host", announcements=self._announcements, answered_at=self._person_url
        ) as gateway:
            task_status.started(Offered(gateway))
            await anyio.sleep_forever()

    def _person_url(self) -> str:
        state = self._host.state
        return f"{state.person_url}/approvals" if isinstance(state, Running) else ""


@asynccontextmanager
async def mounted_gateway(host: Host, announcements: Announcements) -> AsyncIterator[MountedGateway]:
    """Offer the configured gateway for the length of the block."""
    async with anyio.create_task_group() as tasks:
        yield MountedGateway(host, announcements, tasks)
        tasks.cancel_scope.cancel()


def run_stdio(asked: Asked, stdin: int, stdout: int) -> int:
    """Serve one MCP client on two file descriptors."""
    return run(_stdio, asked, stdin, stdout)


async def _stdio(asked: Asked, stdin: int, stdout: int) -> int:
    from ui_mcp.mcp_server.server import Service
    from ui_mcp.mcp_server.transports.stdio import serve

    async with until_signalled(), opened(asked, mode="host") as gateway:
        await serve(Service(gateway_face(gateway, asked)), stdin, stdout)
    return 0


def run_http(asked: Asked, port: int | None) -> int:
    """Serve MCP clients over HTTP until interrupted."""
    return run(_http, asked, port)


async def _http(asked: Asked, port: int | None) -> int:
    from ui_mcp.gateway.runner import serve_gateway
    from ui_mcp.webserver.server import bind

    settings = configuration(asked).settings
    host = asked.host or settings.server.host
    if host not in LOOPBACK and not settings.server.token:
        raise ConfigError(f"{host} is reachable from other machines\nSet server.token in nlui.yaml, or use 127.0.0.1.")
    chosen = port if port is not None else settings.mcp.server.sse_port or 8080
    listener = bind(host, chosen)
    mode: Mode = "host" if host in LOOPBACK else "guard"
    async with until_signalled(), opened(asked, mode=mode) as gateway:
        await serve_gateway(gateway, gateway_face(gateway, asked), listener, host)
    return 0


def run_chat(asked: Asked, port: int | None) -> int:
    """Serve the chat until interrupted."""
    return run(_serve, asked, port)


async def _serve(asked: Asked, port: int | None) -> int:
    async with until_signalled(), demo_unless_configured(asked) as shown, serving(shown) as chat:
        settings = chat.gateway.settings.server
        host = asked.host or settings.host
        if host not in LOOPBACK and not settings.token:
            raise ConfigError(f"{host} is reachable from other machines\nSet server.token, or use 127.0.0.1.")
        listener = bind(host, settings.port if port is None else port)
        endpoints = Endpoints(gateway_face(chat.gateway, asked), post_path="/messages", elsewhere=nothing_here)
        rules = Rules(
            ports=frozenset({port_of(listener)}),
            allowed_hosts=frozenset({host}) - LOOPBACK,
            allowed_origins=frozenset(settings.cors),
            sockets_without_origin=True,
        )
        app = Guard(chat_app(chat, endpoints, Access(str(port_of(listener)))), rules)
        async with person_listening(app, listener, settings.allowed_users):
            stop = "Press Ctrl+C to stop.\n" if sys.stdout.isatty() else ""
            sys.stdout.write(f"nlui: chat at {person_link(f'http://{host}:{port_of(listener)}')}\n{stop}")
            sys.stdout.flush()
            try:
                await anyio.sleep_forever()
            finally:
                endpoints.close()
    return 0
