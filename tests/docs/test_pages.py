"""Pages that teach by example are followed word for word, and the site builds whole, from here alone."""

import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from docs.blocks import ROOT, Block, blocks
from ui_mcp.testing.browser import open_page
from ui_mcp.testing.project import make_workspace, open_app, open_sessions

sys.path.insert(0, str(ROOT / "scripts"))

from reference import FOLDER, pages

DOCS = ROOT / "docs"


def write(block: Block, project: Path) -> None:
    assert block.file is not None
    file = project / block.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.code)


async def test_the_tutorial_works_word_for_word(tmp_path: Path) -> None:
    small, view, lua, list_view, row, told = [block for block in blocks(DOCS / "tutorial.md") if block.file]
    workspace = make_workspace(tmp_path)
    for block in (small, view):
        write(block, tmp_path)
    async with open_sessions(workspace) as sessions:
        session = sessions.get("1")
        await session.display("groceries")
        async with open_page(session) as browser:
            assert browser.value("title") == "Groceries"

            for block in (lua, list_view, row):
                write(block, tmp_path)
            await browser.until(lambda: browser.value("left()") == 0)
            for name in ("milk", "bread"):
                await browser.type("typed", name)
                await browser.click("add()")
            await browser.type("done", True, view=browser.rows("items")[0])
            assert browser.value("left()") == 1

            write(told, tmp_path)
            with anyio.fail_after(10):
                while not session.events.peek():
                    await browser.type("typed", "eggs")
                    await browser.click("add()")
            assert session.events.peek()[0] == {"app": "groceries", "event": "added", "name": "eggs"}
            assert browser.value("name") == "milk"


def app(folder: Path, page: str, *viewdefs: str) -> Path:
    """Write the app of a how-to: its only Lua block, and its HTML blocks under the given names."""
    found = blocks(DOCS / "howto" / page)
    [lua] = [block.code for block in found if block.language == "lua"]
    html = [block.code for block in found if block.language == "html"]
    (folder / "viewdefs").mkdir(parents=True)
    (folder / "app.lua").write_text(lua)
    for name, code in zip(viewdefs, html, strict=True):
        (folder / "viewdefs" / f"{name}.html").write_text(code)
    return folder


async def test_the_form_says_what_is_wrong_and_sends_when_it_is_right(tmp_path: Path) -> None:
    made = app(tmp_path / "source" / "signup", "form.md", "Signup.DEFAULT")
    async with open_app(made, tmp_path / "project") as (session, browser):
        assert "@" in str(browser.value("problem()"))
        await browser.type("email", "ada@example.com")
        await browser.type("age", "36")
        assert browser.value("problem()") == ""
        await browser.click("send()")
        assert session.events.peek() == [{"app": "signup", "event": "sent", "email": "ada@example.com", "age": 36}]


async def test_the_long_list_shows_a_window_of_its_rows(tmp_path: Path) -> None:
    made = app(tmp_path / "source" / "log", "list.md", "Log.DEFAULT", "Line.DEFAULT")
    async with open_app(made, tmp_path / "project") as (_, browser):
        assert 0 < len(browser.rows("lines")) <= 80


def test_the_reference_is_what_the_code_says() -> None:
    stale = [name for name, text in pages().items() if (FOLDER / name).read_text() != text.rstrip() + "\n"]

    assert stale == [], "run python scripts/reference.py"


@pytest.mark.slow
def test_the_site_builds_without_a_broken_link_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    assert built.returncode == 0, built.stderr
    loaded = re.compile(r"""<(?:script|img|link)[^>]+(?:src|href)=["'](https?:)?//""")
    assert [page.name for page in tmp_path.rglob("*.html") if loaded.search(page.read_text())] == []
