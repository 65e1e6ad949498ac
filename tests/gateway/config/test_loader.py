"""nlui.yaml is read with its secrets, and mistakes in it are reported."""

import sys
from pathlib import Path

import pytest

from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config.loader import Loaded, find, read


def loaded(text: str, **environment: str) -> Loaded:
    return read(text.encode(), "nlui.yaml", environment, Path("/srv"))


@pytest.mark.covers("GW-CFG-1")
def test_servers_are_read_under_all_their_names() -> None:
    text = """
mcp:
  servers: [{name: filesystem, command: npx, args: ["-y", "x", /path]}]
  clients: [{name: database, command: db}]
mcpServers: {remote: {url: "http://x/mcp", type: http}}
"""
    backends = loaded(text).settings.backends

    assert [(one.name, one.command, one.args, one.url) for one in backends] == [
        ("filesystem", "npx", ("-y", "x", "/path"), ""),
        ("database", "db", (), ""),
        ("remote", "", (), "http://x/mcp"),
    ]


@pytest.mark.covers("GW-CFG-2")
def test_secrets_come_from_the_environment_and_from_files(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from-file\n")
    text = f"""
targets:
  - {{name: a, base_url: "${{URL:-http://default}}", auth: {{token: "${{TOKEN}}"}}}}
  - {{name: b, base_url: x, auth: {{token: "env:TOKEN"}}}}
  - {{name: c, base_url: x, auth: {{token: "file:{tmp_path}/key"}}}}
"""
    found = loaded(text, TOKEN="t0ken")

    targets = found.settings.targets
    assert targets[0].base_url == "http://default"
    assert [target.auth and target.auth.token for target in targets] == ["t0ken", "t0ken", "from-file"]
    assert found.variables == {"TOKEN", "URL"}


@pytest.mark.covers("GW-CFG-2")
def test_a_missing_variable_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match="the environment has no NOPE"):
        loaded('targets: [{name: a, auth: {token: "${NOPE}"}}]')


@pytest.mark.covers("GW-CFG-2")
def test_a_wrong_value_is_named_with_its_line_and_an_unknown_key_with_the_closest() -> None:
    with pytest.raises(ConfigError, match=r"nlui\.yaml:3: targets\.0\.timeout_s"):
        loaded("targets:\n  - name: a\n    timeout_s: soon\n")

    warnings = loaded("targtes: []\npolicy: {mod: guard}\ntargets: [{name: a, base_ulr: x}]").warnings
    assert warnings == [
        "nlui.yaml: unknown key targtes; did you mean targets?",
        "nlui.yaml: unknown key policy.mod; did you mean mode?",
        "nlui.yaml: unknown key targets[0].base_ulr; did you mean base_url?",
    ]


@pytest.mark.covers("GW-CLI-3")
def test_the_file_is_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    user = tmp_path / "user"
    (user / "nlui").mkdir(parents=True)
    assert find(None, {}, user) is None
    (user / "nlui" / "nlui.yaml").touch()
    assert find(None, {}, user) == user / "nlui" / "nlui.yaml"
    Path("nlui.yaml").touch()
    assert find(None, {}, user) == Path("nlui.yaml")
    Path("other.yaml").touch()
    assert find(None, {"NLUI_CONFIG": "other.yaml"}, user) == Path("other.yaml")
    with pytest.raises(ConfigError, match="no file"):
        find("missing.yaml", {}, user)


def test_documents_are_found_beside_the_file() -> None:
    assert loaded("targets: [{name: a, spec: api.yaml}]").settings.targets[0].spec == "/srv/api.yaml"


@pytest.mark.covers("GW-CFG-2", "R-MP-7")
def test_a_secret_comes_from_the_keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "keyring.py").write_text(
        "def get_password(service, user):\n    return {('shop', 'me'): 'from the ring'}.get((service, user))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "keyring", raising=False)

    def token(reference: str) -> str:
        text = f"targets: [{{name: a, base_url: x, auth: {{token: '{reference}'}}}}]"
        auth = read(text.encode(), "nlui.yaml", {}, tmp_path).settings.targets[0].auth
        assert auth is not None
        return auth.token

    assert token("keyring:shop/me") == "from the ring"
    with pytest.raises(ConfigError, match="The keyring has no password for shop/you"):
        token("keyring:shop/you")
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ConfigError, match=r"pip install keyring"):
        token("keyring:shop/me")


@pytest.mark.covers("GW-CFG-2", "UI-ROB-6")
@pytest.mark.parametrize("place", ["~no-such-person/key", "\\0", "FOLDER/binary", "FOLDER"])
def test_a_secret_that_cannot_be_read_from_its_file_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    text = f'server: {{token: "file:{place.replace("FOLDER", str(tmp_path))}"}}'

    with pytest.raises(ConfigError, match="token: cannot read"):
        read(text.encode(), "nlui.yaml", {}, tmp_path)


@pytest.mark.covers("UI-ROB-6")
def test_a_wrong_value_in_a_file_that_only_our_reader_takes_is_still_named() -> None:
    with pytest.raises(ConfigError, match=r"nlui.yaml:1: llm"):
        read(b"\x80approvals:\n  sync_wait_s: 0.3\nllm: 1", "nlui.yaml", {}, Path("/srv"))
