"""Run an assistant in a project's chat.

It reads what people write, uses the tools of the configured APIs and MCP servers, and answers. Model, APIs and servers
are configured in an nlui.yaml (see `nlui init`). Talk to it with `ui-mcp chat post`, with the chat page of
`ui-mcp serve`, or with any MCP client of the human side. You can stop it at any time: it resumes where it left off.

Examples:
  nlui init && ui-mcp agent             write an nlui.yaml, then answer in this project's chat
  ui-mcp agent --config ~/team.yaml     another configuration
  ui-mcp agent --conversation ops shop  answer in two conversations
  ui-mcp chat post 'What is open?'      ask it something, in a second terminal
"""

import argparse
import re
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.agent_runner import AgentOptions, run_agent
else:
    AgentOptions = lazy("ui_mcp.app.agent_runner:AgentOptions")
    run_agent = lazy("ui_mcp.app.agent_runner:run_agent")

RESERVED = frozenset({"agent", "human", "admin", "observer", "orchestrator"})
"""Names of roles."""
HELP = "run an assistant in a project's chat"


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.directory(parser)
    parser.add_argument(
        "--config", metavar="FILE", help="nlui.yaml with model, APIs and servers (default: ./nlui.yaml)"
    )
    parser.add_argument(
        "--conversation",
        metavar="NAME",
        nargs="+",
        default=["default"],
        help="which conversations, each with a memory of its own (default: default)",
    )
    parser.add_argument(
        "--from-start",
        action="store_true",
        help="without a record of the conversation, answer every message in it, even those answered before",
    )
    parser.add_argument(
        "--name",
        type=_name,
        metavar="NAME",
        help="its name if agents share the conversation: it answers messages to @NAME or to no one",
    )
    parser.add_argument("-v", action="count", dest="verbosity", default=0, help="log more to stderr")


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z][\w-]{0,31}", text, re.ASCII) or text in RESERVED:
        raise argparse.ArgumentTypeError("a name has letters, digits, _ and -, and begins with a letter")
    return text


def run(options: argparse.Namespace) -> int:
    return run_agent(
        AgentOptions(
            options.dir, options.config, options.conversation, options.verbosity, options.from_start, options.name
        )
    )
