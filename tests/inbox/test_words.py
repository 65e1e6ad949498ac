"""What an agent wants to do, in plain words."""

import pytest

from ui_mcp.inbox.words import display_name, shortened, spoken_call
from ui_mcp.jsontypes import JsonObject


@pytest.mark.covers("INBOX-1")
@pytest.mark.parametrize(
    ("server", "tool", "arguments", "said"),
    [
        ("shop", "shop__deleteOrder", {"id": 7}, "delete order 7 in shop"),
        ("shop", "shop__delete_order", {"orderId": "A-7"}, "delete order A-7 in shop"),
        ("shop", "shop__getOrderById", {"orderId": 7}, "read order 7 in shop"),
        ("shop", "shop__addThing", {"body": {"name": "boat"}}, "add thing in shop"),
        ("shop", "shop__PATCH_v2_things", {"id": True}, "change v 2 things in shop"),
        ("shop", "shop__ship_order", {"id": 1}, "ship order 1 in shop"),
        ("files", "files__fsync_all", {"path": "a.txt"}, "use fsync_all of files"),
        ("", "merge", {}, "merge"),
        ("shop", "shop__deleteOrder", {"id": "x" * 61}, "delete order in shop"),
        ("shop", "shop__", {}, "use  of shop"),
    ],
)
def test_a_call_is_told_by_its_verb_its_thing_and_its_place(
    server: str, tool: str, arguments: JsonObject, said: str
) -> None:
    assert spoken_call(server, tool, arguments) == said


def test_programs_have_the_names_that_people_know() -> None:
    assert [display_name(name) for name in ("claude-code", "Zed", "")] == ["Claude Code", "Zed", "An agent"]


def test_long_texts_are_cut_to_one_line() -> None:
    assert shortened("a\n  b") == "a b"
    assert shortened("x" * 20, 10) == "x" * 9 + "…"
