"""Agree to settings that came with a project and widen rights.

Settings in config/config.toml that let apps, agents or the network do more than usual have no effect until you agree to
them here, once for each content; the file that gateway.config names, and an nlui.yaml of the project, likewise.
Agreements are kept in your own configuration directory and end when the settings change.
"""

import argparse
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ui_mcp.cli import options as shared
from ui_mcp.errors import ConfigError, RefusedError

if TYPE_CHECKING:
    from ui_mcp.gateway.config.agreement import Wish
    from ui_mcp.workspace import Workspace

HELP = "agree to a project's settings that widen rights"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Take the directory and what to do."""
    shared.directory(parser)
    parser.add_argument("--yes", action="store_true", help="agree without a question; needs a terminal all the same")
    parser.add_argument("--revoke", action="store_true", help="take back what was agreed to")


def run(options: argparse.Namespace) -> int:
    """Show, ask and remember."""
    from ui_mcp.gateway.config.agreement import wishes
    from ui_mcp.workspace import Workspace

    workspace = Workspace.at(options.dir)
    if options.revoke:
        return _revoke(workspace)
    asked = wishes(workspace)
    if not asked:
        print(f"{workspace.config_file} widens no rights: there is nothing to agree to.")
        return 0
    return settle(asked, "ui-mcp trust", yes=options.yes)


def settle(asked: "list[Wish]", command: str, *, yes: bool) -> int:
    """Show what is asked for, let the person answer, and remember a yes."""
    from ui_mcp.gateway.config.agreement import agree

    for wish in asked:
        print(f"{wish.place}{' (agreed)' if wish.agreed else ''}", *wish.lines, sep="\n  ")
    if all(wish.agreed for wish in asked):
        print(f"You agreed to all of this; `{command} --revoke` takes it back.")
        return 0
    if not _confirmed(command, yes=yes):
        print("Nothing has changed.")
        return 1
    agree(asked)
    print("Agreed. It takes effect with the next start.")
    return 0


def offer(source: str | None) -> None:
    """Ask a person who starts a gateway at a terminal about the nlui.yaml that it would take from the directory."""
    from ui_mcp.gateway.config.agreement import agree, found_file, wish_of

    file = found_file(source)
    if file is None or not _can_ask():
        return
    wish = wish_of(file)
    if wish.agreed:
        return
    # stdout may lead into a pipe, which takes the answer of the command
    print(f"{file} is new or has changed since you agreed to it:", *wish.lines, sep="\n  ", file=sys.stderr)
    if _answer("Use it? [y/N] ", sys.stderr):
        agree([wish])


def _revoke(workspace: "Workspace") -> int:
    from ui_mcp.gateway.config.agreement import wishes
    from ui_mcp.trust import Agreements

    places = [workspace.base]
    with suppress(ConfigError):  # a broken file is no reason to keep an agreement
        places += [wish.place for wish in wishes(workspace)]
    taken = [Agreements().remove(place) for place in places]
    print("Taken back; it ends with the next start." if any(taken) else f"Nothing was agreed to for {workspace.base}.")
    return 0


def _confirmed(command: str, *, yes: bool) -> bool:
    """Ask at the controlling terminal: neither an agent's pipe nor a file can agree.

    Raises:
        RefusedError: there is no terminal.
    """
    if not sys.stdin.isatty() or not _has_terminal():
        raise RefusedError(f"Only a person at a terminal can agree\nRun `{command}` in a terminal of your own.")
    return yes or _answer("Let this directory use these settings? [y/N] ", sys.stdout)


def _answer(question: str, out: TextIO) -> bool:
    print(question, end="", flush=True, file=out)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _can_ask() -> bool:
    """Return whether a question reaches a person: a job in the background would be stopped when it reads the answer."""
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
