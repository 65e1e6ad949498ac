"""Serves `nlui --mcp` over stdin and stdout: joins the hub of its configuration, so that mounts are started once."""

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio

from ui_mcp.app.hub_options import HubOptions
from ui_mcp.app.joining import join, wait_ready
from ui_mcp.app.relay import Relay
from ui_mcp.app.server_link import ServerLink, Servers
from ui_mcp.discovery import lazy
from ui_mcp.errors import UiMcpError
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.local_socket import AVAILABLE
from ui_mcp.log import logger, to_stderr
from ui_mcp.processes import run, until_signalled

# A client of a running hub needs nothing of the gateway.
if TYPE_CHECKING:
    from ui_mcp.app.gateway_hub import run_hub, serve_alone
else:
    run_hub = lazy("ui_mcp.app.gateway_hub:run_hub")
    serve_alone = lazy("ui_mcp.app.gateway_hub:serve_alone")

FORKS = sys.platform == "linux"
"""Whether a client may fork its hub; on macOS that is not safe enough."""
_log = logger("nlui")


def run_stdio(options: HubOptions, stdin: int, stdout: int) -> int:
    """Serve one MCP client on two file descriptors."""
    if not AVAILABLE:  # Windows: this process is the gateway
        return run(serve_alone, options, stdin, stdout)
    ready = _fork_hub(options, stdin, stdout) if FORKS and not _is_running(options) else None
    return run(_joined, HubServers(options, ready), stdin, stdout)


def _is_running(options: HubOptions) -> bool:
    try:
        found = options.place().connect()
    except UiMcpError:
        return False  # `join` reports it
    if found is not None:
        found.close()
    return found is not None


def _fork_hub(options: HubOptions, *private: int) -> int:
    """Fork the hub, and return the pipe on which it reports its readiness.

    This process has one thread and no event loop yet; another start of Python would delay the first answer.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if child:
        os.close(theirs)
        os.waitpid(child, 0)
        return ours
    status = 1
    try:
        if os.fork() == 0:  # an orphan, which the system reaps
            os.setsid()
            for descriptor in (ours, *private):
                os.close(descriptor)
            null = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(null, stream)
            status = run_hub(options, theirs)
        else:
            status = 0
    finally:
        os._exit(status)


async def _joined(servers: "HubServers", stdin: int, stdout: int) -> int:
    to_stderr(servers.options.verbosity)
    try:
        async with until_signalled(), anyio.create_task_group() as tasks:
            tasks.start_soon(servers.pass_hangups_on)
            await Relay(servers, (stdin, stdout), tasks).run()
            tasks.cancel_scope.cancel()
    except* OSError as broken:
        _log.info("The client's pipe broke: %s", broken.exceptions[0])
    return 0


class HubServers:
    """Finds the hub of one configuration; `ready` is the pipe of one that was forked and is just starting."""

    def __init__(self, options: HubOptions, ready: int | None = None) -> None:
        self.options = options
        self._ready = ready
        self._pid = 0

    async def join(self, client_name: str) -> ServerLink:
        ready, self._ready = self._ready, None
        if ready is not None:
            await wait_ready(ready)
        # The protocol's number is part of the place, so other versions have hubs of their own.
        link = await join(self.options.place, self.options.words(), client_name, dumps)
        self._pid = link.pid
        return link

    def left(self) -> None:
        """Do nothing: a hub keeps nothing for clients that it has lost."""

    async def pass_hangups_on(self) -> None:
        """Have the hub read its configuration again when this process is asked to (SIGHUP)."""
        with anyio.open_signal_receiver(signal.SIGHUP) as signals:
            async for _ in signals:
                if self._pid:
                    with suppress(OSError):  # it has ended meanwhile
                        os.kill(self._pid, signal.SIGHUP)

    def unavailable(self, error: UiMcpError) -> None:
        """Do nothing: the relay answers with the error itself."""

    def route(self, message: JsonObject) -> tuple[Servers, JsonObject]:
        return self, message
