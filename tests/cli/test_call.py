"""`ui-mcp call` and `ui-mcp logs` against a server that they start themselves."""

from pathlib import Path

import pytest

from cli.command import ui_mcp
from ui_mcp.app.commands.call import arguments_of
from ui_mcp.cli.call import readable
from ui_mcp.errors import InvalidArgumentsError

pytestmark = pytest.mark.slow


@pytest.mark.covers("UI-CLI-16")
def test_a_tool_is_called_with_named_values(tmp_path: Path) -> None:
    done = ui_mcp("call", "ui_run", "code=return 6 * 7", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, "42\n")


@pytest.mark.covers("UI-CLI-16")
def test_a_picture_is_kept_in_a_file_that_is_named(tmp_path: Path) -> None:
    done = ui_mcp("call", "ui_screenshot", cwd=tmp_path)
    picture = Path(done.stdout.rpartition("Picture: ")[2].strip())

    assert picture.read_bytes().startswith(b"\x89PNG"), done.stdout + done.stderr
    picture.unlink()


@pytest.mark.covers("UI-CLI-15")
def test_a_misspelt_tool_is_answered_with_the_nearest(tmp_path: Path) -> None:
    done = ui_mcp("call", "ui_dispaly", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert "Did you mean ui_display?" in done.stderr


def test_values_are_json_or_text(tmp_path: Path) -> None:
    (tmp_path / "more.json").write_text('{"a": 1, "b": 2}')

    assert arguments_of(["b=true", "c=word"], str(tmp_path / "more.json")) == {"a": 1, "b": True, "c": "word"}
    with pytest.raises(InvalidArgumentsError, match="Write name=value"):
        arguments_of(["word"], None)


@pytest.mark.covers("UI-CLI-16")
def test_objects_are_indented_for_a_terminal_and_texts_stay() -> None:
    assert readable('{"state":"running"}') == '{\n  "state": "running"\n}'
    assert [readable(text) for text in ("42", "[not JSON", "{}")] == ["42", "[not JSON", "{}"]


@pytest.mark.covers("UI-CLI-16")
def test_logs_show_the_newest_lines_of_each(tmp_path: Path) -> None:
    log = tmp_path / ".claude/ui/log"
    log.mkdir(parents=True)
    (log / "lua.log").write_text("one\ntwo\nthree\n")

    assert ui_mcp("logs", "-n", "2", cwd=tmp_path).stdout == "lua     two\nlua     three\n"
    assert "Nothing has been logged" in ui_mcp("logs", "mcp", cwd=tmp_path).stderr
