"""Configuration files of hosts: one entry comes and goes, and nothing else of the person's file is lost."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.app.setup import jsonc, toml_text
from ui_mcp.app.setup.config_file import BACKUP, planned
from ui_mcp.errors import ConfigError

ENTRY = {"command": "ui-mcp", "args": ["mcp", "--dir", ".ui"]}
PATH = ("mcpServers", "ui")
NAMES = st.text(alphabet='ab"\\é ui', max_size=4)
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(alphabet='x"\\/*#,{}\n\u2028', max_size=5)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3))
SERVERS = st.dictionaries(st.sampled_from(["ui", "other", "u"]), st.just({"command": "x"}) | VALUES, max_size=3)
FILES = st.tuples(st.dictionaries(NAMES, VALUES, max_size=3), st.none() | SERVERS).map(
    lambda drawn: drawn[0] | ({} if drawn[1] is None else {"mcpServers": drawn[1]})
)


@st.composite
def commented(draw: st.DrawFn, value: Any = None) -> tuple[str, Any]:
    """Draw a JSON file as people write them, with comments and trailing commas, and what it means."""
    whole = draw(FILES) if value is None else value
    comments = iter(range(10_000))

    def gap() -> str:
        number = next(comments)
        return draw(st.sampled_from(["", " ", "\n  ", f" /* c{number}, {{ */ ", f' // c{number} "}}\n']))

    def comma(last: bool) -> str:
        return draw(st.sampled_from(["", ","])) if last else ","

    def write(one: Any) -> str:
        if isinstance(one, dict):
            parts = [
                f"{gap()}{json.dumps(name)}{gap()}:{gap()}{write(inner)}{gap()}{comma(place == len(one) - 1)}"
                for place, (name, inner) in enumerate(one.items())
            ]
        elif isinstance(one, list):
            parts = [f"{gap()}{write(inner)}{gap()}{comma(place == len(one) - 1)}" for place, inner in enumerate(one)]
        else:
            return json.dumps(one, ensure_ascii=draw(st.booleans()))
        brackets = "{}" if isinstance(one, dict) else "[]"
        return f"{brackets[0]}{''.join(parts)}{gap()}{brackets[1]}"

    return f"{gap()}{write(whole)}{gap()}", whole


def comments_of(text: str) -> list[str]:
    return re.findall(r"c\d+", re.sub(r'"(?:[^"\\]|\\.)*"(?=\s*[:,}\]\s/])', "", text))


@pytest.mark.covers("HOST-SETUP-1")
@given(commented())
def test_an_entry_comes_and_goes_and_the_rest_of_a_file_with_comments_stays(drawn: tuple[str, Any]) -> None:
    text, meaning = drawn
    assert jsonc.parse(text) == meaning

    added = jsonc.edited(text, PATH, ENTRY)
    removed = jsonc.edited(added, PATH, None)

    servers = {name: one for name, one in meaning.get("mcpServers", {}).items() if name != "ui"}
    assert jsonc.parse(added) == {**meaning, "mcpServers": {**servers, "ui": ENTRY}}
    assert jsonc.parse(removed) == {**meaning, "mcpServers": servers}
    assert jsonc.edited(added, PATH, ENTRY) == added
    if "ui" not in meaning.get("mcpServers", {}):  # else the comments inside the old entry go with it
        assert set(comments_of(text)) <= set(comments_of(removed))


@pytest.mark.covers("HOST-SETUP-1")
@given(commented({"a": 1, "mcpServers": {"b": {"c": [1]}}, "z": 2}))
def test_adding_an_entry_inserts_text_at_one_place_only(drawn: tuple[str, Any]) -> None:
    text, _ = drawn

    added = jsonc.edited(text, PATH, ENTRY)

    same = next((place for place, pair in enumerate(zip(text, added, strict=False)) if pair[0] != pair[1]), len(text))
    assert added.endswith(text[same:])


@pytest.mark.covers("HOST-SETUP-1")
@pytest.mark.parametrize("text", ["[", '{"a": }', "{} x", '{"a" 1}', "nul", '{"a": 1,,}', "{" * 200])
def test_what_is_no_json_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ConfigError, match=r"not JSON|nested"):
        jsonc.edited(text, PATH, ENTRY)


@pytest.mark.covers("HOST-SETUP-1")
def test_what_holds_no_servers_is_refused_and_left(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"mcpServers": ["mine"]}')

    with pytest.raises(ConfigError, match=r"settings\.json was left as it is: expected an object"):
        planned(file, "json", PATH, ENTRY)


TABLES = st.lists(
    st.sampled_from([
        "# mine", "", 'model = "m"', "[mcp_servers.other]\ncommand = 'x' # why", "[profiles.\"a b\"]\nx = 1",
        '[mcp_servers.ui]\ncommand = "old"\n# inside', "[mcp_servers.ui.env]\nA = 'b'", "[[list]]\ny = 2",
    ]),
    unique=True, max_size=8,
)  # fmt: skip


@pytest.mark.covers("HOST-SETUP-1")
@given(TABLES, st.booleans())
def test_a_table_of_toml_comes_and_goes_and_the_rest_stays(parts: list[str], ends: bool) -> None:
    text = "\n".join(sorted(parts, key=lambda part: "[" in part)) + ("\n" if ends else "")
    before = tomllib.loads(text)
    path = ("mcp_servers", "ui")

    added = toml_text.edited(text, path, ENTRY)
    removed = toml_text.edited(added, path, None)

    servers = {name: one for name, one in before.get("mcp_servers", {}).items() if name != "ui"}
    rest = {name: one for name, one in before.items() if name != "mcp_servers"}
    assert tomllib.loads(added) == {**rest, "mcp_servers": {**servers, "ui": ENTRY}}
    assert tomllib.loads(removed) == {**rest, **({"mcp_servers": servers} if servers else {})}
    assert ("# mine" in removed, "# why" in removed) == ("# mine" in text, "# why" in text)


@pytest.mark.covers("HOST-SETUP-1")
@pytest.mark.parametrize(
    "text", ['mcp_servers = {other = {command = "x"}}', 'mcp_servers.ui.command = "x"', 'a = """\n[b']
)
def test_toml_that_cannot_be_edited_in_place_is_left_with_the_reason(text: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)

    with pytest.raises(ConfigError, match=r"config\.toml was left as it is"):
        planned(file, "toml", ("mcp_servers", "ui"), ENTRY)


@pytest.mark.covers("HOST-SETUP-1")
def test_yaml_keeps_its_comments_or_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("# mine\nGOOSE_MODEL: m # this one\nextensions:\n  memory:\n    enabled: true # yes\n")

    change = planned(file, "yaml", ("extensions", "ui"), ENTRY)

    assert yaml.safe_load(change.after)["extensions"] == {"memory": {"enabled": True}, "ui": ENTRY}
    assert all(comment in change.after for comment in ("# mine", "# this one", "# yes"))


@pytest.mark.covers("HOST-SETUP-1")
def test_the_first_state_of_a_file_is_kept_and_a_link_is_followed(tmp_path: Path) -> None:
    real, file = tmp_path / "dotfiles.json", tmp_path / "settings.json"
    real.write_text('{"theme": "mine"}')
    real.chmod(0o600)
    file.symlink_to(real)

    planned(file, "json", PATH, ENTRY).write()
    planned(file, "json", PATH, {**ENTRY, "args": []}).write()

    assert file.is_symlink()
    assert (real.stat().st_mode & 0o777, json.loads(real.read_text())["theme"]) == (0o600, "mine")
    assert file.with_name(f"settings.json{BACKUP}").read_text() == '{"theme": "mine"}'
