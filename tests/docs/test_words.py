"""Sentences name what exists, by the word that help, logs and errors use."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_lines import every_place
from docs.blocks import PAGES, ROOT
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.toolset import ui_toolset

PLACES = {place.path: place for place in every_place()}
SPAN = re.compile(r"`([^`\n]+)`")


def sentences(page: Path) -> str:
    """Return a text without its code blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def spans(pattern: str) -> list[tuple[str, str]]:
    """Return what stands in backquotes anywhere and fits, with its page."""
    fits = re.compile(pattern)
    found = ((page, SPAN.findall(sentences(page))) for page in PAGES if page.name != "CHANGELOG.md")
    return [(str(page.relative_to(ROOT)), span) for page, named in found for span in named if fits.fullmatch(span)]


def unknown(command: str) -> Iterator[str]:
    """Yield the words of a command that mean nothing; capitals stand for something else."""
    path, *words = re.sub(r"[\[\]…,]", " ", command).split()
    value = False
    for word in (one for given in words for one in given.split("|")):
        place = PLACES[path]
        if value:
            value = False
        elif word.startswith("-"):
            if word not in place.options:
                yield word
            value = word in place.values
        elif f"{path} {word}" in PLACES:
            path = f"{path} {word}"
        elif place.commands and word.islower():
            yield word


@pytest.mark.covers("UI-CLI-14")
def test_every_command_in_a_sentence_exists_with_its_options() -> None:
    made_up = {"ui-mcp x"}  # how to add a command
    named = [(page, span) for page, span in spans(r"(ui-mcp|nlui)( .*)?") if span not in made_up]

    assert [f"{page}: {span}: {word}" for page, span in named for word in unknown(span)] == []


@pytest.mark.covers("UI-CLI-14")
async def test_every_tool_in_a_sentence_exists() -> None:
    async with UiServer(lambda _: None) as host:  # type: ignore[arg-type, return-value]
        known = {tool.name for tool in await ui_toolset(host).tools(Call())} | {"ui_x", "ui_update", "ui_mcp"}

    assert [one for one in spans(r"ui_[a-z_]+") if one[1] not in known] == []


@pytest.mark.covers("UI-CLI-14")
def test_a_directory_is_called_a_directory() -> None:
    of_conversations = re.compile(r"\b(conversations|pins)\b[^.]*?\bfolders\b", re.IGNORECASE)
    texts = {page: of_conversations.sub("", SPAN.sub("", sentences(page))) for page in PAGES}
    odd = [str(page) for page, text in texts.items() if re.search(r"\bfolders?\b", text, re.IGNORECASE)]

    assert odd == []
