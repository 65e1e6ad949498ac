"""Where the person's page is: printed bare, with a code only on a terminal, at the same port after a restart."""

import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from integration.lineclient import LineClient
from integration.test_serve import get
from person_client import HTML, let_in, nonce_of, page_headers, person
from ports import free_ports
from ui_mcp.app.ui_listeners import bind_person
from ui_mcp.config import Config
from ui_mcp.person import remember_port
from ui_mcp.webserver.server import bind, port_of
from ui_mcp.workspace import Workspace

pytestmark = pytest.mark.slow
SERVE = [sys.executable, "-m", "ui_mcp", "serve", "--port", "0", "--mcp-port", "0"]
NLUI = [sys.executable, "-m", "ui_mcp", "nlui", "--port", "0"]


@contextmanager
def on_terminal(command: list[str], cwd: Path) -> Iterator[str]:
    """Run a command whose output is a terminal; yield what it shows until it says how to stop."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=cwd, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        shown = ""
        while "Ctrl+C" not in shown:
            shown += os.read(ours, 65536).decode()
        try:
            yield shown
        finally:
            process.terminate()
            process.wait(60)
            os.close(ours)


@contextmanager
def piped(command: list[str], cwd: Path, lines: int) -> Iterator[str]:
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield "".join(process.stdout.readline() for _ in range(lines))
        finally:
            process.terminate()


@pytest.mark.covers("UI-PERSON-1")
@pytest.mark.parametrize("command", [[*SERVE, "--person-port", "0"], NLUI])
def test_on_a_terminal_a_link_with_a_code_lets_one_browser_in(command: list[str], tmp_path: Path) -> None:
    with on_terminal(command, tmp_path) as shown:
        found = re.search(r"(http://127\.0\.0\.1:\d+)/#code=([A-Z2-9-]+)", shown)
        assert found, shown
        url, code = found[1], found[2]
        headers = page_headers(url, nonce_of(get(f"{url}/", headers=HTML).text))
        with person(url) as other:
            answers = [other.post("/person/enter", json={"code": code}, headers=headers).status_code for _ in range(2)]

    assert answers == [200, 401]


@pytest.mark.covers("UI-INST-24")
def test_the_first_start_in_a_project_tells_what_it_installed(tmp_path: Path) -> None:
    with on_terminal([*SERVE, "--person-port", "0"], tmp_path) as first:
        pass
    with on_terminal([*SERVE, "--person-port", "0"], tmp_path) as second:
        pass

    assert "Installed skills and guides for agents in .agents, .claude; `ui-mcp uninstall` removes them." in first
    assert "Installed" not in second


@pytest.mark.covers("UI-PERSON-1")
@pytest.mark.parametrize(("command", "lines"), [([*SERVE, "--person-port", "0"], 4), (NLUI, 1)])
def test_elsewhere_the_address_is_bare(command: list[str], lines: int, tmp_path: Path) -> None:
    with piped(command, tmp_path, lines) as told:
        pass

    assert re.search(r"http://127\.0\.0\.1:\d+\n$", told)
    assert "#" not in told
    assert "code" not in told


@pytest.mark.covers("UI-PERSON-1", "UI-TOOL-18")
def test_agents_are_told_a_bare_address_and_the_port_stays_over_restarts(tmp_path: Path) -> None:
    urls, states = [], []
    headers: dict[str, str] = {}
    for _ in range(2):
        with LineClient(cwd=tmp_path) as agent:
            agent.call("ui_start")
            urls.append(agent.call("ui_status")["person_url"])
            kept = (tmp_path / ".claude/ui/person-port").read_text()
            headers = headers or let_in(urls[0])
            states.append(get(f"{urls[-1]}/person/state", headers=headers).status_code)

    assert urls[0] == urls[1] == f"http://127.0.0.1:{kept}"
    assert states == [200, 200]  # the credential outlives the restart
    assert not (tmp_path / ".claude/ui/person-port").exists()


@pytest.mark.covers("UI-PERSON-1")
def test_a_default_port_that_is_taken_is_left_to_its_owner(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with (
        bind("127.0.0.1", port),
        bind_person(Config(), Workspace.at(tmp_path), port) as first,
    ):
        other = port_of(first)
        remember_port(Workspace.at(tmp_path).base, other)
    with bind("127.0.0.1", port), bind_person(Config(), Workspace.at(tmp_path), port) as again:
        assert port_of(again) == other != port


@pytest.mark.covers("UI-PERSON-1")
def test_a_configured_port_that_is_taken_is_named(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with bind("127.0.0.1", port):
        done = subprocess.run(
            [*SERVE, "--person-port", str(port)], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )

    assert done.returncode != 0
    assert f"127.0.0.1:{port}" in done.stderr
