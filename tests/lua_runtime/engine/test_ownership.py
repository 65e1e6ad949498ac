"""Types and viewdefs belong to their app: one name in two apps is two types."""

import json
from pathlib import Path

import pytest

from lua_runtime.cores import Bench
from ui_mcp.ui.viewdef_store import ViewdefFiles
from ui_mcp.workspace import Workspace

SHOP = """
Shop{0} = session:prototype("Shop{0}", {{}})
Item = session:prototype("Item", {{{1}}})
function Item:label() return "{0}" end
function Shop{0}:add() table.insert(self.items, Item:new()) end
if not session.reloading then shop{0} = Shop{0}:new() shop{0}.items = {{Item:new()}} end
"""


class Shops:
    """Two apps that both have a type Item, with viewdefs from files."""

    def __init__(self, folder: Path) -> None:
        for name, fields in (("A", "price = 3"), ("B", "title = 'task'")):
            self.write(folder, name, SHOP.format(name, fields))
            self.view(folder, name, f"Shop{name}.DEFAULT", '<div ui-viewlist="items"></div>')
            self.view(folder, name, "Item.DEFAULT", f"<p>{name} <b ui-value='label()'></b></p>")
        (folder / "viewdefs").mkdir()
        (folder / "viewdefs" / "MCP.DEFAULT.html").write_text('<template><div ui-view="value"></div></template>')
        self.bench = Bench(folder)
        self.files = ViewdefFiles(Workspace.at(folder))
        self.files.load()
        self.bench.store = self.files.store
        self.bench.must("viewdefs", self.files.bundle())
        self.page = self.bench.open()

    def write(self, folder: Path, name: str, text: str) -> Path:
        file = folder / "apps" / f"shop-{name.lower()}" / "app.lua"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def view(self, folder: Path, name: str, key: str, html: str) -> None:
        file = folder / "apps" / f"shop-{name.lower()}" / "viewdefs" / f"{key}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"<template>{html}</template>")

    def rows(self) -> list[tuple[str, list[object]]]:
        """Key and values of each row that the page shows."""
        tree = self.page.tree()[1][0][1][0]
        return [(row[0], row[1]) for row in tree[1:]]

    def conflicts(self) -> list[str]:
        return [json.loads(text)["message"] for kind, text, _ in self.bench.out if kind == "problem"]


@pytest.fixture
def shops(tmp_path: Path) -> Shops:
    return Shops(tmp_path)


@pytest.mark.covers("UI-TYPE-1")
def test_one_name_in_two_apps_is_two_types(shops: Shops) -> None:
    shops.bench.must("display", "shop-a")
    shops.bench.must("display", "shop-b")

    shops.bench.run("shopA:add() shopB:add()")

    fields = (
        "return {shopA.items[2].price, shopA.items[2].title == nil, shopB.items[2].title, shopB.items[2].price == nil}"
    )
    assert shops.bench.run(fields) == [3, True, "task", True]
    assert shops.bench.run("return {shopA.items[2]:label(), shopB.items[2]:label()}") == ["A", "B"]


@pytest.mark.covers("UI-TYPE-1")
@pytest.mark.parametrize("order", [("shop-a", "shop-b"), ("shop-b", "shop-a")])
def test_each_app_shows_its_own_viewdef_in_any_order(shops: Shops, order: tuple[str, str]) -> None:
    shown = {}
    for app in (*order, *order):
        shops.bench.must("display", app)
        ((key, values),) = shops.rows()
        shown[app] = (shops.page.viewdefs[key].split()[0].removeprefix("<template><p>"), values)

    assert shown == {"shop-a": ("A", ["A"]), "shop-b": ("B", ["B"])}


@pytest.mark.covers("UI-TYPE-1")
def test_a_reload_changes_the_type_of_its_own_app_alone(shops: Shops, tmp_path: Path) -> None:
    shops.bench.must("display", "shop-a")
    shops.bench.must("display", "shop-b")
    file = shops.write(tmp_path, "B", SHOP.format("B", "title = 'task', done = false"))

    shops.bench.must("reload", str(file))

    assert shops.bench.run("return {shopA.items[1].price, shopB.items[1].done, shopA.items[1].done == nil}") == [
        3,
        False,
        True,
    ]


@pytest.mark.covers("UI-TYPE-2")
def test_another_apps_type_has_a_qualified_name(shops: Shops) -> None:
    shops.bench.must("display", "shop-a")
    shops.bench.must("display", "shop-b")

    both = "return {session:prototype('shop-a.Item').price, session:prototype('shop-b.Item').title}"
    assert shops.bench.run(both) == [3, "task"]
    code, message, _ = shops.bench.enter("run", "session:prototype('Item', {})")
    assert (code, message.partition(": ")[2]) == (
        "lua-error",
        "'Item' is a type of several apps: write 'shop-a.Item' or 'shop-b.Item'",
    )


@pytest.mark.covers("UI-TYPE-2")
def test_a_plain_name_means_the_only_app_that_has_it(shops: Shops) -> None:
    shops.bench.must("display", "shop-a")

    shops.bench.run("session:prototype('Item', {price = 3, colour = 'red'})")

    assert shops.bench.run("return {Item:new().colour, shopA.items[1].colour}") == ["red", "red"]


@pytest.mark.covers("UI-TYPE-3")
def test_two_apps_with_one_type_name_are_told_once(shops: Shops, tmp_path: Path) -> None:
    shops.bench.must("display", "shop-a")
    shops.bench.must("display", "shop-b")
    shops.bench.must("reload", str(tmp_path / "apps" / "shop-b" / "app.lua"))

    told = (
        "The type 'Item' is declared by apps/shop-a/app.lua and by apps/shop-b/app.lua. They are two types; outside of "
        "its app the second is 'shop-b.Item'."
    )
    assert shops.conflicts() == [told]
    assert (tmp_path / "log" / "lua-err.log").read_text().count(told) == 1


@pytest.mark.covers("UI-TYPE-1")
def test_a_shared_module_keeps_its_type_beside_that_of_an_app(shops: Shops, tmp_path: Path) -> None:
    (tmp_path / "lua").mkdir()
    (tmp_path / "lua" / "stock.lua").write_text('Item = session:prototype("Item", {stock = 1}) return Item')
    shops.bench.must("display", "shop-a")

    shops.bench.run("stock = require('stock')")

    assert shops.bench.run("return {stock:new().stock, shopA.items[1].price, shopA.items[1].stock == nil}") == [
        1,
        3,
        True,
    ]


@pytest.mark.covers("UI-TYPE-1")
def test_viewdefs_of_two_apps_follow_their_files(shops: Shops, tmp_path: Path) -> None:
    shops.bench.must("display", "shop-b")
    (tmp_path / "apps" / "shop-a" / "viewdefs" / "Item.DEFAULT.html").unlink()

    reloaded = shops.files.reload([])

    assert reloaded.bundle is not None
    shops.bench.must("viewdefs", reloaded.bundle)
    assert shops.rows() == [("Item.DEFAULT", ["B"])]
