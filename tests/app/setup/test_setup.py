"""`ui-mcp setup`: hosts are found, changes shown and written, and the host asked whether it sees us."""

import json
import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from cli.command import ui_mcp as started
from ui_mcp.app.setup.hosts import HOSTS

ALL = [host.name for host in HOSTS]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    return tmp_path / "project"


def ui_mcp(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command with a home directory of its own beside the project."""
    home = str(cwd.parent / "home")
    return started(*arguments, cwd=cwd, **{"HOME": home, "USERPROFILE": home, **environment})


def files(folder: Path) -> dict[str, str]:
    return {file.relative_to(folder).as_posix(): file.read_text() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.covers("HOST-SETUP-2")
def test_every_host_is_set_up_and_removed_again(project: Path, tmp_path: Path) -> None:
    done = ui_mcp("setup", "--yes", *ALL, cwd=project)
    written = files(tmp_path)
    again = ui_mcp("setup", "--yes", *ALL, cwd=project)
    removed = ui_mcp("setup", "--yes", "--remove", *ALL, cwd=project)

    assert (done.returncode, done.stderr) == (0, "")
    assert sum("ui_mcp" in text or "ui-mcp" in text for text in written.values()) == len(HOSTS)
    assert again.stdout.count("is as it should be") == len(HOSTS)
    assert removed.returncode == 0
    assert files(tmp_path) == {}


@pytest.mark.covers("HOST-SETUP-2")
def test_what_a_person_had_in_a_file_is_all_that_is_left_after_removal(project: Path, tmp_path: Path) -> None:
    texts = {".mcp.json": '{"mcpServers": {"mine": {"command": "x"}}}\n', ".cursor/mcp.json": "{} // empty so far\n"}
    (project / ".cursor").mkdir()
    for name, text in texts.items():
        (project / name).write_text(text)

    for options in ((), ("--remove",)):
        ui_mcp("setup", "--yes", *options, "claude-code", "cursor", cwd=project)
    left = files(project)

    assert json.loads(left[".mcp.json"]) == json.loads(texts[".mcp.json"])
    assert "// empty so far" in left[".cursor/mcp.json"]


@pytest.mark.covers("HOST-SETUP-2")
def test_hosts_are_known_by_their_titles_too(project: Path) -> None:
    done = ui_mcp("setup", "--dry-run", "gemini-cli", "qwen-code", "vs-code", "gemini", cwd=project)

    assert [done.stdout.count(f"\n{title}\n") for title in ("Gemini CLI", "Qwen Code", "VS Code")] == [1, 1, 1]


@pytest.mark.covers("HOST-SETUP-2")
def test_a_dry_run_shows_the_change_and_writes_nothing(project: Path, tmp_path: Path) -> None:
    (project / ".mcp.json").write_text('{"mcpServers": {"mine": {"command": "x"}}} // keep')
    before = files(tmp_path)

    done = ui_mcp("setup", "--dry-run", "claude-code", cwd=project)

    assert files(tmp_path) == before
    assert '"ui": {' in done.stdout
    assert "Nothing was written" in done.stdout


@pytest.mark.covers("HOST-SETUP-2")
def test_claude_code_gets_a_directory_that_it_does_not_guard_unless_there_are_apps_already(project: Path) -> None:
    ui_mcp("setup", "--yes", "claude-code", "cursor", cwd=project)
    fresh = [json.loads((project / file).read_text()) for file in (".mcp.json", ".cursor/mcp.json")]
    (project / ".claude" / "ui").mkdir(parents=True)
    ui_mcp("setup", "--yes", "claude-code", cwd=project)
    older = json.loads((project / ".mcp.json").read_text())

    assert [entry["mcpServers"]["ui"]["args"][-3:] for entry in fresh] == [["mcp", "--dir", ".ui"]] * 2
    assert older["mcpServers"]["ui"]["args"][-3:] == ["mcp", "--dir", ".claude/ui"]


@pytest.mark.covers("HOST-SETUP-2")
def test_a_file_that_cannot_be_read_is_left_and_the_other_hosts_are_set_up(project: Path, tmp_path: Path) -> None:
    (project / ".mcp.json").write_text("{broken")

    done = ui_mcp("setup", "--yes", "claude-code", "codex", cwd=project)

    assert done.returncode == 1
    assert "was left as it is: it is not JSON" in done.stdout
    assert (project / ".mcp.json").read_text() == "{broken"
    assert "ui" in tomllib.loads((tmp_path / "home" / ".codex" / "config.toml").read_text())["mcp_servers"]


@pytest.mark.covers("HOST-SETUP-2")
def test_a_name_that_no_host_has_is_answered_with_the_nearest(project: Path) -> None:
    done = ui_mcp("setup", "claud-code", cwd=project)

    assert done.returncode == 1
    assert "Did you mean claude-code?" in done.stderr


@pytest.mark.covers("HOST-SETUP-2")
@pytest.mark.skipif(os.name == "nt", reason="a shell script stands for the host")
def test_installed_hosts_are_found_and_asked_whether_they_see_us(project: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "gemini").write_text("#!/bin/sh\necho '✓ ui: ui-mcp mcp (stdio) - Connected'\n")
    (programs / "gemini").chmod(0o755)

    done = ui_mcp("setup", "--yes", cwd=project, PATH=f"{programs}:/usr/bin:/bin")

    assert [name for name in files(project) if name.endswith("json")] == [".gemini/settings.json"]
    assert 'it says "✓ ui: ui-mcp mcp (stdio) - Connected"' in done.stdout
    assert "trust the folder" in done.stdout


HOOK_FILES = {
    "claude-code": "project/.claude/settings.local.json",
    "codex": "home/.codex/hooks.json",
    "gemini": "project/.gemini/settings.json",
}


@pytest.mark.covers("INBOX-8", "HOST-SETUP-2")
def test_hooks_are_added_beside_others_and_removed_again(project: Path, tmp_path: Path) -> None:
    mine = {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}
    before = json.dumps({"model": "opus", "hooks": {"PermissionRequest": [mine], "Stop": []}})
    settings = project / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text(before)
    shown = ui_mcp("setup", "--hooks", "--dry-run", *HOOK_FILES, cwd=project)
    untouched = files(tmp_path)
    done = [ui_mcp("setup", "--hooks", "--yes", *HOOK_FILES, cwd=project) for _ in range(2)]
    written = {host: (tmp_path / file).read_text() for host, file in HOOK_FILES.items()}
    removed = ui_mcp("setup", "--hooks", "--yes", "--remove", *HOOK_FILES, cwd=project)

    assert (list(untouched.values()), "hook claude-code" in shown.stdout) == ([before], True)
    assert [one.returncode for one in (*done, removed)] == [0, 0, 0]
    assert done[1].stdout.count("is as it should be") == len(HOOK_FILES)
    assert all(text.count(f" hook {host}") == 1 for host, text in written.items())
    assert json.loads(written["claude-code"])["hooks"]["PermissionRequest"][0] == mine
    assert (settings.parent / "settings.local.json.before-ui-mcp").read_text() == before
    assert json.loads(settings.read_text()) == json.loads(before)
    assert not (tmp_path / HOOK_FILES["gemini"]).exists()


@pytest.mark.covers("INBOX-8")
def test_hosts_without_hooks_and_hooks_of_another_form_are_left_alone(project: Path) -> None:
    (project / ".gemini").mkdir()
    (project / ".gemini" / "settings.json").write_text('{"hooks": {"BeforeTool": "x"}}')
    unknown = ui_mcp("setup", "--hooks", "--yes", "zed", cwd=project)
    odd = ui_mcp("setup", "--hooks", "--yes", "gemini", cwd=project)

    assert (unknown.returncode, "There are: claude-code, codex, gemini" in unknown.stderr) == (1, True)
    assert (odd.returncode, "is not a list" in odd.stdout) == (1, True)
    assert (project / ".gemini" / "settings.json").read_text() == '{"hooks": {"BeforeTool": "x"}}'
