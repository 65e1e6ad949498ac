"""See and answer the calls that wait for a person, and let a browser in that may answer them.

  ui-mcp approvals open          let your browser in to the page of every server that runs (a link that works once)
  ui-mcp approvals sign-out      end what lets browsers in; every one needs a new link
  ui-mcp approvals list          show what waits; show, approve and deny take the beginnings of ids
  ui-mcp approvals rules         show standing answers; forget takes their numbers

The store is found where nlui keeps it; `--store` names another file, or a PostgreSQL database by its URL (without the
password: PGPASSWORD or ~/.pgpass has it).
These commands speak for you: they need a terminal, or a token of the role human in UI_MCP_TOKEN.
"""

import argparse
import sys

from ui_mcp.cli import options as shared

HELP = "answer calls that wait, or let your browser in to do so"
ACTIONS = ("open", "sign-out", "list", "show", "approve", "deny", "rules", "forget")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Take an action and the approval it is about."""
    shared.directory(parser)
    parser.add_argument("--store", metavar="PATH|URL", help="the approvals.db of a gateway, or postgresql://…")
    parser.add_argument("action", choices=ACTIONS, help="what to do")
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
    parser.add_argument("--no-browser", action="store_true", help="open: only show the link")


def run(options: argparse.Namespace) -> int:
    """Carry out one action."""
    if options.action == "open":
        from ui_mcp.app.commands.approvals import open_person_pages

        return open_person_pages(browser=not options.no_browser)
    from ui_mcp.app.commands.approvals import ApprovalCommand, run_command

    covers = dict(entry.partition("=")[::2] for entry in options.covers) if options.covers else None
    wish = ApprovalCommand(
        options.action, tuple(options.id), options.reason, options.abort, options.scope, options.arguments, covers
    )
    for line in run_command(options.store, options.dir, wish):
        print(line)
    sys.stdout.flush()
    return 0
