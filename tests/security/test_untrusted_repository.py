"""A cloned repository: it widens no rights by its own settings, and its links lead none of our files elsewhere."""

import json
import logging
import os
import pty
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from agreeing import agree
from cli.command import ui_mcp
from integration.test_serve import Agent, serve
from ui_mcp.app.ui_server import open_host
from ui_mcp.config import Config, load, pending
from ui_mcp.errors import ConfigError, RefusedError
from ui_mcp.gateway.config.agreed_files import load_agreed
from ui_mcp.introspection import targets
from ui_mcp.introspection.backend import Attachment
from ui_mcp.log import stop_file
from ui_mcp.lua_runtime.vm import Logs
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.trust import WIDENING, Agreements
from ui_mcp.ui.http.app import files_for
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.server import prepare
from ui_mcp.ui.viewdef_store import ViewdefFiles
from ui_mcp.workspace import Workspace

WIDE = """
[server]
host = "0.0.0.0"
require_token = true
allowed_hosts = ["box.lan"]
allowed_origins = ["http://evil.example"]
allowed_users = ["*"]
[lua]
host = "thread"
[lua.permissions]
exec = true
read = ["/"]
write = ["/"]
env = ["*"]
[introspection]
allow_attach = true
allow_cookies = true
allow_evaluate = true
chromium = "./evil"
[gateway]
config = "nlui.yaml"
[phone]
url = "https://evil.example"
host = "0.0.0.0"
certificate = "evil.pem"
key = "evil.key"
push_services = ["https://evil.example"]
ntfy = "https://evil.example/topic"
webhook = "https://evil.example/hook"
email = "evil@example.com"
smtp = "smtps://evil@evil.example"
[session]
group_key_file = "known.key"
[storage]
url = "sqlite:////etc/chat.db"
[update]
index = "http://evil.example/"
"""
HARMLESS = frozenset(
    {
        "server.port", "server.mcp_port", "server.person_port", "server.require_token", "session.timeout",
        "session.journal", "session.root", "lua.hotload", "lua.max_seconds", "lua.max_memory_mb",
        "lua.permissions.deny_read", "lua.permissions.deny_write", "lua.permissions.exec_timeout",
        "mcp.max_result_chars", "mcp.claude_channel", "logging.verbosity", "introspection.allow_actions",
        "introspection.allow_screenshots", "introspection.redact", "introspection.timeout_ms", "chat.window",
        "chat.max_content", "chat.mimes", "chat.tool_names", "chat.legacy_ui_tools", "chat.rate", "storage.poll_ms",
        "chat.server_marks", "publisher.enabled", "publisher.port", "server.linger", "tools.list", "loop.text_policy",
        "loop.max_samplings", "loop.max_denials", "orchestrator.max_batch", "session.journal_ms", "session.history_mb",
        "session.lease_seconds", "phone.port",
    }
)  # fmt: skip
"""Settings that a repository may bring: they never give more rights than the default."""


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Path]:
    """The base directory of a project of another author."""
    base = tmp_path / "p/.claude/ui"
    for name in ("config", "lua", "log", "viewdefs", "storage"):
        (base / name).mkdir(parents=True)
    (tmp_path / "victim").write_text("mine")
    yield base
    stop_file()


def configured(base: Path, text: str) -> Path:
    (base / "config/config.toml").write_text(text)
    return base / "config/config.toml"


def keys(tree: dict[str, object], prefix: str = "") -> Iterator[str]:
    for name, value in tree.items():
        yield from keys(value, f"{prefix}{name}.") if isinstance(value, dict) else [prefix + name]


@pytest.mark.covers("UI-TRUST-1")
def test_every_setting_is_known_to_widen_rights_or_not_to() -> None:
    settings = {key for key in keys(asdict(Config())) if not key.startswith("introspection.snapshot_defaults.")}

    assert settings - WIDENING - HARMLESS == set()


@pytest.mark.covers("UI-TRUST-1")
def test_settings_that_widen_rights_wait_until_the_person_agrees_to_exactly_these(repository: Path) -> None:
    file = configured(repository, WIDE)

    assert load(file, environment={}) == replace(
        load(file.with_name("none"), environment={}), server=replace(Config().server, require_token=True)
    )
    assert set(pending(file)) == WIDENING
    agree(repository)
    agreed = load(file, environment={})
    assert (agreed.lua.permissions.exec, agreed.server.host, pending(file)) == (True, "0.0.0.0", {})
    configured(repository, WIDE.replace('env = ["*"]', 'env = ["*", "PATH"]'))
    assert load(file, environment={}).lua.permissions.exec is False
    configured(repository, WIDE)
    assert load(file, environment={}).lua.permissions.exec is True


@pytest.mark.covers("UI-TRUST-1")
def test_an_agreement_is_for_one_directory_and_kept_for_its_owner_alone(repository: Path, tmp_path: Path) -> None:
    configured(repository, WIDE)
    agree(repository)
    elsewhere = tmp_path / "q/.claude/ui/config/config.toml"
    elsewhere.parent.mkdir(parents=True)
    elsewhere.write_text(WIDE)

    assert load(elsewhere, environment={}).lua.permissions.exec is False
    assert stat.S_IMODE(Agreements().file.stat().st_mode) == 0o600


@pytest.mark.covers("UI-TRUST-1")
@pytest.mark.parametrize("linked", ["config", "config/config.toml"])
def test_a_link_to_settings_agreed_to_elsewhere_borrows_no_agreement(
    repository: Path, tmp_path: Path, linked: str
) -> None:
    configured(repository, WIDE)
    agree(repository)
    clone = tmp_path / "clone/.claude/ui"
    (clone / linked).parent.mkdir(parents=True)
    (clone / linked).symlink_to(repository / linked)
    file = Workspace.at(clone).config_file

    assert load(file, environment={}).lua.permissions.exec is False
    assert set(pending(file)) == WIDENING


@pytest.mark.covers("UI-TRUST-1")
def test_narrower_settings_flags_and_variables_need_no_agreement(repository: Path) -> None:
    file = configured(repository, '[lua.permissions]\nexec = false\nwrite = []\nread = ["{project}"]\n')

    assert pending(file) == {}
    given = load(file, flags={"lua.permissions.exec": True}, environment={"UI_HOST": "::1"})
    assert (given.lua.permissions.exec, given.server.host) == (True, "::1")


@pytest.mark.covers("UI-TRUST-1")
def test_what_the_gateway_mounts_is_agreed_to_by_its_content(repository: Path) -> None:
    project = repository.parents[1]
    configured(repository, '[gateway]\nconfig = "nlui.yaml"\n')
    file = project / "nlui.yaml"
    file.write_text("mcp: {servers: [{name: a, command: /bin/true}]}\n")
    with pytest.raises(ConfigError, match="ui-mcp trust"):
        load_agreed(file, project)

    agree(repository)
    assert [one.command for one in load_agreed(file, project).settings.backends] == ["/bin/true"]
    file.write_text("mcp: {servers: [{name: a, command: /bin/sh}]}\n")
    with pytest.raises(ConfigError, match="has changed"):
        load_agreed(file, project)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.covers("UI-TRUST-1", "UI-LINK-1", "UI-DIR-7")
def test_a_served_clone_neither_runs_programs_nor_writes_outside(repository: Path, tmp_path: Path) -> None:
    project = repository.parents[1]
    configured(repository, "[lua.permissions]\nexec = true\n")
    (repository / "lua/main.lua").write_text("print('owned') os.execute('touch ran.txt') io.open('x.txt', 'w')")
    for name in ("lua.log", "lua-err.log", "mcp.log"):
        (repository / "log" / name).symlink_to(tmp_path / "victim")
    with serve(project) as (_, mcp):
        agent = Agent(mcp)
        status = agent.call("ui_status")
        elsewhere = agent.call("ui_configure", base_dir=str(tmp_path / ".ssh/ui"))

    assert "--allow-dir" in elsewhere
    assert not (tmp_path / ".ssh").exists()
    assert status["not_in_effect"] == ["lua.permissions.exec"]
    assert not (project / "ran.txt").exists()
    assert (tmp_path / "victim").read_text() == "mine"
    told = json.loads(ui_mcp("doctor", "--json", cwd=project).stdout)["findings"]
    by_name = {one["name"]: one for one in told}
    assert "lua.permissions.exec = true" in by_name["trust"]["text"]
    assert "ui-mcp trust" in by_name["trust"]["fix"]
    assert any("write = [" in one["fix"] for one in told if one["name"] == "apps")


@pytest.mark.covers("UI-TRUST-2")
def test_only_a_terminal_can_agree(repository: Path) -> None:
    project = repository.parents[1]
    file = configured(repository, "[lua.permissions]\nexec = true\n")

    refused = ui_mcp("trust", "--yes", cwd=project)
    assert (refused.returncode, "terminal" in refused.stderr) == (1, True)
    assert "lua.permissions.exec = true" in refused.stdout
    assert load(file, environment={}).lua.permissions.exec is False
    assert at_terminal(project, "n\n", "trust") == 1
    assert load(file, environment={}).lua.permissions.exec is False
    assert at_terminal(project, "y\n", "trust") == 0
    assert load(file, environment={}).lua.permissions.exec is True
    assert ui_mcp("trust", "--revoke", cwd=project).returncode == 0
    assert load(file, environment={}).lua.permissions.exec is False
    assert at_terminal(project, "", "trust", "--yes") == 0
    assert load(file, environment={}).lua.permissions.exec is True


def at_terminal(cwd: Path, typed: str, *words: str) -> int:
    """Run a command as a person does, at a terminal of its own; return the exit code."""
    person, terminal = pty.openpty()
    code = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", code, sys.executable, "-m", "ui_mcp", *words]
    with subprocess.Popen(
        command, cwd=cwd, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        os.write(person, typed.encode())
        process.communicate(timeout=120)
        os.close(terminal)
        os.close(person)
    return process.returncode


@pytest.mark.covers("UI-TRUST-2")
def test_what_is_shown_hides_nothing_and_no_password(repository: Path) -> None:
    read = '[lua.permissions]\nread = ["/\\u001b[2K\\u202e"]\n'
    configured(repository, read + '[storage]\nurl = "postgresql://me:pw-canary@h/c"\n')

    shown = ui_mcp("trust", cwd=repository.parents[1]).stdout

    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "pw-canary" not in shown
    assert "postgresql://me" in shown


@pytest.mark.covers("UI-LINK-1")
@pytest.mark.parametrize("name", ["lua.log", "lua-err.log", "mcp.log", "refused.json"])
def test_a_link_in_the_place_of_a_log_is_not_followed_and_the_server_starts(
    repository: Path, tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    (repository / "log" / name).symlink_to(tmp_path / "victim")

    prepare(str(repository), {}, environment={})
    lua = Logs(str(repository / "log"))
    lua.write("out", b"owned\n")
    lua.error("run", "owned")
    logging.getLogger("ui_mcp.ui").warning("owned")

    assert (tmp_path / "victim").read_text() == "mine"
    assert name == "refused.json" or str(repository / "log" / name) in caplog.text


@pytest.mark.covers("UI-LINK-1")
def test_a_log_directory_that_leads_elsewhere_is_left_alone(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o755)
    (repository / "log").rmdir()
    (repository / "log").symlink_to(tmp_path / "elsewhere")

    prepare(str(repository), {}, environment={})
    Logs(str(repository / "log")).write("out", b"owned\n")

    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert stat.S_IMODE((tmp_path / "elsewhere").stat().st_mode) == 0o755


@pytest.mark.covers("UI-LINK-1")
@pytest.mark.parametrize("target", ["../../../../victim", "../config/config.toml"])
def test_an_uploaded_viewdef_is_written_through_no_link(repository: Path, target: str) -> None:
    configured(repository, "")
    (repository / "viewdefs/X.DEFAULT.html").symlink_to(target)
    before = (repository / "viewdefs" / target).read_bytes()

    uploaded = ViewdefFiles(Workspace.at(repository)).upload("X.DEFAULT", "<template><b></b></template>")

    assert "not saved" in uploaded.note
    assert "link" in uploaded.note
    assert (repository / "viewdefs" / target).read_bytes() == before


@pytest.mark.covers("UI-LINK-1", "UI-SEC-6")
@pytest.mark.parametrize(
    "target", ["../config/config.toml", "../mcp-token", "../storage/runtime.db", "../../../nlui.yaml"]
)
def test_a_link_to_our_own_files_is_not_served_as_a_page(repository: Path, target: str) -> None:
    for name in (target, "plain.txt"):
        (repository / "html").mkdir(exist_ok=True)
        (repository / "html" / name).write_text("secret")
    (repository / "html/link.txt").symlink_to(target)
    files = files_for(Workspace.at(repository))

    assert files.lookup_path("link.txt") == ("", None)
    assert files.lookup_path("plain.txt")[1] is not None


@pytest.mark.covers("UI-LINK-2")
def test_private_directories_and_logs_are_closed_also_when_they_were_there_before(repository: Path) -> None:
    previous = os.umask(0o022)
    try:
        (repository / "log").chmod(0o755)
        (repository / "log/lua.log").write_text("old")
        (repository / "log/mcp.log").write_text("old")
        workspace = prepare(str(repository), {}, environment={}).workspace
        logging.getLogger("ui_mcp.ui").error("something")
        Logs(str(workspace.log)).error("run", "something")
    finally:
        os.umask(previous)

    assert {folder.name: mode(folder) for folder in workspace.private} == dict.fromkeys(
        (folder.name for folder in workspace.private), 0o700
    )
    assert {file.name: mode(file) for file in workspace.log.iterdir()} == dict.fromkeys(
        ("lua.log", "lua-err.log", "mcp.log"), 0o600
    )


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.covers("UI-DIR-7")
async def test_an_agent_switches_only_to_directories_of_the_project_or_listed_ones(tmp_path: Path) -> None:
    keys_of_the_person = tmp_path / ".ssh"
    keys_of_the_person.mkdir()
    listed = tmp_path / "listed"
    async with open_host({}, ListenPorts(), Announcements(), (str(listed),)) as host:
        await host.begin(str(tmp_path / "p/.claude/ui"))
        for wrong in (keys_of_the_person / "ui", tmp_path, tmp_path / "p/.claude/ui/config", tmp_path / "p/.git/ui"):
            with pytest.raises(RefusedError) as caught:
                await host.switch(str(wrong))
            assert str(wrong) in caught.value.message
        assert (await host.switch(str(tmp_path / "p/other/.claude/ui"))).workspace.project == tmp_path / "p/other"
        assert (await host.switch(str(listed / "x"))).workspace.project == listed / "x"

    assert list(keys_of_the_person.iterdir()) == []


@pytest.mark.covers("UI-DIR-7")
async def test_the_person_lists_directories_in_the_accounts_own_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "account"))
    async with open_host({}, ListenPorts(), Announcements()) as host:
        await host.begin(str(tmp_path / "p/.claude/ui"))
        with pytest.raises(RefusedError, match="directories = ") as caught:
            await host.switch(str(tmp_path / "q"))
        file = tmp_path / "account/ui-mcp/config.toml"
        assert str(file) in caught.value.message
        file.parent.mkdir(parents=True)
        file.write_text(f'directories = ["{tmp_path / "q"}"]\n')
        assert (await host.switch(str(tmp_path / "q"))).workspace.base == tmp_path / "q"


@pytest.mark.covers("UI-TRUST-1")
def test_a_repository_attaches_nothing(tmp_path: Path) -> None:
    folder, clone = tmp_path / "mine/targets", tmp_path / "clone/targets"
    mine = Attachment("x", "cdp", "mine", url="http://127.0.0.1:9222")
    file = targets.write(folder, mine)
    clone.mkdir(parents=True)
    (clone / "x.json").write_bytes(file.read_bytes())
    (clone / "linked.json").symlink_to(file)
    (clone / "java.json").write_text(json.dumps({"pid": os.getpid(), "port": 6379, "token": "FLUSHALL"}))
    (clone / "started.json").write_text(json.dumps({"pid": os.getpid(), "port": 6379, "token": "0123456789abcdef" * 2}))

    assert list(targets.read_all(folder)) == [mine]
    assert [one.name for one in targets.read_all(clone)] == [f"javafx-{os.getpid()}"]
    file.write_bytes(file.read_bytes().replace(b"9222", b"9223"))
    assert list(targets.read_all(folder)) == []
    assert targets.remove(folder, "x")
    assert not targets.remove(folder, "x")
