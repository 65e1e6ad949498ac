"""Joins the server of a place on this machine, and starts it in a process of its own if none runs."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from threading import Thread

import anyio

from ui_mcp.app.server_link import ServerLink
from ui_mcp.errors import ConfigError, RefusedError, UiMcpError, UpstreamError
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.local_socket import PROTOCOL, PROTOCOL_KEY, SocketPlace
from ui_mcp.version import bundled_version

JOIN_SECONDS = 30.0
START_SECONDS = 60.0
_PAUSE = 0.05
COMMAND = "directory-server"
"""Hidden command by which a client starts the server of a directory."""
FindPlace = Callable[[], SocketPlace]
"""Returns the place of a server; it moves when the files of an older version do."""
Mismatch = Callable[[JsonObject], str]
"""Returns what to say of a server that speaks another local protocol."""


@dataclass(frozen=True, slots=True)
class Start:
    """What a client says about the server that it starts."""

    base_dir: str
    flags: JsonObject
    directories: tuple[str, ...] = ()
    """Directories that `ui_configure` may switch to besides the project."""

    def words(self) -> list[str]:
        """Return the command line that starts the server, without the pipe for its readiness."""
        return [COMMAND, dumps(asdict(self))]


async def join(place: FindPlace, words: Sequence[str], client_name: str, mismatch: Mismatch) -> ServerLink:
    """Connect to the server of `place`, or start it by the command `words` of this program.

    Raises:
        RefusedError: it belongs to another account.
        UiMcpError: it speaks another protocol, or cannot be started.
    """
    deadline = anyio.current_time() + JOIN_SECONDS
    while True:
        link = await connected(place(), client_name, mismatch)
        if link is not None:
            return link
        if anyio.current_time() > deadline:
            raise UpstreamError("A server starts, but cannot be reached\nSee log/mcp.log.")
        await start(words)


async def connected(place: SocketPlace, client_name: str, mismatch: Mismatch) -> ServerLink | None:
    """Connect to the server of `place`; None if none listens.

    Raises:
        RefusedError: it belongs to another account, or speaks another protocol.
    """
    connection = place.connect()
    if connection is None:
        return None
    link = ServerLink(connection)
    try:
        await link.greet({"version": bundled_version(), "pid": os.getpid(), "client": client_name})
        if link.facts[PROTOCOL_KEY] != PROTOCOL:
            raise RefusedError(mismatch(link.facts))
        if "refused" in link.facts:
            raise RefusedError(f"The server of this directory refused this client: {link.facts['refused']}")
    except UpstreamError:
        link.close()  # it was just ending
        await anyio.sleep(_PAUSE)
        return None
    except BaseException:
        link.close()
        raise
    return link


async def start(words: Sequence[str]) -> None:
    """Start a server in a session of its own, and return when it can be joined.

    Raises:
        UiMcpError: it could not start; the message is its own.
    """
    ours, theirs = os.pipe()
    try:
        _spawn(words, theirs)
    except OSError as error:
        os.close(ours)
        raise UpstreamError(f"Cannot start a server: {error.strerror or error}") from error
    finally:
        os.close(theirs)
    await wait_ready(ours)


async def wait_ready(pipe: int) -> None:
    """Return when a server reports on `pipe` that it can be joined; close the pipe.

    Raises:
        UiMcpError: it could not start; the message is its own.
    """
    try:
        said = await _said(pipe)
    finally:
        os.close(pipe)
    facts = loads(said) if said.endswith("\n") else {"error": "The server ended before it was ready\nSee log/mcp.log."}
    if error := facts.get("error"):
        raise ConfigError(str(error)) if facts.get("config") else UpstreamError(str(error))


def _spawn(words: Sequence[str], ready: int) -> None:
    """Start this program again."""
    process = subprocess.Popen(
        [*_program(), *words, str(ready)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # a host that waits for the end of our stderr must not wait for the server
        pass_fds=(ready,),
        start_new_session=True,  # what ends a client's group must not end the server
    )
    Thread(target=process.wait, daemon=True, name="ui-mcp reaps a server").start()


def _program() -> list[str]:
    if getattr(sys, "frozen", False):
        return [sys.executable]
    # Safe path: a project must not bring its own modules into the server.
    return [sys.executable, "-P", "-m", "ui_mcp"]


async def _said(pipe: int) -> str:
    said = b""
    with anyio.move_on_after(START_SECONDS):
        while not said.endswith(b"\n"):
            await anyio.wait_readable(pipe)
            chunk = os.read(pipe, 65536)
            if not chunk:
                break
            said += chunk
    return said.decode()


class Readiness:
    """The server's side of its start: tells the client that started it how that went."""

    def __init__(self, pipe: int) -> None:
        self._pipe: int | None = pipe

    def succeed(self) -> None:
        self._say({"ready": True})

    def fail(self, error: BaseException) -> None:
        message = error.message if isinstance(error, UiMcpError) else f"The server could not start: {error!r}"
        self._say({"error": message, "config": isinstance(error, ConfigError)})

    def _say(self, facts: JsonObject) -> None:
        if self._pipe is not None:
            with suppress(OSError):  # the client is gone; others may join
                os.write(self._pipe, dumps(facts).encode() + b"\n")
                os.close(self._pipe)
            self._pipe = None
