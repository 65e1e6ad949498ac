"""The server as a process: stdout carries the protocol alone, and nothing outlives its parent."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from integration.lineclient import until_ended
from mcp_server.wire import ENVELOPE, HELLO

pytestmark = pytest.mark.slow
TESTS = Path(__file__).parents[2]
SERVER = [sys.executable, "-m", "mcp_server.serve_stdio"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(TESTS)}


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def talk(*messages: dict[str, Any], command: list[str] = SERVER, cwd: Path | None = None) -> tuple[list[Any], str, int]:
    """Send messages, close the pipe, and return what came back, stderr and the exit code."""
    given = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    done = subprocess.run(
        command, input=given, env=ENVIRONMENT, cwd=cwd, capture_output=True, text=True, timeout=300, check=False
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr, done.returncode


@pytest.mark.covers("MCP-STDIO-1", "MCP-STDIO-10", "MCP-CONF-5")
def test_stdout_stays_pure_whatever_writes_to_it() -> None:
    answers, stderr, code = talk(
        request(1, "initialize", **HELLO),
        request(2, "tools/call", name="noisy", arguments={}),
        request(3, "tools/call", name="fail", arguments={}),
        request(4, "tools/call", name="crash", arguments={}),
    )

    assert code == 0
    assert sorted(answer["id"] for answer in answers) == [1, 2, 3, 4]
    for words in ("while importing", "from print", "from os.write", "from the original stdout", "from a child"):
        assert words in stderr
    assert "attempt to index" not in stderr
    assert len([line for line in stderr.splitlines() if "secret detail" in line]) == 1


@pytest.mark.covers("MCP-STDIO-7", "MCP-STDIO-9")
def test_a_file_as_input_gets_every_answer_and_exit_code_zero(tmp_path: Path) -> None:
    given = tmp_path / "requests"
    given.write_text("".join(json.dumps(request(number, "ping")) + "\n" for number in range(100)))
    with given.open() as stdin, (tmp_path / "answers").open("w") as stdout:
        code = subprocess.run(SERVER, stdin=stdin, stdout=stdout, env=ENVIRONMENT, timeout=300, check=False).returncode

    answers = [json.loads(line) for line in (tmp_path / "answers").read_text().splitlines()]
    assert code == 0
    assert [answer["id"] for answer in answers] == list(range(100))


@pytest.mark.covers("MCP-STDIO-10")
def test_an_idle_server_says_nothing_on_stderr() -> None:
    silent = "import runpy, builtins; builtins.print = lambda *_: None; "
    quiet = [sys.executable, "-c", silent + "runpy.run_module('mcp_server.serve_stdio', run_name='__main__')"]
    answers, stderr, code = talk(request(1, "server/discover", _meta=ENVELOPE), command=quiet)

    assert (len(answers), stderr, code) == (1, "", 0)


@pytest.mark.covers("MCP-STDIO-8", "MCP-STDIO-9")
@pytest.mark.skipif(sys.platform == "win32", reason="the process is watched through a handle there")
def test_no_orphan_survives_a_parent_that_dies_without_closing_the_pipe(tmp_path: Path) -> None:
    parent = textwrap.dedent(
        """
        import os, subprocess, sys
        stdin, stdout = map(int, os.environ["PIPES"].split())
        child = subprocess.Popen(sys.argv[1:], stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL)
        print(child.pid, flush=True)
        sys.stdin.read()
        """
    )
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", parent, *SERVER],
        env={**ENVIRONMENT, "PIPES": f"{their_in} {their_out}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        pass_fds=(their_in, their_out),
    ) as started:
        assert started.stdout is not None
        child = int(started.stdout.readline())
        os.write(our_out, json.dumps(request(1, "ping")).encode() + b"\n")
        assert json.loads(os.read(our_in, 1000))["id"] == 1
        started.kill()
    try:
        assert _gone_within(child, 60)
    finally:
        for fd in (their_in, our_out, our_in, their_out):
            os.close(fd)


@pytest.mark.covers("MCP-STDIO-9")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_the_product_ends_quickly_and_quietly_on_a_signal(how: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ui_mcp", "mcp", "--dir", str(tmp_path / "ui")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write(json.dumps(request(1, "ping")).encode() + b"\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 1
        server.send_signal(how)
        server.wait(timeout=60)

        assert b"Traceback" not in server.stderr.read()


@pytest.mark.covers("MCP-STDIO-7", "MCP-CONF-5", "MCP-ERA-1")
def test_the_product_answers_a_piped_script_of_both_eras(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ui_mcp", "mcp", "--dir", str(tmp_path / "ui")]
    answers, _, code = talk(
        request(1, "server/discover", _meta=ENVELOPE),
        request(2, "initialize", **HELLO),
        {"method": "notifications/initialized"},
        request(3, "tools/call", name="ui_status", arguments={}),
        request(4, "tools/call", name="ui_status", arguments={}, _meta=ENVELOPE),
        request(5, "tools/call", name="ui_wait", arguments={"timeout": 30}),
        command=command,
    )

    texts = {answer["id"]: answer["result"]["content"][0]["text"] for answer in answers if answer["id"] in {3, 4}}
    assert code == 0
    assert sorted(answer["id"] for answer in answers) == [1, 2, 3, 4, 5]
    assert texts[3] == texts[4]


def _gone_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not _runs(pid):
            return True
        time.sleep(0.05)
    return False


def _runs(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


UI_MCP = [sys.executable, "-m", "ui_mcp", "mcp"]
START = (request(1, "initialize", **HELLO), request(2, "tools/call", name="ui_start", arguments={}))


@pytest.mark.covers("MCP-STDIO-10")
@pytest.mark.parametrize(
    ("flag", "shown", "hidden"),
    [
        ("-v", ("uses ", "connected, protocol", "tool ui_start", "session 1 started", "serving at"), ("request ", "{")),
        ("-vv", ("tool ui_start", "request tools/call"), ("{",)),
        ("-vvvv", ("request tools/call", "'name': 'ui_start'"), ()),
    ],
)
def test_each_v_says_more_on_stderr_and_in_the_log_file(
    tmp_path: Path, flag: str, shown: tuple[str, ...], hidden: tuple[str, ...]
) -> None:
    _, stderr, code = talk(*START, command=[*UI_MCP, flag], cwd=tmp_path)

    assert code == 0
    assert all(words in stderr for words in shown)
    assert not any(words in stderr for words in hidden)
    assert until_ended(tmp_path / ".claude/ui")
    log = (tmp_path / ".claude/ui/log/mcp.log").read_text()
    assert log.index(" serving at ") < log.index("no longer serving at ")


@pytest.mark.covers("MCP-STDIO-10")
def test_a_quiet_server_says_nothing_and_its_log_file_exists(tmp_path: Path) -> None:
    _, stderr, code = talk(*START, command=UI_MCP, cwd=tmp_path)

    assert (stderr, code, (tmp_path / ".claude/ui/log/mcp.log").read_text()) == ("", 0, "")
