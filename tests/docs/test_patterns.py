"""Every pattern guide is a whole app: it loads, binds without an error and passes the audit."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from docs.blocks import ROOT, answers, blocks
from servers import running_server
from ui_mcp.testing.browser import open_page
from ui_mcp.ui.audit import audit
from ui_mcp.ui.states import Running
from ui_mcp.workspace import BUNDLE

pytestmark = pytest.mark.covers("UI-INST-9")

PATTERNS = sorted((BUNDLE / "base" / "resources" / "patterns").glob("*.md"))
BLOCK = re.compile(r"```\w+\n(?:--|<!--) apps/(\S+?)(?: -->)?\n(.*?)```", re.DOTALL)


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    async with running_server(tmp_path) as running:
        yield running


def written(guide: Path, apps: Path) -> str:
    """Write the blocks of a guide to the files they name, and return the app's name."""
    found: list[tuple[str, str]] = BLOCK.findall(guide.read_text(encoding="utf-8"))
    assert len(found) == len(blocks(str(guide.relative_to(ROOT))))
    for path, text in found:
        (apps / path).parent.mkdir(parents=True, exist_ok=True)
        (apps / path).write_text(text, encoding="utf-8")
    names = {path.split("/")[0] for path, _ in found}
    assert len(names) == 1
    return names.pop()


@answers("run", *(one for guide in PATTERNS for one in blocks(str(guide.relative_to(ROOT)))))
@pytest.mark.parametrize("guide", PATTERNS, ids=lambda guide: guide.stem)
async def test_a_pattern_works_as_it_stands(guide: Path, running: Running) -> None:
    name = written(guide, running.workspace.apps)
    session = running.sessions.get("1")

    async with open_page(session) as page:
        await session.display(name)
        await page.until(lambda: bool(page.page.views))
        variables = await session.variables_json()

    assert '"error":"' not in variables
    assert audit(running.workspace.apps, name)["violations"] == []


@pytest.mark.parametrize("guide", PATTERNS, ids=lambda guide: guide.stem)
def test_a_pattern_says_in_one_line_what_it_is_for(guide: Path) -> None:
    head = guide.read_text(encoding="utf-8").split("---\n")[1]

    assert re.fullmatch(r"description: [A-Z][^\n]{20,100}\n", head)


async def test_the_moves_of_the_list_and_the_cache_do_what_the_guides_say(running: Running) -> None:
    folder, session = PATTERNS[0].parent, running.sessions.get("1")
    for guide in ("drag", "caching", "tables", "options", "image-paste"):
        await session.display(written(folder / f"{guide}.md", running.workspace.apps))

    assert await session.run_lua("queue.dropped = '1,3' queue:drop() return queue.jobs[3].name") == '"Wash"'
    assert await session.run_lua("report:sample() report:matches() report:matches() return report.computed") == "1"
    assert await session.run_lua("ledger:next() ledger:next() return #ledger:rows()") == "5"
    assert await session.run_lua("chooser.chosen = 'it' chooser.search = 'x' return #chooser:matches()") == "1"
    assert await session.run_lua("pictures.incoming = 'data:image/png;x' pictures:take() return #pictures.items") == "1"
