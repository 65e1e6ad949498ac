"""What a misspelt command line is answered."""

from pathlib import Path

import pytest

from cli.command import ui_mcp
from ui_mcp.cli.main import GROUPS, explained, parse

COMMANDS = [name for names in GROUPS.values() for name in names if name != "nlui"]  # which parses its own words


@pytest.mark.covers("UI-CLI-15")
@pytest.mark.parametrize(
    ("words", "usage", "guess"),
    [
        (("nwe",), "usage: ui-mcp ", "Unknown command 'nwe'\nDid you mean new?"),
        (("chat", "hsitory"), "usage: ui-mcp chat ", "Unknown action 'hsitory'\nDid you mean history?"),
        (("serve", "--prot", "1"), "usage: ui-mcp serve ", "Did you mean --port?"),
    ],
)
def test_a_misspelt_word_is_answered_with_what_was_meant(
    tmp_path: Path, words: tuple[str, ...], usage: str, guess: str
) -> None:
    done = ui_mcp(*words, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(usage)
    assert done.stderr.endswith(f"{guess}\n")


@pytest.mark.covers("UI-CLI-15")
@pytest.mark.parametrize(("name", "guess"), [("dashbord", "Did you mean dashboard?"), ("zzz", "There are: ")])
def test_a_misspelt_example_is_answered_with_what_was_meant(tmp_path: Path, name: str, guess: str) -> None:
    done = ui_mcp("demo", name, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert f"No example named '{name}'\n  {guess}" in done.stderr


def test_without_a_guess_the_choices_are_listed() -> None:
    message = "argument --face: invalid choice: 'zzz' (choose from 'on', 'off')"

    assert explained(message, []) == "Unknown value of --face: 'zzz'\nThere are: on, off"


@pytest.mark.covers("UI-CLI-15")
def test_a_misspelt_setting_is_reported_with_what_was_meant(tmp_path: Path) -> None:
    (tmp_path / ".claude/ui/config").mkdir(parents=True)
    (tmp_path / ".claude/ui/config/config.toml").write_text("[server]\nprot = 1\n")

    assert "server.prot; did you mean server.port?" in ui_mcp("doctor", cwd=tmp_path).stdout


@pytest.mark.covers("UI-CLI-16")
def test_help_lists_every_command_once_in_a_group(tmp_path: Path) -> None:
    text = ui_mcp("--help", cwd=tmp_path).stdout

    assert "\nothers:\n" not in text
    assert all(text.count(f"\n    {name} ") == 1 for name in ("demo", "call", "logs", "open", "uninstall"))


@pytest.mark.covers("UI-CLI-16")
def test_colour_is_for_terminals_and_those_who_ask(tmp_path: Path) -> None:
    plain, forced = ui_mcp("--help", cwd=tmp_path), ui_mcp("--help", cwd=tmp_path, FORCE_COLOR="1")
    refused = ui_mcp("--help", cwd=tmp_path, FORCE_COLOR="1", NO_COLOR="1")

    assert ["\x1b[1m" in done.stdout for done in (plain, forced, refused)] == [False, True, False]


@pytest.mark.covers("UI-CLI-16")
@pytest.mark.parametrize("columns", [80, 120])
def test_the_help_of_every_command_fits_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    wide = {}
    for name in COMMANDS:
        with pytest.raises(SystemExit):
            parse([name, "--help"], None)
        # A command to copy stays on one line.
        wide[name] = [
            one for one in capsys.readouterr().out.splitlines() if len(one) > columns and "ui-mcp " not in one
        ]

    assert {name: lines for name, lines in wide.items() if lines} == {}


@pytest.mark.covers("UI-CLI-16")
@pytest.mark.parametrize("name", ["serve", "mcp", "agent", "token", "trust"])
def test_help_has_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse([name, "--help"], None)

    assert "\nExamples:\n  " in capsys.readouterr().out
