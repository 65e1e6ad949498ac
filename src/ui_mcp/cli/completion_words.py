"""Table of completions, read from the argument parsers; every shell's script is generated from it."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field

FOLDERS = frozenset({"D", "DIR"})
FILES = frozenset({"FILE", "CONFIG|URL"})


@dataclass(frozen=True, slots=True)
class Word:
    """A completion and its description."""

    text: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """Kind of an option's value: one of some words, a file, a folder, or anything."""

    kind: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Completions after a command path such as `ui-mcp chat`."""

    path: str
    commands: list[Word] = field(default_factory=list)
    options: list[Word] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)
    """Kind of value by option; options without a value are absent."""
    arguments: tuple[str, ...] = ()
    """Choices of the first argument."""


def places(path: str, parser: argparse.ArgumentParser) -> Iterator[Place]:
    """Yield the completions of a parser and of its sub-commands."""
    place = Place(path)
    below = []
    choices: tuple[str, ...] = ()
    # argparse has no public way to list the actions of a parser.
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {one.dest: one.help or "" for one in action._choices_actions}
            below += list(action.choices.items())
            place.commands.extend(Word(name, helps.get(name, "")) for name in action.choices)
        elif action.option_strings:
            _option(place, action)
        elif action.choices:
            choices = tuple(map(str, action.choices))
    yield Place(path, place.commands, place.options, place.values, choices)
    for name, inner in below:
        yield from places(f"{path} {name}", inner)


def _option(place: Place, action: argparse.Action) -> None:
    text = "" if action.help in {None, argparse.SUPPRESS} else str(action.help)
    for spelling in action.option_strings:
        place.options.append(Word(spelling, text))
        if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction):
            continue
        place.values[spelling] = _value(action)


def _value(action: argparse.Action) -> Value:
    if action.choices:
        return Value("words", tuple(map(str, action.choices)))
    metavar = str(action.metavar or "")
    return Value("folder" if metavar in FOLDERS else "file" if metavar in FILES else "anything")
