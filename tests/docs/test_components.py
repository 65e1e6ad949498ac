"""The catalogue of elements: every snippet is an app that shows without an error and has no finding."""

import re
from pathlib import Path

import pytest

from docs.blocks import Block, blocks, together
from ui_mcp.testing.project import open_app
from ui_mcp.ui.audit import audit
from ui_mcp.ui.elements import contracts

SNIPPETS = blocks("src/ui_mcp/bundle/base/resources/components.md")


@pytest.mark.covers("UI-ELEM-1")
@together("run", *SNIPPETS)
async def test_every_snippet_of_the_catalogue_shows_and_has_no_finding(
    given: tuple[Block, ...], tmp_path: Path
) -> None:
    assert len(given) == 2 * len(contracts())
    for html, lua in zip(given[::2], given[1::2], strict=True):
        kind = re.search(r'session:prototype\("(\w+)"', lua.code)
        assert kind is not None
        app = tmp_path / "source" / kind[1].lower()
        (app / "viewdefs").mkdir(parents=True)
        (app / "app.lua").write_text(lua.code)
        (app / "viewdefs" / f"{kind[1]}.DEFAULT.html").write_text(f"<template><div>{html.code}</div></template>")
        async with open_app(app, tmp_path / app.name) as (session, browser):
            assert browser.page.errors == [], html
            assert audit(app.parent, app.name)["violations"] == [], html
            assert session.events.peek() == []
