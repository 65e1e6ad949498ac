"""Paths derived from the base directory."""

from pathlib import Path

import pytest

from ui_mcp.workspace import Workspace, default_dir


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


@pytest.mark.covers("UI-DIR-2")
@pytest.mark.parametrize(("link", "target"), [("p/.claude", "dots/claude"), ("p/.claude/ui", "dots/claude/ui")])
def test_a_linked_claude_folder_belongs_to_the_project_it_is_linked_into(
    tmp_path: Path, link: str, target: str
) -> None:
    (tmp_path / "dots/claude/ui").mkdir(parents=True)
    (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / link).symlink_to(tmp_path / target)

    workspace = Workspace.at("p/.claude/ui", cwd=tmp_path)

    assert (workspace.base, workspace.project) == (tmp_path / "dots/claude/ui", tmp_path / "p")
    assert workspace.claude == tmp_path / "p/.claude"
    assert workspace.name_of(workspace.base / "event") == ".claude/ui/event"
    assert workspace.contains(workspace.claude / "skills")
    assert not workspace.contains(tmp_path / "dots/other")


@pytest.mark.covers("UI-DIR-2")
def test_a_linked_claude_folder_is_outside_when_the_base_directory_is_not_in_it(tmp_path: Path) -> None:
    (tmp_path / "p/.ui").mkdir(parents=True)
    (tmp_path / "dots").mkdir()
    (tmp_path / "p/.claude").symlink_to(tmp_path / "dots")

    assert not Workspace.at("p/.ui", cwd=tmp_path).contains(tmp_path / "p/.claude/skills")


@pytest.mark.covers("MCP-HOST-2")
def test_a_relative_directory_resolves_against_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert Workspace.at(".claude/ui").base == tmp_path.resolve() / ".claude/ui"
    assert Workspace.at(".claude/ui").given == ".claude/ui"


@pytest.mark.covers("UI-DIR-8")
def test_without_a_project_the_base_directory_belongs_to_the_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    assert Path(default_dir(Path("/"))).is_relative_to(tmp_path)
    assert default_dir(tmp_path) == ".claude/ui"
