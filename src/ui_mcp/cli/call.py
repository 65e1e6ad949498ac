"""Call a tool of this directory's server, as an agent would; a server is started if none runs.

Examples:
  ui-mcp call                                   list the tools
  ui-mcp call ui_display name=board             arguments by name; a value may be JSON
  ui-mcp call ui_run code='return 6 * 7'
  ui-mcp call ui_edit --json edit.json          all arguments from a file; - is stdin
"""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.commands.call import run_call
else:
    run_call = lazy("ui_mcp.app.commands.call:run_call")

HELP = "call a tool of the server, or list the tools"


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.directory(parser)
    parser.add_argument("tool", nargs="?", metavar="TOOL", help="the tool; without it, the tools are listed")
    parser.add_argument("pair", nargs="*", metavar="NAME=VALUE", help="an argument; the value is JSON or text")
    parser.add_argument("--json", metavar="FILE", help="a file with all arguments as a JSON object; - is stdin")


def run(options: argparse.Namespace) -> int:
    lines, code = run_call(options.dir, options.tool, options.pair, options.json)
    for line in lines:
        print(readable(line) if sys.stdout.isatty() else line)
    return code


def readable(text: str) -> str:
    """Return JSON objects and lists with indentation, anything else as it is."""
    try:
        found = json.loads(text) if text[:1] in {"{", "["} else None
    except ValueError:
        return text
    return json.dumps(found, indent=2, ensure_ascii=False) if found else text
