"""`ui-mcp doctor` on healthy and on broken projects."""

import json
import os
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from agreeing import agree
from cli.command import ui_mcp
from ui_mcp.cli.doctor import machine, project
from ui_mcp.cli.doctor.findings import Finding, Health
from ui_mcp.errors import ConfigError
from ui_mcp.workspace import Workspace

BASE = ".claude/ui"


def findings(cwd: Path, **environment: str) -> tuple[int, dict[str, dict[str, str]]]:
    done = ui_mcp("doctor", "--json", cwd=cwd, **environment)
    told = json.loads(done.stdout)
    assert told["ok"] is (done.returncode == 0), done.stderr
    return done.returncode, {finding["name"]: finding for finding in told["findings"]}


def configured(folder: Path, text: str) -> Path:
    (folder / BASE / "config").mkdir(parents=True)
    (folder / BASE / "config/config.toml").write_text(text)
    with suppress(ConfigError):
        agree(folder / BASE)
    return folder


@pytest.mark.covers("UI-CLI-10")
def test_an_empty_directory_is_no_problem_and_stays_empty(tmp_path: Path) -> None:
    code, found = findings(tmp_path)

    assert code == 0
    assert found["directory"]["health"] == "note"
    assert {name: found[name]["health"] for name in ("Python", "package", "Lua", "settings", "chat store")} == {
        "Python": "ok", "package": "ok", "Lua": "ok", "settings": "ok", "chat store": "ok",
    }  # fmt: skip
    assert list(tmp_path.iterdir()) == []


@pytest.mark.covers("UI-CLI-10")
def test_an_installed_project_is_told_in_words_with_the_way_out(tmp_path: Path) -> None:
    ui_mcp("install", cwd=tmp_path)

    done = ui_mcp("doctor", cwd=tmp_path)

    assert done.returncode == 0, done.stdout
    assert "installed files  " in done.stdout
    assert "up to date" in done.stdout
    assert "ui-mcp is not on PATH" in done.stdout
    assert "→ Give hosts the full path" in done.stdout


@pytest.mark.covers("UI-CLI-10")
def test_files_of_an_older_version_are_a_problem_until_they_are_installed_again(tmp_path: Path) -> None:
    ui_mcp("install", cwd=tmp_path)
    readme = tmp_path / BASE / "README.md"
    readme.write_text("**Version: 0.0.1**\n")

    code, found = findings(tmp_path)

    assert code == 1
    assert "version 0.0.1" in found["installed files"]["text"]
    assert "ui-mcp install" in found["installed files"]["fix"]
    ui_mcp("install", cwd=tmp_path)
    assert findings(tmp_path)[1]["installed files"]["health"] != "problem"


@pytest.mark.covers("UI-CLI-10")
def test_missing_installed_files_and_waiting_merges_are_named(tmp_path: Path) -> None:
    ui_mcp("install", cwd=tmp_path)
    skill = tmp_path / ".claude/skills/ui/SKILL.md"
    text = skill.read_text()
    skill.unlink()
    assert "skills/ui/SKILL.md" in findings(tmp_path)[1]["installed files"]["text"]

    skill.write_text(text)
    skill.with_name("SKILL.md.merge").write_text("new")
    found = findings(tmp_path)[1]["installed files"]
    assert (found["health"], "SKILL.md.merge" in found["text"]) == ("note", True)


@pytest.mark.covers("UI-CLI-10")
@pytest.mark.parametrize(
    ("text", "health", "names"),
    [
        ("[server\nport = 1", "problem", "line 1"),
        ("[server]\nport = 'many'", "problem", "server.port"),
        ("[server]\nprot = 1", "note", "server.prot"),
    ],
)
def test_settings_are_judged_by_key_and_line(tmp_path: Path, text: str, health: str, names: str) -> None:
    _, found = findings(configured(tmp_path, text))

    assert found["settings"]["health"] == health
    assert names in found["settings"]["text"]


@pytest.mark.covers("UI-CLI-10")
def test_an_unreachable_database_is_named_without_its_password(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: every connection is refused
        port = taken.getsockname()[1]
        configured(tmp_path, f'[storage]\nurl = "postgresql://me:planted-secret@127.0.0.1:{port}/chats"\n')
        done = ui_mcp("doctor", cwd=tmp_path)

    assert done.returncode == 1
    assert f"127.0.0.1:{port}/chats" in done.stdout
    assert "planted-secret" not in done.stdout + done.stderr


@pytest.mark.covers("UI-CLI-10")
def test_a_taken_port_is_a_note_with_a_way_round(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        _, found = findings(tmp_path, UI_PORT=str(port))

    assert found["ports"]["health"] == "note"
    assert str(port) in found["ports"]["text"]
    assert "--port 0" in found["ports"]["fix"]


@pytest.mark.covers("UI-CLI-10")
def test_a_broken_gateway_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "nlui.yaml").write_text("targets: 7\n")
    _, found = findings(configured(tmp_path, '[gateway]\nconfig = "nlui.yaml"\n'))

    assert found["gateway"]["health"] == "problem"
    assert "nlui.yaml" in found["gateway"]["text"]


@pytest.mark.covers("UI-CLI-10")
def test_secrets_open_to_others_are_a_problem(tmp_path: Path) -> None:
    workspace = Workspace.at(tmp_path / BASE)
    workspace.base.mkdir(parents=True)
    workspace.mcp_token.write_text("secret")
    workspace.mcp_token.chmod(0o644)
    assert project.private(workspace).health is Health.PROBLEM

    workspace.mcp_token.chmod(0o600)
    assert project.private(workspace).health is Health.OK


@pytest.mark.covers("UI-CLI-10")
@pytest.mark.skipif(os.name == "nt", reason="files in the way behave differently")
def test_a_directory_that_cannot_be_made_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    assert project.directory(Workspace.at(tmp_path / "file" / "ui")).health is Health.PROBLEM


def _health(finding: Finding) -> Health:
    return finding.health


@pytest.mark.covers("UI-CLI-10")
def test_an_incomplete_package_and_an_old_python_are_problems(tmp_path: Path) -> None:
    assert _health(machine.package(tmp_path)) is Health.PROBLEM
    assert _health(machine.python((3, 10, 1))) is Health.PROBLEM
    assert _health(machine.java(tmp_path / "no.jar")) is Health.NOTE


@pytest.mark.covers("UI-CLI-10")
def test_a_browser_that_does_not_start_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("UI_MCP_CHROMIUM", str(broken))

    assert _health(machine.browser()) is Health.PROBLEM


@pytest.mark.covers("UI-CLI-10", "UI-OWN-1")
def test_files_that_an_older_version_left_in_storage_are_named_and_not_touched(tmp_path: Path) -> None:
    storage = tmp_path / BASE / "storage"
    storage.mkdir(parents=True)
    (storage / "runtime.db").write_text("kept by an older version")

    _, found = findings(tmp_path)

    assert found["own files"]["health"] == "note"
    assert "runtime.db" in found["own files"]["text"]
    assert [path.name for path in (tmp_path / BASE).iterdir()] == ["storage"]
    assert [path.name for path in storage.iterdir()] == ["runtime.db"]


@pytest.mark.covers("UI-CLI-10")
@pytest.mark.parametrize(("file", "name"), [("runtime.db", "chat store"), ("agent.db", "agent store")])
def test_a_damaged_store_is_a_problem_with_the_way_out(tmp_path: Path, file: str, name: str) -> None:
    own = tmp_path / BASE / ".ui-mcp"
    own.mkdir(parents=True, mode=0o700)
    (own / file).write_bytes(os.urandom(40_960))

    code, found = findings(tmp_path)

    assert code == 1
    assert "file is not a database" in found[name]["text"]
    assert found[name]["fix"].startswith(f"Move {own / file} away")
