"""The command line as a person meets it."""

import json
from argparse import Namespace
from pathlib import Path

import pytest

from cli.command import ui_mcp
from ui_mcp.cli import version
from ui_mcp.cli.entry import speaks_on_stdio
from ui_mcp.cli.theme import table
from ui_mcp.version import UNKNOWN


@pytest.mark.covers("UI-CLI-4", "UI-REL-2")
@pytest.mark.parametrize("spelling", ["version", "--version"])
def test_both_spellings_print_the_version(tmp_path: Path, spelling: str) -> None:
    done = ui_mcp(spelling, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ui-mcp v")


@pytest.mark.covers("UI-CLI-7")
@pytest.mark.parametrize("spelling", ["help", "-h", "--help"])
def test_help_is_on_stdout_and_names_every_command(tmp_path: Path, spelling: str) -> None:
    done = ui_mcp(spelling, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    for command in ("mcp", "serve", "install", "version"):
        assert f"\n    {command} " in done.stdout


@pytest.mark.covers("UI-CLI-7")
@pytest.mark.parametrize("arguments", [(), ("dance",), ("serve", "--port", "many"), ("chat", "--port", "65536")])
def test_wrong_usage_explains_itself_on_stderr_with_code_2(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = ui_mcp(*arguments, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: ui-mcp" in done.stderr


@pytest.mark.covers("UI-CLI-7")
@pytest.mark.parametrize("command", ["mcp", "serve", "install"])
def test_each_command_teaches_its_options(tmp_path: Path, command: str) -> None:
    done = ui_mcp(command, "--help", cwd=tmp_path)

    assert done.returncode == 0
    assert "UI_DIR" in done.stdout


@pytest.mark.covers("UI-CLI-3", "UI-INST-2")
def test_install_reports_what_it_did_and_then_that_it_is_done(tmp_path: Path) -> None:
    first, second, forced = (ui_mcp("install", *options, cwd=tmp_path) for options in ((), (), ("--force",)))

    assert [done.returncode for done in (first, second, forced)] == [0, 0, 0]
    assert first.stdout.startswith("Installed:\n")
    assert ".claude/skills/ui/SKILL.md" in first.stdout
    assert second.stdout.startswith("Skipped: installed version ")
    assert forced.stdout.startswith("Installed:\n")


@pytest.mark.covers("UI-CLI-3")
def test_a_directory_that_cannot_be_used_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    for command in (("install",), ("serve",), ("new", "week")):
        done = ui_mcp(*command, "--dir", "file/ui", cwd=tmp_path)

        assert done.returncode == 1
        assert done.stderr.startswith("ui-mcp: ")
        assert "a file is in the way" in done.stderr.splitlines()[0]
        assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.covers("UI-CFG-1", "UI-CLI-2")
def test_serve_refuses_a_malformed_configuration_by_line(tmp_path: Path) -> None:
    (tmp_path / ".claude/ui/config").mkdir(parents=True)
    (tmp_path / ".claude/ui/config/config.toml").write_text("[server\nport = 1\n")

    done = ui_mcp("serve", cwd=tmp_path)

    assert done.returncode == 1
    assert "config.toml" in done.stderr
    assert "line 1" in done.stderr


@pytest.mark.covers("UI-CLI-5")
def test_theme_prints_what_the_tool_answers(tmp_path: Path) -> None:
    ui_mcp("new", "tasks", cwd=tmp_path)
    listed, classes, audit, wrong = (
        ui_mcp("theme", *words, cwd=tmp_path)
        for words in (("list",), ("classes", "dusk"), ("audit", "tasks", "dusk"), ("classes", "dusky"))
    )

    assert [theme["name"] for theme in json.loads(listed.stdout)["themes"]] == ["dark", "dusk", "light", "meadow"]
    assert "content-card" in [entry["name"] for entry in json.loads(classes.stdout)["classes"]]
    assert (json.loads(audit.stdout)["app"], json.loads(audit.stdout)["theme"]) == ("tasks", "dusk")
    assert (wrong.returncode, wrong.stderr.startswith("ui-mcp: ")) == (1, True)


@pytest.mark.covers("UI-CLI-14")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("serve", "--session-timeout", "soon"), "should be a time such as 90s, 15m, 24h or 7d"),
        (("attach", "--url", "example"), "'example' is not a complete URL"),
        (("nlui", "init", "no/nlui.yaml"), "Cannot write no/nlui.yaml"),
        (("nlui", "no.yaml"), "There is no file no.yaml"),
        (("nlui", "check", "list.yaml"), "list.yaml: holds neither settings nor an OpenAPI document"),
        (("nlui", "check", "wrong.yaml"), "wrong.yaml:1: targets: should be a list"),
        (("nlui", "--port", "99999"), "'99999' is not a port"),
    ],
)
def test_wrong_input_is_named_with_what_would_be_right(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    (tmp_path / "list.yaml").write_text("text\n")
    (tmp_path / "wrong.yaml").write_text("targets: 5\n")

    done = ui_mcp(*words, cwd=tmp_path, HOME=str(tmp_path))

    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.covers("UI-CLI-4", "UI-REL-2")
def test_without_a_version_the_command_says_dev(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ui_mcp.cli.version.bundled_version", lambda: UNKNOWN)

    assert version.run(Namespace()) == 0
    assert capsys.readouterr().out == "ui-mcp dev\n"


@pytest.mark.covers("UI-CLI-3")
def test_install_goes_to_the_directory_that_is_named(tmp_path: Path) -> None:
    done = ui_mcp("install", "--dir", "other/.claude/ui", cwd=tmp_path)

    assert done.returncode == 0
    assert (tmp_path / "other/.claude/skills/ui/SKILL.md").is_file()
    assert (tmp_path / "other/.claude/ui/README.md").is_file()
    assert not (tmp_path / ".claude").exists()


@pytest.mark.parametrize(
    ("line", "speaks"),
    [
        ("mcp", True),
        ("mcp --help", False),
        ("chat", True),
        ("chat --face assistant --conversation stop", True),
        ("chat --conversation=stop --stdio", True),
        ("chat --dir x history", False),
        ("chat stop", False),
        ("chat hsitory", False),
        ("chat --port 8010", False),
        ("serve", False),
    ],
)
def test_stdin_is_for_a_host_only_where_a_host_is_served(line: str, *, speaks: bool) -> None:
    assert speaks_on_stdio(line.split()) is speaks


def test_a_table_of_themes_marks_the_current_one() -> None:
    themes = [{"name": "dark", "description": "Night."}, {"name": "meadow", "description": "Green."}]

    assert table({"themes": themes, "current": "dark"}) == "* dark    Night.\n  meadow  Green."
