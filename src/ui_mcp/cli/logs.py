"""Show what the server and the apps of a directory have logged.

Examples:
  ui-mcp logs                 the newest lines of all logs
  ui-mcp logs --follow        keep printing as lines are added
  ui-mcp logs lua-err -n 5    the newest errors of apps
"""

import argparse
import sys
import time
from collections import deque
from pathlib import Path

from ui_mcp.cli import options as shared
from ui_mcp.terminal_style import style_of
from ui_mcp.workspace import Workspace

HELP = "show what the server and the apps have logged"
NAMES = ("mcp", "lua", "lua-err")
COLOURS = {"mcp": "cyan", "lua": "green", "lua-err": "red"}
POLL_SECONDS = 0.3


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.directory(parser)
    parser.add_argument("name", nargs="?", choices=NAMES, help="one log: of the server, of apps, or errors of apps")
    parser.add_argument("-n", "--lines", type=int, default=20, metavar="N", help="newest lines of each (default 20)")
    parser.add_argument("-f", "--follow", action="store_true", help="keep printing until Ctrl+C")


def run(options: argparse.Namespace) -> int:
    folder = Workspace.at(options.dir).log
    files = {name: folder / f"{name}.log" for name in ([options.name] if options.name else NAMES)}
    places = {name: _print_newest(name, file, options.lines) for name, file in files.items()}
    if not any(places.values()):
        print(f"Nothing has been logged in {folder} yet.", file=sys.stderr)
    while options.follow:
        time.sleep(POLL_SECONDS)
        places = {name: _print_added(name, file, places[name]) for name, file in files.items()}
    return 0


def _print_newest(name: str, file: Path, count: int) -> int:
    """Print the end of a file and return its size."""
    try:
        with file.open("rb") as log:
            lines = deque(log, maxlen=max(count, 0))
            size = log.tell()
    except OSError:
        return 0
    _print(name, lines)
    return size


def _print_added(name: str, file: Path, since: int) -> int:
    try:
        with file.open("rb") as log:
            size = log.seek(0, 2)
            log.seek(since if size >= since else 0)  # a rotated file begins anew
            lines = log.readlines()
            since = log.tell()
    except OSError:
        return 0
    _print(name, lines)
    return since


def _print(name: str, lines: "deque[bytes] | list[bytes]") -> None:
    head = style_of().paint(f"{name:7}", COLOURS[name])
    for line in lines:
        print(f"{head} {line.decode(errors='replace').rstrip()}")
    sys.stdout.flush()
