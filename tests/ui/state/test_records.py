"""Records of Lua added up, without a worker."""

from typing import Any

import pytest

from ui_mcp.ui.state.records import State

pytestmark = pytest.mark.covers("STATE-2")


def summed(*records: list[Any]) -> list[list[Any]]:
    state = State()
    state.apply(records)
    return list(state.records())


def test_fields_are_set_deleted_and_overwritten() -> None:
    changes = [["t", 1, None, "a", 1, "b", 2], ["s", 1, "a", 3], ["d", 1, "b"], ["m", 1, {"n": 7}]]
    assert summed(*changes) == [["t", 1, {"n": 7}, "a", 3]]


def test_a_splice_replaces_elements_and_moves_the_rest() -> None:
    listed = ["t", 1, None, 1, "a", 2, "b", 3, "c", 4, "d"]
    assert summed(listed, ["l", 1, 2, 1, 4, "x", "y"]) == [["t", 1, None, 1, "a", 2, "x", 3, "y", 4, "c", 5, "d"]]
    assert summed(listed, ["l", 1, 1, 2, 4]) == [["t", 1, None, 1, "c", 2, "d"]]


def test_keys_that_only_look_alike_are_kept_apart() -> None:
    given = ["t", 1, None, 1, "number", "1", "text", True, "boolean", {"n": 2}, "table"]
    assert summed(given) == [given]


def test_what_is_gone_leaves_nothing() -> None:
    changes = [["t", 1, None], ["f", 2, "@a", 1, None], ["c", 3, 1], ["w", 4, {"n": 2}, None, 5], ["x", 1], ["x", 2]]
    assert summed(*changes, ["x", 3], ["w", 4]) == []


def test_records_of_a_newer_version_are_left_out() -> None:
    assert summed(["z", 1, "new"], ["t", 1, None]) == [["t", 1, None]]
