"""Changes of nlui.yaml keep what people wrote around them."""

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config import editor
from ui_mcp.gateway.config.editor import change, edited
from ui_mcp.gateway.config.parse import parse
from ui_mcp.trust import Agreements, place_of

FILE = """\
# Mine.
llm:
  provider: openai   # the dialect
  model: small
  # A secret.
  api_key: ${KEY}

# APIs below.
targets:
  - name: one   # first
    base_url: http://127.0.0.1:1

# The end.
server:
  port: 9000
"""
NAMES = st.sampled_from(["llm", "targets", "server", "a", "b"])
VALUES = st.recursive(
    st.integers(-9, 9) | st.booleans() | st.text("ab:#- '\"é\n", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.covers("GW-CFG-3")
def test_comments_references_and_order_survive_a_change() -> None:
    tree = parse(FILE.encode())
    tree["llm"]["model"] = "large"
    tree["llm"]["max_output_tokens"] = 100
    tree["targets"] = [*tree["targets"], {"name": "two", "base_url": "http://127.0.0.1:2"}]

    text = edited(FILE, tree)

    assert parse(text.encode()) == tree
    for kept in ("# Mine.", "# the dialect", "# A secret.", "${KEY}", "# APIs below.", "# first", "# The end."):
        assert kept in text
    assert "model: large" in text


@pytest.mark.covers("GW-CFG-3")
def test_what_is_added_stands_before_the_comment_of_the_next_section() -> None:
    tree = parse(FILE.encode())
    tree["llm"]["max_output_tokens"] = 100
    tree["targets"] = [*tree["targets"], {"name": "two"}]

    text = edited(FILE, tree)

    added = ("  max_output_tokens: 100\n", "  - name: two\n")
    assert [text.index(line) + len(line) for line in added] == [text.index("\n# APIs"), text.index("\n# The end.")]
    assert text.replace(added[0], "").replace(added[1], "") == FILE


@pytest.mark.covers("GW-CFG-3")
def test_what_is_removed_leaves_the_comment_of_the_next_section() -> None:
    tree = parse(FILE.encode())
    del tree["targets"]

    removed = FILE[FILE.index("targets:") : FILE.index("\n# The end.")]
    assert edited(FILE, tree) == FILE.replace(removed, "")


@pytest.mark.covers("UI-LINK-1")
def test_a_change_is_written_through_no_link(tmp_path: Path) -> None:
    file, victim = tmp_path / "nlui.yaml", tmp_path / "victim"
    victim.write_text("mine")
    file.write_text("language: en\n")
    (tmp_path / ".nlui.yaml.new").symlink_to(victim)

    change(file, lambda tree: {**tree, "language": "de"})

    assert victim.read_text() == "mine"
    assert (file.is_symlink(), parse(file.read_bytes())) == (False, {"language": "de"})


@pytest.mark.covers("GW-CFG-3")
def test_the_file_is_only_for_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "nlui.yaml"
    file.write_text(FILE)
    file.chmod(0o644)

    change(file, lambda tree: {**tree, "language": "en"})

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert parse(file.read_bytes())["language"] == "en"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.covers("GW-CFG-3")
def test_an_agreement_survives_a_change_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "nlui.yaml"
    file.write_text(FILE)
    Agreements().add(place_of(file), FILE.encode())
    monkeypatch.setattr(editor, "write_atomic", _disk_full)

    with pytest.raises(ConfigError):
        change(file, lambda tree: {**tree, "language": "en"})

    assert Agreements().hold(place_of(file), FILE.encode())


def _disk_full(*_: object, **__: object) -> None:
    raise OSError("disk full")


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.dictionaries(NAMES, VALUES, max_size=4))
def test_the_result_always_means_what_was_wanted(old: dict[str, object], wanted: dict[str, object]) -> None:
    before = edited("", old) if old else ""

    assert (parse(edited(before, wanted).encode()) or {}) == wanted
    assert parse(edited(FILE, wanted).encode()) == wanted
