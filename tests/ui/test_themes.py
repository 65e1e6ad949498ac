"""Theme files, the block of a served page, and what ui_theme says."""

from pathlib import Path

import pytest

from ui_mcp.errors import NotFoundError
from ui_mcp.ui.themes import audit_classes, decorate, list_classes, list_themes, themes_of
from ui_mcp.workspace import Workspace

NIGHT = """/*
@theme night
@description All dark.
@class content-card
  @description A card.
  @usage One thing.
  @elements div, article
@class glow
*/
.theme-night { --term-bg: #012; --term-accent: #ff8800; }
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace.at(tmp_path / ".claude/ui")
    (workspace.html / "themes").mkdir(parents=True)
    (workspace.html / "themes" / "night.css").write_text(NIGHT)
    (workspace.html / "themes" / "base.css").write_text(".x {}")
    viewdefs = workspace.apps / "notes" / "viewdefs"
    viewdefs.mkdir(parents=True)
    (viewdefs / "Notes.DEFAULT.html").write_text('<template>\n<div class="content-card mine sl-x"></div></template>')
    return workspace


@pytest.mark.covers("UI-THEME-1")
def test_a_theme_file_describes_itself(workspace: Workspace) -> None:
    night = next(theme for theme in themes_of(workspace) if theme.name == "night")

    assert (night.description, night.accent, night.dark) == ("All dark.", "#ff8800", True)
    assert [found.name for found in night.classes] == ["content-card", "glow"]


@pytest.mark.covers("UI-THEME-2")
def test_a_page_gets_its_block_once_and_first_in_the_head(workspace: Workspace) -> None:
    page = decorate("<html><head>\n<title>x</title></head></html>", workspace, "7")
    again = decorate(page, workspace, "7")

    assert again == page
    assert page.index("<!-- #frictionless -->") < page.index("<title>")
    assert '<meta name="ui-session" content="7">' in page
    assert '<link rel="icon" id="app-favicon" href="data:,">' in page
    assert page.index('href="/themes/base.css?v=') < page.index('href="/themes/night.css?v=')
    assert '"dark":["' in page


@pytest.mark.covers("UI-PAGE-9")
def test_a_theme_is_part_of_the_page_unless_it_needs_its_file(workspace: Workspace) -> None:
    themes = workspace.html / "themes"
    (themes / "far.css").write_text("/* @theme far */ .theme-far { background: url(far.png) }")
    (themes / "bad.css").write_text("/* @theme bad */ .theme-bad::after { content: '</style><script>' }")

    page = decorate("<head>", workspace)

    assert '<style data-theme="night" media="not all">' in page
    assert page.count("</style>") == page.count("<style")
    assert '"files":{"bad":"/themes/bad.css?v=' in page
    assert '"far":"/themes/far.css?v=' in page
    assert "far.png" not in page


def test_a_script_that_must_come_first_stays_first(workspace: Workspace) -> None:
    page = decorate('<head>\n<meta charset="utf-8" />\n<script data-first>1</script>\n<title>x</title>', workspace)

    assert page.index("data-first") < page.index("<!-- #frictionless -->") < page.index("<title>")


@pytest.mark.covers("UI-THEME-2")
def test_the_projects_choice_is_named_only_if_it_exists(workspace: Workspace) -> None:
    workspace.storage.mkdir()
    settings = workspace.storage / "settings.json"
    settings.write_text('{"theme": "night"}')
    assert '"chosen":"night"' in decorate("<head>", workspace)

    settings.write_text('{"theme": "</script><script>"}')
    assert '"chosen":""' in decorate("<head>", workspace)

    settings.write_text("not json")
    assert list_themes(workspace)["current"] == "auto"


@pytest.mark.covers("UI-THEME-3", "UI-TOOL-12")
def test_classes_and_audit_compare_an_app_with_the_theme(workspace: Workspace) -> None:
    card = {"name": "content-card", "description": "A card.", "usage": "One thing.", "elements": "div, article"}

    assert list_classes(workspace, "night")["classes"][0] == card
    assert audit_classes(workspace, "notes", "night") == {
        "app": "notes",
        "theme": "night",
        "undocumented_classes": [{"class": "mine", "file": "viewdefs/Notes.DEFAULT.html", "line": 2}],
        "unused_theme_classes": ["glow"],
        "summary": {"total": 2, "documented": 1, "undocumented": 1},
    }
    assert list_classes(workspace, "")["theme"] == "(all)"


def test_unknown_names_are_errors_that_list_the_way_out(workspace: Workspace) -> None:
    with pytest.raises(NotFoundError, match="night"):
        list_classes(workspace, "nigth")
    with pytest.raises(NotFoundError, match=r"app \.\. not found"):
        audit_classes(workspace, "..", "")
