"""Serves one agent over stdin and stdout: `ui-mcp mcp`, and the process that it joins, which serves its directory."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from ui_mcp import config as settings
from ui_mcp.app.directory_place import ClientLock, lost_clients, mismatch, place_of, sole_server
from ui_mcp.app.joined_clients import LogForwarder, accepting, forwarding_log
from ui_mcp.app.joining import Readiness, Start, join
from ui_mcp.app.mounted_gateway import mounted_gateway
from ui_mcp.app.relay import Relay
from ui_mcp.app.server_link import ServerLink, Servers
from ui_mcp.app.ui_server import open_host
from ui_mcp.app.unused import until_unused
from ui_mcp.discovery import lazy
from ui_mcp.errors import AlreadyRunningError, ConfigError, UiMcpError, UnknownToolError
from ui_mcp.jsontypes import JsonObject, loads
from ui_mcp.local_socket import AVAILABLE
from ui_mcp.log import logger, to_stderr
from ui_mcp.mcp_server.connection import ClientConnection
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports.local import LocalClients
from ui_mcp.mcp_server.transports.stdio import serve
from ui_mcp.mcp_tasks.tasks import pausing
from ui_mcp.processes import only_error, run, until_signalled
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.tool import Call, Tool, ToolResult
from ui_mcp.ui.chat_events import CAPABILITY, open_for_subscribers, wants_channel
from ui_mcp.ui.directories import Directories
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.mcp import ui_definition
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.record import NAME as RECORD
from ui_mcp.ui.states import Running
from ui_mcp.workspace import Workspace

# Only a started UI needs the web stack.
if TYPE_CHECKING:
    from ui_mcp.app.ui_http_server import http_transports
    from ui_mcp.webserver.server import App
else:
    http_transports = lazy("ui_mcp.app.ui_http_server:http_transports")

OWN = frozenset({"initialize", "ping", "server/discover"})
"""Methods that are answered without a server."""
_log = logger("mcp.stdio")


def run_stdio(base_dir: str, flags: JsonObject, stdin: int, stdout: int, *, directories: tuple[str, ...] = ()) -> int:
    """Serve one agent on two file descriptors; `directories` are allowed besides the project."""
    serving = _joined if AVAILABLE else _alone
    return run(serving, Start(base_dir, flags, directories), stdin, stdout)


async def _joined(start: Start, stdin: int, stdout: int) -> int:
    """Relay to the server of the directory, which is a process of its own."""
    to_stderr(start.flags.get("logging.verbosity", 0))
    announcements = Announcements()
    experimental = CAPABILITY if wants_channel(start.base_dir, start.flags) else None
    async with until_signalled(), open_host(start.flags, ListenPorts(), announcements) as host:
        definition = ui_definition(host, announcements, _NoTools(), experimental=experimental)
        local = ClientConnection(McpServer(definition), connection="stdio")
        own = OWN | ({"tools/list"} if not _has_gateway(start) else set())
        servers = DirectoryServers(host, start, Directories(start.directories))
        try:
            async with anyio.create_task_group() as tasks:
                await Relay(servers, (stdin, stdout), tasks, local, own).run()
                tasks.cancel_scope.cancel()
        except* OSError as broken:
            _log.info("The client's pipe broke: %s", broken.exceptions[0])
    return 0


async def _alone(start: Start, stdin: int, stdout: int) -> int:
    """Serve in this process, where the system has no sockets that tell whose process connects (Windows)."""
    to_stderr(start.flags.get("logging.verbosity", 0))
    announcements = Announcements()
    async with (
        until_signalled(),
        open_host(start.flags, ListenPorts(lasting=True), announcements, start.directories) as host,
        mounted_gateway(host, announcements) as gateway,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(host.begin, start.base_dir)
        tasks.start_soon(open_for_subscribers, host, announcements)
        experimental = CAPABILITY if wants_channel(start.base_dir, start.flags) else None
        definition = ui_definition(host, announcements, gateway, experimental=experimental)
        async with pausing(definition.tasks):
            await serve(McpServer(definition), stdin, stdout)
        tasks.cancel_scope.cancel()
    return 0


class DirectoryServers:
    """Finds the server of one base directory; while there is none, `host` answers with the reason."""

    def __init__(self, host: UiServer, start: Start, directories: Directories) -> None:
        self._host = host
        self._start = start
        self._workspace = Workspace.at(start.base_dir)
        self._directories = directories
        directories.begin(self._workspace)
        self._lock = ClientLock(self._workspace)

    async def join(self, client_name: str) -> ServerLink:
        self._directories.used(self._workspace)
        words, other_version = self._start.words(), partial(mismatch, self._workspace)
        link = await join(lambda: place_of(self._workspace), words, client_name, other_version)
        self._lock.hold()
        return link

    def left(self) -> None:
        self._lock.release()

    def unavailable(self, error: UiMcpError) -> None:
        self._host.fail(self._start.base_dir, error.message)

    def route(self, message: JsonObject) -> tuple[Servers, JsonObject]:
        match message["params"].get("arguments"):
            case {"base_dir": str() as given} if given:
                workspace = Workspace.at(given)
            case _:
                return self, message  # the tool refuses it
        self._directories.require(workspace)
        # Absolute: the server may have been started in another working directory.
        arguments = {**message["params"]["arguments"], "base_dir": str(workspace.base)}
        routed = {**message, "params": {**message["params"], "arguments": arguments}}
        if workspace.base == self._workspace.base:
            return self, routed
        start = Start(given, self._start.flags, self._start.directories)
        return DirectoryServers(self._host, start, self._directories), routed


class _NoTools:
    """Stands in for the gateway, whose tools only a server lists."""

    async def tools(self, call: Call) -> Sequence[Tool]:
        return []

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        raise UnknownToolError(name)


def _has_gateway(start: Start) -> bool:
    file: Path = Workspace.at(start.base_dir).config_file
    try:
        return settings.load(file, flags=start.flags).gateway.config is not None
    except ConfigError:
        return False


def run_directory_server(words: Sequence[str]) -> int:
    """Serve a directory as the command line of `Start` says; the last word is the pipe for the readiness."""
    start, pipe = loads(words[0]), int(words[1])
    os.set_inheritable(pipe, False)
    given = Start(start["base_dir"], start["flags"], tuple(start["directories"]))
    return run(_serve_directory, given, Readiness(pipe))


async def _serve_directory(start: Start, ready: Readiness) -> int:
    to_stderr(start.flags.get("logging.verbosity", 0))
    announcements, definitions = Announcements(), list[ServerDefinition]()
    transports = partial(_http_transports, definitions)
    ports = ListenPorts(lasting=True)
    async with open_host(start.flags, ports, announcements, start.directories, transports) as host:
        try:
            with forwarding_log() as log:
                workspace = (await host.configure(start.base_dir)).workspace
                async with sole_server(workspace), _stopping(host), mounted_gateway(host, announcements) as gateway:
                    experimental = CAPABILITY if host.configured().config.mcp.claude_channel else None
                    definitions.append(ui_definition(host, announcements, gateway, experimental=experimental))
                    if lost_clients(workspace):
                        await _start_again(host)  # before anyone joins, who could start another session
                    async with (
                        pausing(definitions[0].tasks),
                        accepting(host, McpServer(definitions[0])) as clients,
                    ):
                        log.forward_to(clients)
                        ready.succeed()
                        await _until_unused(host, definitions[0], clients, log)
        except AlreadyRunningError:
            ready.succeed()  # the client joins the other one
        except Exception as error:  # noqa: BLE001 - reported to the client that started us, and logged
            ready.fail(only_error(error))
            _log.exception("the server ended")
            return 1
    return 0


async def _until_unused(host: UiServer, definition: ServerDefinition, clients: LocalClients, log: LogForwarder) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(log.flush_to_first, clients)
        tasks.start_soon(open_for_subscribers, host, definition.announcements)
        await until_unused(clients, partial(_in_use, host, definition), host.configured().config.server.linger)
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def _stopping(host: UiServer) -> AsyncIterator[None]:
    """Stop the UI after the block, before the lock is free: the next server needs the directory."""
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await host.stop()


async def _in_use(host: UiServer, definition: ServerDefinition) -> bool:
    """Return whether a page is open, or a call goes on for a client that may come back for its result."""
    return await _has_pages(host) or (definition.tasks is not None and definition.tasks.busy)


async def _has_pages(host: UiServer) -> bool:
    if "targets" in vars(host):  # a browser that agents drove must not count as a person's page
        await host.targets.close()
    return isinstance(host.state, Running) and host.state.connections() > 0


async def _start_again(host: UiServer) -> None:
    """Run the UI if it ran when the last server was killed; only an orderly end deletes the record."""
    if not (host.configured().workspace.state_dir / RECORD).is_file():
        return
    host.resumes = True
    try:
        await host.start()
    except UiMcpError as error:
        _log.error("the UI could not be started again: %s", error.message)
    finally:
        host.resumes = False


def _http_transports(definitions: list[ServerDefinition]) -> "App":
    return http_transports(definitions[0])
