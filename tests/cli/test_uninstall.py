"""A project before, during and after ui-mcp, as its git sees it."""

import subprocess
from pathlib import Path

import pytest

from cli.command import ui_mcp


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def install(project: Path) -> None:
    done = ui_mcp("install", cwd=project)
    assert done.returncode == 0, done.stderr


@pytest.mark.covers("UI-INST-22")
def test_git_sees_neither_state_nor_what_is_made_anew(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    install(tmp_path)
    base = tmp_path / ".claude/ui"
    for made in (
        "storage/x.json",
        "log/mcp.log",
        ".ui-mcp/state.db",
        "ui-port",
        "html/themes/mine.css",
        "apps/a/app.lua",
    ):
        (base / made).parent.mkdir(parents=True, exist_ok=True)
        (base / made).write_text("x")

    seen = subprocess.run(
        ["git", "status", "--porcelain", "-uall", ".claude/ui"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    folders = {line.split()[1].removeprefix(".claude/ui/").partition("/")[0] for line in seen.splitlines()}

    assert folders == {".gitignore", "apps", "html", "lua", "viewdefs"}
    assert [line for line in seen.splitlines() if "/html/" in line] == ["?? .claude/ui/html/themes/mine.css"]


@pytest.mark.covers("UI-INST-23")
def test_uninstalling_leaves_the_persons_files_and_nothing_else(tmp_path: Path) -> None:
    guided = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
    for name in guided:
        (tmp_path / name).write_text("# Mine\n")
    (tmp_path / ".cursor").mkdir()
    install(tmp_path)
    base = tmp_path / ".claude/ui"
    (base / "lua/mcp.lua").write_text("-- changed")
    for made in ("apps/a/app.lua", "storage/a.json", "config/config.toml"):
        (base / made).parent.mkdir(parents=True, exist_ok=True)
        (base / made).write_text("")

    shown, done = (ui_mcp("uninstall", option, cwd=tmp_path) for option in ("--dry-run", "--yes"))

    assert (shown.returncode, done.returncode) == (0, 0)
    assert "Nothing was removed (--dry-run)." in shown.stdout
    kept = {"lua/mcp.lua", "apps/a/app.lua", "storage/a.json", "config/config.toml"}
    assert files(tmp_path) == {*guided, *(f".claude/ui/{name}" for name in kept)}
    assert {(tmp_path / name).read_text() for name in guided} == {"# Mine\n"}
    assert list((tmp_path / ".cursor").iterdir()) == []
    assert "out of AGENTS.md, CLAUDE.md, GEMINI.md" in shown.stdout


@pytest.mark.covers("UI-INST-23")
def test_without_a_terminal_nothing_is_removed_unless_agreed(tmp_path: Path) -> None:
    install(tmp_path)
    before = files(tmp_path)

    refused = ui_mcp("uninstall", cwd=tmp_path)

    assert refused.returncode != 0
    assert "Add --yes" in refused.stderr
    assert files(tmp_path) == before


@pytest.mark.covers("UI-INST-23")
def test_a_record_that_names_files_outside_of_the_project_deletes_none(tmp_path: Path) -> None:
    outside, project = tmp_path / "outside.txt", tmp_path / "project"
    outside.write_text("")
    project.mkdir()
    install(project)
    manifest = project / ".claude/ui/.ui-mcp/install-manifest.json"
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    manifest.write_text(f'{{"version": "1", "files": {{"../outside.txt": "{empty}"}}}}')

    ui_mcp("uninstall", "--yes", cwd=project)

    assert outside.exists()
