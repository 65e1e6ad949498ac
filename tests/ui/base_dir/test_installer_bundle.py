"""The real bundle: which files a project gets, and what the skills and guides teach."""

import os
import re
from pathlib import Path

import pytest

from ui_mcp.ui.base_dir.installer import install
from ui_mcp.workspace import BUNDLE, Workspace

SKILLS = [
    "agents/ui-builder.md",
    "skills/ui/SKILL.md",
    "skills/ui-builder/SKILL.md",
    "skills/ui-builder/examples/requirements.md",
    "skills/ui-builder/examples/design.md",
    "skills/ui-builder/examples/app.lua",
    "skills/ui-builder/examples/viewdefs/ContactApp.DEFAULT.html",
    "skills/ui-builder/examples/viewdefs/Contact.list-item.html",
    "skills/ui-builder/examples/viewdefs/ChatMessage.list-item.html",
]
BASE = [
    "README.md",
    *(f"resources/{name}.md" for name in ("reference", "viewdefs", "lua", "mcp")),
    *(f"viewdefs/{name}.html" for name in ("lua.ViewList.DEFAULT", "lua.ViewListItem.list-item", "MCP.DEFAULT")),
    *("event", "state", "variables", "linkapp", "scripts/wait-for-state.sh"),
    "lua/main.lua",
    "html/index.html",
]
TEACHING = "\n".join(
    file.read_text() for folder in ("claude", "base/resources") for file in sorted((BUNDLE / folder).rglob("*.md"))
)


@pytest.mark.covers("UI-INST-1")
def test_a_project_gets_the_documented_files(workspace: Workspace) -> None:
    result = install(workspace)

    expected = [f".claude/{path}" for path in SKILLS] + [f".claude/ui/{path}" for path in BASE]
    assert set(expected) <= set(result.installed)
    for script in ("event", "state", "variables", "linkapp", "mcp", "scripts/wait-for-state.sh"):
        assert os.access(workspace.base / script, os.X_OK), script
    page = (workspace.base / "html/index.html").read_text()
    scripts = re.findall(r'(?:src|href)="/?([\w.-]+\.(?:js|css))"', page)
    assert scripts
    assert [name for name in scripts if not (workspace.base / "html" / name).is_file()] == []


@pytest.mark.covers("UI-INST-7")
@pytest.mark.parametrize(
    "lesson",
    [
        "design.md` first",
        "ui_display",
        "one** event listener",
        "`app` field",
        "Lua first",
        "Paths are short",
        "name fields directly",
        "No `<style>` in list items",
        "if not session.reloading then",
        "starting processes",
        "ui_wait",
        "/wait",
        "ui_audit",
        "live at once",
    ],
)
def test_the_skills_and_guides_teach(lesson: str) -> None:
    assert lesson in TEACHING


def test_every_tool_the_texts_name_is_a_real_one() -> None:
    folders = ("ui/tools", "introspection/tools")
    real = {f"ui_{file.stem}" for folder in folders for file in (BUNDLE.parent / folder).glob("[a-z]*.py")}

    assert set(re.findall(r"\bui_[a-z_]+\b", TEACHING)) <= real


@pytest.mark.parametrize("file", sorted((BUNDLE / "claude").rglob("SKILL.md")), ids=lambda file: file.parent.name)
def test_a_skill_introduces_itself(file: Path) -> None:
    head = file.read_text().split("---")[1]

    assert f"name: {file.parent.name}\n" in head
    assert re.search(r"^description: .{40,}$", head, re.MULTILINE)


CATALOGUES = {"components.md", "cookbook.md"}
"""Pages in which one looks things up, by their tables of contents."""


def test_guides_are_short_enough_to_read() -> None:
    words = {guide.name: len(guide.read_text().split()) for guide in (BUNDLE / "base" / "resources").glob("*.md")}
    assert {name: count for name, count in words.items() if count >= 1400 and name not in CATALOGUES} == {}
