"""Show the example apps in your browser.

They run in a temporary directory on free ports with hot reload: edit a file of an app there and watch the page.
The directory is deleted when you stop the demo.
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.commands.demo import run_demo
else:
    run_demo = lazy("ui_mcp.app.commands.demo:run_demo")

HELP = "see the example apps in your browser"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "app", nargs="?", metavar="APP", default="dashboard", help="example to show first (default dashboard)"
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")


def run(options: argparse.Namespace) -> int:
    return run_demo(options.app, browser=not options.no_browser)
