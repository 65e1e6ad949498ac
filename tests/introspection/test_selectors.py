"""Selectors over captured nodes."""

import pytest

from introspection.forests import golden
from ui_mcp.errors import UiActionFailedError, UiArgumentError
from ui_mcp.introspection.arguments import Action, Selector, key_name, modifier_name
from ui_mcp.introspection.selectors import found_in, matching, summary
from ui_mcp.jsontypes import JsonObject
from ui_mcp.validation import InvalidDataError, read


def uids(selector: JsonObject) -> list[str]:
    return [node.uid for node in matching(list(golden("form").nodes()), read(Selector, selector))]


@pytest.mark.covers("IN-47", "IN-49", "IN-50")
@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({"text": "ok"}, ["q7"]),
        ({"text": "ok", "match": "equals"}, []),
        ({"text": " OK ", "match": "equals"}, ["q7"]),
        ({"css": None, "text": "OK"}, ["q7"]),
        ({"predicate": {"typeIs": ["Button", "CheckBox"]}}, ["q6", "q7"]),
        ({"predicate": {"typeIs": ["Button", "CheckBox"], "enabled": True}}, ["q6"]),
        ({"predicate": {"idEquals": "name"}}, ["q3"]),
        ({"predicate": {"styleClassHas": "primary"}}, ["q7"]),
        ({"predicate": {"textContains": "zoë"}}, ["q3"]),
        ({"predicate": {"visible": False}}, ["q8", "q9"]),
        ({"text": "漢😀", "predicate": {"visible": True}}, ["q3"]),
    ],
)
def test_a_selector_means_these_nodes(selector: JsonObject, expected: list[str]) -> None:
    assert uids(selector) == expected


@pytest.mark.covers("IN-50")
def test_an_empty_selector_is_an_error() -> None:
    with pytest.raises(UiArgumentError):
        uids({"css": None})


@pytest.mark.covers("IN-3", "IN-49")
def test_an_unknown_condition_is_an_error_and_an_unknown_field_is_not() -> None:
    read(Selector, {"text": "x", "colour": "red"})
    with pytest.raises(InvalidDataError):
        read(Selector, {"predicate": {"typIs": ["Button"]}})


@pytest.mark.covers("IN-52")
def test_a_summary_says_type_and_text() -> None:
    nodes = {node.uid: node for node in golden("form").nodes()}

    assert summary(nodes["q7"]) == "Button[text=OK]"
    assert summary(nodes["q4"]) == "PasswordField[id=secret]"


@pytest.mark.covers("IN-47")
async def test_a_pattern_is_found_where_it_matches() -> None:
    assert await found_in(r"^O.$", ["OK", "ok", "NOK"]) == {"OK"}


@pytest.mark.covers("IN-47")
@pytest.mark.parametrize("pattern", ["(", r"(a+)+$"])
async def test_a_bad_or_endless_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(UiArgumentError):
        await found_in(pattern, ["a" * 60 + "!"])


@pytest.mark.covers("IN-58")
def test_keys_and_modifiers_have_neutral_names() -> None:
    assert [key_name(name) for name in ("Enter", "esc", "a", "F5", "PageDown")] == [
        "ENTER",
        "ESCAPE",
        "A",
        "F5",
        "PAGE_DOWN",
    ]
    assert [modifier_name(name) for name in ("ctrl", "CMD", "Shortcut")] == ["CONTROL", "META", "SHORTCUT"]
    for name_of, wrong in ((key_name, "BOGUS"), (modifier_name, "HYPER")):
        with pytest.raises(UiActionFailedError) as caught:
            name_of(wrong)
        assert caught.value.details["reason"] == "INVALID_KEY_CODE"


@pytest.mark.parametrize("target", ["a1", {"uid": "a1"}, {"ref": {"uid": "a1", "path": None}}, {"ref": "a1"}])
def test_a_target_may_be_written_in_every_accepted_way(target: object) -> None:
    action = read(Action, {"type": "click", "target": target})

    assert action.wire() == {"type": "click", "target": {"uid": "a1", "path": None}}


def test_an_action_that_lacks_a_field_says_which() -> None:
    with pytest.raises(UiActionFailedError, match="click needs target, or x and y"):
        read(Action, {"type": "click"}).wire()
