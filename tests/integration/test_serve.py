"""`ui-mcp serve`: fixed ports, MCP over HTTP, reconfiguration under way."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from agreeing import agree
from terminals import with_terminal
from ui_mcp.app.ui_http_server import MCP_PORT, UI_PORT

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def get(url: str, **headers: Any) -> httpx2.Response:
    """Ask with patience: what a first request needs may still have to be read from disk."""
    return httpx2.get(url, timeout=60, **headers)


@contextmanager
def serve(cwd: Path, *options: str, config: str = "") -> Iterator[tuple[str, str]]:
    """Run `ui-mcp serve` on free ports; yield the addresses it prints."""
    if config:
        (cwd / ".claude/ui/config").mkdir(parents=True)
        (cwd / ".claude/ui/config/config.toml").write_text(config)
        agree(cwd / ".claude/ui")
    ports = () if "--port" in options else ("--port", "0", "--mcp-port", "0")
    command = [sys.executable, "-m", "ui_mcp", "serve", *ports, *options]
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        title, ui, mcp = (server.stdout.readline() for _ in range(3))
        assert title.startswith("ui-mcp v"), title
        try:
            yield ui.split()[1], mcp.split()[1].removesuffix("/mcp")
        finally:
            server.terminate()
            assert server.wait(timeout=60) == 0


class Agent:
    """A handshake client over streamable HTTP."""

    def __init__(self, mcp: str, **headers: str) -> None:
        self._http = httpx2.Client(
            base_url=mcp, headers={"accept": "application/json, text/event-stream", **headers}, timeout=60
        )
        opened = self._post("initialize", HELLO)
        self._http.headers["mcp-session-id"] = opened.headers["mcp-session-id"]
        self._http.headers["mcp-protocol-version"] = "2025-06-18"

    def _post(self, method: str, params: dict[str, Any]) -> httpx2.Response:
        answer = self._http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        answer.raise_for_status()
        return answer

    def call(self, tool: str, **arguments: Any) -> Any:
        result = self._post("tools/call", {"name": tool, "arguments": arguments}).json()["result"]
        text = result["content"][0]["text"]
        try:
            return json.loads(text)
        except ValueError:
            return text


@pytest.mark.covers("UI-CLI-2", "UI-FSM-9", "UI-HTTP-9")
def test_serve_is_running_from_the_start_and_speaks_mcp(tmp_path: Path) -> None:
    with serve(tmp_path) as (ui, mcp):
        agent = Agent(mcp)

        assert get(ui).status_code == 200
        assert agent.call("ui_status")["url"] == ui
        assert agent.call("ui_start").splitlines() == ["Server already running", ui]
        assert (tmp_path / ".claude/ui/mcp-port").read_text() == mcp.rpartition(":")[2]
        with httpx2.stream("GET", f"{mcp}/sse", headers={"accept": "text/event-stream"}, timeout=60) as stream:
            assert (stream.status_code, next(stream.iter_lines())) == (200, "event: endpoint")


@pytest.mark.covers("UI-FSM-9")
def test_reconfiguring_keeps_mcp_open_and_start_takes_the_same_port_again(tmp_path: Path) -> None:
    with serve(tmp_path) as (ui, mcp):
        agent = Agent(mcp)
        agent.call("ui_configure", base_dir="other")
        with pytest.raises(httpx2.ConnectError):
            get(ui)
        assert get(f"{mcp}/state").status_code == 404

        assert agent.call("ui_start") == ui
        assert get(ui).status_code == 200
        assert (tmp_path / "other/ui-port").read_text() == ui.rpartition(":")[2]


@pytest.mark.covers("UI-FSM-9", "UI-ROB-6")
def test_a_directory_that_nobody_can_join_yet_is_served_and_joined_later(tmp_path: Path) -> None:
    in_the_way = tmp_path / "other/.ui-mcp/server.lock"
    in_the_way.mkdir(parents=True)  # as unwritable as a lock file on a full disk
    with serve(tmp_path) as (ui, mcp):
        agent = Agent(mcp)
        agent.call("ui_configure", base_dir="other")

        assert agent.call("ui_start") == ui
        in_the_way.rmdir()
        while not (in_the_way.is_file() and in_the_way.read_text()):
            assert agent.call("ui_status")["url"] == ui


@pytest.mark.covers("UI-CLI-2")
@pytest.mark.parametrize("option", ["--port", "--mcp-port"])
def test_a_taken_port_is_named(tmp_path: Path, option: str) -> None:
    other = "--mcp-port" if option == "--port" else "--port"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "ui_mcp", "serve", option, str(port), other, "0"],
            cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    assert done.returncode == 1
    assert done.stderr.startswith(f"ui-mcp: Cannot listen on 127.0.0.1:{port}: ")
    assert not (tmp_path / ".claude/ui/ui-port").exists()


@pytest.mark.covers("UI-SEC-2", "UI-SEC-3", "MCP-SEC-1", "UI-HTTP-14", "MCP-LIM-1")
def test_foreign_names_and_pages_are_turned_away_at_both_ports(tmp_path: Path) -> None:
    with serve(tmp_path) as (ui, mcp):
        for base, path in ((ui, "/"), (mcp, "/mcp"), (mcp, "/sse"), (mcp, "/state")):
            assert get(base + path, headers={"host": "evil.example"}).status_code == 421
            assert get(base + path, headers={"origin": "http://evil.example"}).status_code == 403
        assert get(f"{ui}/nothing/here").status_code == 404
        assert get(f"{ui}/1/").status_code == 200
        assert Agent(mcp).call("ui_status")["state"] == "running"


@pytest.mark.covers("UI-SES-2", "UI-SES-3", "UI-SES-4", "UI-HTTP-2")
def test_a_sessions_number_and_id_work_only_for_who_has_been_let_in(tmp_path: Path) -> None:
    with serve(tmp_path, config='[session]\nroot = "new"\n') as (ui, _):
        port = ui.rpartition(":")[2]
        with httpx2.Client(base_url=ui, timeout=60) as visitor:
            assert visitor.get("/2/").status_code == 404
            page = visitor.get("/")
            cookie, own = page.headers["set-cookie"], page.headers["location"]
            assert f"ui-visitor-{port}=" in cookie
            assert own.strip("/") not in cookie
            assert {"HttpOnly", "Path=/"} <= {part.strip() for part in cookie.split(";")}
            assert "samesite=lax" in cookie.lower()
            assert page.headers["referrer-policy"] == "no-referrer"
            assert [visitor.get(path).status_code for path in ("/1/", "/2/", f"{own}anything")] == [404, 200, 200]
        assert [get(f"{ui}{path}").status_code for path in ("/2/", f"{own}anything")] == [404, 403]
        assert get(f"{ui}/{'0' * 32}/").status_code == 404


@pytest.mark.covers("UI-SEC-5", "MCP-SEC-2")
def test_a_required_token_is_in_a_file_only_we_can_read(tmp_path: Path) -> None:
    with serve(tmp_path, config="[server]\nrequire_token = true\n") as (_, mcp):
        file = tmp_path / ".claude/ui/mcp-token"

        assert get(f"{mcp}/state").status_code == 401
        assert file.stat().st_mode & 0o777 == 0o600
        assert Agent(mcp, authorization=f"Bearer {file.read_text()}").call("ui_status")["state"] == "running"
    assert not file.exists()


@pytest.mark.covers("CHAT-UI-3", "R-BR-2")
def test_where_a_token_is_required_the_bridges_know_the_tokens_of_the_chat(tmp_path: Path) -> None:
    with serve(tmp_path, config="[server]\nrequire_token = true\n") as (ui, mcp):
        making = with_terminal([sys.executable, "-m", "ui_mcp", "token", "create", "bot", "--role", "agent"])
        token = subprocess.run(making, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()
        bot = {"authorization": f"Bearer {token}"}
        posted = httpx2.post(f"{mcp}/chat/messages", json={"content": "hi"}, headers=bot, timeout=60)
        read = get(f"{mcp}/chat/messages", headers=bot).json()
        refused = [
            get(f"{mcp}/chat/messages").status_code,
            get(f"{mcp}/state", headers=bot).status_code,
            get(f"{ui}/chat/inbox").status_code,
            get(f"{ui}/chat/messages").status_code,
        ]

    assert posted.status_code == 201
    assert [(message["author"], message["content"]) for message in read["messages"]] == [("assistant", "hi")]
    assert refused == [401, 401, 401, 401]


@pytest.mark.covers("UI-SEC-6", "UI-HTTP-5")
def test_files_outside_html_are_out_of_reach(tmp_path: Path) -> None:
    with serve(tmp_path) as (ui, _):
        html = tmp_path / ".claude/ui/html"
        (html / "note.txt").write_text("inside")
        (html / "linked.txt").symlink_to(tmp_path / "project.txt")
        (tmp_path / "project.txt").write_text("in the project")
        (html / "escape.txt").symlink_to("/etc/hostname")

        assert get(f"{ui}/note.txt").text == "inside"
        assert get(f"{ui}/linked.txt").text == "in the project"
        assert get(f"{ui}/escape.txt").status_code == 404
        answer = get(f"{ui}/note.txt")
        assert get(f"{ui}/note.txt", headers={"if-none-match": answer.headers["etag"]}).status_code == 304
        assert get(f"{ui}/note.txt", headers={"range": "bytes=0-1"}).text == "in"
        for path in ("/../README.md", "/%2e%2e/README.md", "/..%2fREADME.md", "//etc/hostname", "/%00"):
            raw = _raw(ui, path)
            assert raw.startswith(b"HTTP/1.1 404"), (path, raw[:80])


def _raw(base: str, path: str) -> bytes:
    host, _, port = base.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
        return connection.recv(65536)


@pytest.mark.covers("UI-ROB-3")
def test_two_projects_do_not_disturb_each_other(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    with (
        serve(tmp_path / "a") as (first, _),
        serve(tmp_path / "b") as (second, _),
        httpx2.Client(timeout=60) as visitor,
    ):
        visitor.get(first)
        visitor.get(second)

        assert visitor.get(f"{first}/1/").status_code == 200
        assert visitor.get(f"{second}/1/").status_code == 200


@pytest.mark.covers("UI-CLI-2")
def test_serve_takes_8000_and_8001_unless_it_is_told_otherwise(tmp_path: Path) -> None:
    with socket.socket() as one, socket.socket() as other:
        for free in (one, other):
            free.bind(("127.0.0.1", 0))
        ports = [free.getsockname()[1] for free in (one, other)]

    with serve(tmp_path, "--port", str(ports[0]), "--mcp-port", str(ports[1])) as addresses:
        assert addresses == tuple(f"http://127.0.0.1:{port}" for port in ports)
    assert (UI_PORT, MCP_PORT) == (8000, 8001)


def first_answer(port: int) -> str:
    """Ask for the page as soon as the port is bound, and return the status line."""
    while True:
        with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), 60) as client:
            client.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
            return client.makefile("rb").readline().decode().strip()


@pytest.mark.covers("UI-CLI-2")
def test_a_page_that_is_opened_before_the_server_is_ready_waits_for_it(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(first_answer, port)
        with serve(tmp_path, "--port", str(port), "--mcp-port", "0"):
            assert answer.result(60) == "HTTP/1.1 200 OK"


@pytest.mark.covers("UI-HTTP-2", "UI-HTTP-6", "UI-HTTP-7")
def test_state_variables_and_events_are_on_the_mcp_port(tmp_path: Path) -> None:
    with serve(tmp_path) as (_, mcp):
        Agent(mcp).call("ui_run", code="mcp.value = {type = 'Shop', n = 1} mcp.pushState({e = 1})")

        assert get(f"{mcp}/state").json() == {"type": "Shop", "n": 1, "_events": [{"e": 1}]}
        assert get(f"{mcp}/wait?timeout=1").json() == [{"e": 1}]
        assert "<html" in get(f"{mcp}/variables", headers={"accept": "text/html"}).text
        assert get(f"{mcp}/wait?timeout=1").status_code == 204
