"""Let agents inspect and operate a running JavaFX or Swing program or a web page.

  ui-mcp attach                        list Java programs and attached targets
  ui-mcp attach PID                    load the agent into a running JavaFX or Swing program, which needs no changes
  ui-mcp attach --url https://…        open a page in a browser that ui-mcp starts
  ui-mcp attach --cdp http://…:9222    connect to a browser started with --remote-debugging-port
  ui-mcp attach --javaagent            print the JVM option that loads the agent at start, where attaching is refused
  ui-mcp attach --detach NAME          detach a target; the program keeps running

Attached targets are listed by the tool ui_targets of the server for the same directory.
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.commands.attach import run_attach
    from ui_mcp.introspection.backends import backends
else:
    run_attach = lazy("ui_mcp.app.commands.attach:run_attach")
    backends = lazy("ui_mcp.introspection.backends:backends")

HELP = "let agents inspect and operate a JavaFX or Swing program or a web page"


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.directory(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("pid", nargs="?", type=int, metavar="PID", help="process id of a running JavaFX or Swing program")
    for backend in backends().values():
        if backend.kind != "javafx":
            kind = int if backend.address == "PID" else str
            what.add_argument(f"--{backend.kind}", metavar=backend.address, type=kind, help=backend.summary)
    what.add_argument("--javaagent", action="store_true", help="print the JVM option that loads the agent at start")
    what.add_argument("--detach", metavar="NAME", help="detach a target")
    parser.add_argument("--read-only", action="store_true", help="JavaFX: allow inspection only, no actions")
    parser.add_argument("--name", metavar="NAME", help="name of the target (default: its kind; JavaFX: with the PID)")


def run(options: argparse.Namespace) -> int:
    return run_attach(options)
