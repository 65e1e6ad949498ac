"""What the console shows of an app."""

from pathlib import Path

import pytest

from ui_mcp.config import LuaPermissions
from ui_mcp.errors import UiMcpError
from ui_mcp.ui.console.catalog import Checklist, described, listed, parse_checklist
from ui_mcp.ui.console.scaffold import plan, scaffold
from ui_mcp.workspace import Workspace

pytestmark = pytest.mark.covers("UI-SHELL-2")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.at(tmp_path / ".claude" / "ui")


def test_a_checklist_has_tests_and_issues() -> None:
    text = """# Testing
## Checklist
- [x] Adds **an item**
- [ ] Removes it
## Known Issues
### 1. Flickers in `dark`
Details of it.
- [ ] Loses focus
## Fixed Issues
- Old one
## Later
- [x] More
"""
    tests = (("Adds an item", True), ("Removes it", False), ("More", True))

    assert parse_checklist(text) == Checklist(tests, ("1. Flickers in dark", "Loses focus"), ("Old one",))


def test_apps_that_are_built_and_that_are_planned_are_listed(workspace: Workspace) -> None:
    scaffold(workspace, "week-plan")
    plan(workspace, "shopping", "A list of things to buy.\n\nWith prices.")
    (workspace.apps / "empty").mkdir()

    apps = {app["name"]: app for app in listed(workspace)}
    assert list(apps) == ["shopping", "week-plan"]
    assert (apps["shopping"]["built"], apps["week-plan"]["built"]) == (False, True)
    assert apps["shopping"]["about"] == "A list of things to buy."
    assert apps["week-plan"]["scenario"] is True


def test_an_app_is_described_with_its_findings(workspace: Workspace) -> None:
    scaffold(workspace, "week-plan")
    app = workspace.apps / "week-plan"
    (app / "TESTING.md").write_text("- [x] one\n- [ ] two\n# Gaps\n- no undo\n")
    (app / "viewdefs" / "Bad.DEFAULT.html").write_text('<template><b ui-value="a + b"></b></template>')

    told = described(workspace, LuaPermissions(), "week-plan")
    assert (told["passed"], told["total"], told["known"]) == (1, 2, ["no undo"])
    assert [finding["rule"] for finding in told["violations"]] == ["operator_in_path"]
    assert "test.json" in [file["path"] for file in told["files"]]


@pytest.mark.parametrize("name", ["..", "none", "a/b", ""])
def test_what_is_no_app_is_not_described(workspace: Workspace, name: str) -> None:
    workspace.apps.mkdir(parents=True)
    with pytest.raises(UiMcpError):
        described(workspace, LuaPermissions(), name)


def test_links_out_of_the_project_are_not_shown(tmp_path: Path, workspace: Workspace) -> None:
    scaffold(workspace, "week-plan")
    secret = tmp_path.parent / f"{tmp_path.name}-secret.md"
    secret.write_text("# Secret\n")
    (workspace.apps / "week-plan" / "design.md").unlink()
    (workspace.apps / "week-plan" / "design.md").symlink_to(secret)
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "app.lua").write_text("")
    (workspace.apps / "away").symlink_to(outside)

    assert [app["name"] for app in listed(workspace)] == ["week-plan"]
    assert described(workspace, LuaPermissions(), "week-plan")["design"] == ""
