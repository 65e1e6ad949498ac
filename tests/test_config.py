"""Settings: precedence, checks, messages."""

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreeing import agree_to_file
from ui_mcp.config import load, seconds, unknown_keys
from ui_mcp.errors import ConfigError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lua_runtime.permissions import Permissions


def written(folder: Path, text: str) -> Path:
    file = folder / "config.toml"
    file.write_text(text)
    return file


@pytest.mark.covers("UI-CFG-1")
def test_flags_win_over_environment_over_file_over_defaults(tmp_path: Path) -> None:
    file = written(tmp_path, "[server]\nport = 1\nmcp_port = 1\n[session]\ntimeout = '2h'\n")

    config = load(file, flags={"server.port": 3}, environment={"UI_PORT": "2", "UI_MCP_PORT": "2"})

    assert (config.server.port, config.server.mcp_port, config.session.timeout) == (3, 2, 7200)
    assert config.lua.max_seconds == 5


@pytest.mark.covers("UI-CFG-1")
def test_a_missing_file_means_defaults(tmp_path: Path) -> None:
    config = load(tmp_path / "none.toml", environment={})

    assert (config.server.host, config.lua.hotload, config.mcp.max_result_chars) == ("127.0.0.1", True, 60_000)


@pytest.mark.covers("UI-CFG-1")
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[server\n", "line 1"),
        ("[server]\nport = 'x'\n", "server.port"),
        ("[lua]\nmax_memory_mb = 1\n", "lua.max_memory_mb"),
        ("[session]\ntimeout = '5 parsecs'\n", "session.timeout"),
    ],
)
def test_a_wrong_file_is_named_with_the_place_and_the_reason(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(written(tmp_path, text), environment={})

    assert "config.toml" in caught.value.message
    assert named in caught.value.message


@pytest.mark.covers("UI-CFG-1")
def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"UI_PORT: server\.port"):
        load(tmp_path / "none.toml", environment={"UI_PORT": "many"})


@pytest.mark.covers("UI-CFG-1", "UI-SEC-1")
def test_listening_beyond_this_machine_needs_a_token_and_names(tmp_path: Path) -> None:
    open_to_all = "[server]\nhost = '0.0.0.0'\n"

    with pytest.raises(ConfigError, match="require_token"):
        load(agree_to_file(written(tmp_path, open_to_all)), environment={})
    safe = written(tmp_path, open_to_all + "require_token = true\nallowed_hosts = ['box.lan']\n")
    config = load(agree_to_file(safe), environment={})

    assert config.server.host == "0.0.0.0"
    assert (config.server.url(8000), config.server.local_url(8000)) == ("http://box.lan:8000", "http://127.0.0.1:8000")


@pytest.mark.covers("UI-CFG-2")
def test_unknown_keys_are_found_at_every_depth(tmp_path: Path) -> None:
    file = written(tmp_path, "colour = 1\n[server]\nprot = 2\n[lua.permissions]\nread = []\nshout = 3\n")

    found = [key.partition(";")[0] for key in unknown_keys(file)]
    assert found == ["colour", "server.prot", "lua.permissions.shout"]
    assert "server.prot; did you mean server.port?" in unknown_keys(file)


@given(st.floats(0, 1e6, allow_nan=False), st.sampled_from("smhd"))
def test_durations_read_back_as_seconds(amount: float, unit: str) -> None:
    assert seconds(f"{amount:f}{unit}") == pytest.approx(
        float(f"{amount:f}") * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit]
    )


@given(st.binary(max_size=200))
def test_no_file_content_crashes_the_loader(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.mktemp("fuzz") / "config.toml"
    file.write_bytes(content)
    with suppress(ConfigError):
        load(file, environment={})


@pytest.mark.covers("UI-PERM-1")
@pytest.mark.parametrize(
    "name",
    [
        "storage/runtime.db",
        "storage/runtime.db-wal",
        "storage/running.lock",
        "mcp-token",
        ".ui-mcp/runtime.db",
        ".ui-mcp/targets/x.json",
        ".ui-mcp.new",
    ],
)
def test_app_code_may_not_write_what_the_server_keeps(tmp_path: Path, name: str) -> None:
    base = tmp_path / ".claude/ui"
    (base / "storage/tmp").mkdir(parents=True)
    defaults = asdict(load(tmp_path / "none.toml", environment={}).lua.permissions)
    policy = Permissions({"base_dir": str(base), "project": str(tmp_path), "permissions": defaults})
    note = str(base / "storage/tmp/note.txt")

    assert [policy.refusal(mode, str(base / name), name) is None for mode in ("read", "write")] == [False, False]
    for saved in ("notes.db", "settings.json", "game/scores.json"):
        assert policy.refusal("write", str(base / "storage" / saved), saved) is None
    assert policy.refusal("write", note, note) is None


@pytest.mark.covers("INBOX-9")
@pytest.mark.parametrize(
    "settings",
    [
        {"phone.url": "http://phone.example"},
        {"phone.url": "https://phone.example/inbox"},
        {"phone.url": "https://me@phone.example"},
        {"phone.url": "phone.example"},
        {"phone.url": "https://phone.example", "phone.host": "0.0.0.0"},
        {"phone.url": "https://phone.example", "phone.certificate": "a.pem"},
        {"phone.email": "ada@example.com"},
    ],
)
def test_phones_need_https(settings: JsonObject, tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        load(tmp_path / "config.toml", flags=settings, environment={})


def test_a_certificate_lets_phones_in_from_the_network(tmp_path: Path) -> None:
    given = {"phone.url": "https://a.example:8003/", "phone.host": "0.0.0.0"}
    config = load(tmp_path / "config.toml", flags={**given, "phone.certificate": "c", "phone.key": "k"}, environment={})

    assert (config.phone.origin, config.phone.notifies) == ("https://a.example:8003", True)
