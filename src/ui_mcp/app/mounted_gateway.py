"""The gateway inside the UI server: mounts and APIs of `gateway.config`, listed with the UI tools."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup

from ui_mcp.discovery import lazy
from ui_mcp.errors import ConfigError, LifecycleError, UnknownToolError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.tool import Call, Tool, ToolResult
from ui_mcp.toolkit.toolset import Toolset
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running

# Most projects have no gateway.
if TYPE_CHECKING:
    from ui_mcp.gateway.config.agreed_files import load_agreed
    from ui_mcp.gateway.config.configuration import GatewayOptions
    from ui_mcp.gateway.runner import open_gateway
    from ui_mcp.gateway.service import GatewayService
    from ui_mcp.gateway.sign_ins import SignIns
    from ui_mcp.gateway.toolset import GatewayToolset
    from ui_mcp.inbox.elicitation import asking_in
    from ui_mcp.inbox.service import inbox_url
    from ui_mcp.inbox.service import opened as opened_inbox
else:
    asking_in = lazy("ui_mcp.inbox.elicitation:asking_in")
    inbox_url = lazy("ui_mcp.inbox.service:inbox_url")
    opened_inbox = lazy("ui_mcp.inbox.service:opened")
    load_agreed = lazy("ui_mcp.gateway.config.agreed_files:load_agreed")
    GatewayOptions = lazy("ui_mcp.gateway.config.configuration:GatewayOptions")
    open_gateway = lazy("ui_mcp.gateway.runner:open_gateway")
    GatewayToolset = lazy("ui_mcp.gateway.toolset:GatewayToolset")

_log = logger("gateway")


class MountedGateway:
    """Toolset of the gateway, started on first use; empty if the configuration names no nlui.yaml."""

    def __init__(self, host: UiServer, announcements: Announcements, tasks: TaskGroup) -> None:
        self._host = host
        self._announcements = announcements
        self._tasks = tasks
        self._starting = anyio.Lock()
        self._toolsets: dict[str, Toolset] = {}
        self._services: dict[str, GatewayService] = {}

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the gateway's tools, or none if there is no gateway or it cannot start."""
        try:
            toolset = await self._gateway()
        except ConfigError as error:
            _log.warning("The gateway is left out: %s", error.message)
            return []
        return await toolset.tools(call) if toolset else []

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        toolset = await self._gateway()
        if toolset is None:
            raise UnknownToolError(name)
        return await toolset.call(name, arguments, call)

    async def sign_ins(self) -> "SignIns | None":
        """Return the person's accounts at the sources; None if there is no gateway."""
        toolset = await self._gateway()
        file = next((file for file, one in self._toolsets.items() if one is toolset), None)
        return self._services[file].sign_ins if file is not None else None

    async def _gateway(self) -> Toolset | None:
        await self._host.wait_configured()
        try:
            configured = self._host.configured()
        except LifecycleError:
            return None
        given = configured.config.gateway.config
        if given is None:
            return None
        file, project = str(configured.workspace.named(given)), configured.workspace.project
        async with self._starting:  # several calls may arrive before the gateway has started
            if file not in self._toolsets:
                self._toolsets[file] = await self._tasks.start(self._serve, file, project)
        return self._toolsets[file]

    async def _serve(self, file: str, project: Path, *, task_status: anyio.abc.TaskStatus[Toolset]) -> None:

        options = GatewayOptions(file, load=partial(load_agreed, project=project))
        async with open_gateway(
            options,
            mode="host",
            announcements=self._announcements,
            answered_at=self._person_url,
            ask_person=self._ask_person,
        ) as gateway:
            self._services[file] = gateway
            task_status.started(GatewayToolset(gateway))
            await anyio.sleep_forever()

    async def _ask_person(self, server: str, agent: str, params: JsonObject) -> JsonObject:
        configured = self._host.configured()
        place = inbox_url(configured.config, configured.workspace)
        return await asking_in(partial(opened_inbox, place))(server, agent, params)

    def _person_url(self) -> str:
        state = self._host.state
        return f"{state.person_url}/approvals" if isinstance(state, Running) else ""


@asynccontextmanager
async def mounted_gateway(host: UiServer, announcements: Announcements) -> AsyncIterator[Toolset]:
    """Provide the configured gateway while the block runs."""
    async with anyio.create_task_group() as tasks:
        host.gateway = MountedGateway(host, announcements, tasks)
        yield host.gateway
        host.gateway = None
        tasks.cancel_scope.cancel()
