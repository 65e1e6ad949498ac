"""Make, list, rotate and revoke the tokens that say who talks to the chat over HTTP.

The text of a token is printed once; `link` writes to the terminal only. As soon as a side has a token, its face asks
everyone for one. These commands speak for you: they need a terminal, or a token of the role human in the environment
variable UI_MCP_TOKEN.
Roles: human, agent, orchestrator, observer, admin.
"""

import argparse

from ui_mcp.cli import options as shared

HELP = "manage tokens of people and agents"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Take an action and a name."""
    shared.directory(parser)
    actions = parser.add_subparsers(title="actions", dest="action", metavar="ACTION", required=True)
    create = actions.add_parser("create", help="make a token and print it")
    create.add_argument("name", metavar="NAME", help="what the token is called, for example laptop")
    create.add_argument(
        "--role", choices=["human", "agent", "orchestrator", "observer", "admin"], required=True, help="what it may do"
    )
    create.add_argument("--subscriber", metavar="NAME", help="who it stands for (default: NAME)")
    actions.add_parser("list", help="show tokens without their texts")
    rotate = actions.add_parser("rotate", help="replace a token; the old one works a while longer")
    rotate.add_argument("name", metavar="NAME", help="which token; see `ui-mcp token list`")
    rotate.add_argument("--grace", type=float, default=600.0, metavar="S", help="seconds the old one works (600)")
    link = actions.add_parser("link", help="print a link to the chat page that lets one browser in, once")
    link.add_argument("name", metavar="NAME", help="whose token the browser gets a further one of")
    link.add_argument("--url", metavar="URL", default="", help="address of the human face, e.g. http://127.0.0.1:8010")
    link.add_argument("--seconds", type=float, default=600.0, metavar="S", help="how long it is good (600)")
    revoke = actions.add_parser("revoke", help="end a token now")
    revoke.add_argument("name", metavar="NAME", help="which token; see `ui-mcp token list`")


def run(options: argparse.Namespace) -> int:
    """Carry out the action."""
    from ui_mcp.app.commands.token import run_action

    return run_action(options)
