from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.errors import NotFoundError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.ui.audit import audit, global_name
from ui_mcp.ui.audit_sources import LuaSource, Template

GOOD_LUA = """
Thing = session:prototype("Thing", { name = "", parts = EMPTY })
function Thing:press() self.name = "pressed" end
if not session.reloading then
  thing = Thing:new()
end
"""
GOOD_HTML = '<template><div><b ui-value="name"></b><sl-button ui-action="press()">x</sl-button></div></template>'


def audited(tmp_path: Path, lua: str | None = GOOD_LUA, name: str = "thing", **viewdefs: str) -> JsonObject:
    folder = tmp_path / name
    (folder / "viewdefs").mkdir(parents=True)
    if lua is not None:
        (folder / "app.lua").write_text(lua)
    for key, html in ({"Thing.DEFAULT": GOOD_HTML} | {k.replace("__", "."): v for k, v in viewdefs.items()}).items():
        (folder / "viewdefs" / f"{key}.html").write_text(html)
    return audit(tmp_path, name)


def rules(report: JsonObject, kind: str = "violations") -> list[tuple[str, str]]:
    return [(finding["rule"], finding["location"]) for finding in report[kind]]


@pytest.mark.covers("UI-AUD-2")
def test_a_guard_on_one_line_is_as_good(tmp_path: Path) -> None:
    one_line = GOOD_LUA.replace("then\n  thing = Thing:new()\nend", "then thing = Thing:new() end")

    assert rules(audited(tmp_path, one_line)) == []


@pytest.mark.covers("UI-AUD-2")
def test_parts_of_a_drawing_may_close_themselves_and_others_may_not(tmp_path: Path) -> None:
    drawing = GOOD_HTML.replace("<div>", '<div><svg viewBox="0 0 9 9"><path d="M0 0"/></svg>')
    panel = GOOD_HTML.replace("<div>", "<div><p/>")

    assert rules(audited(tmp_path / "a", Thing__DEFAULT=drawing)) == []
    assert rules(audited(tmp_path / "b", Thing__DEFAULT=panel))[0][0] == "html_parse_error"


@pytest.mark.covers("UI-AUD-1")
def test_a_sound_app_has_no_findings(tmp_path: Path) -> None:
    report = audited(tmp_path)

    assert (report["app"], report["violations"], report["warnings"]) == ("thing", [], [])
    assert report["summary"] == {"total_methods": 1, "dead_methods": 0, "viewdef_violations": 0}


@pytest.mark.covers("UI-AUD-1")
@pytest.mark.parametrize("name", ["nope", "..", "", "a/b", "a\\b", "a\0b"])
def test_an_unknown_app_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotFoundError, match="not found"):
        audit(tmp_path, name)


@pytest.mark.covers("UI-AUD-2")
def test_a_missing_app_lua_is_reported(tmp_path: Path) -> None:
    assert ("missing_app_lua", "app.lua") in rules(audited(tmp_path, None))


@pytest.mark.covers("UI-AUD-2")
@pytest.mark.parametrize(
    ("lua", "expected"),
    [
        ("function Thing:unused() end", ("dead_method", "app.lua:8")),
        ("other = Thing:new()", ("missing_reloading_guard", "app.lua:8")),
    ],
)
def test_lua_mistakes_are_reported_with_their_line(tmp_path: Path, lua: str, expected: tuple[str, str]) -> None:
    assert rules(audited(tmp_path, GOOD_LUA + "\n" + lua)) == [expected]


@pytest.mark.covers("UI-AUD-2")
@pytest.mark.parametrize(
    "lua",
    [
        "function Thing:new(x) return session:create(Thing, x) end",
        "function Thing:mutate() end",
        "function mcp:extra() end",
        "function Thing:a() self:press() end\nfunction Thing:b() self:a() self:b() end",
        "-- function Thing:commented() end",
        "local function tint(T) function T:colour() end end\ntint(Thing)",
        "registerCard(Thing)\nfunction Thing:open() end",
        'local text = "function Thing:quoted() end"',
    ],
)
def test_methods_with_a_reason_are_not_dead(tmp_path: Path, lua: str) -> None:
    assert rules(audited(tmp_path, GOOD_LUA + "\n" + lua)) == []


@pytest.mark.covers("UI-AUD-2")
def test_the_global_must_be_named_after_the_directory(tmp_path: Path) -> None:
    assert rules(audited(tmp_path, name="my-thing")) == [("global_name_mismatch", "app.lua")]
    assert global_name("claude-panel") == "claudePanel"


@pytest.mark.covers("UI-AUD-2")
@pytest.mark.parametrize(
    ("rule", "html"),
    [
        ("html_parse_error", "<template><div><b></div></template>"),
        ("html_parse_error", "<template><div></p></div></template>"),
        ("html_parse_error", "<template><div>"),
        ("html_parse_error", "<template><div><span/></div></template>"),
        ("unknown_element", "<template><ui-tabel></ui-tabel></template>"),
        ("unknown_element", '<template><ui-table serach ui-value="name"></ui-table></template>'),
        ("unknown_element", "<template><ui-table><ui-column totl></ui-column></ui-table></template>"),
        ("ui_action_non_button", '<template><div ui-action="press()"></div></template>'),
        ("wrong_hidden_syntax", '<template><div ui-class="hidden:name"></div></template>'),
        ("ui_value_badge", '<template><sl-badge ui-value="name"></sl-badge></template>'),
        ("operator_in_path", '<template><b ui-class-hidden="!name == 1"></b></template>'),
        ("operator_in_path", '<template><b ui-value="a == b and c"></b></template>'),
        ("operator_in_path", """<template><b ui-value="a ? 'x' : 'y'"></b></template>"""),
        ("non_empty_method_args", '<template><b ui-value="f(1 + 2)"></b></template>'),
        ("missing_method", """<template><b ui-value="nowhere('call()', 1)"></b></template>"""),
        ("invalid_path_syntax", '<template><b ui-value="a..b.#"></b></template>'),
        ("missing_method", '<template><b ui-value="nowhere()"></b></template>'),
    ],
)
def test_viewdef_mistakes_are_reported(tmp_path: Path, rule: str, html: str) -> None:
    report = audited(tmp_path, Other__DEFAULT=html)

    found = [(name, location.partition(":")[0]) for name, location in rules(report)]
    assert (rule, "viewdefs/Other.DEFAULT.html") in found
    assert report["summary"]["viewdef_violations"] == len(report["violations"])


@pytest.mark.covers("UI-AUD-2")
def test_rows_carry_neither_styles_nor_an_item_prefix(tmp_path: Path) -> None:
    row = '<template><div><style>b{}</style><b ui-value="item.name"></b></div></template>'
    found = [rule for rule, _ in rules(audited(tmp_path, Thing__list_item="", **{"Thing__list-item": row}))]

    assert found == ["item_prefix", "style_in_list_item"]


@pytest.mark.parametrize(
    "path",
    [
        "name",
        "a.b.c",
        "items.0.name",
        "items[2].name",
        "..",
        "get().x",
        "set(_)",
        "x?wrapper=lua.ViewList&a=b",
    ],
)
def test_good_paths_are_accepted(tmp_path: Path, path: str) -> None:
    lua = GOOD_LUA + "\nThing.get = function() end\nfunction Thing.set(self, v) end"
    report = audited(tmp_path, lua, Other__DEFAULT=f'<template><b ui-attr-title="{path}"></b></template>')

    assert report["violations"] == []


@pytest.mark.covers("UI-AUD-2", "UI-HOT-7")
def test_doubtful_things_are_warnings(tmp_path: Path) -> None:
    lua = 'Thing = session:prototype("Thing", {\n  rows = {},\n  deep = { inner = {} },\n  none = EMPTY })\n'
    lua += "thing = nil\nfunction Thing:addAgentMessage(m) end\n"
    html = '<template><sl-checkbox ui-value="on"></sl-checkbox></template>'

    assert rules(audited(tmp_path, lua, Thing__DEFAULT=html), "warnings") == [
        ("shared_table_default", "app.lua:2"),
        ("shared_table_default", "app.lua:3"),
        ("external_method", "app.lua:6"),
    ]


@given(st.text())
def test_any_text_can_be_read_as_lua(text: str) -> None:
    source = LuaSource(text)
    assert source.code.count("\n") == text.count("\n")
    assert isinstance([source.methods, source.table_defaults, source.unguarded], list)


@given(st.text(alphabet='<>/"= abui-template!-[]&;\n'))
def test_any_text_can_be_read_as_a_viewdef(text: str) -> None:
    assert isinstance(Template(text).problems, list)


@pytest.mark.covers("UI-AUDIT-9")
def test_a_method_that_the_design_names_is_called_from_outside(tmp_path: Path) -> None:
    folder = tmp_path / "thing"
    folder.mkdir()
    (folder / "app.lua").write_text("thing = {}\nfunction Thing:say() end\nfunction Thing:lost() end\n")
    (folder / "design.md").write_text("Answer with `thing:say(text)`.\n")

    found = [one for one in audit(tmp_path, "thing")["violations"] if one["rule"] == "dead_method"]

    assert [one["location"] for one in found] == ["app.lua:3"]
    assert "design.md" in found[0]["text"]


@pytest.mark.covers("UI-TYPE-3")
def test_a_type_name_of_two_apps_is_a_warning_in_both(tmp_path: Path) -> None:
    other = GOOD_LUA.replace("thing", "other")
    audited(tmp_path, other, "other")

    report = audited(tmp_path)

    assert rules(report, "warnings") == [("shared_type_name", "app.lua:2")]
    assert "also a type of apps/other" in report["warnings"][0]["text"]
    assert "'Thing.Thing'" in report["warnings"][0]["text"]


COMPUTED = """
local function collapsible(type_of, name)
  type_of["toggle" .. name] = function(self) self.open = not self.open end
  type_of[name:lower() .. "Hidden"] = function(self) return not self.open end
end
collapsible(Thing, "Notes")
Thing.isPressed = Thing.press
"""


@pytest.mark.covers("UI-AUD-2")
def test_methods_whose_names_are_computed_are_no_missing_ones(tmp_path: Path) -> None:
    html = """<template><div ui-class-hidden="notesHidden()" ui-event-click="toggleNotes()" ui-class-on="isPressed()">
      <b ui-value="name"></b><sl-button ui-action="press()">x</sl-button><i ui-value="presss()"></i></div></template>"""

    report = audited(tmp_path, GOOD_LUA + COMPUTED, Thing__DEFAULT=html)

    assert [(one["rule"], one["text"]) for one in report["violations"]] == [
        ("missing_method", "ui-value=\"presss()\": no method 'presss' in this app; did you mean press()?")
    ]


@pytest.mark.covers("UI-ERR-3")
def test_unknown_names_are_violations_with_their_line(tmp_path: Path) -> None:
    html = (
        '<template><div>\n<sl-buton ui-valu="name"></sl-buton>\n<sl-icon name="piggy-bankk"></sl-icon></div></template>'
    )

    report = audited(tmp_path, Other__DEFAULT=html)

    assert rules(report) == [
        ("unknown_attribute", "viewdefs/Other.DEFAULT.html:2"),
        ("unknown_tag", "viewdefs/Other.DEFAULT.html:2"),
        ("unknown_icon", "viewdefs/Other.DEFAULT.html:3"),
    ]


@pytest.mark.covers("UI-AUD-2")
def test_a_documented_switch_is_no_warning(tmp_path: Path) -> None:
    html = GOOD_HTML.replace("</div>", '<sl-switch ui-value="name">On</sl-switch></div>')

    assert audited(tmp_path, Thing__DEFAULT=html)["warnings"] == []
