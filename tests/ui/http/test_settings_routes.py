"""Changing config.toml in place."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp import config as settings
from ui_mcp.config import Config
from ui_mcp.errors import InvalidArgumentsError, NotFoundError, RefusedError
from ui_mcp.jsontypes import Json
from ui_mcp.ui.http.settings_routes import agree, agreement, all_settings, change, edit

pytestmark = pytest.mark.covers("UI-SHELL-5")
TEXT = """# mine
[lua]
hotload = false  # slow disk

[lua.permissions]
write = [
  "{base_dir}/storage",
  "out",  # results
]
exec = false

[session]
timeout = "2h"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "config" / "config.toml"
    found.parent.mkdir()
    found.write_text(TEXT)
    return found


def test_one_value_changes_and_everything_else_stays(file: Path) -> None:
    change(file, "lua.hotload", True)

    assert file.read_text() == TEXT.replace("hotload = false", "hotload = true")


def test_an_array_over_several_lines_is_replaced_whole(file: Path) -> None:
    change(file, "lua.permissions.write", ["{base_dir}/storage", "docs"])

    assert tomllib.loads(file.read_text())["lua"]["permissions"] == {
        "write": ["{base_dir}/storage", "docs"],
        "exec": False,
    }
    assert file.read_text().startswith("# mine\n[lua]\nhotload = false  # slow disk\n")


def test_a_removed_setting_has_its_default_again(file: Path) -> None:
    change(file, "lua.permissions.exec", None)
    change(file, "session.timeout", None)

    assert "exec" not in file.read_text()
    assert settings.load(file, environment={}).session == Config().session


@pytest.mark.parametrize("exists", [True, False])
def test_a_missing_section_or_file_is_added(file: Path, exists: bool) -> None:
    if not exists:
        file.unlink()
    change(file, "publisher.enabled", False)

    assert settings.load(file, environment={}).publisher.enabled is False


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("lua.max_memory_mb", 1, InvalidArgumentsError),
        ("session.root", "other", InvalidArgumentsError),
        ("server.host", "0.0.0.0", InvalidArgumentsError),
        ("lua.nothing", 1, NotFoundError),
        ("lua.permissions", {}, NotFoundError),
    ],
)
def test_what_does_not_fit_changes_nothing(file: Path, key: str, value: Json, error: type[Exception]) -> None:
    with pytest.raises(error):
        change(file, key, value)

    assert file.read_text() == TEXT
    assert [path.name for path in file.parent.iterdir()] == ["config.toml"]


def test_a_file_that_is_written_another_way_is_left_alone(file: Path) -> None:
    text = 'lua = { hotload = false }\nsession.timeout = "2h"\n'
    file.write_text(text)
    with pytest.raises(RefusedError, match="yourself"):
        change(file, "lua.hotload", True)

    assert file.read_text() == text


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_every_text_is_read_back_as_it_was(value: str) -> None:
    text = edit(TEXT, "lua.permissions.deny_read", [value])

    assert tomllib.loads(text)["lua"]["permissions"]["deny_read"] == [value]


def test_every_setting_is_shown_with_its_meaning(file: Path) -> None:
    sections = {section["name"]: section for section in all_settings(file, Config())}
    shown = {one["key"]: one for section in sections.values() for one in section["settings"]}

    assert shown["session.root"]["choices"] == ["shared", "new"]
    assert shown["lua.hotload"] == {
        "key": "lua.hotload",
        "about": "Reload an app's files when they change.",
        "kind": "switch",
        "choices": [],
        "default": True,
        "value": True,
        "given": False,
        "widens": False,
    }
    assert shown["lua.permissions.exec"]["widens"] is True
    assert {one["kind"] for one in shown.values()} == {"switch", "number", "text", "choice", "list"}
    assert all(one["about"] for one in shown.values())


def test_the_person_agrees_to_what_was_shown_and_to_nothing_else(file: Path) -> None:
    shown = agreement(file)
    change(file, "lua.permissions.exec", True)
    with pytest.raises(RefusedError, match="have changed"):
        agree(file, shown["digest"])
    before = settings.load(file, environment={}).lua.permissions.exec
    agree(file, agreement(file)["digest"])

    assert (before, settings.load(file, environment={}).lua.permissions.exec) == (False, True)
