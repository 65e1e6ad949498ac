"""One way of speaking: in the help of every command, and in every error."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_lines import every_place
from ui_mcp import errors

SOURCES = Path(errors.__file__).parent
NAMES = ("UI ", "MCP ", "JSON", "HTTP", "JavaFX", "V ", "OpenAPI")


@pytest.mark.covers("UI-CLI-14")
def test_every_command_and_option_says_what_it_is_for_in_the_same_manner() -> None:
    odd = [
        f"{place.path} {word}: {text}"
        for place in every_place()
        for word, text in (place.commands | place.options).items()
        if not text or text.endswith(".") or (text[0].isupper() and not text.startswith(NAMES))
    ]

    assert odd == []


@pytest.mark.covers("UI-CLI-14")
def test_the_first_line_of_an_error_is_a_phrase_and_the_way_out_a_sentence() -> None:
    odd = []
    for file in SOURCES.rglob("*.py"):
        for text in _messages(file):
            first, *rest = text.split("\n")
            if first.rstrip().endswith(".") or (rest and text.rstrip()[-1] not in ".}:)'`"):
                odd.append(f"{file.name}: {text}")

    assert odd == []


def _messages(file: Path) -> Iterator[str]:
    """Yield what the file raises as our own errors; values are written as {}."""
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.Raise(exc=ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(text)), *_])):
                pass
            case ast.Raise(exc=ast.Call(func=ast.Name(id=name), args=[ast.JoinedStr(values=parts), *_])):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
            case _:
                continue
        if hasattr(errors, name):
            yield text
