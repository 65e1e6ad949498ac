"""Several clients on one directory: one server, a process of its own, which they share and outlive."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from integration.lineclient import LineClient, kill_server, server_pid, until_ended
from ui_mcp.local_socket import SocketPlace
from ui_mcp.ui.own_files import settle
from ui_mcp.workspace import Workspace

pytestmark = pytest.mark.slow
COUNTER = "counter = counter or 0; counter = counter + 1; return counter"


def base(folder: Path) -> Path:
    return folder / ".claude/ui"


def push(agent: LineClient, name: str) -> None:
    agent.call("ui_run", code=f"mcp.pushState{{event = '{name}'}}")


def names(events: list[dict[str, Any]]) -> list[str]:
    return [event["event"] for event in events]


@pytest.mark.covers("UI-JOIN-1", "UI-JOIN-2", "UI-ROB-3")
def test_a_second_client_joins_the_running_server_and_shares_its_session(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as first, LineClient(cwd=tmp_path) as second:
        url = first.call("ui_start")
        first.call("ui_run", code=COUNTER)

        assert second.call("ui_status")["state"] == "running"
        assert second.call("ui_start").splitlines() == ["Server already running", url]
        assert second.call("ui_run", code=COUNTER) == 2
        joined = second.call("ui_status")["clients"]
        assert sorted(client["pid"] for client in joined) == sorted([first.process.pid, second.process.pid])


@pytest.mark.covers("UI-JOIN-2")
def test_configuring_the_shared_directory_again_changes_nothing_and_says_so(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as first, LineClient(cwd=tmp_path) as second:
        url = first.call("ui_start")
        first.call("ui_run", code=COUNTER)

        answer = second.call("ui_configure", base_dir=".claude/ui")

        assert answer["hint"] == f"nothing has changed: the UI of this directory runs already, at {url}"
        assert first.call("ui_run", code=COUNTER) == 2


@pytest.mark.covers("UI-JOIN-3")
def test_a_client_that_goes_to_another_directory_leaves_the_others_alone(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as first, LineClient(cwd=tmp_path) as second:
        url = first.call("ui_start")
        first.call("ui_run", code=COUNTER)

        assert second.call("ui_configure", base_dir="other")["status"] == "configured"

        assert second.call("ui_status")["base_dir"] == "other"
        assert first.call("ui_status")["url"] == url
        assert first.call("ui_run", code=COUNTER) == 2
        assert first.call("ui_configure", base_dir="third")["status"] == "configured"  # now it was the only one
        assert until_ended(base(tmp_path))


@pytest.mark.covers("UI-JOIN-4")
def test_a_killed_client_takes_nothing_with_it(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as first, LineClient(cwd=tmp_path) as second:
        url = first.call("ui_start")
        first.call("ui_run", code=COUNTER)
        push(first, "before")
        posted = first.call("chat_assistant_post", content="Working on it.")
        second.call("ui_status")  # it has joined: without any client the server would end
        first.kill()
        push(second, "after")

        assert second.call("ui_status")["url"] == url
        assert second.call("ui_run", code=COUNTER) == 2
        assert names(second.call("ui_wait")) == ["before", "after"]
        assert [one["id"] for one in second.call("chat_read_since")["messages"]] == [posted["id"]]


@pytest.mark.covers("UI-JOIN-5")
def test_a_killed_server_is_started_again_with_its_address_app_and_events(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as first, LineClient(cwd=tmp_path) as second:
        url = first.call("ui_start")
        push(first, "queued")
        old = kill_server(base(tmp_path))

        answers = [second.call("ui_status"), second.call("ui_status")]

        told = f"The ui-mcp server (pid {old}) ended unexpectedly"
        assert [one for one in answers if isinstance(one, str)] in ([], [answers[0]])
        assert isinstance(answers[0], dict) or answers[0].startswith(told)
        assert answers[1]["url"] == url
        assert names(second.call("ui_wait")) == ["queued", "session_restarted"]
        assert server_pid(base(tmp_path)) not in {0, old}


@contextmanager
def suspended(agent: LineClient) -> Iterator[None]:
    """Keep a client from noticing anything while the block runs."""
    agent.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        agent.process.send_signal(signal.SIGCONT)


@pytest.mark.covers("UI-JOIN-5")
@pytest.mark.parametrize("first_call", ["ui_status", "ui_start"])
def test_a_client_that_comes_after_the_crash_finds_the_session_of_those_who_lost_it(
    first_call: str, tmp_path: Path
) -> None:
    with LineClient(cwd=tmp_path) as joined:
        url = joined.call("ui_start")
        push(joined, "queued")
        with ExitStack() as newcomers:
            with suspended(joined):
                kill_server(base(tmp_path))
                newcomer = newcomers.enter_context(LineClient(cwd=tmp_path))
                newcomer.call(first_call)
                found = newcomer.call("ui_status")

            assert (found["state"], found["url"]) == ("running", url)
            assert names(newcomer.call("ui_wait")) == ["queued", "session_restarted"]
            joined.call("ui_status")  # may fail: its server died
            assert len(joined.call("ui_status")["clients"]) == 2


@pytest.mark.covers("UI-JOIN-5")
def test_a_person_who_serves_after_the_crash_goes_on_with_the_session(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as joined:
        joined.call("ui_start")
        push(joined, "queued")
        with suspended(joined):
            kill_server(base(tmp_path))
            serve = subprocess.Popen([*SERVE, *FREE], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
            lines_of(serve, 4)
        with serve:
            joined.call("ui_status")  # may fail: its server died
            events = names(joined.call("ui_wait"))
            serve.terminate()

    assert events == ["queued", "session_restarted"]


@pytest.mark.covers("UI-JOIN-5")
def test_nothing_of_a_killed_server_comes_back_when_its_clients_are_gone_too(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as joined:
        joined.call("ui_start")
        push(joined, "queued")
        joined.kill()
        kill_server(base(tmp_path))

    with LineClient(cwd=tmp_path) as newcomer:
        assert newcomer.call("ui_status")["state"] == "configured"
        newcomer.call("ui_start")
        assert newcomer.call("ui_wait", timeout=1) == []


@pytest.mark.covers("UI-JOIN-5")
def test_a_call_that_the_server_died_on_says_so(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as agent:
        agent.call("ui_start")
        agent.send({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": {"name": "ui_wait"}})
        agent.request("ping")
        kill_server(base(tmp_path))

        answer = agent.receive()

        assert (answer["id"], answer["result"]["isError"]) == ("w", True)
        assert "ended unexpectedly\nAnother one continues with what was saved" in answer["result"]["content"][0]["text"]


@pytest.mark.covers("UI-JOIN-5")
def test_what_a_client_subscribed_to_is_kept_over_a_crash_of_the_server(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as agent:
        agent.call("ui_start")
        agent.request("resources/subscribe", {"uri": "ui://events"})
        kill_server(base(tmp_path))
        agent.call("ui_status")  # may fail: the server died on it
        agent.call("ui_status")

        agent.send({"jsonrpc": "2.0", "id": 50, "method": "tools/call", "params": _run("mcp.pushState{event = 'x'}")})

        received = [agent.receive() for _ in range(2)]
        assert {
            "method": "notifications/resources/updated",
            "params": {"uri": "ui://events"},
            "jsonrpc": "2.0",
        } in received


@pytest.mark.covers("UI-JOIN-6")
def test_notifications_reach_only_the_client_that_subscribed(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as first, LineClient(cwd=tmp_path) as second:
        first.call("ui_start")
        first.request("resources/subscribe", {"uri": "ui://events"})

        second.send({"jsonrpc": "2.0", "id": 50, "method": "tools/call", "params": _run("mcp.pushState{event = 'x'}")})

        assert first.receive()["params"]["uri"] == "ui://events"
        assert second.receive()["id"] == 50
        second.send({"jsonrpc": "2.0", "id": 51, "method": "ping"})
        assert second.receive()["id"] == 51


def _run(code: str) -> dict[str, Any]:
    return {"name": "ui_run", "arguments": {"code": code}}


@pytest.mark.covers("UI-JOIN-7")
def test_clients_that_start_at_the_same_moment_share_exactly_one_server(tmp_path: Path) -> None:
    agents = [LineClient(cwd=tmp_path) for _ in range(4)]
    for agent in agents:
        agent.__enter__()
    for agent in agents:
        agent.send({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "ui_start"}})
    answers = [agent.receive()["result"]["content"][0]["text"].splitlines() for agent in agents]
    joined = agents[0].call("ui_status")["clients"]
    for agent in agents:
        agent.close()

    started = [lines for lines in answers if len(lines) == 1]
    assert len(started) == 1
    assert sorted(answers) == sorted([*started, *[["Server already running", *started[0]]] * 3])
    assert len(joined) == 4


@pytest.mark.covers("UI-JOIN-8")
def test_the_server_ends_after_its_last_client_and_its_last_page(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as agent:
        port = int(agent.call("ui_start").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as page:
            page.sendall(b"GET /wait HTTP/1.1\r\n")  # half a request, which stays open
            agent.kill()
            assert not until_ended(base(tmp_path), within=2)
        assert until_ended(base(tmp_path))
    assert not (base(tmp_path) / "ui-port").exists()


@contextmanager
def other_version(folder: Path, protocol: int) -> Iterator[None]:
    """Greet clients of a directory as a server with another local protocol."""
    workspace = Workspace.at(base(folder))
    workspace.base.mkdir(parents=True)
    settle(workspace)
    listener, _ = SocketPlace(workspace.state_dir).listen()
    listener.setblocking(True)
    greeting = json.dumps({"ui-mcp": protocol, "version": "9.9.9", "pid": 77}).encode() + b"\n"

    def greet() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.sendall(greeting)
                connection.recv(1)

    Thread(target=greet, daemon=True).start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@pytest.mark.covers("UI-JOIN-9")
@pytest.mark.parametrize(
    ("protocol", "remedy"), [(0, "ui-mcp stop --dir .claude/ui"), (99, "Install version 9.9.9 for this client too")]
)
def test_a_server_of_another_protocol_is_not_joined_and_the_remedy_is_named(
    protocol: int, remedy: str, tmp_path: Path
) -> None:
    with other_version(tmp_path, protocol), LineClient(cwd=tmp_path) as agent:
        status, start = agent.call("ui_status"), agent.call("ui_start")

    assert status["state"] == "unconfigured"
    assert "ui-mcp 9.9.9 (pid 77) serves this directory" in status["error"]
    assert remedy in status["error"]
    assert start.splitlines()[0] == "Server not configured"


SERVE = [sys.executable, "-m", "ui_mcp", "serve"]
FREE = ("--port", "0", "--mcp-port", "0", "--person-port", "0")


def lines_of(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline() for _ in range(count)]


@pytest.mark.covers("UI-JOIN-10")
def test_serve_joins_a_running_server_and_keeps_it(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as agent:
        url = agent.call("ui_start")
        agent.call("ui_run", code=COUNTER)
        with subprocess.Popen([*SERVE, *FREE], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as serve:
            shown = lines_of(serve, 4)
            agent.kill()
            with LineClient(cwd=tmp_path) as next_agent:
                counted = next_agent.call("ui_run", code=COUNTER)
            serve.terminate()

    assert f"(pid {server_pid(base(tmp_path)) or shown[0].split()[3].rstrip(')')})" in shown[0]
    assert "serves .claude/ui already; joined it" in shown[0]
    assert shown[1].split() == ["UI", url]
    assert counted == 2


@pytest.mark.covers("UI-JOIN-10")
def test_agents_join_a_server_that_a_person_started(tmp_path: Path) -> None:
    with subprocess.Popen([*SERVE, *FREE], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as serve:
        shown = lines_of(serve, 4)
        with LineClient(cwd=tmp_path) as agent:
            status = agent.call("ui_status")
            serve.terminate()
            serve.wait(60)
            after = agent.call("ui_status")

    assert shown[1].split() == ["UI", status["url"]]
    assert after["state"] == "configured"  # stopped by the person: another one serves, and has not started the UI


@pytest.mark.covers("UI-JOIN-11")
def test_stop_ends_the_server_and_the_next_call_starts_another(tmp_path: Path) -> None:
    stop = [sys.executable, "-m", "ui_mcp", "stop"]
    with LineClient(cwd=tmp_path) as agent:
        agent.call("ui_start")
        old = server_pid(base(tmp_path))

        done = subprocess.run(stop, cwd=tmp_path, capture_output=True, text=True, check=True)

        assert done.stdout == f"Ended ui-mcp (pid {old})\n"
        assert agent.call("ui_status")["state"] == "configured"
        assert server_pid(base(tmp_path)) not in {0, old}
    assert subprocess.run(stop, cwd=tmp_path, capture_output=True, text=True, check=True).stdout == (
        "No server is running for .claude/ui\n"
    )
