"""Installing into a real folder."""

import os
from pathlib import Path

import pytest

from ui.conftest import MakeBundle
from ui_mcp.errors import InstallError
from ui_mcp.ui.base_dir.installer import Record, install, needs_install, outdated
from ui_mcp.workspace import Workspace

SKILLS = [".claude/skills/ui/SKILL.md", ".agents/skills/ui/SKILL.md"]
EVERYTHING = [*SKILLS, ".claude/ui/event", ".claude/ui/resources/lua.md", ".claude/ui/README.md"]
GUIDE = ".claude/ui/resources/lua.md"


def guide(workspace: Workspace) -> Path:
    return workspace.resources / "lua.md"


@pytest.mark.covers("UI-INST-1", "UI-INST-5")
def test_a_first_install_brings_every_bundled_file(workspace: Workspace, make_bundle: MakeBundle) -> None:
    assert needs_install(workspace)

    result = install(workspace, bundle=make_bundle("1.0.0"))

    assert result.as_json() == {"installed": EVERYTHING, "skipped": [], "appended": []}
    assert all((workspace.project / path).is_file() for path in EVERYTHING)
    assert not needs_install(workspace)
    assert not (workspace.project / "CLAUDE.md").exists()


@pytest.mark.covers("UI-INST-1")
def test_a_base_dir_elsewhere_still_puts_skills_into_the_project(tmp_path: Path, make_bundle: MakeBundle) -> None:
    result = install(Workspace.at(tmp_path / "p" / ".ui"), bundle=make_bundle("1.0.0"))

    assert result.installed == [*SKILLS, ".ui/event", ".ui/resources/lua.md", ".ui/README.md"]


@pytest.mark.covers("UI-INST-1")
@pytest.mark.parametrize(("link", "target"), [(".claude", "dots/claude"), (".claude/ui", "shared/ui")])
def test_skills_land_where_claude_looks_although_the_directory_is_linked(
    tmp_path: Path, make_bundle: MakeBundle, link: str, target: str
) -> None:
    (tmp_path / target).mkdir(parents=True)
    place = tmp_path / "p" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / target)

    result = install(Workspace.at(tmp_path / "p/.claude/ui"), bundle=make_bundle("1.0.0"))

    assert result.installed == EVERYTHING
    assert (tmp_path / "p/.claude/skills/ui/SKILL.md").is_file()
    assert (tmp_path / "p/.claude/ui/event").is_file()


@pytest.mark.covers("UI-INST-1")
def test_scripts_are_executable_and_texts_are_not(workspace: Workspace, make_bundle: MakeBundle) -> None:
    install(workspace, bundle=make_bundle("1.0.0"))

    assert os.access(workspace.base / "event", os.X_OK)
    assert not os.access(guide(workspace), os.X_OK)


@pytest.mark.covers("UI-INST-2")
@pytest.mark.parametrize(("bundled", "installed"), [("1.0.0", "1.0.0"), ("0.9.0", "0.10.0")])
def test_the_same_or_an_older_version_is_skipped_with_a_hint(
    workspace: Workspace, make_bundle: MakeBundle, bundled: str, installed: str
) -> None:
    install(workspace, bundle=make_bundle(installed))

    result = install(workspace, bundle=make_bundle(bundled))

    assert result.as_json() == {
        "version_skipped": True,
        "bundled_version": bundled,
        "installed_version": installed,
        "hint": "Use force=true to reinstall",
        "installed": [],
        "skipped": [],
        "appended": [],
    }


@pytest.mark.covers("UI-INST-3")
def test_an_upgrade_replaces_our_own_texts_and_records_itself(workspace: Workspace, make_bundle: MakeBundle) -> None:
    install(workspace, bundle=make_bundle("0.9.0"))

    result = install(workspace, bundle=make_bundle("0.10.0"))

    assert result.installed == [*SKILLS, GUIDE, ".claude/ui/README.md"]
    assert guide(workspace).read_text() == "Lua guide of 0.10.0\n"
    assert "0.10.0" in workspace.readme.read_text()


@pytest.mark.covers("UI-INST-3", "UI-INST-4")
def test_an_upgrade_keeps_what_the_user_changed_and_puts_the_new_text_beside_it(
    workspace: Workspace, make_bundle: MakeBundle
) -> None:
    install(workspace, bundle=make_bundle("1.0.0"))
    guide(workspace).write_text("mine\n")

    result = install(workspace, bundle=make_bundle("1.1.0"))

    assert guide(workspace).read_text() == "mine\n"
    assert guide(workspace).with_name("lua.md.merge").read_text() == "Lua guide of 1.1.0\n"
    assert result.as_json()["conflicts"] == [{"path": GUIDE, "merge_path": f"{GUIDE}.merge"}]
    assert GUIDE in result.skipped


def test_a_conflict_is_reported_once_per_new_text(workspace: Workspace, make_bundle: MakeBundle) -> None:
    install(workspace, bundle=make_bundle("1.0.0"))
    guide(workspace).write_text("mine\n")
    install(workspace, bundle=make_bundle("1.1.0"))

    result = install(workspace, bundle=make_bundle("1.2.0", {"base/resources/lua.md": "Lua guide of 1.1.0\n"}))

    assert result.conflicts == []
    assert guide(workspace).read_text() == "mine\n"


@pytest.mark.covers("UI-INST-3")
def test_force_replaces_what_the_user_changed_and_keeps_each_old_text(
    workspace: Workspace, make_bundle: MakeBundle
) -> None:
    bundle = make_bundle("1.0.0")
    install(workspace, bundle=bundle)
    for text in ("first", "second"):
        guide(workspace).write_text(text)
        install(workspace, force=True, bundle=bundle)

    assert guide(workspace).read_text() == "Lua guide of 1.0.0\n"
    assert guide(workspace).with_name("lua.md.bak").read_text() == "first"
    assert guide(workspace).with_name("lua.md.bak.1").read_text() == "second"


@pytest.mark.covers("UI-INST-3")
def test_a_file_that_was_there_before_the_first_install_is_skipped(
    workspace: Workspace, make_bundle: MakeBundle
) -> None:
    guide(workspace).parent.mkdir(parents=True)
    guide(workspace).write_text("mine\n")

    result = install(workspace, bundle=make_bundle("1.0.0"))

    assert result.skipped == [GUIDE]
    assert guide(workspace).read_text() == "mine\n"


def test_a_project_readme_in_the_base_dir_is_left_alone(workspace: Workspace, make_bundle: MakeBundle) -> None:
    workspace.base.mkdir(parents=True)
    workspace.readme.write_text("# My project\n")

    install(workspace, bundle=make_bundle("1.0.0"))

    assert workspace.readme.read_text() == "# My project\n"


@pytest.mark.covers("UI-INST-4")
def test_every_run_records_what_it_installed(workspace: Workspace, make_bundle: MakeBundle) -> None:
    install(workspace, bundle=make_bundle("1.0.0"))

    record = Record.load(workspace.state_dir / "install-manifest.json")

    assert record.version == "1.0.0"
    assert sorted(record.files) == sorted(EVERYTHING)


@pytest.mark.parametrize("damage", ["", "[]", '{"files": 3}', "\x00", '{"version": 1, "files": {"../../x": "y"}}'])
def test_a_damaged_record_counts_as_none(workspace: Workspace, make_bundle: MakeBundle, damage: str) -> None:
    install(workspace, bundle=make_bundle("1.0.0"))
    (workspace.state_dir / "install-manifest.json").write_text(damage)

    result = install(workspace, bundle=make_bundle("1.1.0"))

    assert [one.path for one in result.conflicts] == [*SKILLS, GUIDE]


def test_an_upgrade_removes_files_it_no_longer_brings_unless_they_were_changed(
    workspace: Workspace, make_bundle: MakeBundle
) -> None:
    install(workspace, bundle=make_bundle("1.0.0", {"base/html/main-a.js": "a", "base/html/main-b.js": "b"}))
    (workspace.html / "main-b.js").write_text("mine")

    result = install(workspace, bundle=make_bundle("1.1.0", {"base/html/main-c.js": "c"}))

    assert result.removed == [".claude/ui/html/main-a.js"]
    assert sorted(file.name for file in workspace.html.iterdir()) == ["main-b.js", "main-c.js"]


@pytest.mark.covers("UI-INST-6")
def test_a_failure_names_the_file_and_the_others_are_installed(workspace: Workspace, make_bundle: MakeBundle) -> None:
    guide(workspace).mkdir(parents=True)

    with pytest.raises(InstallError, match=rf"^Cannot install {GUIDE}: Is a directory$"):
        install(workspace, bundle=make_bundle("1.0.0"))

    assert (workspace.base / "event").is_file()
    assert needs_install(workspace), "a failed install must be tried again"


@pytest.mark.covers("UI-INST-6", "UI-SEC-6")
def test_nothing_is_written_through_a_link_that_leaves_the_project(
    workspace: Workspace, make_bundle: MakeBundle, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    workspace.claude.mkdir(parents=True)
    (workspace.claude / "skills").symlink_to(outside)

    with pytest.raises(InstallError, match=r"Cannot install .claude/skills/ui/SKILL.md: its directory is a link"):
        install(workspace, bundle=make_bundle("1.0.0"))

    assert list(outside.iterdir()) == []


@pytest.mark.covers("UI-INST-6")
def test_a_linked_file_is_kept_and_force_replaces_the_link_not_its_target(
    workspace: Workspace, make_bundle: MakeBundle, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.md"
    mine.write_text("mine\n")
    guide(workspace).parent.mkdir(parents=True)
    guide(workspace).symlink_to(mine)
    bundle = make_bundle("1.0.0")

    assert install(workspace, bundle=bundle).skipped == [GUIDE]
    install(workspace, force=True, bundle=bundle)

    assert mine.read_text() == "mine\n"
    assert not guide(workspace).is_symlink()
    backup = guide(workspace).with_name("lua.md.bak")
    assert (backup.is_symlink(), backup.read_text()) == (True, "mine\n")


def test_no_scratch_files_are_left_behind(workspace: Workspace, make_bundle: MakeBundle) -> None:
    install(workspace, bundle=make_bundle("1.0.0"))

    hidden = [file for file in workspace.base.rglob(".*") if file.is_file() and file.name != ".gitignore"]
    assert hidden == []


def test_a_project_with_files_of_an_older_version_is_noticed(workspace: Workspace, make_bundle: MakeBundle) -> None:
    install(workspace, bundle=make_bundle("0.0.1"))
    before = outdated(workspace)
    install(workspace)

    assert before is not None
    assert "are of version 0.0.1" in before
    assert outdated(workspace) is None
