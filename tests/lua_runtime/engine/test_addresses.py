"""Which app each page shows, and the address that it gets."""

import json
from typing import Any

import pytest

from lua_runtime.cores import Bench

pytestmark = pytest.mark.covers("UI-PAGE-12")

APPS = """
Mail = session:prototype("Mail", {folder = ""})
function Mail:address() if self.folder == "broken" then error("no") end return self.folder end
function Mail:visit(path) self.folder = path end
Shop = session:prototype("Shop", {})
mail, shop = Mail:new(), Shop:new()
"""


@pytest.fixture
def apps(bench: Bench) -> Bench:
    bench.viewdefs(
        MCP__DEFAULT='<div ui-view="pageApp()"></div><button ui-action="openHere(\'shop\')">x</button>',
        Mail__DEFAULT='<p ui-value="folder"></p>',
        Shop__DEFAULT="<b>shop</b>",
    )
    bench.run(APPS)
    return bench


def visit(bench: Bench, address: str, conn: int = 1) -> None:
    bench.open(conn)
    bench.send({"type": "watch", "data": {"varId": 1, "expand": True, "address": address}}, conn=conn)


def go(bench: Bench, address: str) -> None:
    bench.send({"type": "update", "data": {"varId": 1, "properties": {"address": address}}})


def sent(bench: Bench, conn: int = 1) -> dict[str, Any]:
    return dict(json.loads(bench.pages[conn].properties[1]["address"]))


def notice(bench: Bench) -> str:
    return str(json.loads(bench.pages[1].properties[1]["notice"])["text"])


def view(bench: Bench, conn: int = 1) -> Any:
    shown = bench.pages[conn].tree()[1][0]
    return shown and shown[0]


def test_a_page_at_an_address_shows_that_app_and_its_place(apps: Bench) -> None:
    visit(apps, "/app/mail/a%20b/c")

    assert view(apps) == "Mail.DEFAULT"
    assert sent(apps) == {"app": "mail", "path": "a%20b/c", "title": "mail"}
    assert apps.run("return {mail.folder, mcp.value == mail}") == ["a b/c", True]


def test_pages_that_send_no_address_get_none(apps: Bench) -> None:
    apps.open()
    apps.must("display", "mail")

    assert "address" not in apps.pages[1].properties.get(1, {})


def test_each_page_shows_its_own_until_an_app_is_displayed(apps: Bench) -> None:
    visit(apps, "/app/mail")
    visit(apps, "/app/shop", conn=2)
    assert (view(apps, 1), view(apps, 2)) == ("Mail.DEFAULT", "Shop.DEFAULT")

    root = apps.pages[1].root
    assert root is not None
    apps.send([root.number, 1])
    assert (view(apps, 1), sent(apps)["app"], view(apps, 2)) == ("Shop.DEFAULT", "shop", "Shop.DEFAULT")

    apps.must("display", "mail")
    assert (view(apps, 1), view(apps, 2)) == ("Mail.DEFAULT", "Mail.DEFAULT")
    assert sent(apps, 2)["app"] == "mail"


def test_going_back_shows_what_was_there(apps: Bench) -> None:
    visit(apps, "/app/mail/one")
    apps.run("mail.folder = 'two'")
    assert sent(apps)["path"] == "two"

    go(apps, "/app/mail/one")
    assert apps.run("return mail.folder") == "one"
    go(apps, "/")
    assert view(apps) is None
    assert sent(apps) == {"path": ""}


def test_an_app_that_does_not_exist_leaves_a_notice(apps: Bench) -> None:
    visit(apps, "/app/nothing")

    assert notice(apps) == "There is no app called “nothing” here."
    assert sent(apps) == {"path": ""}


def test_an_app_that_cannot_be_loaded_says_why(apps: Bench) -> None:
    visit(apps, "/app/..mail")

    assert notice(apps) == "“..mail” cannot be opened: app name ..mail is refused"


def test_an_app_whose_address_fails_keeps_its_own(apps: Bench) -> None:
    visit(apps, "/app/mail/one")
    apps.run("mail.folder = 'broken'")

    assert sent(apps)["path"] == ""
    assert view(apps) == "Mail.DEFAULT"


def test_a_shell_that_knows_no_tabs_shows_the_app_on_all(apps: Bench) -> None:
    apps.viewdefs(MCP__DEFAULT='<div ui-view="value"></div>')
    visit(apps, "/app/mail")
    visit(apps, "/app/shop", conn=2)

    apps.run("return 1")
    assert (view(apps, 1), view(apps, 2)) == ("Shop.DEFAULT", "Shop.DEFAULT")
