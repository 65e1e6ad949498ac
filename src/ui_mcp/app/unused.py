"""Tells when a server that clients share is no longer used."""

import os
import signal
from collections.abc import Awaitable, Callable

import anyio

from ui_mcp.config import seconds
from ui_mcp.log import logger
from ui_mcp.mcp_server.transports.local import LocalClients

FIRST_CLIENT_SECONDS = 10.0
LINGER_SECONDS = 5.0
_CHECK_SECONDS = 0.5
_log = logger("host")


def linger_seconds() -> float:
    """Return how long a gateway's hub goes on after its last client; the environment may say otherwise."""
    try:
        return float(seconds(os.environ["UI_LINGER"]))
    except (KeyError, ValueError):
        return LINGER_SECONDS


async def until_unused(clients: LocalClients, in_use: Callable[[], Awaitable[bool]], linger: float) -> None:
    """Return on a signal, or when for `linger` seconds there was no client and nothing else was in use.

    `in_use` is asked only while there is no client.
    """
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_cancel_after, tasks.cancel_scope, _signalled)
        with anyio.move_on_after(FIRST_CLIENT_SECONDS):
            while not len(clients):
                await clients.changed()
        await _unused(clients, in_use, linger)
        tasks.cancel_scope.cancel()


async def _signalled() -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            return


async def _cancel_after(scope: anyio.CancelScope, event: Callable[[], Awaitable[None]]) -> None:
    await event()
    scope.cancel()


async def _unused(clients: LocalClients, in_use: Callable[[], Awaitable[bool]], linger: float) -> None:
    since = anyio.current_time()
    while True:
        if len(clients):
            await clients.changed()
            since = anyio.current_time()
        elif await in_use():
            await anyio.sleep(_CHECK_SECONDS)
            since = anyio.current_time()
        elif anyio.current_time() - since >= linger:
            _log.info("no client or page has used the server for %.0f s: it ends", linger)
            return
        else:
            with anyio.move_on_after(min(_CHECK_SECONDS, linger)):
                await clients.changed()
