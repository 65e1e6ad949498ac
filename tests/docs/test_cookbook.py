"""Every recipe of the cookbook is a whole app that does what it says."""

import re
from pathlib import Path

import pytest

from docs.blocks import ROOT, answers, blocks
from ui_mcp.testing.project import open_app
from ui_mcp.ui.audit import audit

pytestmark = pytest.mark.covers("UI-INST-9")

GUIDE = "src/ui_mcp/bundle/base/resources/cookbook.md"
RECIPE = re.compile(r"^## (.+?)\n\n```lua\n(.*?)```\n\n```html\n(.*?)```", re.DOTALL | re.MULTILINE)
RECIPES = {title: (lua, html) for title, lua, html in RECIPE.findall((ROOT / GUIDE).read_text("utf-8"))}
Step = tuple[str, str] | str
TRIED: dict[str, tuple[list[Step], str, str]] = {
    "Count clicks": (["up()", "up()"], "recipe.count", "2"),
    "Show a list of plain tables": (["..remove(index)"], "recipe.items[1].name", '"Cake"'),
    "Add to a list": ([("draft", "Tea"), "add()"], "recipe.items", '["Tea"]'),
    "Check a form": (["send()", ("email", "a@b"), "send()"], "recipe.sent", "true"),
    "Save data": (["add()"], "recipe.notes[1].text", '"Note 1"'),
    "Show a table": ([], "recipe:names()", '"Ada, Grace"'),
    "Draw a chart": (["add()"], "#recipe.points", "3"),
    "Show figures as tiles": ([], "recipe:revenue()", '"€ 36"'),
    "Filter while typing": ([("wanted", "AN")], "recipe:found()", '["banana"]'),
    "Sort by a column": (["sort('size')"], "recipe:sorted()[1].name", '"b"'),
    "Choose from a list made in Lua": ([("city", "rome")], "recipe.city", '"rome"'),
    "Show one of several views": (["show('second')"], "recipe.tab", '"second"'),
    "Give views addresses": (["open('about')"], "recipe:address()", '"about"'),
    "Disable a button": ([("name", "Ada"), "save()"], "recipe.saved", "true"),
    "Ask before removing something": (["ask()", "remove()"], "recipe.removed", "true"),
    "Do something every second": ([], "recipe.seconds >= 0", "true"),
    "Tell the agent": ([("wish", "more"), "ask()"], "mcp:pendingEventCount() > 0", "true"),
    "Show whether an agent is listening": ([], "recipe:agent()", '"away"'),
    "Show a short notice": (["save()"], "recipe.saved", "1"),
    "Accept an upload": ([], "recipe.lines", "0"),
    "Offer a download": (["save()"], "#recipe.text", "7"),
    "Import and export CSV": ([("pasted", "a,b\n1,2\n"), "import()"], "recipe.rows[1].b", "2"),
    "Show Markdown": ([("text", "**x**")], "recipe:html():find('<strong>x</strong>', 1, true) ~= nil", "true"),
    "React to keys": ([], "recipe.x", "0"),
    "Show the details of a selected row": (["..choose(index)"], "recipe.chosen.name", '"Ada"'),
}


def test_there_are_twenty_five_recipes_and_each_is_tried() -> None:
    assert len(RECIPES) == 25
    assert list(RECIPES) == list(TRIED)


@answers("run", *blocks(GUIDE))
@pytest.mark.parametrize("title", TRIED)
async def test_a_recipe_works_as_it_stands(title: str, tmp_path: Path) -> None:
    lua, html = RECIPES[title]
    steps, asked, expected = TRIED[title]
    app = tmp_path / "source" / "recipe"
    (app / "viewdefs").mkdir(parents=True)
    (app / "app.lua").write_text(lua, "utf-8")
    (app / "viewdefs" / "Recipe.DEFAULT.html").write_text(f"<template><div>{html}</div></template>", "utf-8")
    async with open_app(app, tmp_path) as (session, browser):
        for step in steps:
            if isinstance(step, str):
                await browser.click(step)
            else:
                await browser.type(*step)

        assert await session.run_lua(f"return {asked}") == expected
        assert browser.page.errors == []
    assert audit(app.parent, "recipe")["violations"] == []
