"""Print a script that lets the shell complete the commands ui-mcp and nlui.

  bash   mkdir -p ~/.local/share/bash-completion/completions
         ui-mcp completion bash > ~/.local/share/bash-completion/completions/ui-mcp
         ln -s ui-mcp ~/.local/share/bash-completion/completions/nlui
  zsh    ui-mcp completion zsh > "${fpath[1]}/_ui-mcp"
  fish   ui-mcp completion fish > ~/.config/fish/conf.d/ui-mcp.fish

For a try in the shell at hand: source <(ui-mcp completion bash), in fish: ui-mcp completion fish | source
"""

import argparse

from ui_mcp.cli.completion_words import Place, places

HELP = "print a completion script for bash, zsh or fish"
SHELLS = ("bash", "zsh", "fish")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Take the shell."""
    parser.add_argument("shell", choices=SHELLS, help="bash, zsh or fish")


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    from ui_mcp.cli.completion_scripts import script

    print(script(options.shell, every_place()), end="")
    return 0


def every_place() -> list[Place]:
    """Return what can be typed after `ui-mcp` and after `nlui`, which is also `ui-mcp nlui`."""
    from ui_mcp.cli import nlui
    from ui_mcp.cli.main import parser_of_all
    from ui_mcp.cli.nlui import inspect

    found = [place for place in places("ui-mcp", parser_of_all()) if place.path != "ui-mcp nlui"]
    for path in ("nlui", "ui-mcp nlui"):
        serving, *_ = places(path, nlui.parser())
        one, *below = places(path, inspect.parser())
        found += [Place(path, one.commands, serving.options, serving.values), *below]
    return found
