"""Runs a host as a person would: set it up for a project, then let it talk to its model."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from hosts.drivers import Driver, Place

SECONDS = 300
CONVERSATION_SECONDS = 600


def environment(driver: Driver, place: Place, hosts: Path, programs: Sequence[Path] = ()) -> dict[str, str]:
    """Return the variables of a host; `programs` are folders that come before our own command."""
    folders = [hosts / driver.name / "node_modules" / ".bin", *programs, Path(sys.executable).parent]
    path = ":".join(map(str, [*folders, "/usr/bin", "/bin"]))
    own = {"HOME": str(place.home), "PATH": path, "LANG": "C.UTF-8", "NO_COLOR": "1", "CI": "1", "TERM": "dumb"}
    return own | driver.environment(place)


def set_up(driver: Driver, place: Place, variables: Mapping[str, str]) -> None:
    """Register our server with the host by `ui-mcp setup`."""
    subprocess.run(["git", "init", "-q"], cwd=place.project, check=True)
    setup = [str(Path(sys.executable).parent / "ui-mcp"), "setup", "--yes", driver.name]
    subprocess.run(setup, cwd=place.project, env=dict(variables), check=True, capture_output=True, timeout=SECONDS)


def converse(driver: Driver, place: Place, variables: Mapping[str, str]) -> str:
    """Let the host talk to its model; return its last words."""
    done = subprocess.CompletedProcess([], 0, "", "")
    driver.prepare(place)
    try:
        for command in driver.commands(place):
            done = subprocess.run(
                command, cwd=place.project, env=dict(variables), capture_output=True, text=True,
                timeout=CONVERSATION_SECONDS, stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
    finally:
        end_remaining(place)
    # Not every version of a host has or needs the commands before the last one.
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def end_remaining(place: Place) -> None:
    """End what a host leaves running in the background, which is recognised by the project in its command line."""
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if bytes(place.project) in words and b"directory-server" not in words:
                os.kill(int(entry.name), signal.SIGTERM)
