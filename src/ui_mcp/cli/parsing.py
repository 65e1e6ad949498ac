"""The argument parser of our commands: errors that say what was probably meant, help in groups."""

import argparse
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from ui_mcp.discovery import lazy

# Only a mistake needs them.
if TYPE_CHECKING:
    from difflib import get_close_matches

    from ui_mcp.terminal_style import style_of
else:
    style_of = lazy("ui_mcp.terminal_style:style_of")
    get_close_matches = lazy("difflib:get_close_matches")

_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)$")
_UNKNOWN = "unrecognized arguments: "


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
        word, choices = found[1], re.findall(r"[\w.-]+", found[2])
        rest = f"\nDid you mean {near[0]}?" if (near := close(word, choices)) else f"\nThere are: {', '.join(choices)}"
        return f"There is no {word!r}{rest}"
    if message.startswith(_UNKNOWN):
        word = message.removeprefix(_UNKNOWN).split()[0].partition("=")[0]
        near = close(word, options)
        return message + (f"\nDid you mean {near[0]}?" if near else "")
    return message


def close(word: str, known: Sequence[str]) -> list[str]:
    """Return the known words that are near to a misspelt one, the nearest first."""
    return get_close_matches(word, known, 3, 0.6)
