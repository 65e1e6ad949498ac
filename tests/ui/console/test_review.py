"""What a review finds in an app that is not installed."""

from pathlib import Path

import pytest

from ui_mcp.config import LuaPermissions
from ui_mcp.jsontypes import JsonObject
from ui_mcp.ui.console.review import review

pytestmark = pytest.mark.covers("UI-SHELL-3")


def reviewed(folder: Path, permissions: LuaPermissions | None = None, **files: str) -> JsonObject:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return review(folder).as_json(permissions or LuaPermissions())


def found(told: JsonObject) -> set[str]:
    return {ability["id"] for ability in told["abilities"]}


@pytest.mark.parametrize(
    ("line", "ability"),
    [
        ("os.execute('rm -rf ~')", "exec"),
        ("local f = io.popen(command)", "exec"),
        ("io . popen 'ls'", "exec"),
        ("local f = io.open(path, 'wb')", "write"),
        ("os.remove(path)", "write"),
        ("for line in io.lines(path) do end", "read"),
        ("load(text)()", "code"),
        ("local f = os[name]", "code"),
        ("require(name)", "code"),
        ("mcp.code = 'alert(1)'", "script"),
        ("mcp.pushState({event = 'x'})", "agent"),
        ("function mcp:display() end", "shell"),
        ("os.getenv('HOME')", "env"),
        ("mcp:subscribe('topic', f)", "listen"),
        ("local safe = 1 -- \u202e", "hidden"),
    ],
)
def test_what_lua_code_needs_is_named_with_its_line(tmp_path: Path, line: str, ability: str) -> None:
    told = reviewed(tmp_path, app__lua=f"-- first\n{line}\n")

    places = [place for one in told["abilities"] if one["id"] == ability for place in one["places"]]
    assert [(place["path"], place["line"]) for place in places] == [("app.lua", 2)]


def test_comments_and_texts_are_not_taken_for_calls(tmp_path: Path) -> None:
    code = "-- os.execute('x')\nlocal s = \"io.popen(1)\"\nlocal upload = reload(1)\nself.load(1)\nrequire('json')\n"

    assert found(reviewed(tmp_path, app__lua=code)) == set()


@pytest.mark.parametrize(
    ("html", "ability"),
    [
        ("<script>1</script>", "script"),
        ('<img onerror="x()">', "script"),
        ("<b>fetch('https://a.example')</b>", "network"),
        ('<img src="//tracker.example/x.gif">', "network"),
        ("<style>a { background: url(https://a.example) }</style>", "network"),
    ],
)
def test_scripts_and_addresses_of_a_view_are_named(tmp_path: Path, html: str, ability: str) -> None:
    assert ability in found(reviewed(tmp_path, V__html=html))


def test_a_plain_view_needs_nothing(tmp_path: Path) -> None:
    told = reviewed(tmp_path, V__html='<template><sl-button ui-action="add()">Add</sl-button></template>')

    assert told["abilities"] == []
    assert told["files"] == [{"path": "V.html", "size": 65, "kind": "view"}]


def test_the_permissions_of_the_project_decide_how_bad_it_is(tmp_path: Path) -> None:
    narrow = reviewed(tmp_path, app__lua="os.execute(x)")["abilities"][0]
    wide = reviewed(tmp_path, LuaPermissions(exec=True))["abilities"][0]

    assert (narrow["level"], wide["level"]) == ("warning", "danger")
    assert "Off in this project" in narrow["about"]
    assert "lets apps start programs" in wide["about"]
