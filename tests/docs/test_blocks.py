"""Every code block of every text is answered for: run, compared with what happens, or its command started."""

import importlib
from collections import Counter
from pathlib import Path

import pytest

from docs.blocks import ANSWERED, PAGES, ROOT, Block, blocks, every

TESTS = Path(__file__).parents[1]
BROWSER = ("introspect_loop/test_loop.py", "pointing/test_pointing.py")
SOURCES = [*sorted(TESTS.glob("docs/test_*.py")), *(TESTS / "e2e" / file for file in BROWSER)]


def journey_of(page: Path) -> Path:
    """Return the test that writes a page of docs/journeys and compares it afterwards."""
    [found] = [file for file in TESTS.glob("journeys/test_*.py") if f'tell("{page.stem}")' in file.read_text("utf-8")]
    return found


def answered() -> dict[Block, set[tuple[str, str]]]:
    """Return who answers for each block, after every test that may do so was read."""
    for source in SOURCES:
        importlib.import_module(".".join(source.relative_to(TESTS).with_suffix("").parts))
    found: dict[Block, set[tuple[str, str]]] = {one: set(by) for one, by in ANSWERED.items()}
    for page in (ROOT / "docs/journeys").glob("*.md"):
        test = str(journey_of(page).relative_to(ROOT))
        found |= {one: {(test, "compared")} for one in blocks(str(page.relative_to(ROOT)))}
    return found


@pytest.mark.covers("DOC-RUN-1")
def test_exactly_one_test_answers_for_each_block() -> None:
    known = answered()

    alone = [f"{one}: no test runs this block" for one in every() if one not in known]
    doubled = [f"{one}: {sorted(by)}" for one, by in known.items() if len(by) != 1]

    assert not alone + doubled, "\n".join(alone + doubled)
    assert set(known) == set(every())


def test_no_page_is_outside() -> None:
    # Pages of apps are shown by the apps' own server; `templates` and `fixtures` hold apps.
    made = {"node_modules", "build", "dist", "release", "vendor", "html", "templates", "fixtures"}
    everywhere = (page.relative_to(ROOT) for page in ROOT.rglob("*.md"))
    ours = {
        page for page in everywhere if not made & set(page.parts) and not any(part[0] == "." for part in page.parts)
    }

    assert ours - {page.relative_to(ROOT) for page in PAGES} <= {Path("src/ui_mcp/bundle/README.md")}


if __name__ == "__main__":
    print(Counter(state for by in answered().values() for _, state in by))
