"""See and answer the calls that wait for a person.

The store is found where nlui keeps it; `--store` names another file, or a PostgreSQL database by its URL.
"""

import argparse
import sys

HELP = "list, show, approve or deny calls that wait"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Take an action and the approval it is about."""
    parser.add_argument("--store", metavar="PATH|URL", help="the approvals.db of a gateway, or postgresql://…")
    parser.add_argument("action", choices=("list", "show", "approve", "deny", "rules", "forget"), help="what to do")
    parser.add_argument(
        "id", nargs="*", default=[], metavar="ID", help="approvals, their beginnings, or the number of a rule"
    )
    parser.add_argument("--reason", metavar="TEXT", help="shown to the agent")
    parser.add_argument("--abort", action="store_true", help="deny and stop the agent's turn")
    parser.add_argument(
        "--scope", choices=("once", "session", "always"), default="once", help="how long a yes holds (default once)"
    )
    parser.add_argument(
        "--covers",
        action="append",
        metavar="PATH=GLOB",
        help="arguments that a yes for the session or for always covers (default: these, any body)",
    )
    parser.add_argument("--arguments", metavar="JSON", help="approve with these arguments instead")


def run(options: argparse.Namespace) -> int:
    """Carry out one action."""
    from ui_mcp.app.approvals_terminal import Wish, act

    covers = dict(entry.partition("=")[::2] for entry in options.covers) if options.covers else None
    wish = Wish(
        options.action, tuple(options.id), options.reason, options.abort, options.scope, options.arguments, covers
    )
    for line in act(options.store, wish):
        print(line)
    sys.stdout.flush()
    return 0
