"""Watch an agent work: a tour of one minute in your browser, or one of the example apps.

The agent is a script and needs no key; all its calls are real ones to the server that this starts. Everything runs in a
temporary directory on free ports, with hot reload, and is deleted when you stop the demo.
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.commands.demo import run_demo
else:
    run_demo = lazy("ui_mcp.app.commands.demo:run_demo")

HELP = "watch a scripted agent build an app in your browser"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "app", nargs="?", metavar="APP", help="an example app to show instead of the tour, such as dashboard"
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")


def run(options: argparse.Namespace) -> int:
    return run_demo(options.app, browser=not options.no_browser)
