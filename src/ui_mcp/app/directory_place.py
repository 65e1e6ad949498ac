"""Where the clients of a base directory connect, and which process is the one that they join."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from ui_mcp.errors import AlreadyRunningError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.local_socket import AVAILABLE, PROTOCOL, PROTOCOL_KEY, SocketPlace
from ui_mcp.ui.instance import server_lock
from ui_mcp.version import bundled_version
from ui_mcp.workspace import Workspace

LOCK_SECONDS = 30.0
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
