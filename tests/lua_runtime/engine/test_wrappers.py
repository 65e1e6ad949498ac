"""Wrappers and presenters, by message and in expanded views."""

import pytest

from lua_runtime.cores import Bench
from lua_runtime.engine.test_variables import create

PEOPLE = """
Person = session:prototype("Person", {name = ""})
Card = session:prototype("Card", {})
made = 0
function Card:new(given) made = made + 1 local card = session:create(Card, given) return card end
function Card:label() return self.index .. ":" .. self.baseItem.name end
mcp.people = {Person:new({name = "a"}), Person:new({name = "b"})}
"""


@pytest.mark.covers("UI-VAR-27", "UI-VAR-28")
def test_a_viewlist_offers_items_by_path(bench: Bench) -> None:
    bench.run(PEOPLE)
    page = bench.open(expand=False)
    bench.send(
        create(2, "people?wrapper=lua.ViewList"),
        create(3, "items", 2),
        create(4, "items.1.item.name", 2),
        create(5, "items.1.index", 2),
        create(6, "items.0.baseItem.name", 2),
        create(7, "items.0.type", 2),
    )

    assert [page.plain[number] for number in (4, 5, 6, 7)] == ["b", 1, "a", "lua.ViewListItem"]
    assert page.properties[2]["type"] == "lua.ViewList"
    assert page.properties[2]["fallbackNamespace"] == "list-item"
    before = page.plain[3]
    bench.run("table.insert(mcp.people, 1, Person:new({name = 'new'}))")
    assert page.plain[4] == "a"
    assert len(page.plain[3]) == 3
    bench.run("mcp.people = 5")
    assert page.plain[3] == {"obj": page.plain[3]["obj"]}
    assert before != page.plain[3]


@pytest.mark.covers("UI-VAR-29")
def test_presenters_are_made_per_item_and_kept_while_nothing_moves(bench: Bench) -> None:
    bench.viewdefs(
        Card__DEFAULT='<b ui-value="label()"></b>',
        App__DEFAULT='<p ui-view="people?wrapper=lua.ViewList&item=Card"></p>',
    )
    bench.run(PEOPLE + "mcp.value = setmetatable({people = mcp.people}, {type = 'App'})")
    page = bench.open()

    def labels() -> list[str]:
        return [row[1][0][1][0] for row in page.tree()[1][0][1][0][1][0][1:]]

    assert labels() == ["0:a", "1:b"]
    bench.run("mcp.people[1].name = 'z'")
    assert (labels(), bench.run("return made")) == (["0:z", "1:b"], 2)
    bench.run("table.remove(mcp.people, 1)")
    assert (labels(), bench.run("return made")) == (["0:b"], 3)


@pytest.mark.covers("UI-VAR-24", "UI-VAR-25", "UI-VAR-26")
def test_a_lua_wrapper_is_made_once_and_kept_in_step(bench: Bench) -> None:
    bench.run("""
      ui.registerWrapper("my.Frame", {new = function(class, variable)
        local w = {type = "Frame", value = variable:getValue(), id = variable._id, syncs = 0}
        w.path = variable.getProperty("path")
        function w:sync() self.syncs = self.syncs + 1 end
        function w:text() return "<" .. tostring(self.value) .. ">" .. self.syncs end
        return w
      end})
      mcp.x = 1
    """)
    page = bench.open(expand=False)
    bench.send(create(2, "x?wrapper=my.Frame"), create(3, "text()", 2), create(4, "id", 2))
    assert (page.plain[3], page.plain[4], page.properties[2]["type"]) == ("<1>0", 2, "Frame")

    bench.run("mcp.x = 2")
    assert page.plain[3] == "<2>1"
    bench.run("mcp.x = nil")
    assert page.properties[2]["type"] == ""


@pytest.mark.covers("UI-VAR-24", "UI-ROB-2")
def test_a_wrapper_that_cannot_be_made_leaves_the_raw_value(bench: Bench) -> None:
    bench.run("mcp.x = {type = 'X', n = 3} ui.registerWrapper('Bad', {new = function() error('no') end})")
    page = bench.open(expand=False)

    bench.send(create(2, "x?wrapper=Bad"), create(3, "n", 2), create(4, "x?wrapper=Nowhere"))

    assert page.plain[3] == 3
    assert {error["varId"] for error in page.errors} == {2, 4}


@pytest.mark.covers("UI-LIST-1")
def test_item_wrappers_stand_between_row_and_element(bench: Bench) -> None:
    bench.viewdefs(
        App__DEFAULT='<ul ui-viewlist="people" ui-item-wrapper="Badge"></ul>',
        Badge__DEFAULT='<b ui-value="text()"></b>',
    )
    bench.run(
        PEOPLE
        + """
      Badge = session:prototype("Badge", {})
      function Badge:new(variable) return session:create(Badge, {value = variable:getValue()}) end
      function Badge:text() return "*" .. self.value.name end
      mcp.value = setmetatable({people = mcp.people}, {type = 'App'})
    """
    )

    page = bench.open()

    assert [row[1][0] for row in page.tree()[1][0][1][0][1:]] == ["*a", "*b"]
