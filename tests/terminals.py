"""Commands with a controlling terminal of their own, as when a person types them."""

import os
import pty
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ui_mcp.chat.identity import ROLES, AccessTokens
from ui_mcp.chat.service import open_store
from ui_mcp.ui.own_files import settle
from ui_mcp.workspace import CHAT_FILE, Workspace

SECONDS = 180
_TAKE_CONTROL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
_OWN_TERMINAL = """
import contextlib, fcntl, os, sys, termios
with contextlib.suppress(PermissionError):
    os.setsid()
ours, theirs = os.openpty()
os.dup2(theirs, 0)
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.set_inheritable(ours, True)
os.execvp(sys.argv[1], sys.argv[1:])
"""


@dataclass(frozen=True)
class Done:
    """What a command printed where; `shown` is what it wrote to its terminal itself."""

    returncode: int
    stdout: str
    stderr: str
    shown: str


def with_terminal(command: Sequence[str]) -> list[str]:
    """Return a command that gives itself a terminal that is never read, and then becomes `command`."""
    return [sys.executable, "-c", _OWN_TERMINAL, *command]


@contextmanager
def in_terminal(
    command: Sequence[str], cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """Start a command whose input is a terminal, with its other streams on pipes; yield it and the terminal's end."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", _TAKE_CONTROL, *command], cwd=cwd, env=env, text=True, start_new_session=True,
            stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        with process:
            os.close(theirs)
            try:
                yield process, ours
            finally:
                if process.poll() is None:
                    process.terminate()
    finally:
        os.close(ours)


def run_in_terminal(
    command: Sequence[str], cwd: Path | None = None, env: Mapping[str, str] | None = None, typed: str = ""
) -> Done:
    """Run a command to its end as a person at a terminal would."""
    with in_terminal(command, cwd, env) as (process, terminal):
        os.write(terminal, typed.encode())
        stdout, stderr = process.communicate(timeout=SECONDS)
        return Done(process.returncode, stdout, stderr, _written(terminal))


async def human_token(base_dir: Path, name: str = "human") -> str:
    """Make a token of the role human for the chat of a base directory."""
    async with open_store(f"sqlite:///{settle(Workspace.at(base_dir)) / CHAT_FILE}") as store:
        return await AccessTokens(store).create(name, ROLES["human"])


def _written(terminal: int) -> str:
    os.set_blocking(terminal, False)
    parts = []
    with suppress(OSError):  # the other end is closed, or nothing is left
        while part := os.read(terminal, 65536):
            parts.append(part)
    return b"".join(parts).decode().replace("\r\n", "\n")
