"""Runs a gateway: opens it, serves it over HTTP, opens the approvals page when needed, reloads nlui.yaml."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from platformdirs import user_cache_path

from ui_mcp.discovery import lazy
from ui_mcp.errors import ConfigError
from ui_mcp.file_watcher import Rest
from ui_mcp.gateway.config import loader
from ui_mcp.gateway.config.configuration import GatewayOptions, Stamp, configuration, may_be_secret, read_stamp
from ui_mcp.gateway.config.settings import BackendSettings, Mode
from ui_mcp.gateway.mount_connection import Connect, Connection, MountHandlers
from ui_mcp.gateway.service import GatewayContext, GatewayService, running_gateway
from ui_mcp.isolation import Boundary
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger, only_errors, to_stderr
from ui_mcp.toolkit.announcements import Announcement, Announcements, ResourceUpdated
from ui_mcp.toolkit.tool import Call
from ui_mcp.trust import Agreements
from ui_mcp.workspace import INBOX_FILE

# Most gateways never open a port.
if TYPE_CHECKING:
    from ui_mcp.gateway.listeners import serve_approvals, show_link
    from ui_mcp.gateway.mount_client import connected
    from ui_mcp.inbox.elicitation import AskPerson, asking_in
    from ui_mcp.inbox.service import opened as opened_inbox
else:
    asking_in = lazy("ui_mcp.inbox.elicitation:asking_in")
    opened_inbox = lazy("ui_mcp.inbox.service:opened")
    connected = lazy("ui_mcp.gateway.mount_client:connected")
    serve_approvals = lazy("ui_mcp.gateway.listeners:serve_approvals")
    show_link = lazy("ui_mcp.gateway.listeners:show_link")

POLL_SECONDS = 0.5

QUIET_SECONDS = 0.05
"""A changed file is read after it has been unchanged for this long: half a file can be valid YAML too."""

_log = logger("nlui")


async def follow_file(gateway: GatewayService, file: Path, stamp: Stamp, load: loader.Load = loader.load) -> None:
    """Reload after every change of the file since `stamp`, and after every new agreement, until cancelled."""
    # A new agreement can put an unchanged file into effect.
    agreements = Agreements().file
    agreed = await read_stamp(agreements)
    with closing(Rest(POLL_SECONDS)) as rest:
        async with anyio.create_task_group() as tasks:
            if sys.platform != "win32":
                tasks.start_soon(_on_signal, gateway, file, load)
            while True:
                before, agreed = agreed, await read_stamp(agreements)
                if await read_stamp(file) != stamp or agreed != before:
                    stamp = await _wait_quiet(file)
                    await reload(gateway, file, load)
                await rest.wait_changed([file, agreements])


async def reload(gateway: GatewayService, file: Path, load: loader.Load = loader.load) -> None:
    """Read the file and apply it; a bad one is reported in the health resource and changes nothing."""

    def failed(why: str) -> None:
        error = f"{why}\nThe previous configuration stays in force."
        gateway.sources.fail(file.name, error, "builtin")
        gateway.announcements.resource_updated("nlui://health")

    with Boundary(f"configuration {file}", failed):
        loaded = await anyio.to_thread.run_sync(load, file)
        for warning in loaded.warnings:
            _log.warning("%s", warning)
        if loaded.settings != gateway.settings or gateway.sources.failures:
            await gateway.reconfigure(loaded.settings)
            gateway.announcements.resource_updated("nlui://health")
            _log.info("reloaded %s", file)


if sys.platform != "win32":

    async def _on_signal(gateway: GatewayService, file: Path, load: loader.Load) -> None:
        with anyio.open_signal_receiver(signal.SIGHUP) as signals:
            async for _ in signals:
                await reload(gateway, file, load)
                await gateway.sources.refresh_targets()


async def _wait_quiet(file: Path) -> Stamp:
    """Wait until the file has stopped changing, and return its stamp."""
    stamp = await read_stamp(file)
    while True:
        await anyio.sleep(QUIET_SECONDS)
        before, stamp = stamp, await read_stamp(file)
        if stamp == before:
            return stamp


def connector(secret_variables: frozenset[str] = frozenset()) -> Connect:
    """Return how mounts connect; child processes inherit the environment without `secret_variables`."""

    def connect(settings: BackendSettings, handlers: MountHandlers) -> AbstractAsyncContextManager[Connection]:
        return connected(settings, handlers, secret_variables)

    return connect


ApprovalTimeout = Callable[[Call], float | None]
"""Returns how many seconds a call waits for an answer of a person; None waits without limit."""


@asynccontextmanager
async def open_gateway(
    options: GatewayOptions,
    *,
    mode: Mode,
    announcements: Announcements | None = None,
    approval_timeout: ApprovalTimeout | None = None,
    waits_for_ever: str | None = None,
    answered_at: Callable[[], str] = lambda: "",
    ask_person: "AskPerson | None" = None,
    inbox: str | None = None,
) -> AsyncIterator[GatewayService]:
    """Run a gateway for the length of the block.

    `approval_timeout` is given by programs that have their own approvals page; the gateway then opens none.
    `waits_for_ever` names the one principal whose calls wait without limit, where the approvals page is the gateway's.
    `answered_at` returns the address of the approvals page of another listener, "" while there is none.
    `ask_person` asks in the inbox of that listener. Without it forms are asked in `inbox`, the place of a store that
    pages of the program show; without that, in one of the gateway.
    """
    to_stderr(options.verbosity)
    if options.quiet:
        only_errors()
    read = configuration(options)
    for warning in read.warnings:
        _log.warning("%s", warning)
    settings = read.settings
    data = settings.data_folder
    place = inbox or str(data / INBOX_FILE)
    page = _AnswerPage(answered_at, place)
    context = GatewayContext(
        data=data,
        cache=user_cache_path("nlui") if not settings.data_dir else data / "cache",
        connect=connector(read.variables),
        secrets=tuple(filter(may_be_secret, (os.environ.get(name, "") for name in sorted(read.variables)))),
        announcements=announcements or Announcements(),
        mode=options.mode or mode,
        where=lambda: page.url,
        ask_person=ask_person or page.ask,
        inbox=place,
        approval_timeout=approval_timeout or _approval_timeout_for(waits_for_ever, settings.approvals.sync_wait_s),
    )
    async with running_gateway(settings, context) as gateway, anyio.create_task_group() as tasks:
        if approval_timeout is None:  # else the program has a page of its own
            tasks.start_soon(page.open_when_asked, gateway)
        if read.file is not None:
            if read.not_agreed:
                gateway.sources.fail(read.file.name, read.not_agreed, "builtin")
            tasks.start_soon(follow_file, gateway, read.file, read.stamp, read.load)
        yield gateway
        tasks.cancel_scope.cancel()


def _approval_timeout_for(principal: str | None, others: float) -> ApprovalTimeout | None:
    return None if principal is None else lambda call: None if call.principal == principal else others


class _AnswerPage:
    """The approvals page: on another listener if there is one, else on one that opens with the first approval."""

    def __init__(self, other_url: Callable[[], str], inbox: str) -> None:
        self._other_url = other_url
        self._own_url = ""
        self._inbox = inbox
        self._forms = False
        self._changed = anyio.Event()

    @property
    def url(self) -> str:
        """The address of the page without a credential."""
        return self._other_url() or self._own_url

    async def ask(self, server: str, agent: str, params: JsonObject) -> JsonObject:
        """Ask the person what a mounted server elicits, on this page."""
        in_inbox = asking_in(partial(opened_inbox, self._inbox), self._on_form)
        return await in_inbox(server, agent, params)

    def _on_form(self) -> None:
        self._forms = True
        self._changed.set()

    async def open_when_asked(self, gateway: GatewayService) -> None:
        """Open a listener as soon as an approval or a form is pending and no page exists to answer it on."""

        def on_announcement(announcement: Announcement) -> None:
            if isinstance(announcement, ResourceUpdated) and announcement.uri == "approvals://pending":
                self._changed.set()

        stop = gateway.announcements.listen(on_announcement)
        try:
            while True:
                await self._changed.wait()
                self._changed = anyio.Event()  # before looking, so that a change meanwhile is not missed
                # An approval that leaves the list changes it, too.
                if not self._other_url() and (self._forms or await gateway.approvals.pending()):
                    break
        finally:
            stop()

        def opened(url: str) -> None:
            self._own_url = f"{url}/approvals"
            show_link(url)

        try:
            await serve_approvals(gateway, opened)
        except ConfigError as error:  # approvals can still be answered in a terminal
            _log.error("cannot open the approvals page: %s", error.message)
