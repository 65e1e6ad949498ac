"""The shell scripts a project gets, run as a person runs them."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ui_mcp.workspace import Workspace

Run = Callable[..., subprocess.CompletedProcess[str]]
Server = Any


@pytest.mark.covers("UI-SCR-1")
@pytest.mark.parametrize(("script", "path"), [("state", "/state"), ("variables", "/variables.json")])
def test_state_and_variables_print_what_the_server_says(run: Run, server: Server, script: str, path: str) -> None:
    server.answers = [(200, '{"title":"Grüße"}')]

    done = run(script)

    assert (done.returncode, done.stdout) == (0, '{"title":"Grüße"}\n')
    assert server.asked == [(path, None)]


@pytest.mark.covers("UI-SCR-1")
def test_scripts_find_their_directory_through_a_link(
    run: Run, server: Server, workspace: Workspace, tmp_path: Path
) -> None:
    server.answers = [(200, "{}")]
    link = tmp_path / "show-state"
    link.symlink_to(workspace.base / "state")

    assert run(link, cwd=tmp_path).stdout == "{}\n"


@pytest.mark.covers("UI-SEC-5", "UI-SCR-1")
def test_the_token_is_sent_when_there_is_one(run: Run, server: Server, workspace: Workspace) -> None:
    workspace.mcp_token.write_text("0123abcd")
    server.answers = [(200, "{}")]

    run("state")

    assert server.asked == [("/state", "Bearer 0123abcd")]


def test_without_a_server_the_scripts_say_what_to_do(run: Run) -> None:
    done = run("state")

    assert done.returncode == 1
    assert "call ui_start" in done.stderr
    assert done.stdout == ""


def test_an_error_of_the_server_goes_to_stderr(run: Run, server: Server) -> None:
    server.answers = [(404, "No active session")]

    done = run("state")

    assert (done.returncode, done.stdout) == (1, "")
    assert "No active session" in done.stderr


@pytest.mark.covers("UI-SCR-1", "UI-SCR-2")
def test_event_waits_over_timeouts_and_prints_the_events(run: Run, server: Server) -> None:
    server.answers = [(204, ""), (204, ""), (200, '[{"app":"a"},{"app":"b"}]')]

    done = run("event")

    assert (done.returncode, done.stdout) == (0, '[{"app":"a"},{"app":"b"}]\n')
    assert server.asked == [("/wait?timeout=120", None)] * 3


@pytest.mark.covers("UI-SCR-2")
def test_a_second_listener_is_refused_and_a_dead_ones_lock_is_taken_over(
    run: Run, server: Server, workspace: Workspace
) -> None:
    lock = workspace.own / "event.lock"
    lock.mkdir(parents=True)
    with subprocess.Popen(["sleep", "60"]) as other:
        (lock / "pid").write_text(str(other.pid))
        refused = run("event")
        other.kill()
    server.answers = [(200, "[1]")]

    assert refused.returncode == 1
    assert f"pid {other.pid}" in refused.stderr
    assert run("event").stdout == "[1]\n"
    assert not lock.exists()


@pytest.mark.covers("UI-WAIT-13")
def test_wait_for_state_prints_one_event_per_line_until_the_server_goes_away(run: Run, server: Server) -> None:
    events = [
        {"app": "a", "text": 'quotes " and \\ and ], [ and {'},
        {"nested": {"list": [1, [2, {"x": "}"}]], "empty": {}}},
        "plain, text",
        7,
    ]
    server.answers = [(204, ""), (200, json.dumps(events)), (200, "[]"), (200, '[{"last":true}]')]

    done = run("scripts/wait-for-state.sh", server.url, "5")

    assert done.returncode == 0
    assert [json.loads(line) for line in done.stdout.splitlines()] == [*events, {"last": True}]
    assert server.asked[0] == ("/wait?timeout=5", None)


@pytest.mark.covers("UI-WAIT-13")
def test_wait_for_state_fails_on_any_other_status(run: Run, server: Server) -> None:
    server.answers = [(403, "not you"), (404, "No active session")]

    assert run("scripts/wait-for-state.sh", server.url).returncode == 1
    assert run("scripts/wait-for-state.sh", server.url).returncode == 0  # the session has ended with its server
    assert run("scripts/wait-for-state.sh").returncode == 2
