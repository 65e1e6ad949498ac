"""Show and answer calls that wait for a person, and sign in the browsers that may answer them.

  ui-mcp approvals open          sign your browser in to the page of every running server (by links that work once)
  ui-mcp approvals sign-out      sign out all browsers; each then needs a new link
  ui-mcp approvals list          show pending calls; show, approve and deny take ids or their beginnings
  ui-mcp approvals rules         show standing answers; forget takes their numbers
  ui-mcp approvals hook HOST     started by claude-code, codex or gemini: ask in the inbox (see ui-mcp setup --hooks)
  ui-mcp approvals prompt-tool   an MCP server for claude --permission-prompt-tool: ask in the inbox

The default is the store of the directory's gateway; `--store` names another file, or a PostgreSQL database by its URL
(without the password, which belongs in PGPASSWORD or ~/.pgpass).
`hook` prints nothing without a running server, or after a failure, and the host asks by itself. The other commands act
for you: they need a terminal, or a token with the role human in UI_MCP_TOKEN.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.commands.approvals import ApprovalCommand, open_person_pages, run_command
    from ui_mcp.app.commands.hook import run_hook
    from ui_mcp.app.commands.prompt_tool import run_prompt_tool
else:
    ApprovalCommand = lazy("ui_mcp.app.commands.approvals:ApprovalCommand")
    open_person_pages = lazy("ui_mcp.app.commands.approvals:open_person_pages")
    run_command = lazy("ui_mcp.app.commands.approvals:run_command")
    run_hook = lazy("ui_mcp.app.commands.hook:run_hook")
    run_prompt_tool = lazy("ui_mcp.app.commands.prompt_tool:run_prompt_tool")

HELP = "answer pending calls, or sign your browser in to answer them"
ACTIONS = ("open", "sign-out", "list", "show", "approve", "deny", "rules", "forget", "hook", "prompt-tool")


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.directory(parser)
    parser.add_argument("--store", metavar="PATH|URL", help="the approvals.db of a gateway, or postgresql://…")
    parser.add_argument("action", metavar="ACTION", choices=ACTIONS, help=f"what to do: {', '.join(ACTIONS)}")
    parser.add_argument(
        "id",
        nargs="*",
        default=[],
        metavar="ID",
        help="ids of approvals or their beginnings, numbers of rules, or a host",
    )
    parser.add_argument("--reason", metavar="TEXT", help="reason shown to the agent")
    parser.add_argument("--abort", action="store_true", help="deny and stop the agent's turn")
    parser.add_argument(
        "--scope",
        choices=("once", "session", "always"),
        default="once",
        help="how long the approval is valid (default once)",
    )
    parser.add_argument(
        "--covers",
        action="append",
        metavar="PATH=GLOB",
        help="arguments covered by an approval for the session or always (default: these, any body)",
    )
    parser.add_argument("--arguments", metavar="JSON", help="approve with these arguments instead")
    parser.add_argument("--no-browser", action="store_true", help="open: only show the link")


def run(options: argparse.Namespace) -> int:
    if options.action == "open":
        return open_person_pages(browser=not options.no_browser)
    if options.action == "hook":
        return run_hook(options.id)
    if options.action == "prompt-tool":
        return run_prompt_tool(*options.stdio)
    covers = dict(entry.partition("=")[::2] for entry in options.covers) if options.covers else None
    command = ApprovalCommand(
        options.action, tuple(options.id), options.reason, options.abort, options.scope, options.arguments, covers
    )
    for line in run_command(options.store, options.dir, command):
        print(line)
    sys.stdout.flush()
    return 0
