"""Options that several commands share, and the settings that they override."""

import argparse
import os

from ui_mcp.jsontypes import JsonObject
from ui_mcp.workspace import DEFAULT_DIR, OTHER_DIR, default_dir

FLAGS = {
    "host": "server.host",
    "port": "server.port",
    "mcp_port": "server.mcp_port",
    "person_port": "server.person_port",
    "hotload": "lua.hotload",
    "session_timeout": "session.timeout",
    "verbosity": "logging.verbosity",
}
"""Name on the parsed command line → TOML key."""


def directory(parser: argparse.ArgumentParser) -> None:
    """Add `--dir`."""
    parser.add_argument(
        "--dir",
        metavar="D",
        default=os.environ.get("UI_DIR") or default_dir(),
        help="base directory, relative to the working directory "
        f"(env UI_DIR; default {DEFAULT_DIR}, or {OTHER_DIR} if only that exists; "
        "without a project, at /, a directory of your account)",
    )


def server(parser: argparse.ArgumentParser) -> None:
    """Add the options that `mcp` and `serve` share."""
    directory(parser)
    parser.add_argument("--host", metavar="ADDR", help="address to listen on (env UI_HOST; default 127.0.0.1)")
    parser.add_argument(
        "--hotload",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="reload changed app files (env UI_HOTLOAD; default on)",
    )
    parser.add_argument(
        "--session-timeout",
        metavar="T",
        help="end sessions idle for T, e.g. 90s, 15m, 24h; 0 = never (env UI_SESSION_TIMEOUT; default 24h)",
    )
    parser.add_argument(
        "--allow-dir",
        action="append",
        default=[],
        metavar="D",
        help="directory that ui_configure may switch to besides the project; may be repeated",
    )
    parser.add_argument(
        "-v",
        action="count",
        dest="verbosity",
        help="log more: calls and connections, -vv messages, up to -vvvv (env UI_VERBOSITY)",
    )


def port(text: str) -> int:
    """Parse a port number."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; ports are numbers from 0 to 65535")
    return int(text)


def flags_of(options: argparse.Namespace) -> JsonObject:
    """Return the settings given on the command line, by TOML key."""
    given = vars(options)
    return {key: given[name] for name, key in FLAGS.items() if given.get(name) is not None}
