"""The code blocks of our texts, and the tests that answer for them.

A test takes its blocks with `together` or `one_by_one`, which also writes down that it answers for them and how.
`test_blocks` fails for every block that no test takes.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "contracts",
    "docs",
    "examples",
    "src/ui_mcp/bundle/app",
    "src/ui_mcp/bundle/base",
    "src/ui_mcp/bundle/claude",
    "src/ui_mcp/bundle/templates",
    "tests/examples/fixtures",
)
PAGES = [*sorted(ROOT.glob("*.md")), *(page for folder in FOLDERS for page in sorted((ROOT / folder).rglob("*.md")))]
FENCE = re.compile(r"^\s*(?:```|~~~)\s*(\S*)")
FILE = re.compile(r"^(?:\d+\. Write )?`([^`\n]+)`:\s*\Z", re.MULTILINE)

State = Literal["run", "compared", "started"]
"""Run as it stands; compared with what really happens; a foreign program's, whose part that is ours was started."""
Test = TypeVar("Test", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class Block:
    """One block of code."""

    page: str
    line: int
    language: str
    code: str = field(repr=False)
    file: str | None = None
    """The file it belongs to, if the line before names one."""

    def __str__(self) -> str:
        """Name it for a test's id."""
        return f"{self.page}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """The commands of a shell block, without remarks."""
        lines = (re.split(r"\s+#\s", line)[0].strip() for line in self.code.splitlines())
        return [line for line in lines if line and not line.startswith("#")]


@cache
def blocks(page: str, *languages: str) -> tuple[Block, ...]:
    """Return the blocks of one text in order, all of them or those in the given languages."""
    found: list[Block] = []
    begin, language, before, lines = 0, "", "", (ROOT / page).read_text("utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if fence and not begin:
            begin, language, before = number, fence[1], "\n".join(lines[max(number - 3, 0) : number - 1])
        elif fence:
            code = "\n".join(lines[begin : number - 1]) + "\n"
            named = FILE.search(before)
            found.append(Block(page, begin, language, code, named[1] if named else None))
            begin = 0
    assert not begin, f"{page}:{begin} never ends"
    return tuple(block for block in found if not languages or block.language in languages)


def block(page: str, holding: str) -> Block:
    """Return the one block of a text that holds the given words."""
    found = [one for one in blocks(page) if holding in one.code]
    assert len(found) == 1, f"{len(found)} blocks of {page} hold {holding!r}"
    return found[0]


def every() -> list[Block]:
    """Return all blocks of all texts."""
    return [one for page in PAGES for one in blocks(str(page.relative_to(ROOT)))]


ANSWERED: defaultdict[Block, set[tuple[str, State]]] = defaultdict(set)
"""Who answers for a block, and how."""


def answers(state: State, *given: Block) -> Callable[[Test], Test]:
    """Write down that a test answers for these blocks."""

    def noted(test: Test) -> Test:
        file = Path(test.__code__.co_filename).relative_to(ROOT)
        for one in given:
            ANSWERED[one].add((f"{file}::{test.__name__}", state))
        return test

    return noted


def together(state: State, *given: Block) -> Callable[[Test], Test]:
    """Hand the blocks to a test that answers for all of them, as its argument `given`."""
    assert given
    once = pytest.mark.parametrize("given", [pytest.param(given, id=str(given[0]))])
    return lambda test: once(answers(state, *given)(test))


def one_by_one(state: State, *given: Block) -> Callable[[Test], Test]:
    """Hand each block on its own to a test, as its argument `block`."""
    assert given
    each = pytest.mark.parametrize("block", given, ids=str)
    return lambda test: each(answers(state, *given)(test))
