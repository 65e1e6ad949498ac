"""The short outline, and actions written as lines."""

import pytest

from introspection.forests import page_of
from ui_mcp.errors import UiArgumentError
from ui_mcp.introspection import brief
from ui_mcp.introspection.action_lines import actions_of, opening
from ui_mcp.introspection.outline import lines
from ui_mcp.jsontypes import JsonObject
from ui_mcp.validation import to_json


def shown(*records: JsonObject) -> list[str]:
    """Return the lines that the short outline has for these records, without that of the window."""
    return [line for entry in brief.entries(page_of(*records)) for line in lines(entry)][1:]


@pytest.mark.covers("IN-154")
def test_texts_of_one_element_are_one_line_and_boxes_have_none() -> None:
    assert shown(
        {"t": "div", "i": "wrap"},
        {"t": "div", "i": "goal", "l": "Press it", "p": 1},
        {"t": "div", "y": 1, "p": 1},
        {"t": "label", "l": "Time left:", "p": 3},
        {"t": "span", "i": "clock", "l": "10 s", "p": 3},
        {"t": "tr", "y": 1, "p": 1},
        {"t": "td", "l": "Tea", "p": 6},
        {"t": "td", "l": '4 "kg"', "p": 6},
    ) == ['a3 "Press it"', 'a4 "Time left:" "10 s"', 'tr a7 "Tea" "4 \\"kg\\""']


@pytest.mark.covers("IN-154")
def test_what_can_be_operated_keeps_type_uid_and_states() -> None:
    assert shown(
        {"t": "button", "i": "save", "l": "Save", "a": 1, "x": True},
        {"t": "input", "i": "name", "vt": "Ann", "a": 1},
        {"t": "span", "l": "word", "a": 1},
        {"t": "li", "er": "tab", "vs": True, "a": 1},
        {"t": "a", "l": "Details", "a": 1, "p": 4},
        {"t": "li", "er": "option", "a": 1},
        {"t": "span", "l": "Rome", "p": 6},
        {"t": "canvas", "i": "map"},
    ) == [
        'button a2 "Save" disabled',
        'input a3 #name value="Ann"',
        'span a4 "word"',
        'a a6 "Details" selected',
        'li[option] a7 "Rome"',
        "canvas a9 #map",
    ]  # fmt: skip


@pytest.mark.covers("IN-154")
def test_what_is_hidden_is_left_out_and_dialogs_stay_together() -> None:
    assert shown(
        {"t": "div", "i": "cover", "l": "START", "v": False},
        {"t": "div", "er": "dialog"},
        {"t": "p", "l": "Sure?", "p": 2},
        {"t": "button", "l": "Yes", "a": 1, "p": 2},
    ) == ["dialog a3", '  a4 "Sure?"', '  button a5 "Yes"']


LINES: dict[str, JsonObject] = {
    "click a12": {"type": "click", "target": {"uid": "a12"}},
    "click #save": {"type": "click", "target": {"css": "#save"}},
    'click "Save all"': {"type": "click", "target": {"text": "Save all"}},
    "setText a7 Ann  Smith": {"type": "setText", "target": {"uid": "a7"}, "text": "Ann  Smith"},
    'setText a7 "two\\nlines"': {"type": "setText", "target": {"uid": "a7"}, "text": "two\nlines"},
    "setText a7": {"type": "setText", "target": {"uid": "a7"}, "text": ""},
    'typeText say "hi"': {"type": "typeText", "text": 'say "hi"'},
    "select a3 New York": {"type": "select", "target": {"uid": "a3"}, "value": "New York"},
    "setChecked a3 false": {"type": "setChecked", "target": {"uid": "a3"}, "checked": False},
    "pressKey CTRL+SHIFT+A": {"type": "pressKey", "key": "A", "modifiers": ["CTRL", "SHIFT"]},
    "scroll a3 -400": {"type": "scroll", "target": {"uid": "a3"}, "deltaY": -400.0},
    "drag a3 a4": {"type": "drag", "from": {"uid": "a3"}, "to": {"uid": "a4"}},
    "dialog accept Zoë": {"type": "dialog", "accept": True, "text": "Zoë"},
}


@pytest.mark.covers("IN-155")
@pytest.mark.parametrize("line", LINES)
def test_a_line_is_an_action(line: str) -> None:
    (action,) = actions_of(f"\n  {line}\n")

    written = to_json(action, outside=True)
    assert {name: written[name] for name in LINES[line] if name not in {"target", "from", "to"}} == {
        name: value for name, value in LINES[line].items() if name not in {"target", "from", "to"}
    }
    for part in ("target", "from", "to"):
        if part in LINES[line]:
            assert LINES[line][part].items() <= written[part].items()


@pytest.mark.covers("IN-155")
@pytest.mark.parametrize("text", ["", "jump a3", "click", "click a3 twice", "setChecked a3 perhaps", "dialog yes"])
def test_a_line_that_is_no_action_is_refused_by_name(text: str) -> None:
    with pytest.raises(UiArgumentError, match=text.split(" ", maxsplit=1)[0] or "1 to 100"):
        actions_of(text)


@pytest.mark.covers("IN-155")
def test_lines_are_done_in_order() -> None:
    assert [action.type for action in actions_of("click a1\nsetText a2 x\nclick a3")] == ["click", "setText", "click"]


@pytest.mark.covers("IN-155")
def test_only_the_first_line_opens_a_page() -> None:
    assert opening("navigate http://a.test/\nclick a1") == ("http://a.test/", "click a1")
    assert opening("\n navigate http://a.test/") == ("http://a.test/", "")
    assert opening("click a1\nnavigate http://a.test/")[0] is None
    with pytest.raises(UiArgumentError, match="no such action"):
        actions_of("click a1\nnavigate http://a.test/")
