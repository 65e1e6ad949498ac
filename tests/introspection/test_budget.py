"""Budgets: never exceeded, nothing lost, nothing twice."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from introspection.forests import forest
from ui_mcp.errors import UiArgumentError
from ui_mcp.introspection import budget
from ui_mcp.introspection.tree import Capture
from ui_mcp.jsontypes import JsonObject, dumps


def pages(capture: Capture, limit: int) -> Iterator[JsonObject]:
    page = budget.json_page(capture, limit)
    yield page
    while "cursor" in page:
        page = budget.json_page(capture, limit, budget.Cursor.read(page["cursor"]).offset)
        yield page


def uids(page: JsonObject) -> list[str]:
    def below(node: JsonObject) -> list[str]:
        return [node["ref"]["uid"], *(uid for child in node["children"] for uid in below(child))]

    trees = [stage["scene"]["root"] for stage in page.get("stages", ())]
    trees += [entry["node"] for entry in page.get("nodes", ())]
    return [uid for tree in trees for uid in below(tree)]


@pytest.mark.covers("IN-79")
@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=5, max_size=120), st.integers(600, 3000))
def test_the_pages_hold_every_node_once_and_keep_to_the_budget(shape: list[int], limit: int) -> None:
    capture = forest([parent % (at + 1) for at, parent in enumerate(shape)])

    found = list(pages(capture, limit))

    seen = [uid for page in found for uid in uids(page)]
    assert sorted(seen) == sorted(node.uid for node in capture.nodes())
    assert all(len(dumps(page)) <= limit * 4 for page in found)


@pytest.mark.slow
@pytest.mark.covers("IN-79")
def test_ten_thousand_nodes_come_in_pages_none_lost() -> None:
    capture = forest([at // 12 for at in range(9_999)])

    found = list(pages(capture, 20_000))

    seen = [uid for page in found for uid in uids(page)]
    assert len(seen) == len(set(seen)) == 10_000
    assert max(len(dumps(page)) for page in found) <= 80_000
    assert found[0]["tokens"]["total"] > 20_000


@pytest.mark.covers("IN-79", "IN-89")
def test_the_outline_keeps_to_its_budget_and_goes_on_at_the_cursor() -> None:
    capture = forest([at // 3 for at in range(900)])
    text, seen = budget.text_page(capture, 700), []
    while True:
        assert len(text) <= 2800
        seen += [line.split()[1] for line in text.splitlines() if line.strip().startswith(("item", "root"))]
        last = text.splitlines()[-1]
        if "(cursor " not in last:
            break
        cursor = budget.Cursor.read(last.partition("(cursor ")[2].rstrip(")"))
        text = budget.text_page(capture, 700, cursor.offset)

    assert sorted(seen) == sorted(node.uid for node in capture.nodes())


@pytest.mark.covers("IN-79")
def test_a_cut_parent_says_how_many_children_are_missing() -> None:
    page = budget.json_page(forest([0] * 50), 700)

    root = page["stages"][0]["scene"]["root"]
    assert page["truncated"] is True
    assert root["childrenTruncated"] == 50 - len(root["children"])


@pytest.mark.parametrize("text", ["", "abc", "abc.x", ".5", "abc.-1"])
def test_a_made_up_cursor_is_refused(text: str) -> None:
    with pytest.raises(UiArgumentError):
        budget.Cursor.read(text)
