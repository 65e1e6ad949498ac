"""Opens a gateway, its approvals listener, follows nlui.yaml."""

import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import anyio
from platformdirs import user_cache_path

from ui_mcp.config import LOOPBACK
from ui_mcp.errors import ConfigError
from ui_mcp.file_watcher import Rest
from ui_mcp.gateway.approvals.http import ApprovalPages, Routes, health_route
from ui_mcp.gateway.approvals.person_http import approvals_app
from ui_mcp.gateway.config import loader
from ui_mcp.gateway.config.configuration import GatewayOptions, Stamp, _may_be_secret, _stamp, configuration
from ui_mcp.gateway.config.settings import Mode
from ui_mcp.gateway.mount_connection import connector
from ui_mcp.gateway.service import GatewayContext, GatewayService
from ui_mcp.gateway.source import Health, health_json
from ui_mcp.isolation import Boundary
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger, only_errors, to_stderr
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.transports.routes import McpRoutes
from ui_mcp.person import last_port, remember_port
from ui_mcp.toolkit.announcements import Announcement, Announcements, ResourceUpdated
from ui_mcp.toolkit.tool import Call
from ui_mcp.trust import Agreements
from ui_mcp.webserver.person_listener import person_listening
from ui_mcp.webserver.security import AccessRules, SecurityMiddleware
from ui_mcp.webserver.server import bind, listening, mcp_app, port_of

POLL_SECONDS = 0.5

QUIET_SECONDS = 0.05
"""A file that changed is read once nobody has written to it for so long: half of one can be a configuration too."""

_log = logger("nlui")


async def follow_file(gateway: GatewayService, file: Path, stamp: Stamp, load: loader.Load = loader.load) -> None:
    """Take over every change since the file had this stamp, and what the person agrees to, for ever."""
    agreements = Agreements().file
    agreed = await _stamp(agreements)
    with closing(Rest(POLL_SECONDS)) as rest:
        async with anyio.create_task_group() as tasks:
            if sys.platform != "win32":
                tasks.start_soon(_on_signal, gateway, file, load)
            while True:
                before, agreed = agreed, await _stamp(agreements)
                if await _stamp(file) != stamp or agreed != before:
                    stamp = await _quiet(file)
                    await reload(gateway, file, load)
                await rest.wait_changed([file, agreements])


async def reload(gateway: GatewayService, file: Path, load: loader.Load = loader.load) -> None:
    """Read the file and take it over; a bad one leaves everything as it is, and says so."""

    def failed(why: str) -> None:
        told = f"{why}\nThe configuration of before stays in force."
        gateway.failures[file.name] = Health(file.name, "builtin", "failed", error=told)
        gateway.announcements.resource_updated("nlui://health")

    with Boundary(f"configuration {file}", failed):
        loaded = await anyio.to_thread.run_sync(load, file)
        for warning in loaded.warnings:
            _log.warning("%s", warning)
        if loaded.settings != gateway.settings or gateway.failures:
            await gateway.reconfigure(loaded.settings)
            gateway.announcements.resource_updated("nlui://health")
            _log.info("%s was read again", file)


if sys.platform != "win32":

    async def _on_signal(gateway: GatewayService, file: Path, load: loader.Load) -> None:
        with anyio.open_signal_receiver(signal.SIGHUP) as signals:
            async for _ in signals:
                await reload(gateway, file, load)
                await gateway.refresh_targets()


async def _quiet(file: Path) -> Stamp:
    """Wait until nobody writes to the file, and return its stamp."""
    stamp = await _stamp(file)
    while True:
        await anyio.sleep(QUIET_SECONDS)
        before, stamp = stamp, await _stamp(file)
        if stamp == before:
            return stamp


Patience = Callable[[Call], float | None]


@asynccontextmanager
async def open_gateway(
    asked: GatewayOptions,
    *,
    mode: Mode,
    announcements: Announcements | None = None,
    patience: Patience | None = None,
    waits_for_ever: str | None = None,
    answered_at: Callable[[], str] = lambda: "",
) -> AsyncIterator[GatewayService]:
    """Run a gateway for the length of the block.

    `patience` says how long a caller waits for a person; whoever brings it has a page of its own for answers.
    `waits_for_ever` names the one caller that does, where the page for answers is the gateway's.
    `answered_at` names the page on which the person answers, where another listener has one; "" when none is open.
    """
    to_stderr(asked.verbosity)
    if asked.quiet:
        only_errors()
    read = configuration(asked)
    for warning in read.warnings:
        _log.warning("%s", warning)
    settings = read.settings
    data = settings.data_folder
    page = _AnswerPage(answered_at)
    around = GatewayContext(
        data=data,
        cache=user_cache_path("nlui") if not settings.data_dir else data / "cache",
        connect=connector(read.variables),
        secrets=tuple(filter(_may_be_secret, (os.environ.get(name, "") for name in sorted(read.variables)))),
        announcements=announcements or Announcements(),
        mode=asked.mode or mode,
        where=lambda: page.url,
        patience=patience
        or (_approval_timeout_for(waits_for_ever, settings.approvals.sync_wait_s) if waits_for_ever else None),
    )
    gateway = GatewayService(settings, around)
    async with gateway.running(), anyio.create_task_group() as tasks:
        if patience is None:
            tasks.start_soon(page.open_when_asked, gateway)
        if read.file is not None:
            if read.not_agreed:
                gateway.failures[read.file.name] = Health(read.file.name, "builtin", "failed", error=read.not_agreed)
            tasks.start_soon(follow_file, gateway, read.file, read.stamp, read.load)
        yield gateway
        tasks.cancel_scope.cancel()


def _approval_timeout_for(principal: str, others: float) -> Patience:
    return lambda call: None if call.principal == principal else others


class _AnswerPage:
    """Where the person answers: on a listener that is there already, else on one that opens with the first question."""

    def __init__(self, elsewhere: Callable[[], str]) -> None:
        self._elsewhere = elsewhere
        self._own = ""

    @property
    def url(self) -> str:
        """The bare address of the page; it grants nothing."""
        return self._elsewhere() or self._own

    async def open_when_asked(self, gateway: GatewayService) -> None:
        """Open a listener when a question waits and there is no page to answer it on."""
        asked = anyio.Event()

        def heard(news: Announcement) -> None:
            if isinstance(news, ResourceUpdated) and news.uri == "approvals://pending" and not self._elsewhere():
                asked.set()

        stop = gateway.announcements.listen(heard)
        try:
            await asked.wait()
        finally:
            stop()

        try:
            await serve_approvals(gateway, self._opened)
        except ConfigError as error:  # people can still answer in a terminal
            _log.error("There is no page to answer on: %s", error.message)

    def _opened(self, url: str) -> None:
        from ui_mcp.webserver.person_listener import person_link

        self._own = f"{url}/approvals"
        # A code may be on a terminal, which the person reads, but not in the log that a host makes of stderr.
        out = sys.stdout if sys.stdout.isatty() else sys.stderr
        out.write(f"nlui: a call waits for your answer at {person_link(url, 'approvals')}\n")
        out.flush()


async def serve_gateway(gateway: GatewayService, face: ServerDefinition, listener: socket.socket, host: str) -> None:
    """Serve MCP and health on one listener until cancelled."""
    endpoints = McpRoutes(face, post_path="/messages")
    token = gateway.settings.server.token or None
    rules = AccessRules(ports=frozenset({port_of(listener)}), allowed_hosts=frozenset({host}) - LOOPBACK, token=token)
    app = SecurityMiddleware(mcp_app([health_route(lambda: _health(gateway))], endpoints), rules)
    async with listening(app, listener, gateway.settings.server.allowed_users):
        sys.stderr.write(f"nlui: MCP at http://{host}:{port_of(listener)}/sse and /mcp\n")
        sys.stderr.flush()
        try:
            await anyio.sleep_forever()
        finally:
            endpoints.close()


async def serve_approvals(gateway: GatewayService, opened: Callable[[str], None]) -> None:
    """Serve the approvals on a loopback listener of the person's own until cancelled."""
    listener = _person_socket(gateway)
    port = port_of(listener)
    pages = ApprovalPages(gateway.desk, gateway.proposals, gateway.replay, gateway.scrubber)
    async with person_listening(
        approvals_app(port, pages, gateway.desk), listener, gateway.settings.server.allowed_users
    ):
        opened(f"http://127.0.0.1:{port}")
        await anyio.sleep_forever()


def approval_routes(gateway: GatewayService) -> Routes:
    """Return the approvals of a gateway, for a listener that knows the person."""
    return ApprovalPages(gateway.desk, gateway.proposals, gateway.replay, gateway.scrubber).routes()


def _person_socket(gateway: GatewayService) -> socket.socket:
    """Take the last port if it is free, so that the browser still holds its credential for this origin."""
    data = gateway.context.data
    try:
        listener = bind("127.0.0.1", last_port(data) or 0)
    except ConfigError:
        listener = bind("127.0.0.1", 0)
    remember_port(data, port_of(listener))
    return listener


def _health(gateway: GatewayService) -> JsonObject:
    sources = health_json(gateway.health())
    return {"status": "ok", "tools": len(gateway.catalogue.entries()), "sources": sources}
