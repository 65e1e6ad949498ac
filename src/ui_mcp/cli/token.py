"""Create, list, rotate and revoke the tokens of people and agents that use the chat over HTTP.

A token is printed only once; `link` writes to the terminal only. As soon as one side of the chat has a token, every
client of that side needs one. These commands act for you: they need a terminal, or a token with the role human in the
environment variable UI_MCP_TOKEN.

Roles: human, agent, orchestrator, observer, admin.

Examples:
  ui-mcp token create ci --role agent   print a token for a program
  ui-mcp token rotate ci                replace it; the old one works for ten more minutes
  ui-mcp token revoke ci                end it now
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.commands.token import run_action
else:
    run_action = lazy("ui_mcp.app.commands.token:run_action")

HELP = "manage tokens of people and agents"


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.directory(parser)
    actions = parser.add_subparsers(title="actions", dest="action", metavar="ACTION", required=True)
    create = actions.add_parser("create", help="create a token and print it")
    create.add_argument("name", metavar="NAME", help="name of the token, for example laptop")
    create.add_argument(
        "--role", choices=["human", "agent", "orchestrator", "observer", "admin"], required=True, help="what it may do"
    )
    create.add_argument("--subscriber", metavar="NAME", help="whom it identifies (default: NAME)")
    actions.add_parser("list", help="list the tokens without their secrets")
    rotate = actions.add_parser("rotate", help="replace a token; the old one works a while longer")
    rotate.add_argument("name", metavar="NAME", help="which token; see `ui-mcp token list`")
    rotate.add_argument(
        "--grace", type=float, default=600.0, metavar="S", help="seconds that the old one stays valid (600)"
    )
    link = actions.add_parser("link", help="print a link to the chat page that signs in one browser, once")
    link.add_argument("name", metavar="NAME", help="token whose holder the browser becomes")
    link.add_argument("--url", metavar="URL", default="", help="address of the human side, e.g. http://127.0.0.1:8010")
    link.add_argument("--seconds", type=float, default=600.0, metavar="S", help="seconds that the link is valid (600)")
    revoke = actions.add_parser("revoke", help="revoke a token now")
    revoke.add_argument("name", metavar="NAME", help="which token; see `ui-mcp token list`")


def run(options: argparse.Namespace) -> int:
    return run_action(options)
