"""Where the clients of a base directory connect, and which process is the one that they join."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import BinaryIO

import anyio

from ui_mcp.errors import AlreadyRunningError, ConfigError
from ui_mcp.files import try_lock
from ui_mcp.jsontypes import JsonObject
from ui_mcp.local_socket import AVAILABLE, PROTOCOL, PROTOCOL_KEY, SocketPlace
from ui_mcp.ui.instance import open_regular, server_lock
from ui_mcp.version import bundled_version
from ui_mcp.workspace import Workspace

LOCK_SECONDS = 30.0
CLIENTS_LOCK = "clients.lock"
"""Shared by all clients of a directory that have joined a server and not left it."""
_PAUSE = 0.05


def place_of(workspace: Workspace) -> SocketPlace:
    """Return where clients of a base directory connect."""
    return SocketPlace(workspace.state_dir)


def mismatch(workspace: Workspace, facts: JsonObject) -> str:
    """Return what to say of a server whose local protocol is not ours."""
    theirs, number = facts.get("version"), facts.get(PROTOCOL_KEY)
    found = f"ui-mcp {theirs} (pid {facts.get('pid')}) serves this directory; ui-mcp {bundled_version()} cannot join it"
    if isinstance(number, int) and number > PROTOCOL:
        return f"{found}, because it is older\nInstall version {theirs} for this client too, and connect again."
    return f"{found}, because it is newer\nRestart the older one: ui-mcp stop --dir {workspace.given}"


@asynccontextmanager
async def sole_server(workspace: Workspace) -> AsyncIterator[None]:
    """Be the server that clients of a directory join, while the block runs; wait for one that is just ending.

    Raises:
        AlreadyRunningError: another process is, and can be joined.
        RefusedError: it belongs to another account.
    """
    if not AVAILABLE:
        yield
        return
    deadline = anyio.current_time() + LOCK_SECONDS
    while True:
        lock = server_lock(workspace)
        try:
            lock.__enter__()
        except AlreadyRunningError:
            found = place_of(workspace).connect()
            if found is not None:
                found.close()
            if found is not None or anyio.current_time() > deadline:
                raise
            await anyio.sleep(_PAUSE)
        else:
            break
    try:
        yield
    finally:
        lock.__exit__(None, None, None)


class ClientLock:
    """Shows other processes that a client of a directory is alive, although its server may not be."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._file: BinaryIO | None = None

    def hold(self) -> None:
        """Hold the lock until `release` or the end of the process."""
        if self._file is None:
            with suppress(BlockingIOError):  # the server just joined is dead: a next one looks for its clients
                self._file = _locked(self._workspace, shared=True)

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def lost_clients(workspace: Workspace) -> bool:
    """Return whether clients of an earlier server are still there; to be asked before a new one accepts any."""
    try:
        file = _locked(workspace, shared=False)
    except BlockingIOError:
        return True
    if file is not None:
        file.close()
    return False


def _locked(workspace: Workspace, *, shared: bool) -> BinaryIO | None:
    """Return the locked file of the clients, or None where the directory cannot hold one.

    Raises:
        BlockingIOError: others hold it.
    """
    try:
        file = open_regular(workspace.state_dir / CLIENTS_LOCK, os.O_RDWR | os.O_CREAT)
    except (OSError, ConfigError):
        return None
    try:
        try_lock(file, shared=shared)
    except BlockingIOError:
        file.close()
        raise
    except OSError:  # a file system without locks
        file.close()
        return None
    return file
