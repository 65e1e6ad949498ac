"""Print a shell completion script for the commands ui-mcp and nlui.

  bash   mkdir -p ~/.local/share/bash-completion/completions
         ui-mcp completion bash > ~/.local/share/bash-completion/completions/ui-mcp
         ln -s ui-mcp ~/.local/share/bash-completion/completions/nlui
  zsh    ui-mcp completion zsh > "${fpath[1]}/_ui-mcp"
  fish   ui-mcp completion fish > ~/.config/fish/conf.d/ui-mcp.fish

To try it in the current shell:

  bash   source <(ui-mcp completion bash)
  fish   ui-mcp completion fish | source
"""

import argparse
from collections.abc import Iterable

from argcomplete import autocomplete
from argcomplete.completers import BaseCompleter, DirectoriesCompleter, FilesCompleter
from argcomplete.shell_integration import shellcode

from ui_mcp.cli import nlui
from ui_mcp.cli.main import parser_of_all

HELP = "print a completion script for bash, zsh or fish"
SHELLS = ("bash", "zsh", "fish")
PROGRAMS = ("ui-mcp", "nlui")
FOLDERS = frozenset({"D", "DIR"})
FILES = frozenset({"FILE", "CONFIG", "CONFIG|URL", "SPEC|CONFIG|URL", "PATH|URL"})


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="bash, zsh or fish")


def run(options: argparse.Namespace) -> int:
    print(shellcode(PROGRAMS, shell=options.shell), end="")
    return 0


def complete(program: str) -> None:
    """Answer the completion request of a shell, which is in environment variables, and exit."""
    # Without `always_complete_options`, options are listed only after a hyphen.
    autocomplete(parser_of(program), always_complete_options=False, default_completer=PathCompleter())


def parser_of(program: str) -> argparse.ArgumentParser:
    """Return a parser of everything that can follow `ui-mcp` or `nlui`."""
    if program == "ui-mcp":
        return parser_of_all()
    parser = argparse.ArgumentParser(program)
    nlui.arguments(parser)
    return parser


class PathCompleter(BaseCompleter):
    """Completes values that are files or folders, as their metavar tells; suggests nothing for others."""

    def __call__(self, *, prefix: str, action: argparse.Action, **_: object) -> Iterable[str]:
        if action.metavar in FOLDERS:
            return DirectoriesCompleter()(prefix)
        return FilesCompleter()(prefix) if action.metavar in FILES else ()
