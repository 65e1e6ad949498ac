"""A cloned repository with an nlui.yaml: it mounts, starts and opens nothing until the person agrees to it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from agreeing import agree_to_gateway
from cli.command import ui_mcp
from integration.gateway_service.nlui_client import NluiClient
from person_client import let_in
from terminals import run_in_terminal
from ui_mcp.app.ui_server import open_host
from ui_mcp.app.watch_routes import approvals_of
from ui_mcp.gateway.config import editor
from ui_mcp.gateway.config.agreed_files import found_file
from ui_mcp.gateway.config.agreement import trust_request
from ui_mcp.gateway.config.configuration import GatewayOptions, configuration
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.trust import Agreements
from ui_mcp.ui.instance import ListenPorts

pytestmark = pytest.mark.covers("UI-TRUST-3")
ODD = str(Path(__file__).parents[1] / "integration/gateway_upstreams/odd_server.py")
NLUI = [sys.executable, "-m", "ui_mcp", "nlui"]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of another author; its gateway leaves a mark when it starts its command."""
    for name in ("config", "data", "state"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / "account" / name))
    folder = tmp_path / "clone"
    folder.mkdir()
    written(folder)
    return folder


def written(folder: Path, name: str = "good") -> Path:
    mark = f"open({str(folder / 'ran')!r}, 'a').close()"
    code = f"{mark}; import runpy, sys; sys.argv = ['', 'good']; runpy.run_path({ODD!r}, run_name='__main__')"
    server = {"name": name, "command": sys.executable, "args": ["-c", code]}
    file = folder / "nlui.yaml"
    file.write_text(json.dumps({"data_dir": str(folder / "data"), "mcp": {"servers": [server]}}))
    return file


def ran(folder: Path) -> bool:
    return (folder / "ran").exists()


def health(client: NluiClient) -> str:
    return str(client.request("resources/read", {"uri": "nlui://health"})["contents"][0]["text"])


def until(client: NluiClient, words: str) -> None:
    limit = time.monotonic() + 120
    while words not in health(client) and words not in client.tools():
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_a_host_that_starts_the_gateway_in_a_clone_runs_no_command_of_it(clone: Path) -> None:
    with NluiClient("--mcp", cwd=clone) as client:
        listed, told, started = client.tools(), health(client), ran(clone)
        assert (started, "nlui trust" in told) == (False, True)  # else nothing is said that could be waited for
        assert client.process.stderr is not None
        warned = client.process.stderr.readline().decode()
        agree_to_gateway(clone / "nlui.yaml")
        until(client, "good__pid")
        written(clone, "changed")
        until(client, "stays in force")
        kept = client.tools()

    assert "good__pid" not in listed
    assert str(clone / "nlui.yaml") in warned
    assert ran(clone)
    assert "good__pid" in kept
    assert "changed__pid" not in kept


@pytest.mark.parametrize("words", [["check"], ["tools"], ["call", "good__pid"], ["audit", "tail"]], ids=" ".join)
def test_commands_without_a_terminal_say_what_is_not_in_effect(clone: Path, words: list[str]) -> None:
    done = ui_mcp("nlui", *words, cwd=clone)

    assert "nlui trust" in done.stdout + done.stderr
    assert not ran(clone)
    assert not (clone / "data").exists()


@pytest.mark.slow
@pytest.mark.parametrize("words", [["nlui", "--mcp-http", "--mcp-port", "0"], ["agent"]], ids=" ".join)
def test_servers_and_the_agent_start_without_the_file(clone: Path, words: list[str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "ui_mcp", *words],
        cwd=clone, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if "MCP at" in line or "serves conversation" in line:
                break
        process.terminate()
        process.wait(60)

    assert "nlui trust" in said
    assert ("MCP at" in said) or ("serves conversation" in said)
    assert not ran(clone)


@pytest.mark.slow
def test_the_chat_shows_it_and_writes_nothing_into_the_file(clone: Path) -> None:
    before = (clone / "nlui.yaml").read_bytes()
    with subprocess.Popen(
        [*NLUI, "--port", "0"], cwd=clone, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        [shown] = httpx2.get(f"{url}/api/targets", timeout=60).json()
        model = {"provider": "openai", "api_base": "http://127.0.0.1:1/v1", "model": "m"}
        changed = httpx2.put(f"{url}/api/config/llm", json=model, headers=let_in(url), timeout=60).json()
        process.terminate()
        process.wait(60)

    assert "nlui trust" in shown["error"]
    assert changed["saved"] is False
    assert (clone / "nlui.yaml").read_bytes() == before
    assert not ran(clone)


def test_at_a_terminal_the_person_is_shown_the_file_and_asked_once(clone: Path) -> None:
    said = asked_at_terminal(clone, "n\n", "check")
    assert "mcp.servers[0] = " in said
    assert not ran(clone)

    asked_at_terminal(clone, "y\n", "check")
    assert ran(clone)
    assert "Use it?" not in asked_at_terminal(clone, "", "check")


def asked_at_terminal(cwd: Path, typed: str, *words: str) -> str:
    """Run nlui with stdin and stderr on one terminal; return what the terminal shows."""
    command = ["sh", "-c", 'exec "$@" 2>/dev/tty', "sh", *NLUI, *words]
    return run_in_terminal(command, cwd, typed=typed).shown


def test_trust_agrees_at_a_terminal_only_and_takes_it_back(clone: Path) -> None:
    refused = ui_mcp("nlui", "trust", "--yes", cwd=clone)
    assert (refused.returncode, "terminal" in refused.stderr) == (1, True)
    assert configuration_in(clone)["not_agreed"]

    assert run_in_terminal([*NLUI, "trust", "--yes"], clone).returncode == 0
    assert not configuration_in(clone)["not_agreed"]
    assert ui_mcp("nlui", "trust", "--revoke", cwd=clone).returncode == 0
    assert configuration_in(clone)["not_agreed"]


def configuration_in(folder: Path) -> dict[str, Any]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        read = configuration(GatewayOptions())
        return {"not_agreed": read.not_agreed, "servers": [one.name for one in read.settings.backends]}
    finally:
        os.chdir(before)


def test_a_file_that_was_named_or_is_the_persons_own_needs_no_agreement(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [one.name for one in configuration(GatewayOptions(str(clone / "nlui.yaml"))).settings.backends] == ["good"]
    monkeypatch.setenv("NLUI_CONFIG", str(clone / "nlui.yaml"))
    assert configuration_in(clone)["servers"] == ["good"]
    monkeypatch.delenv("NLUI_CONFIG")
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "nlui"
    own.mkdir(parents=True)
    written(own, "mine")
    (clone / "nlui.yaml").unlink()
    assert configuration_in(clone) == {"not_agreed": "", "servers": ["mine"]}
    assert configuration_in(own) == {"not_agreed": "", "servers": ["mine"]}


def test_a_link_to_a_file_agreed_to_elsewhere_borrows_no_agreement(clone: Path, tmp_path: Path) -> None:
    agree_to_gateway(clone / "nlui.yaml")
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "nlui"
    own.mkdir(parents=True)
    written(own, "mine")
    for number, target in enumerate((clone, own)):
        other = tmp_path / str(number)
        other.mkdir()
        (other / "nlui.yaml").symlink_to(target / "nlui.yaml")
        assert configuration_in(other)["servers"] == []
        agree_to_gateway(other / "nlui.yaml")
        assert not configuration_in(other)["not_agreed"]
    assert not configuration_in(clone)["not_agreed"]


async def test_the_store_that_an_unknown_file_names_is_not_opened(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clone)
    async with open_host({}, ListenPorts(), Announcements()) as host:
        await host.begin(str(clone / ".claude/ui"))
        before = approvals_of(host)
        agree_to_gateway(clone / "nlui.yaml")
        after = approvals_of(host)

    assert before == str(Path(os.environ["XDG_DATA_HOME"]) / "nlui/approvals.db")
    assert after == str(clone / "data/approvals.db")


def test_what_the_person_writes_with_nlui_needs_no_further_agreement(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = clone / "nlui.yaml"
    editor.change(file, lambda tree: {**tree, "language": "de"})
    assert configuration_in(clone)["not_agreed"]  # a change of something unknown makes it no better known

    file.unlink()
    assert ui_mcp("nlui", "init", cwd=clone).returncode == 0
    assert not configuration_in(clone)["not_agreed"]
    editor.change(file, lambda tree: {**tree, "targets": [{"name": "shop", "base_url": "http://127.0.0.1:1"}]})
    assert not configuration_in(clone)["not_agreed"]
    file.write_text(file.read_text() + "\n")
    assert configuration_in(clone)["not_agreed"]
    monkeypatch.chdir(clone)
    assert found_file(None) == file


@pytest.mark.covers("UI-TRUST-2")
def test_what_is_shown_hides_no_command_and_shows_no_credential(clone: Path) -> None:
    file = clone / "nlui.yaml"
    settings = {
        "mcpServers": {"env": {"command": "evil-command", "env": {"A": "canary-1", "B": "${HOME}"}}},
        "targets": [{"name": "x", "base_url": "http://x", "auth": {"type": "bearer", "token": "canary-2"}}],
        "llm": {"api_key": "canary-3", "api_base": "http://elsewhere"},
        "policy": {"rules": [{"tool": "*", "decision": "allow"}]},
    }
    file.write_text(json.dumps(settings))

    shown = "\n".join(trust_request(file).lines)

    assert "canary" not in shown
    for part in ("evil-command", "${HOME}", "http://elsewhere", '"allow"'):
        assert part in shown
    assert not Agreements().hold(file, file.read_bytes())


def test_the_doctor_and_trust_of_the_project_name_the_file(clone: Path) -> None:
    done = ui_mcp("doctor", "--json", cwd=clone)
    found = {one["name"]: one for one in json.loads(done.stdout)["findings"]}

    assert str(clone / "nlui.yaml") in found["trust"]["text"]
    assert run_in_terminal([sys.executable, "-m", "ui_mcp", "trust", "--yes"], clone).returncode == 0
    assert not configuration_in(clone)["not_agreed"]
