"""Connects to mounted servers over the transport that their settings name, or the one that they answer on."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ui_mcp.errors import MountError
from ui_mcp.gateway.apps.addresses import EXTENSION, MIME
from ui_mcp.gateway.config.settings import BackendSettings
from ui_mcp.gateway.config.sign_in import server_place
from ui_mcp.gateway.mount_connection import Connection, MountHandlers
from ui_mcp.mcp_client.client import Options, connect
from ui_mcp.mcp_client.server_process import FAST_SHUTDOWN, ShutdownTimeouts
from ui_mcp.mcp_client.tasks import EXTENSION as TASKS
from ui_mcp.mcp_client.transport import Command, HttpUrl, SseUrl

_MINIMAL_ENVIRONMENT = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "TMPDIR", "SYSTEMROOT")


@asynccontextmanager
async def connected(
    settings: BackendSettings, handlers: MountHandlers, hidden: frozenset[str]
) -> AsyncIterator[Connection]:
    """Connect to a server for the length of the block; a child process inherits the environment without `hidden`."""
    options = Options(
        call_seconds=settings.timeout_s,
        start_seconds=settings.start_timeout_s,
        list_changed=handlers.list_changed,
        resource_updated=handlers.resource_updated,
        logged=handlers.logged,
        stderr=handlers.stderr,
        sign_in=handlers.sign_in,
        extensions={EXTENSION: {"mimeTypes": [MIME]}, TASKS: {}},
        roots=[_root(root) for root in settings.roots],
        shutdown_timeouts=lambda: FAST_SHUTDOWN if handlers.ending() else ShutdownTimeouts(),
    )
    if settings.command:
        command = Command(settings.command, settings.args, _environment(settings, hidden), settings.cwd)
        async with connect(command, options) as server:
            yield server
        return
    headers, place = _headers(settings), server_place(settings)
    if settings.transport == "sse":
        async with connect(SseUrl(settings.url, headers, place), options) as server:
            yield server
        return
    started = False
    try:
        async with connect(HttpUrl(settings.url, headers, place), options) as server:
            started = True
            yield server
            return
    except MountError as error:
        # Once started, the transport was the right one; and what cannot be reached cannot be by SSE either.
        if started or settings.transport == "http" or error.details.get("fatal"):
            raise
        refused = error
    # Servers that only know SSE answer the streamable transport with 400, 404 or 405.
    try:
        async with connect(SseUrl(settings.url, headers, place), options) as server:
            started = True
            yield server
    except MountError as error:
        if started:
            raise
        raise refused from error


def _headers(settings: BackendSettings) -> dict[str, str]:
    token = settings.auth.token if settings.auth else ""
    return {"Authorization": f"Bearer {token}", **settings.headers} if token else settings.headers


def _root(given: str) -> str:
    return given if "://" in given else Path(given).expanduser().resolve().as_uri()


def _environment(settings: BackendSettings, hidden: frozenset[str]) -> dict[str, str]:
    names = _MINIMAL_ENVIRONMENT if settings.inherit_env == "minimal" else tuple(os.environ)
    inherited = {name: os.environ[name] for name in names if name in os.environ and name not in hidden}
    return inherited | settings.env
