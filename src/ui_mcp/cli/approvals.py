"""See and answer the calls that wait for a person.

The store is found where nlui keeps it; `--store` names another approvals.db.
"""

import argparse
import sys
from pathlib import Path

HELP = "list, show, approve or deny calls that wait"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Take an action and the approval it is about."""
    parser.add_argument("--store", metavar="PATH", help="the approvals.db of a gateway")
    parser.add_argument("action", choices=("list", "show", "approve", "deny", "rules", "forget"))
    parser.add_argument("id", nargs="?", help="an approval, its beginning, or the number of a rule")
    parser.add_argument("--reason", help="shown to the agent")
    parser.add_argument("--abort", action="store_true", help="deny and stop the agent's turn")
    parser.add_argument("--scope", choices=("once", "session", "always"), default="once")
    parser.add_argument("--arguments", metavar="JSON", help="approve with these arguments instead")


def run(options: argparse.Namespace) -> int:
    """Carry out one action."""
    from ui_mcp.app.approvals_terminal import Wish, act

    store = Path(options.store).expanduser() if options.store else None
    wish = Wish(options.action, options.id, options.reason, options.abort, options.scope, options.arguments)
    for line in act(store, wish):
        print(line)
    sys.stdout.flush()
    return 0
