"""The page's memory, fed with frames as contracts/wire.md describes them."""

import pytest

from ui_mcp.jsontypes import Json, dumps
from ui_mcp.testing.browser import Page
from ui_mcp.testing.view import NotShownError

VIEWDEFS = {
    "Shop.DEFAULT": (
        '<template><div><h1 data-ui-b="0 ui-value" ui-value="name"></h1>'
        '<div data-ui-b="1 ui-view" ui-view="owner"></div>'
        '<ul data-ui-b="2 ui-viewlist" ui-viewlist="goods"><li></li></ul>'
        '<p data-ui-b="3 ui-class-hidden" ui-class-hidden="closed()">Open</p>'
        '<sl-button data-ui-b="4 ui-action" ui-action="close()">Close</sl-button></div></template>'
    ),
    "Person.DEFAULT": '<template><i data-ui-b="0 ui-value" ui-value="name?x=1"></i></template>',
    "Good.DEFAULT": (
        '<template><b data-ui-b="0 ui-value;1 ui-attr-title" ui-value="price" ui-attr-title="t"></b></template>'
    ),
}


def update(**properties: Json) -> Json:
    return {"type": "update", "data": {"varId": 1, "properties": properties}}


def view(number: int, parent: int, slot: int, key: str, values: list[Json], **more: Json) -> Json:
    data = {"view": number, "parent": parent, "slot": slot, "key": key, "values": values, **more}
    return {"type": "view", "data": data}


@pytest.fixture
def page() -> Page:
    page = Page()
    rows = [[20, "Good.DEFAULT", [1.5, None]], [22, 0, [2, "two"]]]
    values = ["Corner", [10, "Person.DEFAULT", ["Ada"]], rows, False]
    page.apply(dumps([update(viewdefs=dumps(VIEWDEFS)), view(1, 0, 0, "Shop.DEFAULT", values)]))
    return page


def test_one_message_shows_a_page_of_any_depth(page: Page) -> None:
    assert page.root is not None
    assert page.root.text == "Corner Ada 1.5 2 Open Close"
    assert page.root.value("name") == "Corner"
    assert page.root.view("owner").value("name") == "Ada"
    assert [row.value("price") for row in page.root.rows("goods")] == [1.5, 2]


def test_a_short_update_is_a_frame_or_part_of_one(page: Page) -> None:
    page.apply('[1,0,"Market"]')
    page.apply(dumps([[10, 0, "Grace"], [1, 3, True]]))

    assert page.root is not None
    assert page.root.text == "Market Grace 1.5 2 Close"


def test_a_list_grows_shrinks_and_replaces_rows(page: Page) -> None:
    page.apply(dumps([[1, 2, 3], view(24, 1, 2, "Good.DEFAULT", [3], index=2)]))
    assert page.root is not None
    assert [row.number for row in page.root.rows("goods")] == [20, 22, 24]
    page.apply(dumps([view(26, 1, 2, "Good.DEFAULT", [0], index=0)]))
    page.apply("[1,2,1]")

    assert [row.value("price") for row in page.root.rows("goods")] == [0]


def test_an_emptied_slot_shows_nothing(page: Page) -> None:
    page.apply(dumps(view(0, 1, 1, "", [])))

    assert page.root is not None
    with pytest.raises(NotShownError, match="shows nothing"):
        page.root.view("owner")
    assert 10 not in page.views


def test_an_error_stays_until_the_position_is_good_again(page: Page) -> None:
    page.apply(dumps({"type": "error", "data": {"view": 1, "pos": 4, "code": "lua-error", "description": "no"}}))
    assert page.root is not None
    assert page.root.error("close()") == "no"
    page.apply("[1,4,null]")

    assert page.root.error("close()") is None


def test_notices_and_plain_variables_are_kept_apart(page: Page) -> None:
    page.apply(dumps(update(notice=dumps({"level": "info", "text": "hi", "code": "x"}))))
    page.apply(dumps({"type": "update", "data": {"varId": 7, "value": 3, "properties": {"type": "T"}}}))

    assert page.notices == [{"level": "info", "text": "hi", "code": "x"}]
    assert page.variables[7] == {"value": 3, "type": "T"}
    page.apply(dumps({"type": "destroy", "data": {"varId": 7}}))
    assert 7 not in page.variables


def test_asking_for_what_is_not_bound_says_what_is(page: Page) -> None:
    assert page.root is not None
    with pytest.raises(
        NotShownError, match=r"binds nothing to 'nme'; it binds: close\(\), closed\(\), goods, name, owner"
    ):
        page.root.value("nme")
