"""The timeline on the listeners of the ui server, with `ui-mcp agent` at work in another process."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.sync.client import connect

from integration.lineclient import LineClient
from integration.test_agent import agent
from integration.test_serve import get
from person_client import person
from terminals import with_terminal

pytestmark = pytest.mark.slow
SCRIPT = """
data_dir: ./data
llm:
  provider: scripted
  script:
    - when: {user: "tools"}
      emit: [{call: nlui__search, args: {query: anything}}]
    - when: {tool: nlui__search}
      emit: [{call: chat_assistant_post, args: {content: "Nothing found."}}]
    - when: {user: "for ever"}
      emit: [{delay_ms: 600000}, {call: loop_yield_turn}]
    - when: {user: "."}
      emit: [{call: chat_assistant_post, args: {content: "re: {{user}}"}}]
    - emit: [{call: loop_yield_turn}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nlui.yaml").write_text(SCRIPT)
    return tmp_path


@pytest.fixture
def server(folder: Path) -> Iterator[LineClient]:
    with LineClient(cwd=folder) as client:
        yield client


def visitor(url: str) -> httpx2.Client:
    """Open the page as a browser does, which gives the cookie."""
    client = httpx2.Client(base_url=url, timeout=60, follow_redirects=True)
    assert client.get("/").status_code == 200
    return client


def say(server: LineClient, text: str) -> None:
    """Write as the person, on the person's own page."""
    with person(server.call("ui_status")["person_url"]) as page:
        assert page.post("/chat/messages", json={"content": text}).status_code == 201


def until_asleep(socket: Any) -> list[dict[str, Any]]:
    """Read frames until the agent has yielded."""
    seen = []
    while True:
        seen.append(json.loads(socket.recv(timeout=60)))
        if seen[-1].get("run") == "sleeping":
            return seen


@pytest.mark.covers("R-BR-4", "R-UI-6")
def test_a_page_sees_message_tool_answer_and_yield_of_an_agent_elsewhere(server: LineClient, folder: Path) -> None:
    url = server.call("ui_start")
    page = visitor(url)
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in page.cookies.items())}
    with (
        agent(folder),
        connect(
            f"{url.replace('http', 'ws')}/ws/timeline", origin=url, additional_headers=headers, open_timeout=60
        ) as ws,
    ):
        ws.send('{"type": "hello", "conversation": "default"}')
        first = json.loads(ws.recv(timeout=60))
        assert (first["type"], first["state"]["items"]) == ("ui_state_snapshot", [])

        say(server, "Which tools are there?")
        frames = until_asleep(ws)

    deltas = [frame for frame in frames if frame["type"] == "ui_state_delta"]
    assert [delta["seq"] for delta in deltas] == list(range(1, len(deltas) + 1))
    kinds = [op["item"]["kind"] for delta in deltas for op in delta["ops"] if op["op"] == "append"]
    assert kinds == ["user_message", "tool", "assistant_markdown", "end_turn"]
    snapshot = page.get("/timeline").json()
    assert [item["kind"] for item in snapshot["state"]["items"]] == kinds
    assert snapshot["state"]["items"][1]["status"] == "done"
    missed = page.get("/timeline", params={"after_seq": snapshot["seq"] - 1}).json()
    assert [frame["seq"] for frame in missed] == [snapshot["seq"]]
    assert page.get("/agents/default/status").json() == {"id": "default", "state": "sleeping"}


def test_messages_of_any_other_agent_are_on_the_timeline_too(server: LineClient) -> None:
    page = visitor(server.call("ui_start"))
    say(server, "Hello?")
    server.call("chat_assistant_post", content="Hello!")

    items = page.get("/timeline").json()["state"]["items"]

    assert [item.get("text") or item.get("md") for item in items] == ["Hello?", "Hello!"]


@pytest.mark.covers("R-BR-2")
def test_nobody_sees_the_timeline_without_the_pages_cookie_or_a_token(server: LineClient, folder: Path) -> None:
    url = server.call("ui_start")
    mcp = f"http://127.0.0.1:{server.call('ui_status')['mcp_port']}"
    made = with_terminal([sys.executable, "-m", "ui_mcp", "token", "create", "screen", "--role", "observer"])
    token = subprocess.run(made, cwd=folder, check=True, capture_output=True, text=True).stdout.split()[-1]

    assert get(f"{url}/timeline").status_code == 401
    assert get(f"{mcp}/timeline").status_code == 401
    assert get(f"{mcp}/timeline", headers={"Authorization": f"Bearer {token}"}).json()["seq"] == 0
    foreign = get(f"{url}/timeline", headers={"Origin": "http://evil.example"})
    assert foreign.status_code == 403
    with connect(f"{mcp.replace('http', 'ws')}/ws/timeline", open_timeout=60) as ws:
        ws.send(json.dumps({"type": "hello", "token": token}))
        assert json.loads(ws.recv(timeout=60))["type"] == "ui_state_snapshot"
    with connect(f"{mcp.replace('http', 'ws')}/ws/timeline", open_timeout=60) as ws:
        ws.send(json.dumps({"type": "hello", "token": "wrong"}))
        with pytest.raises(Exception, match="4401"):
            ws.recv(timeout=60)


@pytest.mark.covers("R-BR-2", "R-BR-4")
def test_approvals_are_seen_and_answered_only_by_who_may(server: LineClient, folder: Path) -> None:
    url = server.call("ui_start")
    mcp = f"http://127.0.0.1:{server.call('ui_status')['mcp_port']}"
    made = with_terminal([sys.executable, "-m", "ui_mcp", "token", "create", "worker", "--role", "agent"])
    token = subprocess.run(made, cwd=folder, check=True, capture_output=True, text=True).stdout.split()[-1]
    worker = {"Authorization": f"Bearer {token}"}
    answer = {"decision": "approve", "digest": "x"}

    assert visitor(url).get("/approvals", headers={"Accept": "application/json"}).json()["approvals"] == []
    assert visitor(url).post("/approvals/unknown/decision", json=answer).status_code in {404, 405}
    with person(server.call("ui_status")["person_url"]) as page:
        unknown = page.post("/approvals/unknown/decision", json=answer)
    assert unknown.json()["error"]["code"] == "unknown_approval"
    assert get(f"{url}/approvals").status_code == 401
    assert get(f"{mcp}/approvals").status_code == 401
    assert get(f"{mcp}/approvals", headers=worker).json()["approvals"] == []
    assert httpx2.post(f"{mcp}/approvals/unknown/decision", headers=worker, json=answer, timeout=60).status_code == 404


@pytest.mark.covers("R-OR-11")
def test_a_person_stops_an_agent_of_another_process_and_app_pages_cannot(server: LineClient, folder: Path) -> None:
    url = server.call("ui_start")
    page = visitor(url)
    with person(server.call("ui_status")["person_url"]) as mine:
        assert mine.post("/agents/default/abort", json={}).status_code == 409  # no agent yet
        with agent(folder):
            say(server, "Work for ever.")
            until_state(page, "running")
            assert page.post("/agents/default/abort", json={}).status_code == 404

            assert mine.post("/agents/default/abort", json={}).status_code == 202
            until_state(page, "aborted")
            say(server, "hello")
            until_state(page, "sleeping")

    answers = [item["md"] for item in page.get("/timeline").json()["state"]["items"] if "md" in item]
    assert answers == ["re: hello"]


def until_state(page: httpx2.Client, state: str) -> None:
    """Wait for a state of the agent; the test's own time limit ends it."""
    while page.get("/agents/default/status").json()["state"] != state:
        time.sleep(0.05)
