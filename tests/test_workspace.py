"""Paths derived from the base directory."""

from pathlib import Path

import pytest

from ui_mcp.workspace import Workspace


@pytest.mark.covers("UI-DIR-2")
@pytest.mark.parametrize(
    ("base_dir", "project"),
    [(".claude/ui", "."), ("p/.ui", "p"), ("p/.claude/ui", "p"), ("p/claude/ui", "p/claude/ui"), ("srv/x", "srv/x")],
)
def test_the_project_lies_above_claude_ui_or_is_the_directory(tmp_path: Path, base_dir: str, project: str) -> None:
    assert Workspace.at(base_dir, cwd=tmp_path).project == (tmp_path / project).resolve()


@pytest.mark.covers("UI-DIR-2")
def test_a_link_counts_as_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "real/.claude/ui").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real/.claude/ui")

    assert Workspace.at("link", cwd=tmp_path).project == (tmp_path / "real").resolve()


@pytest.mark.covers("MCP-HOST-2")
def test_a_relative_directory_resolves_against_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert Workspace.at(".claude/ui").base == tmp_path.resolve() / ".claude/ui"
    assert Workspace.at(".claude/ui").given == ".claude/ui"
