"""Asks the person whether a project's settings may widen rights: `ui-mcp trust`, `nlui trust`, and before a start."""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from ui_mcp.errors import ConfigError, RefusedError
from ui_mcp.gateway.config.agreed_files import found_file
from ui_mcp.gateway.config.agreement import TrustRequest, agree, trust_request, trust_requests
from ui_mcp.trust import Agreements
from ui_mcp.workspace import Workspace


def run_trust(base_dir: str, *, yes: bool, revoke: bool) -> int:
    workspace = Workspace.at(base_dir)
    if revoke:
        return _revoke(workspace)
    asked = trust_requests(workspace)
    if not asked:
        print(f"{workspace.config_file} widens no rights: there is nothing to agree to.")
        return 0
    return ask_agreement(asked, "ui-mcp trust", yes=yes)


def ask_agreement(asked: list[TrustRequest], command: str, *, yes: bool) -> int:
    """Show the settings, ask the person, and record the agreement; return the exit code."""
    for request in asked:
        print(f"{request.place}{' (agreed)' if request.agreed else ''}", *request.lines, sep="\n  ")
    if all(request.agreed for request in asked):
        print(f"You have agreed to all of this; `{command} --revoke` withdraws it.")
        return 0
    if not _confirmed(command, yes=yes):
        print("Nothing has changed.")
        return 1
    agree(asked)
    print("Agreed. It takes effect at the next start.")
    return 0


def offer(source: str | None) -> None:
    """At a terminal, ask about the nlui.yaml that a gateway would use from the working directory."""
    file = found_file(source)
    if file is None or not _can_ask():
        return
    request = trust_request(file)
    if request.agreed:
        return
    # On stderr: stdout may be a pipe that receives the command's output.
    print(f"{file} is new or has changed since you agreed to it:", *request.lines, sep="\n  ", file=sys.stderr)
    if _answer("Use it? [y/N] ", sys.stderr):
        agree([request])


def _revoke(workspace: Workspace) -> int:
    places = [workspace.base]
    with suppress(ConfigError):  # an invalid file must not keep its agreement alive
        places += [request.place for request in trust_requests(workspace)]
    taken = [Agreements().remove(place) for place in places]
    print(
        "Withdrawn; this takes effect at the next start."
        if any(taken)
        else f"There is no agreement for {workspace.base}."
    )
    return 0


def _confirmed(command: str, *, yes: bool) -> bool:
    """Ask at the controlling terminal, so that neither an agent's pipe nor a file can agree.

    Raises:
        RefusedError: there is no terminal.
    """
    if not sys.stdin.isatty() or not _has_terminal():
        raise RefusedError(f"Only a person at a terminal can agree\nRun `{command}` in your own terminal.")
    return yes or _answer("Let this directory use these settings? [y/N] ", sys.stdout)


def _answer(question: str, out: TextIO) -> bool:
    print(question, end="", flush=True, file=out)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _can_ask() -> bool:
    """Return whether a person can answer a question."""
    # A background job would be stopped by SIGTTIN when it reads the answer.
    if not (sys.stdin.isatty() and sys.stderr.isatty() and _has_terminal()):
        return False
    return sys.platform == "win32" or os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()


def _has_terminal() -> bool:
    if os.name != "posix":
        return True
    try:
        with Path("/dev/tty").open("rb"):
            return True
    except OSError:
        return False
