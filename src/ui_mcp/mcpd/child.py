"""A server as a child process: its three pipes, its own process group, and an end in steps."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from anyio import to_thread
from mcp.client.stdio import get_default_environment

from ui_mcp.errors import MountError
from ui_mcp.mcp_client.transport import Command
from ui_mcp.processes import WATCHDOG


@dataclass(frozen=True, slots=True)
class Farewell:
    """How long a child may take to end by itself, and after being asked to."""

    by_itself: float = 2.0
    asked: float = 3.0


HURRIED = Farewell(0.5, 0.5)


@dataclass(frozen=True, slots=True)
class Pipes:
    """Our ends of a child's standard streams."""

    stdin: int
    stdout: int
    stderr: int


@asynccontextmanager
async def child(command: Command, patience: Callable[[], Farewell]) -> AsyncIterator[Pipes]:
    """Run a command for the length of the block.

    Raises:
        MountError: it cannot be started.
    """
    process = await to_thread.run_sync(_start, command)
    group = process.pid
    WATCHDOG.watch(group)
    try:
        yield Pipes(_fd(process.stdin), _fd(process.stdout), _fd(process.stderr))
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(_end, process, patience())
        WATCHDOG.forget(group)


def _start(command: Command) -> subprocess.Popen[bytes]:
    environment = {**get_default_environment(), **command.env}
    program = shutil.which(command.command, path=environment.get("PATH"))
    if program is None:
        raise MountError(f"There is no command {command.command!r}\nInstall it, or write its full path.")
    try:
        return subprocess.Popen(
            [program, *command.args],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=command.cwd,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise MountError(f"{command.command} cannot be started: {error}") from error


def _end(process: subprocess.Popen[bytes], patience: Farewell) -> None:
    """Close its input, wait, ask it to stop, wait, kill; whatever it started goes with it."""
    _close(process.stdin)
    if not _ended(process, patience.by_itself):
        _signal(process, signal.SIGTERM)
        if not _ended(process, patience.asked):
            _signal(process, _KILL)
            process.wait()
    _signal(process, _KILL)
    _close(process.stdout)
    _close(process.stderr)


_KILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL


def _ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.send_signal(number)
        else:
            os.killpg(process.pid, number)


def _close(stream: object) -> None:
    with contextlib.suppress(OSError):
        stream.close()  # type: ignore[attr-defined]


def _fd(stream: object) -> int:
    number = stream.fileno()  # type: ignore[attr-defined]
    return int(number)
