"""Add ui-mcp to the configuration of your MCP hosts.

  ui-mcp setup                       every host that is installed on this machine
  ui-mcp setup claude-code codex     these hosts
  ui-mcp setup --dry-run             show what would change, and write nothing
  ui-mcp setup --remove codex        take ui-mcp out again
  ui-mcp setup --hooks claude-code   answer the host's permission prompts in the inbox; also codex and gemini

It shows the changes first. Everything else in those files stays, comments included, and the previous version of each
is kept beside it as FILE.before-ui-mcp. For hosts that guard `.claude/`, apps go to `.ui`.
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.commands.setup import run_setup
else:
    run_setup = lazy("ui_mcp.app.commands.setup:run_setup")

HELP = "connect Claude Code, Codex, Gemini CLI, VS Code, Cursor and other hosts"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("hosts", nargs="*", metavar="HOST", help="default: all that are installed")
    parser.add_argument("-n", "--dry-run", action="store_true", help="show what would change, and write nothing")
    parser.add_argument("-y", "--yes", action="store_true", help="write without asking")
    parser.add_argument("--remove", action="store_true", help="remove ui-mcp from these hosts")
    parser.add_argument("--hooks", action="store_true", help="install or remove permission hooks instead")
    parser.add_argument(
        "--dir", metavar="D", help="base directory, relative to the project (default .claude/ui or .ui)"
    )


def run(options: argparse.Namespace) -> int:
    return run_setup(options)
