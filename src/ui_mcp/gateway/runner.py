"""Runs the gateway: on stdin and stdout, over HTTP, or for one command from a terminal."""

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
from platformdirs import user_cache_path

from ui_mcp.app.nlui_reload import follow_file
from ui_mcp.app.upstreams import connector
from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config.loader import Asked, _may_be_secret, configuration, data_folder
from ui_mcp.gateway.config.settings import Mode
from ui_mcp.gateway.service import Gateway, Surroundings
from ui_mcp.gateway.source import Health
from ui_mcp.log import logger, only_errors, to_stderr
from ui_mcp.toolkit.announcements import Announcement, Announcements, ResourceUpdated
from ui_mcp.toolkit.tool import Call

_log = logger("nlui")


Patience = Callable[[Call], float | None]


@asynccontextmanager
async def opened(
    asked: Asked,
    *,
    mode: Mode,
    announcements: Announcements | None = None,
    patience: Patience | None = None,
    waits_for_ever: str | None = None,
    answered_at: Callable[[], str] = lambda: "",
) -> AsyncIterator[Gateway]:
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
    data = data_folder(settings)
    page = _AnswerPage(answered_at)
    around = Surroundings(
        data=data,
        cache=user_cache_path("nlui") if not settings.data_dir else data / "cache",
        connect=connector(read.variables),
        secrets=tuple(filter(_may_be_secret, (os.environ.get(name, "") for name in sorted(read.variables)))),
        announcements=announcements or Announcements(),
        mode=asked.mode or mode,
        where=lambda: page.url,
        patience=patience or (_patient(waits_for_ever, settings.approvals.sync_wait_s) if waits_for_ever else None),
    )
    gateway = Gateway(settings, around)
    async with gateway.running(), anyio.create_task_group() as tasks:
        if patience is None:
            tasks.start_soon(page.open_when_asked, gateway)
        if read.file is not None:
            if read.not_agreed:
                gateway.failures[read.file.name] = Health(read.file.name, "builtin", "failed", error=read.not_agreed)
            tasks.start_soon(follow_file, gateway, read.file, read.stamp, read.load)
        yield gateway
        tasks.cancel_scope.cancel()


def _patient(principal: str, others: float) -> Patience:
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

    async def open_when_asked(self, gateway: Gateway) -> None:
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
        from ui_mcp.app.nlui_http import serve_approvals

        try:
            await serve_approvals(gateway, self._opened)
        except ConfigError as error:  # people can still answer in a terminal
            _log.error("There is no page to answer on: %s", error.message)

    def _opened(self, url: str) -> None:
        from ui_mcp.app.person_listener import person_link

        self._own = f"{url}/approvals"
        # A code may be on a terminal, which the person reads, but not in the log that a host makes of stderr.
        out = sys.stdout if sys.stdout.isatty() else sys.stderr
        out.write(f"nlui: a call waits for your answer at {person_link(url, 'approvals')}\n")
        out.flush()
