"""The files and lines behind an element that a person points at."""

from pathlib import Path

import pytest

from ui_mcp.ui.audit_sources import LuaSource
from ui_mcp.ui.pointing.sources import Place, in_lua, places_of
from ui_mcp.workspace import Workspace

LUA = """\
Tea = session:prototype("Tea", {cups = 1})
Pot = session:prototype("Pot", {})
function Pot:pour() end
-- function Tea:pour() end
function Tea:pour()
  self.cups = 2
end
"""


@pytest.mark.covers("UI-SHELL-9")
@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("pour()", [Place("app.lua", 5, "Tea:pour")]),
        ("pot.pour()", [Place("app.lua", 5, "Tea:pour")]),
        ("cups", [Place("app.lua", 1, "Tea.cups")]),
        ("unknown", [Place("app.lua", 1, "Tea.unknown")]),
        ("missing()", []),
    ],
)
def test_a_path_leads_to_its_method_or_field(path: str, found: list[Place]) -> None:
    assert list(in_lua([("app.lua", LuaSource(LUA))], "Tea", path)) == found


@pytest.mark.covers("UI-SHELL-9")
def test_the_lines_of_the_attribute_and_of_the_lua_code_are_found(tmp_path: Path) -> None:
    workspace = Workspace.at(str(tmp_path))
    view = workspace.apps / "tea" / "viewdefs" / "Tea.DEFAULT.html"
    view.parent.mkdir(parents=True)
    view.write_text('<template>\n<b ui-value="cups"></b>\n<i ui-action="pour()"></i></template>')
    (workspace.apps / "tea" / "app.lua").write_text(LUA)

    found = places_of(workspace, "Tea.DEFAULT", view, [{"attribute": "ui-action", "path": "pour()"}])

    assert [(place.file, place.line) for place in found] == [
        ("apps/tea/viewdefs/Tea.DEFAULT.html", 3),
        ("apps/tea/app.lua", 5),
    ]
