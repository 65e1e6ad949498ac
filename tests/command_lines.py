"""What can be written after `ui-mcp` and `nlui`, read from their parsers."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field

from ui_mcp.cli.completion import PROGRAMS, parser_of


@dataclass(frozen=True)
class Place:
    """Commands and options after a path such as `ui-mcp chat`, with their help."""

    path: str
    commands: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    values: set[str] = field(default_factory=set)
    """Options that take a value."""


def every_place() -> list[Place]:
    return [place for program in PROGRAMS for place in _places(program, parser_of(program))]


def _places(path: str, parser: argparse.ArgumentParser) -> Iterator[Place]:
    place = Place(path)
    yield place
    # argparse has no public way to list the actions of a parser.
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            place.commands.update({one.dest: one.help or "" for one in action._choices_actions})
            for name, inner in action.choices.items():
                yield from _places(f"{path} {name}", inner)
        for option in action.option_strings:
            place.options[option] = action.help or ""
            if action.nargs != 0 and not isinstance(action, argparse.BooleanOptionalAction):
                place.values.add(option)
