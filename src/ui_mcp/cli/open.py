"""Open your page of the running server in your browser: the app, the chat, questions and settings.

The link that it shows signs in one browser, once. It is the same as `ui-mcp approvals open`.
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.commands.approvals import open_person_pages
else:
    open_person_pages = lazy("ui_mcp.app.commands.approvals:open_person_pages")

HELP = "open your page of the running server in your browser"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-browser", action="store_true", help="only show the link")


def run(options: argparse.Namespace) -> int:
    return open_person_pages(browser=not options.no_browser)
