"""Values that elements show whole: with the number of every table, by which the page changes the very table."""

from typing import Any

import pytest

from lua_runtime.cores import Bench
from lua_runtime.page import Page

APP = """
App = session:prototype("App", {})
Card = session:prototype("Card", { status = "todo", title = "", _private = 1 })
function Card:shout() return "!" end
app = App:new()
app.cards = {}
for at, title in ipairs({ "a", "b", "c" }) do app.cards[at] = session:create(Card, { title = title }) end
mcp.value = app
"""


def opened(bench: Bench, tag: str = "ui-board") -> Page:
    bench.viewdefs(App__DEFAULT=f'<{tag} ui-value="cards"></{tag}>')
    bench.run(APP)
    return bench.open()


def sent(page: Page) -> Any:
    return next(node for node in page.views.values() if node.key == "App.DEFAULT").values[0]


def ask(bench: Bench, page: Page, **question: Any) -> None:
    view = next(node for node in page.views.values() if node.key == "App.DEFAULT")
    bench.send([view.number, 0, question])


def titles(page: Page) -> str:
    return "".join(card["title"] for card in sent(page))


@pytest.mark.covers("UI-ELEM-8")
def test_fields_of_objects_are_sent_with_their_number_and_without_code(bench: Bench) -> None:
    first = sent(opened(bench))[0]
    assert {name: value for name, value in first.items() if name != "$"} == {
        "status": "todo",
        "title": "a",
        "type": "Card",
    }
    assert isinstance(first["$"], int)


@pytest.mark.covers("UI-ELEM-8")
def test_the_page_sets_moves_adds_and_removes_the_tables_themselves(bench: Bench) -> None:
    page = opened(bench)
    a, b, c = (card["$"] for card in sent(page))
    bench.run("kept = app.cards[1]")
    ask(bench, page, item=a, set={"status": "done", "shout": "no", "_private": 2, "type": "Other"}, move=True, before=c)
    assert titles(page) == "bac"
    assert bench.run("return { kept.status, type(kept.shout), kept._private, kept.type, app.cards[2] == kept }") == [
        "done",
        "function",
        1,
        "Card",
        True,
    ]
    ask(bench, page, item=b, move=True)
    assert titles(page) == "acb"
    ask(bench, page, item=c, remove=True)
    assert titles(page) == "ab"
    ask(bench, page, add={"title": "d"})
    assert titles(page) == "abd"
    ask(bench, page, item=99999, remove=True)
    assert titles(page) == "abd"


@pytest.mark.covers("UI-ELEM-8")
def test_a_value_as_json_has_no_numbers_of_ours_and_may_contain_itself(bench: Bench) -> None:
    page = opened(bench, "ui-json")
    bench.run("local loop = { 1, { x = true } } loop[3] = loop app.cards = { list = loop, ['a b'] = 'c' }")
    assert sent(page) == {"a b": "c", "list": [1, {"x": True}, "(contains itself)"]}
