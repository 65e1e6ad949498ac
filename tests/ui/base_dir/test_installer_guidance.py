"""What the installer writes into files that hosts read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.ui.base_dir.installer import BEGIN, END, install, with_section
from ui_mcp.workspace import Workspace


@pytest.mark.covers("UI-INST-20")
def test_installed_texts_name_the_real_directory(workspace: Workspace) -> None:
    other = Workspace.at(workspace.project / ".ui")
    install(other)

    texts = [
        file for folder in (".claude", ".agents", ".ui/resources") for file in (other.project / folder).rglob("*.md")
    ]
    assert len(texts) > 10
    assert [file for file in texts if ".claude/ui" in file.read_text()] == []
    assert ".ui/event" in (other.project / ".agents/skills/ui/SKILL.md").read_text()


@pytest.mark.covers("UI-INST-21")
def test_only_files_that_exist_get_our_section_and_keep_theirs(workspace: Workspace) -> None:
    workspace.project.mkdir(parents=True)
    for name in ("AGENTS.md", "CLAUDE.md"):
        (workspace.project / name).write_text("# Mine\n")
    (workspace.project / ".cursor").mkdir()

    first = install(workspace)
    again = install(workspace, force=True)

    assert first.appended == ["AGENTS.md", "CLAUDE.md", ".cursor/rules/ui-mcp.mdc"]
    assert again.appended == []
    for name in ("AGENTS.md", "CLAUDE.md"):
        text = (workspace.project / name).read_text()
        assert text.startswith("# Mine\n\n" + BEGIN)
        assert ".claude/ui/apps/" in text
    assert not (workspace.project / "GEMINI.md").exists()


@pytest.mark.covers("UI-INST-21")
def test_a_file_that_imports_another_with_our_section_gets_none_of_its_own(workspace: Workspace) -> None:
    workspace.project.mkdir(parents=True)
    (workspace.project / "AGENTS.md").write_text("# Mine\n")
    (workspace.project / "CLAUDE.md").write_text("@AGENTS.md\n")

    assert install(workspace).appended == ["AGENTS.md"]
    assert (workspace.project / "CLAUDE.md").read_text() == "@AGENTS.md\n"


@pytest.mark.covers("UI-INST-21")
def test_a_link_is_never_written_through(workspace: Workspace) -> None:
    outside = workspace.project.parent / "outside.md"
    workspace.project.mkdir(parents=True)
    outside.write_text("theirs")
    (workspace.project / "AGENTS.md").symlink_to(outside)

    assert install(workspace).appended == []
    assert outside.read_text() == "theirs"


@pytest.mark.covers("UI-INST-21")
@given(st.text(), st.text())
def test_the_rest_of_the_file_stays_and_the_section_is_there_once(before: str, after: str) -> None:
    if BEGIN in before + after or END in before + after:
        return
    present = f"{before}{BEGIN}\nold\n{END}\n{after}"

    new = with_section(present, "new\n")

    assert new == f"{before}{BEGIN}\nnew\n{END}\n{after}"
    assert with_section(new, "new\n") == new
