"""Serve one side of the chat between people and agents, or use the chat from a terminal.

  ui-mcp chat --face assistant              MCP on stdin and stdout, for an agent
  ui-mcp chat --face human --port 8010      MCP at /mcp and /sse, bridges and the chat page at /chat
  ui-mcp chat post 'Deploy now?'            post a message as the human
  ui-mcp chat follow                        print messages, errors of the agent and what it asks as they arrive
  ui-mcp chat history                       print the newest messages
  ui-mcp chat stop                          stop what the agent is doing
  ui-mcp chat resume                        let a stopped or failed agent continue
  ui-mcp chat export > chat.jsonl           write every message as JSON Lines
  ui-mcp chat backup FILE                   copy the whole store, SQLite or PostgreSQL, while it is in use
  ui-mcp chat restore FILE                  fill an empty store from a backup

The human side acts for you: it needs a terminal, or a token with the role human in the environment variable
UI_MCP_TOKEN. Without --port or an action, it serves MCP over stdin and stdout. Tokens: see `ui-mcp token --help`.
"""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.commands.chat import run_chat
else:
    run_chat = lazy("ui_mcp.app.commands.chat:run_chat")

HELP = "serve or join the chat between people and agents"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options; the common ones may be given before or after the action."""
    shared.directory(parser)
    parser.set_defaults(face="human", conversation="default", principal=None, verbosity=0, action=None)
    _common(parser)
    parser.add_argument(
        "--stdio", action="store_true", dest="on_stdio", help="serve MCP over stdin and stdout (default)"
    )
    parser.add_argument(
        "--port", type=shared.port, metavar="N", help="serve HTTP on this port instead; 0 = any free port"
    )
    add = parser.add_subparsers(title="actions", dest="action", metavar="ACTION").add_parser
    post = _action(add, "post", "post a message")
    post.add_argument("text", nargs="*", metavar="TEXT", help="the message; - or nothing reads stdin")
    follow = _action(add, "follow", "print messages, errors of the agent and what it asks as they arrive")
    _action(add, "stop", "stop what the agent is doing")
    _action(add, "resume", "let a stopped or failed agent continue")
    history = _action(add, "history", "print the newest messages")
    history.add_argument("--limit", type=int, metavar="N", default=50, help="how many messages (default 50)")
    export = _action(add, "export", "write every message")
    export.add_argument("--format", choices=["jsonl", "csv"], default="jsonl", help="output format (default jsonl)")
    backup = _action(add, "backup", "copy the store to a new file")
    backup.add_argument("file", metavar="FILE", help="the new file; it must not exist yet")
    restore = _action(add, "restore", "fill an empty store from a backup")
    restore.add_argument("file", metavar="FILE", help="a file written by `ui-mcp chat backup`")
    for reader in (history, export, backup):
        reader.add_argument("--store", metavar="PATH|URL", help="a store other than the directory's")
    for reader in (follow, export):
        reader.add_argument("--after", metavar="ID", help="only messages after this id")


def _action(add: Callable[..., argparse.ArgumentParser], name: str, text: str) -> argparse.ArgumentParser:
    parser = add(name, help=text, description=f"{text.capitalize()}.")
    parser.add_argument("--dir", metavar="D", default=argparse.SUPPRESS, help="base directory (default .claude/ui)")
    _common(parser)
    return parser


def _common(parser: argparse.ArgumentParser) -> None:
    absent = argparse.SUPPRESS
    parser.add_argument("--face", choices=["human", "assistant"], default=absent, help="which side (default human)")
    parser.add_argument("--conversation", metavar="NAME", default=absent, help="which conversation (default: default)")
    parser.add_argument(
        "--principal", metavar="NAME", default=absent, help="who posts or is served (default: human or agent)"
    )
    parser.add_argument("-v", action="count", dest="verbosity", default=absent, help="log more to stderr")


def run(options: argparse.Namespace) -> int:
    return run_chat(options)
