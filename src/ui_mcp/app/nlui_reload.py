"""Follows nlui.yaml while the gateway runs: a saved change or SIGHUP takes effect, a broken file changes nothing."""

import signal
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import anyio

from ui_mcp.file_watcher import Rest
from ui_mcp.gateway.config import loader
from ui_mcp.gateway.config.loader import Stamp, _stamp
from ui_mcp.gateway.service import Gateway
from ui_mcp.gateway.source import Health
from ui_mcp.isolation import Boundary
from ui_mcp.log import logger
from ui_mcp.trust import Agreements

POLL_SECONDS = 0.5

QUIET_SECONDS = 0.05

"""A file that changed is read once nobody has written to it for so long: half of one can be a configuration too."""

Load = Callable[[Path], loader.Loaded]

_log = logger("nlui")


async def follow_file(gateway: Gateway, file: Path, stamp: Stamp, load: Load = loader.load) -> None:
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
                await rest.until_stirred([file, agreements])


async def reload(gateway: Gateway, file: Path, load: Load = loader.load) -> None:
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

    async def _on_signal(gateway: Gateway, file: Path, load: Load) -> None:
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
