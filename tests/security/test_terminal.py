"""Who speaks for the person on a command line: a person at a terminal, or the holder of a human's token."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from terminals import human_token, run_in_terminal
from ui_mcp.person import PersonKeys, registered_listener

pytestmark = pytest.mark.slow
UI_MCP = [sys.executable, "-m", "ui_mcp"]
COMMANDS = [
    ["approvals", "list"],
    ["approvals", "rules"],
    ["approvals", "approve", "x"],
    ["approvals", "deny", "x"],
    ["approvals", "forget", "1"],
    ["approvals", "open"],
    ["approvals", "sign-out"],
    ["token", "list"],
    ["token", "create", "bot", "--role", "agent"],
    ["token", "rotate", "bot"],
    ["token", "revoke", "bot"],
    ["token", "link", "bot"],
    ["chat"],
    ["chat", "--face", "human"],
    ["chat", "--face", "human", "--port", "0"],
    ["chat", "post", "Deploy now"],
    ["chat", "follow"],
    ["chat", "history"],
    ["chat", "export"],
    ["chat", "restore", "copy.db"],
]


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """The environment of an account that has never used us and has no display."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "PYTHONPATH", "LANG"}}
    return {**kept, "HOME": str(tmp_path / "home")}


def piped(words: list[str], cwd: Path, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*UI_MCP, *words], cwd=cwd, env=env, input="", capture_output=True, text=True, timeout=180, check=False,
        start_new_session=True,
    )  # fmt: skip


@pytest.mark.covers("UI-TTY-1")
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_without_a_terminal_nothing_speaks_for_the_person(
    words: list[str], tmp_path: Path, home: dict[str, str]
) -> None:
    done = piped(words, tmp_path, home)

    assert (done.returncode, done.stdout) == (1, "")
    assert "terminal" in done.stderr.splitlines()[0]
    assert not (tmp_path / ".claude").exists()


@pytest.mark.covers("UI-TTY-1")
def test_a_terminal_that_is_not_the_controlling_one_is_not_enough(tmp_path: Path, home: dict[str, str]) -> None:
    ours, theirs = os.openpty()
    done = subprocess.run(
        [*UI_MCP, "token", "list"], cwd=tmp_path, env=home, stdin=theirs, capture_output=True, text=True,
        start_new_session=True, timeout=180, check=False,
    )  # fmt: skip
    os.close(ours)
    os.close(theirs)

    assert (done.returncode, "needs a terminal" in done.stderr) == (1, True)


@pytest.mark.covers("UI-TTY-1")
def test_at_a_terminal_the_person_is_heard(tmp_path: Path, home: dict[str, str]) -> None:
    posted = run_in_terminal([*UI_MCP, "chat", "post", "Deploy now?"], tmp_path, home)
    listed = run_in_terminal([*UI_MCP, "token", "list"], tmp_path, home)

    assert (posted.returncode, posted.stdout.strip().isdigit()) == (0, True)
    assert listed.stdout == "There are no tokens.\n"


@pytest.mark.covers("UI-TTY-1")
async def test_a_humans_token_in_the_environment_stands_in_for_the_terminal(
    tmp_path: Path, home: dict[str, str]
) -> None:
    token = await human_token(tmp_path / ".claude/ui", "alice")
    posted = piped(["chat", "post", "hi"], tmp_path, {**home, "UI_MCP_TOKEN": token})
    listed = piped(["token", "list"], tmp_path, {**home, "UI_MCP_TOKEN": token})
    other = piped(["chat", "post", "hi", "--principal", "bob"], tmp_path, {**home, "UI_MCP_TOKEN": token})

    assert posted.returncode == 0
    assert "alice" in listed.stdout
    assert (other.returncode, "token of alice" in other.stderr) == (1, True)
    assert token not in posted.stdout + posted.stderr + listed.stdout + other.stderr


@pytest.mark.covers("UI-TTY-1")
async def test_an_agents_a_wrong_and_a_foreign_token_do_not(tmp_path: Path, home: dict[str, str]) -> None:
    await human_token(tmp_path / ".claude/ui")
    elsewhere = await human_token(tmp_path / "elsewhere")
    made = run_in_terminal([*UI_MCP, "token", "create", "bot", "--role", "agent"], tmp_path, home).stdout.strip()
    refused = [
        piped(["token", "list"], tmp_path, {**home, "UI_MCP_TOKEN": token}) for token in (made, elsewhere, "uimcp_x_y")
    ]

    assert [done.returncode for done in refused] == [1, 1, 1]
    assert all("no valid token with the role human" in done.stderr for done in refused)


@pytest.mark.covers("UI-TTY-1")
async def test_mcp_on_stdio_as_the_human_takes_the_token(tmp_path: Path, home: dict[str, str]) -> None:
    token = await human_token(tmp_path / ".claude/ui")
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    said = subprocess.run(
        [*UI_MCP, "chat", "--face", "human"], cwd=tmp_path, env={**home, "UI_MCP_TOKEN": token}, text=True,
        input=json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}) + "\n",
        capture_output=True, timeout=180, check=True,
    )  # fmt: skip

    assert json.loads(said.stdout)["result"]["serverInfo"]["name"] == "ui-mcp-chat-human"


@pytest.mark.covers("UI-TTY-1")
@pytest.mark.parametrize("url", ["postgresql://me:canary@db/x", "postgresql://me@db/x?password=canary"])
def test_a_password_on_the_command_line_is_refused(url: str, tmp_path: Path, home: dict[str, str]) -> None:
    done = run_in_terminal([*UI_MCP, "approvals", "--store", url, "list"], tmp_path, home)

    assert (done.returncode, "PGPASSWORD" in done.stderr, "canary" in done.stderr) == (1, True, False)


@pytest.mark.covers("UI-TTY-2")
def test_links_are_shown_on_the_terminal_alone_and_let_one_browser_in(tmp_path: Path, home: dict[str, str]) -> None:
    state = tmp_path / "home/.local/state/ui-mcp"
    with registered_listener(65001, state / "listeners"), registered_listener(65002, state / "listeners"):
        done = run_in_terminal([*UI_MCP, "approvals", "open"], tmp_path, home)
    keys = PersonKeys(state / "person")
    codes = re.findall(r"http://127\.0\.0\.1:(\d+)/#code=([\w-]+)", done.shown)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [port for port, _ in codes] == ["65001", "65002"]
    credentials = [keys.exchange(code) for _, code in codes]
    assert all(keys.recognises(credential) for credential in credentials)
    out = run_in_terminal([*UI_MCP, "approvals", "sign-out"], tmp_path, home)
    assert out.stdout == "Signed out: 2 browsers\n"
    assert not any(keys.recognises(credential) for credential in credentials)


@pytest.mark.covers("UI-TTY-2", "UI-TOOL-17")
def test_the_browser_gets_its_own_code_through_a_private_file(tmp_path: Path, home: dict[str, str]) -> None:
    state, programs = tmp_path / "home/.local/state/ui-mcp", tmp_path / "bin"
    programs.mkdir()
    # As a browser would: it reads the file, and the page spends the code.
    spend = (
        "import re,sys;from ui_mcp.person import PersonKeys;text=open(sys.argv[1]).read();import os,pathlib;"
        "pathlib.Path(sys.argv[2]).write_text(f'{sys.argv[1]} {oct(os.stat(sys.argv[1]).st_mode)[-3:]}');"
        "PersonKeys().exchange(re.search('#code=([-A-Z0-9]+)',text)[1])"
    )
    opener = programs / "xdg-open"
    opener.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{spend}" "$1" {programs}/seen\n')
    opener.chmod(0o755)
    env = {**home, "PATH": f"{programs}:{home['PATH']}", "DISPLAY": ":9"}
    with registered_listener(65001, state / "listeners"):
        done = run_in_terminal([*UI_MCP, "approvals", "open"], tmp_path, env)
    file, mode = (programs / "seen").read_text().split()

    assert done.shown.splitlines()[-1] == "Your browser is signed in."
    assert (Path(file).parent, mode, Path(file).exists()) == (state / "open", "600", False)


@pytest.mark.covers("UI-TTY-2")
def test_a_chat_link_is_shown_on_the_terminal_alone(tmp_path: Path, home: dict[str, str]) -> None:
    run_in_terminal([*UI_MCP, "token", "create", "alice", "--role", "human"], tmp_path, home)
    done = run_in_terminal([*UI_MCP, "token", "link", "alice", "--url", "http://127.0.0.1:8010"], tmp_path, home)

    assert (done.returncode, done.stdout) == (0, "")
    assert re.fullmatch(r"http://127\.0\.0\.1:8010/chat#code=\S+\n", done.shown)
