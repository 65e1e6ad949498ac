"""Differences between two captures."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from introspection.forests import forest, golden
from ui_mcp.introspection.diff import compare
from ui_mcp.jsontypes import dumps


@pytest.mark.covers("IN-80")
def test_equal_captures_have_equal_ids_and_an_empty_difference() -> None:
    before, after = golden("form"), golden("form")

    found = compare(before, after).json(after)

    assert before.id == after.id
    assert found["added"] == found["removed"] == found["changed"] == found["moved"] == []


@pytest.mark.covers("IN-80")
def test_four_edits_in_five_thousand_nodes_are_said_briefly() -> None:
    shape = [at // 10 for at in range(5_000)]
    texts = [f"text {at}" for at in range(5_000)]
    after_texts = list(texts)
    for at in (17, 1500, 3000, 4999):
        after_texts[at] = "edited"
    before, after = forest(shape, texts), forest(shape, after_texts)

    found = compare(before, after)

    assert [change.values for change in found.changed] == [{"text.label": "edited"}] * 4
    assert len(dumps(found.json(after))) <= 1500
    assert len(found.text()) <= 1500


@pytest.mark.covers("IN-80")
def test_what_came_and_went_is_told_at_its_top_only() -> None:
    before = forest([0, 0, 2], uids=["a", "b", "c"])
    after = forest([0, 0, 2], uids=["a", "x", "y"])

    found = compare(before, after)

    assert [node.uid for node in found.added] == ["x"]
    assert found.removed == ("b",)


@pytest.mark.covers("IN-80")
def test_a_row_dragged_to_the_top_is_one_move() -> None:
    before = forest([0] * 5, texts=["t"] * 5, uids=list("abcde"))
    after = forest([0] * 5, texts=["t"] * 5, uids=list("eabcd"))

    found = compare(before, after)

    assert [(node.uid, node.index) for node in found.moved] == [("e", 0)]


@settings(max_examples=60, deadline=None)
@given(st.permutations([f"k{at}" for at in range(9)]), st.sets(st.integers(0, 8)), st.integers(0, 4))
def test_applying_the_difference_gives_the_new_order(order: list[str], gone: set[int], fresh: int) -> None:
    old = [f"k{at}" for at in range(9)]
    new = [uid for uid in order if int(uid[1:]) not in gone] + [f"f{at}" for at in range(fresh)]
    before = forest([0] * len(old), texts=["t"] * len(old), uids=old)
    after = forest([0] * len(new), texts=["t"] * len(new), uids=new)

    found = compare(before, after)

    placed = {node.uid: node.index for node in (*found.added, *found.moved)}
    rebuilt = [uid for uid in old if uid not in found.removed and uid not in placed]
    for uid, index in sorted(placed.items(), key=lambda entry: entry[1]):
        rebuilt.insert(index, uid)
    assert rebuilt == new
