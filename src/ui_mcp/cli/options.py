"""Options that several commands share, and the settings that they override."""

import argparse
import os
import re
from typing import TYPE_CHECKING

from ui_mcp.discovery import lazy
from ui_mcp.jsontypes import JsonObject
from ui_mcp.workspace import DEFAULT_DIR, OTHER_DIR, default_dir

if TYPE_CHECKING:
    from ui_mcp.terminal_style import style_of
else:
    style_of = lazy("ui_mcp.terminal_style:style_of")

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
_TWO_COLUMNS = re.compile(r"( *\S+(?: \S+)* {2,})(\S.*)")
_NARROWEST = 24
"""Characters below which a second column goes to lines of its own."""


class HelpText(argparse.RawDescriptionHelpFormatter):
    """Fits descriptions into the terminal: prose is wrapped, rows keep their columns; headings are bold."""

    def start_section(self, heading: str | None) -> None:
        super().start_section(heading and style_of().paint(heading, "bold"))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines: list[str] = []
        prose: list[str] = []
        for line in [*text.splitlines(), ""]:
            if _is_prose(line, prose):
                prose.append(line)
            else:
                lines += [*self._split_lines(" ".join(prose), width), *self._row(line, width)]
                prose.clear()
        return "".join(f"{indent}{line}\n" for line in lines)

    def _row(self, line: str, width: int) -> list[str]:
        found = _TWO_COLUMNS.fullmatch(line) if len(line) > width else None
        if found is None:
            return [line]
        head, rest = found[1], found[2]
        if width - len(head) >= _NARROWEST:
            first, *others = self._split_lines(rest, width - len(head))
            return [head + first, *(" " * len(head) + other for other in others)]
        return [head.rstrip(), *(" " * 8 + other for other in self._split_lines(rest, width - 8))]


def _is_prose(line: str, before: list[str]) -> bool:
    """Return whether a line may be wrapped: no heading, no row with columns, no command; pure."""
    if not line or line[0].isspace() or line.endswith(":") or _TWO_COLUMNS.fullmatch(line) or "\x1b" in line:
        return False
    return bool(before) or not line.startswith(("ui-mcp ", "nlui "))


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
