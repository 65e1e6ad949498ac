"""Print a shell completion script for the commands ui-mcp and nlui.

  bash   mkdir -p ~/.local/share/bash-completion/completions
         ui-mcp completion bash > ~/.local/share/bash-completion/completions/ui-mcp
         ln -s ui-mcp ~/.local/share/bash-completion/completions/nlui
  zsh    ui-mcp completion zsh > "${fpath[1]}/_ui-mcp"
  fish   ui-mcp completion fish > ~/.config/fish/conf.d/ui-mcp.fish

To try it in the current shell: source <(ui-mcp completion bash), in fish: ui-mcp completion fish | source
"""

import argparse

from ui_mcp.cli.completion_words import Place, places

HELP = "print a completion script for bash, zsh or fish"
SHELLS = ("bash", "zsh", "fish")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="bash, zsh or fish")


def run(options: argparse.Namespace) -> int:
    from ui_mcp.cli.completion_scripts import script

    print(script(options.shell, every_place()), end="")
    return 0


def every_place() -> list[Place]:
    """Return the completions of `ui-mcp`, of `nlui` and of its other form, `ui-mcp nlui`."""
    from ui_mcp.cli import nlui
    from ui_mcp.cli.main import parser_of_all
    from ui_mcp.cli.nlui import inspect

    found = [place for place in places("ui-mcp", parser_of_all()) if place.path != "ui-mcp nlui"]
    for path in ("nlui", "ui-mcp nlui"):
        serving, *_ = places(path, nlui.parser())
        one, *below = places(path, inspect.parser())
        found += [Place(path, one.commands, serving.options, serving.values), *below]
    return found
