"""The `ui-mcp` command line: one module per command, imported only when it runs."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn

from ui_mcp import cli
from ui_mcp.cli.options import HelpText
from ui_mcp.discovery import discover_modules, lazy
from ui_mcp.errors import UiMcpError

# No server needs colour, and only a mistake needs guesses.
if TYPE_CHECKING:
    from difflib import get_close_matches

    from ui_mcp.terminal_style import style_of
else:
    style_of = lazy("ui_mcp.terminal_style:style_of")
    get_close_matches = lazy("difflib:get_close_matches")

_CHOICE = re.compile(r"argument ([^:]+): invalid choice: '([^']*)' \(choose from (.*)\)$")
_UNKNOWN = "unrecognized arguments: "
DESCRIPTION = "MCP server that gives AI agents a live browser UI, chat, UI automation and an API gateway."
GROUPS = {
    "see it": ("demo", "serve", "open"),
    "connect agents": ("setup", "mcp", "token", "agent", "attach", "nlui"),
    "decide and talk": ("approvals", "phone", "chat", "trust"),
    "build and look": ("new", "call", "logs", "theme"),
    "look after it": ("doctor", "stop", "session", "install", "uninstall", "completion", "version"),
}
"""The commands by what people want; others are listed after them."""
EXAMPLES = """\
examples:
  ui-mcp demo                         watch an agent build an app in your browser
  ui-mcp setup                        connect the hosts on this machine to this project
  ui-mcp serve                        run it yourself: UI on port 8000, MCP on port 8001
  ui-mcp call ui_display name=board   call a tool of the running server

Run `ui-mcp COMMAND --help` for more on a command.
"""


def run(arguments: Sequence[str], stdio: tuple[int, int] | None = None) -> int:
    """Run one command line and return the exit code; `stdio` are the file descriptors reserved for MCP."""
    if not arguments:
        _parser(_commands(), complete=False).print_help(sys.stderr)
        return 2
    if arguments[0] in {"help", "-h", "--help"}:
        _parser(_commands(), complete=False).print_help()
        return 0
    if arguments[0] in {"-V", "--version"}:
        arguments = ["version", *arguments[1:]]
    options = parse(arguments, stdio)
    try:
        code: int = options.run(options)
    except UiMcpError as error:
        print_error(error)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return ignore_broken_pipe()
    return code


def parse(arguments: Sequence[str], stdio: tuple[int, int] | None) -> argparse.Namespace:
    """Parse a command line; a command with TAKES_ALL parses its own words, the first of which may be an option."""
    module = command_named(arguments[0])
    if module is not None and getattr(module, "TAKES_ALL", False):
        return argparse.Namespace(stdio=stdio, words=list(arguments[1:]), run=module.run)
    parser = parser_of_all() if module is None else _parser([module])
    options, unknown = parser.parse_known_args(arguments, argparse.Namespace(stdio=stdio))
    if unknown:
        # The parser of the command knows which options there are; argparse would ask the one above it.
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return options


def parser_of_all() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    return _parser(_commands())


def _commands() -> list[ModuleType]:
    return [module for module in discover_modules(cli) if is_command(module)]


def command_named(name: str) -> ModuleType | None:
    """Import one command without the others; None if there is no such command."""
    if not name.isidentifier() or find_spec(f"{cli.__name__}.{name}") is None:
        return None
    module = import_module(f"{cli.__name__}.{name}")
    return module if is_command(module) else None


def is_command(module: ModuleType) -> bool:
    """Return whether a module of this package is a command."""
    return hasattr(module, "HELP") and hasattr(module, "arguments")


def _parser(modules: Sequence[ModuleType], *, complete: bool = True) -> argparse.ArgumentParser:
    """Return the parser of these commands; an incomplete one knows their names and what they do."""
    parser = Parser(
        "ui-mcp",
        description=DESCRIPTION,
        epilog=f"{_listed(modules)}\n{EXAMPLES}" if len(modules) > 1 else None,
        formatter_class=HelpText,
        usage="%(prog)s [-h] [-V] COMMAND ...",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, help=argparse.SUPPRESS, prog="ui-mcp")
    for module in modules:
        name = module.__name__.rpartition(".")[2]
        command = commands.add_parser(
            name,
            description=module.__doc__,
            formatter_class=HelpText,
        )
        if complete:
            module.arguments(command)
        command.set_defaults(run=module.run, parser=command)
    parser.add_argument("-V", "--version", action="store_true", help="print the version and exit")
    return parser


def _listed(modules: Sequence[ModuleType]) -> str:
    """Return the commands in their groups, with what each is for."""
    texts = {module.__name__.rpartition(".")[2]: module.HELP for module in modules}
    grouped = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, "others": tuple(name for name in texts if name not in grouped)}
    style = style_of()
    lines = []
    for title, names in groups.items():
        known = [name for name in names if name in texts]
        if known:
            lines += [style.paint(f"{title}:", "bold"), *(f"    {name:11} {texts[name]}" for name in known), ""]
    return "\n".join(lines)


def ignore_broken_pipe() -> int:
    """Suppress Python's error at exit when the reader of our output is gone; return the exit code."""
    # Python flushes stdout at exit; into /dev/null that cannot fail.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


def print_error(error: UiMcpError, command: str = "ui-mcp") -> None:
    """Print an error and its hint to stderr."""
    first, *rest = error.message.splitlines()
    head = style_of(sys.stderr).paint(f"{command}:", "red")
    print(f"{head} {first}", *rest, sep="\n  ", file=sys.stderr)


class Parser(argparse.ArgumentParser):
    """Prints the usage of the command at hand, and of a misspelt word the one that is nearest to it."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        head = style_of(sys.stderr).paint(f"{self.prog}:", "red")
        self.exit(2, f"{head} {explained(message, self._options())}\n")

    def _options(self) -> list[str]:
        return [name for action in self._actions for name in action.option_strings]


def explained(message: str, options: Sequence[str]) -> str:
    """Return the message of argparse with a guess, instead of a long list of choices; pure."""
    found = _CHOICE.search(message)
    if found:
        name, word, choices = found[1], found[2], re.findall(r"[\w.-]+", found[3])
        rest = f"\nDid you mean {near[0]}?" if (near := close(word, choices)) else f"\nThere are: {', '.join(choices)}"
        kind = name.lower() if name in {"COMMAND", "ACTION"} else f"value of {name}:"
        return f"Unknown {kind} {word!r}{rest}"
    if message.startswith(_UNKNOWN):
        word = message.removeprefix(_UNKNOWN).split()[0].partition("=")[0]
        near = close(word, options)
        return message + (f"\nDid you mean {near[0]}?" if near else "")
    return message


def close(word: str, known: Sequence[str]) -> list[str]:
    """Return the known words that are near to a misspelt one, the nearest first."""
    return get_close_matches(word, known, 3, 0.6)
