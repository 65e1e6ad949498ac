"""The lifecycle as an agent drives it, over real pipes and real ports."""

import html
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import pytest

from integration.lineclient import LineClient, kill_server, server_pid, until_ended, until_gone


def get(url: str, **headers: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.covers("UI-CLI-1", "UI-TOOL-2", "UI-FSM-6", "UI-DIR-3", "UI-SES-5", "UI-HTTP-1")
def test_start_serves_the_page_and_writes_the_port_files(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as agent:
        url = agent.call("ui_start")
        base = tmp_path / ".claude/ui"

        status, page = get(url)
        assert (status, "ui-app" in page) == (200, True)
        assert url == f"http://127.0.0.1:{(base / 'ui-port').read_text()}"
        assert agent.call("ui_status")["mcp_port"] == int((base / "mcp-port").read_text())
        assert agent.call("ui_start").splitlines() == ["Server already running", url]

        assert agent.close() == 0
    until_ended(base)
    assert not (base / "ui-port").exists()
    assert not (base / "mcp-port").exists()


@pytest.mark.covers("UI-FSM-7")
def test_a_call_that_runs_while_another_directory_is_configured_is_told_so(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as agent:
        agent.call("ui_start")
        running = {"name": "ui_run", "arguments": {"code": "print('begun') while true do end"}}
        agent.send({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": running})
        while "begun" not in _read(tmp_path / ".claude/ui/log/lua.log"):
            agent.request("ping")
        moved = {"name": "ui_configure", "arguments": {"base_dir": "other"}}
        agent.send({"jsonrpc": "2.0", "id": 901, "method": "tools/call", "params": moved})
        answers = {answer["id"]: answer["result"] for answer in (agent.receive(), agent.receive())}

    assert answers[900]["isError"] is True
    assert answers[900]["content"][0]["text"].splitlines()[0] == "Server not started"
    assert answers[901]["isError"] is False


@pytest.mark.covers("UI-FSM-7", "UI-TOOL-1", "UI-TOOL-14")
def test_configuring_another_directory_closes_the_ports_of_the_first(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as agent:
        port = int(agent.call("ui_start").rpartition(":")[2])
        answer = agent.call("ui_configure", base_dir=str(tmp_path / "other/ui"))

        assert answer["status"] == "configured"
        assert answer["log_path"] == str(tmp_path / "other/ui/log/lua.log")
        assert answer["install_needed"] is False
        assert not accepts(port)
        assert not (tmp_path / ".claude/ui/ui-port").exists()
        assert agent.call("ui_status")["state"] == "configured"
        assert agent.call("ui_start").startswith("http://127.0.0.1:")


@pytest.mark.covers("UI-FSM-7", "UI-TOOL-14")
def test_a_directory_that_cannot_be_used_is_refused_and_the_server_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with LineClient(cwd=tmp_path) as agent:
        url = agent.call("ui_start")

        assert agent.call("ui_configure", base_dir="file/ui").startswith("cannot use base_dir file/ui: ")
        assert agent.call("ui_configure", base_dir=7) == "base_dir must be a string"
        assert agent.call("ui_configure") == "base_dir must be a string"
        assert get(url)[0] == 200


@pytest.mark.covers("UI-FSM-3")
def test_an_unusable_start_directory_leaves_a_server_that_can_be_reconfigured(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with LineClient("--dir", "file/ui", "--allow-dir", ".", cwd=tmp_path) as agent:
        status = agent.call("ui_status")
        assert (status["state"], status["base_dir"]) == ("unconfigured", "file/ui")
        assert "cannot use base_dir" in status["error"]
        assert agent.call("ui_start").splitlines()[0] == "Server not configured"

        agent.call("ui_configure", base_dir="ui")
        assert agent.call("ui_start").startswith("http://")


@pytest.mark.covers("UI-DIR-3")
def test_a_killed_server_leaves_stale_files_that_the_next_one_replaces(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as killed:
        killed.call("ui_start")
        killed.process.send_signal(signal.SIGSTOP)  # it would start another one
        kill_server(tmp_path / ".claude/ui")
        killed.kill()
    assert (tmp_path / ".claude/ui/ui-port").exists()

    with LineClient(cwd=tmp_path) as agent:
        url = agent.call("ui_start")
        assert url.endswith((tmp_path / ".claude/ui/ui-port").read_text())


@pytest.mark.covers("UI-DIR-3", "MCP-STDIO-9")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_cleanly(tmp_path: Path, how: signal.Signals) -> None:
    with LineClient(cwd=tmp_path) as agent:
        port = int(agent.call("ui_start").rpartition(":")[2])
        os.kill(agent.process.pid, how)

        assert agent.process.wait(timeout=60) == 0
        until_ended(tmp_path / ".claude/ui")
        assert not accepts(port)
        assert not (tmp_path / ".claude/ui/ui-port").exists()


def _read(file: Path) -> str:
    return file.read_text() if file.exists() else ""


@pytest.mark.covers("UI-TOOL-17", "UI-TOOL-5")
def test_the_browser_is_let_in_through_a_private_file_and_the_answer_grants_nothing(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    note = '#!/bin/sh\nhere="$(dirname "$0")"\necho "$*" >> "$here/opened"\nstat -c %a "$1" >> "$here/modes"\ncat "$1"'
    (tmp_path / "bin/xdg-open").write_text(f'{note} >> "$here/pages"\n')
    (tmp_path / "bin/xdg-open").chmod(0o755)
    environment = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "XDG_STATE_HOME": str(tmp_path / "state"), "DISPLAY": ":9"}
    with LineClient(cwd=tmp_path, **environment) as agent:
        assert agent.call("ui_open_browser") == "Server not started"
        url = agent.call("ui_start")
        person = agent.call("ui_status")["person_url"]
        answer = agent.call("ui_open_browser", path="/variables?deep=1#x")
        plain = agent.call("ui_open_browser", conserve=False)

        while _read(tmp_path / "bin/pages").count("</html>") < 2:  # one that takes its time is not waited for
            agent.request("ping")
        files = _read(tmp_path / "bin/opened").split()
        links = [html.unescape(link) for link in re.findall(r'href="([^"]+)"', _read(tmp_path / "bin/pages"))]
        assert answer == f"Opened {url}/variables?deep=1&conserve=true#x"
        assert plain == f"Opened {person}/"
        assert [re.sub(r"code=([0-9a-f]{32}|(\w{4}-){3}\w{4})", "code=…", link) for link in links] == [
            f"{url}/variables?deep=1&conserve=true&code=…#x",
            f"{person}/#code=…",
        ]
        assert {str(Path(file).parent) for file in files} == {f"{tmp_path}/state/ui-mcp/open"}
        assert _read(tmp_path / "bin/modes").split() == ["600", "600"]
        assert get(links[0].partition("#")[0])[0] == 200
        for path in ("//evil.example/", "/../x", "/a/%2e%2e/x", "http://evil.example/"):
            assert "must stay inside" in agent.call("ui_open_browser", path=path)
        assert agent.call("ui_open_browser", sessionId="9") == "session 9 not found"
        assert all(Path(file).exists() for file in files)
        server = server_pid(tmp_path / ".claude/ui")
    assert until_gone(server)
    assert not any(Path(file).exists() for file in files)


@pytest.mark.covers("UI-TOOL-5")
@pytest.mark.parametrize(("conserve", "query"), [(True, "?a=1&conserve=true"), (False, "?a=1")])
def test_the_argument_alone_decides_whether_a_second_tab_is_conserved(
    tmp_path: Path, *, conserve: bool, query: str
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/xdg-open").write_text("#!/bin/sh\n")
    (tmp_path / "bin/xdg-open").chmod(0o755)
    with LineClient(cwd=tmp_path, PATH=f"{tmp_path}/bin:/usr/bin:/bin", DISPLAY=":9") as agent:
        url = agent.call("ui_start")

        opened = agent.call("ui_open_browser", path="/a?a=1&conserve=false", conserve=conserve)

    assert opened == f"Opened {url}/a{query}"


@pytest.mark.covers("UI-TOOL-1", "UI-INST-1")
def test_configuring_tells_that_the_texts_for_agents_are_gone(tmp_path: Path) -> None:
    agents = tmp_path / "ui/.claude/agents/ui-builder.md"
    with LineClient(cwd=tmp_path) as agent:
        assert agent.call("ui_configure", base_dir="ui")["install_needed"] is False
        agents.unlink()
        answer = agent.call("ui_configure", base_dir="ui")
        repaired = agent.call("ui_install", force=True)
        after = agent.call("ui_configure", base_dir="ui")

    assert (answer["install_needed"], after["install_needed"]) == (True, False)
    assert answer["hint"] == ".claude/agents/ui-builder.md is missing; ui_install with force=true brings it back"
    assert ".claude/agents/ui-builder.md" in repaired["installed"]


@pytest.mark.covers("UI-TOOL-17")
@pytest.mark.parametrize("display", ["", ":9"])
def test_without_a_browser_the_address_is_handed_over(tmp_path: Path, display: str) -> None:
    (tmp_path / "bin").mkdir()
    with LineClient(
        cwd=tmp_path, PATH=f"{tmp_path}/bin", XDG_STATE_HOME=str(tmp_path / "state"), DISPLAY=display
    ) as agent:
        agent.call("ui_start")
        person = agent.call("ui_status")["person_url"]
        answer = agent.call("ui_open_browser")

    assert answer.startswith("could not open a browser: ")
    assert "ui-mcp open" in answer
    assert "code=" not in answer
    assert not list((tmp_path / "state/ui-mcp/open").iterdir())
    assert f"open {person}/" in answer


WATCHER = """
import socket
def _watched(name):
    real = getattr(socket, name)
    def watched(*args, **kwargs):
        with open({record!r}, "a") as file:
            print(name, args, file=file)
        return real(*args, **kwargs)
    setattr(socket, name, watched)
_watched("getaddrinfo")
_watched("create_connection")
"""


@pytest.mark.covers("UI-CLI-9")
def test_nothing_looks_up_a_name_or_calls_out_on_the_way_to_running(tmp_path: Path) -> None:
    record = tmp_path / "record"
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(WATCHER.format(record=str(record)))
    with LineClient(cwd=tmp_path, PYTHONPATH=str(tmp_path / "site")) as agent:
        assert agent.call("ui_start").startswith("http://127.0.0.1:")

    assert not record.exists(), record.read_text()


@pytest.mark.covers("MCP-RESULT-3")
def test_the_limit_of_an_answer_is_the_configured_one(tmp_path: Path) -> None:
    (tmp_path / ".claude/ui/config").mkdir(parents=True)
    (tmp_path / ".claude/ui/config/config.toml").write_text("[mcp]\nmax_result_chars = 1500\n")
    with LineClient(cwd=tmp_path) as agent:
        agent.call("ui_start")
        answer = agent.call("ui_run", code="return string.rep('x', 2000)")

        assert (answer["truncated"], answer["chars"]) == (True, 2002)
        assert len(Path(answer["file"]).read_text()) == 2002


@pytest.mark.covers("UI-DIR-8")
def test_a_host_without_a_project_and_almost_without_variables_gets_a_running_server(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-m", "ui_mcp", "mcp"]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "host", "version": "1"}}

    with subprocess.Popen(
        command, cwd="/", env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(method: str, params: Mapping[str, object]) -> dict[str, object]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
            process.stdin.flush()
            result: dict[str, object] = json.loads(process.stdout.readline())["result"]
            return result

        ask("initialize", hello)
        started = ask("tools/call", {"name": "ui_start", "arguments": {}})
        (base,) = tmp_path.rglob(".ui")
        process.stdin.close()
        process.wait(60)
    until_ended(base)

    assert started["isError"] is False
    assert (base / "apps").is_dir()
