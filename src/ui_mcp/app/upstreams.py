"""Connects mounts of the gateway to real MCP servers."""

import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from ui_mcp.errors import MountError
from ui_mcp.gateway.config.settings import BackendSettings
from ui_mcp.gateway.mount_connection import Connect, Connection, Listeners

_MINIMAL = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "TMPDIR", "SYSTEMROOT")


def connector(secret_variables: frozenset[str] = frozenset()) -> Connect:
    """Return how mounts connect; children get our environment without the variables our secrets came from."""

    def connect(settings: BackendSettings, listeners: Listeners) -> AbstractAsyncContextManager[Connection]:
        return _connected(settings, listeners, secret_variables)

    return connect


@asynccontextmanager
async def _connected(
    settings: BackendSettings, listeners: Listeners, hidden: frozenset[str]
) -> AsyncIterator[Connection]:
    from ui_mcp.mcp_client.client import Options, connected
    from ui_mcp.mcp_client.transport import Command, HttpUrl, SseUrl
    from ui_mcp.mcpd.child import HURRIED, Farewell

    options = Options(
        call_seconds=settings.timeout_s,
        start_seconds=settings.start_timeout_s,
        list_changed=listeners.list_changed,
        resource_updated=listeners.resource_updated,
        stderr=listeners.stderr,
        roots=[_root(root) for root in settings.roots],
        farewell=lambda: HURRIED if listeners.ending() else Farewell(),
    )
    if settings.command:
        command = Command(settings.command, settings.args, _environment(settings, hidden), settings.cwd)
        async with connected(command, options) as server:
            yield server
        return
    if settings.transport == "sse":
        async with connected(SseUrl(settings.url, settings.headers), options) as server:
            yield server
        return
    started = False
    try:
        async with connected(HttpUrl(settings.url, settings.headers), options) as server:
            started = True
            yield server
            return
    except MountError:
        if started or settings.transport == "http":
            raise
    # An older server answers the streamable transport with 400, 404 or 405.
    async with connected(SseUrl(settings.url, settings.headers), options) as server:
        yield server


def _root(given: str) -> str:
    return given if "://" in given else Path(given).expanduser().resolve().as_uri()


def _environment(settings: BackendSettings, hidden: frozenset[str]) -> dict[str, str]:
    names = _MINIMAL if settings.inherit_env == "minimal" else tuple(os.environ)
    inherited = {name: os.environ[name] for name in names if name in os.environ and name not in hidden}
    return inherited | settings.env
