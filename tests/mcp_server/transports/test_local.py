"""Clients over a socket: who may join, and what a server tells them."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from ui_mcp.local_socket import AVAILABLE, SocketPlace
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports.local import LocalClients, serve_clients
from ui_mcp.toolkit.functions import FunctionToolset

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="no such sockets on this system")
STRANGER = 65533
CONNECT = """
import os, socket, sys
os.setuid(int(sys.argv[2]))
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
stream = connection.makefile("r")
print(stream.readline(), end="")
try:
    connection.sendall(b'{"ui-mcp": 1, "pid": 5}\\n{"jsonrpc":"2.0","id":1,"method":"ping"}\\n')
    print(stream.readline(), end="")
except OSError:
    pass
"""


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[Path]:
    """Serve an empty toolset at a socket that every account can reach."""
    listener, path = SocketPlace(folder).listen()
    folder.chmod(0o755)
    path.chmod(0o777)
    service = McpServer(ServerDefinition("s", "s", "1", FunctionToolset(None, [])))
    with listener:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve_clients, listener, service, LocalClients({"version": "1", "pid": os.getpid()}))
            yield path
            tasks.cancel_scope.cancel()


async def said_to(uid: int, path: Path) -> list[str]:
    """Return what an account reads from the server."""
    # From inside: the folders above are closed to others, and how many there are is up to pytest.
    command = [sys.executable, "-c", CONNECT, path.name, str(uid)]
    done = await anyio.run_process(command, cwd=path.parent, stderr=subprocess.STDOUT)
    return done.stdout.decode().splitlines()


@pytest.mark.covers("UI-JOIN-1")
async def test_our_own_account_is_greeted_and_served(tmp_path: Path) -> None:
    async with serving(tmp_path) as path:
        greeting, answer = await said_to(os.geteuid(), path)

    assert json.loads(greeting) == {"ui-mcp": 1, "version": "1", "pid": os.getpid()}
    assert json.loads(answer) == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can act as another account")
@pytest.mark.covers("UI-JOIN-13")
async def test_another_account_is_told_why_it_is_refused_and_gets_no_answer(tmp_path: Path) -> None:
    async with serving(tmp_path) as path:
        said = await said_to(STRANGER, path)

    assert len(said) == 1
    assert json.loads(said[0])["refused"] == f"it belongs to the account with uid {os.geteuid()}"
